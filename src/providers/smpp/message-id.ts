import type { AsyncReceipt } from '../provider.ts';
import type { SmppSettings } from './settings.ts';

type Candidate = AsyncReceipt['candidates'][number];

/** How a carrier spells the ids of its receipts, compared with those of its answers. */
export type MessageIdFormat = SmppSettings['messageIdFormat'];

/** Ids wider than this are no numbers that somebody reformatted. */
const numberLengthMax = 64;
/** Widths that carriers pad to: 32-bit hexadecimal, the ten digits of SMPP 3.4 Appendix B, 64-bit hexadecimal. */
const widths = [8, 10, 16];

/**
 * The ids under which `submit_sm_resp` may have named the message of a receipt, most likely first. Carriers write one number as hex in
 * one place and as decimal in the other, pad it with zeros, or change its case. Where the format is configured, every spelling of it is
 * certain; `auto` is certain of the id as it is, and of nothing else.
 */
export function messageIdCandidates(id: string, format: MessageIdFormat): Candidate[] {
  if (id === '') return [];
  switch (format) {
    case 'as-is':
      return rank([id], []);
    case 'resp-hex-dlr-dec':
      return rank(isDecimal(id) ? hexSpellings(BigInt(id)) : [id], []);
    case 'resp-dec-dlr-hex':
      return rank(isHex(id) ? decimalSpellings(BigInt(`0x${id}`)) : [id], []);
    case 'both-hex':
      return rank(isHex(id) ? [id, ...hexSpellings(BigInt(`0x${id}`))] : [id], []);
    case 'auto':
      return rank([id], guesses(id));
  }
}

function guesses(id: string): string[] {
  const number = id.replace(/^0+(?=.)/, '');
  return [
    ...bothCases(id),
    ...bothCases(number),
    ...(isHex(id) ? padded(number).flatMap(bothCases) : []),
    ...(isDecimal(id) ? hexSpellings(BigInt(id)) : []),
    ...(isHex(id) ? decimalSpellings(BigInt(`0x${id}`)) : []),
  ];
}

function rank(certain: string[], uncertain: string[]): Candidate[] {
  const rankOf = new Map<string, boolean>();
  for (const id of certain) rankOf.set(id, true);
  for (const id of uncertain) if (!rankOf.has(id)) rankOf.set(id, false);
  return Array.from(rankOf, ([id, isCertain]) => ({ id, certain: isCertain }));
}

function isDecimal(id: string): boolean {
  return id.length <= numberLengthMax && /^\d+$/.test(id);
}

function isHex(id: string): boolean {
  return id.length <= numberLengthMax && /^[0-9A-Fa-f]+$/.test(id);
}

function hexSpellings(number: bigint): string[] {
  return padded(number.toString(16)).flatMap(bothCases);
}

function decimalSpellings(number: bigint): string[] {
  return padded(number.toString());
}

function padded(digits: string): string[] {
  return [digits, ...widths.filter((width) => width > digits.length).map((width) => digits.padStart(width, '0'))];
}

function bothCases(id: string): string[] {
  return [id.toLowerCase(), id.toUpperCase()];
}
