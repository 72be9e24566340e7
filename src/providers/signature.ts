import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { parseObject } from './result.ts';

/** Upstreams repeat receipts for up to a day, and whether they sign a repetition anew is not documented. */
const ageMsMax = 25 * 60 * 60 * 1_000;
const aheadMsMax = 5 * 60 * 1_000;

/** Whether a receipt signed at that moment may still come; `NaN` is no moment. */
export function isTimely(signedAtMs: number, clock: Clock): boolean {
  const ageMs = clock.now() - signedAtMs;
  return ageMs <= ageMsMax && ageMs >= -aheadMsMax;
}

/** Whether both are the same, in a time that does not tell where they differ. */
export function isSameText(given: unknown, expected: string): boolean {
  if (typeof given !== 'string') return false;
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The fields of a form or a query as signatures take them: by name, then by value, upper case first. */
export function sortedFields(fields: URLSearchParams): Array<[name: string, value: string]> {
  return [...fields].sort(([a, aValue], [b, bValue]) => compare(a, b) || compare(aValue, bValue));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const tokenPattern = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

const hashes = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const;

type Algorithm = keyof typeof hashes;

/** The claims of a JWT under a shared secret, or why there are none to believe. Which claims must hold is the caller's to check. */
export function readToken(
  token: string,
  secret: string,
  algorithms: readonly Algorithm[],
): { claims: Record<string, unknown> } | { forgery: string } {
  const parts = tokenPattern.exec(token);
  if (parts === null) return { forgery: 'the token is not a signed JWT' };
  const [, header = '', payload = '', signature = ''] = parts;

  // The algorithm is ours to choose: a token that names another one, `none` included, is refused.
  const named = parseObject(decode(header))?.['alg'];
  const algorithm = algorithms.find((candidate) => candidate === named);
  if (algorithm === undefined) return { forgery: `the token is not signed with ${algorithms.join(' or ')}` };
  // Compared as text: two spellings of one signature in base64url are not the same token.
  const expected = createHmac(hashes[algorithm], secret).update(`${header}.${payload}`).digest('base64url');
  if (!isSameText(signature, expected)) return { forgery: 'the signature of the token is wrong' };
  return { claims: parseObject(decode(payload)) ?? {} };
}

function decode(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString();
}
