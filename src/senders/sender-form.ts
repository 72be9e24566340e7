/** What a sender looks like, which is what routes match on. */
export type SenderForm = 'alphanumeric' | 'short_code' | 'long_code';

/**
 * The form of a `from` that may be sent with: 1–11 ASCII letters, digits or spaces with at least one letter; 3–8 digits as a short
 * code; up to 15 digits, with or without `+`, as a long number. Undefined for anything else.
 */
export function senderFormOf(text: string): SenderForm | undefined {
  if (/^\d{3,8}$/.test(text)) return 'short_code';
  if (/^\+?\d{3,15}$/.test(text)) return 'long_code';
  if (/^[A-Za-z0-9 ]{1,11}$/.test(text) && /[A-Za-z]/.test(text)) return 'alphanumeric';
  return undefined;
}
