import type { SenderType } from './queries.ts';

/** The types a sender of this text may be declared as; the first is what is inferred where none is. */
export function senderTypesOf(senderId: string): readonly [SenderType, ...SenderType[]] {
  if (/^\d{3,8}$/.test(senderId)) return ['short_code', 'long_code', 'numeric'];
  if (/^\+?\d{3,15}$/.test(senderId)) return ['long_code', 'numeric'];
  if (/^\+?\d+$/.test(senderId)) return ['numeric'];
  return ['alphanumeric'];
}
