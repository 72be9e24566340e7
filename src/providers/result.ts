import type { Clock } from '../lib/clock.ts';
import type { HttpAnswer, HttpFault } from './http.ts';
import type { RejectionClass, SendResult } from './provider.ts';

/** What an upstream's error code means for the attempt: a hard rejection, a reason to try the next provider, or neither. */
export type ErrorClass = RejectionClass | RetryReason | 'unknown';

type RetryReason = Extract<SendResult, { outcome: 'retryable' }>['reason'];

export type ErrorRow = { class: ErrorClass; text: string; optOut?: true };

/** An upstream's error codes, as it writes them, and our reading of each. */
export type ErrorTable = ReadonlyMap<string, ErrorRow>;

const textLengthMax = 300;
const retryAfterMsMax = 60 * 60 * 1_000;

/** The result of an attempt the upstream answered with an error. `row` is the code's entry in the adapter's table, if it has one. */
export function resultOfError(
  row: ErrorRow | undefined,
  answer: HttpAnswer,
  error: { code: string; message: string | undefined },
  clock: Clock,
): SendResult {
  const errorClass = row?.class ?? classOfStatus(answer.status);
  const code = shorten(error.code);
  const message = shorten(error.message || row?.text || `HTTP ${answer.status}`);
  switch (errorClass) {
    case 'throttled':
    case 'unavailable':
    case 'credentials':
    case 'unsupported': {
      const retryAfterMs = readRetryAfterMs(answer.headers['retry-after'], clock);
      return {
        outcome: 'retryable',
        reason: errorClass,
        code,
        message,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      };
    }
    case 'unknown':
      return { outcome: 'unknown', code, message };
    default:
      return { outcome: 'rejected', class: errorClass, code, message, ...(row?.optOut ? { optOut: true } : {}) };
  }
}

/** The result of an attempt whose answer carries no code and no id that the adapter can read. */
export function resultOfStatus(answer: HttpAnswer, clock: Clock): SendResult {
  const message =
    answer.status < 300
      ? `HTTP ${answer.status} without a message id that could be read`
      : `HTTP ${answer.status} without an error code that could be read`;
  return resultOfError(undefined, answer, { code: `http_${answer.status}`, message }, clock);
}

/** The result of an attempt without an answer. */
export function resultOfFault({ kind, code, message }: HttpFault): SendResult {
  return kind === 'not_written'
    ? { outcome: 'retryable', reason: 'unavailable', code, message }
    : { outcome: 'unknown', code, message };
}

/**
 * The reading of a bare status. A 2xx may stand for an accepted message. 400, 413 and 422 find fault with this request; any other
 * refusal (a wrong path, a proxy in the way, a redirect) is not the message's fault, so the next provider may take it.
 */
export function classOfStatus(status: number): ErrorClass {
  if (status < 300) return 'unknown';
  switch (status) {
    case 400:
    case 413:
    case 422:
      return 'invalid_content';
    case 401:
    case 403:
    case 404:
      return 'credentials';
    case 402:
      return 'billing';
    case 429:
      return 'throttled';
    default:
      return 'unavailable';
  }
}

/** `Retry-After` in either of its forms, seconds or a date, at most an hour. */
export function readRetryAfterMs(header: string | string[] | undefined, clock: Clock): number | undefined {
  if (typeof header !== 'string') return undefined;
  const waitMs = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - clock.now();
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(Math.max(waitMs, 0), retryAfterMsMax);
}

/** Parses text that should be a JSON object; `undefined` where it is anything else. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** `value` where it is a JSON object: neither an array nor `null` nor a plain value. */
export function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** A code as an upstream writes it, as text or as a number; `undefined` where it is anything else. */
export function readCode(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : readText(value);
}

/** `value` where it is a text that says something and can be stored: PostgreSQL holds no NUL. */
export function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && !value.includes('\0') ? value : undefined;
}

/** An upstream's text as it is kept: bounded, and without NUL, whatever was sent. */
export function shorten(text: string): string {
  const clean = text.replaceAll('\0', '');
  return clean.length <= textLengthMax ? clean : `${clean.slice(0, textLengthMax - 1)}…`;
}
