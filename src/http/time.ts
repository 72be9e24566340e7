import { ApiError } from '../lib/errors.ts';

const rfc3339 =
  /^(?<date>\d{4}-\d\d-(?<day>\d\d))[Tt ](?<time>\d\d:\d\d):(?<second>\d\d)(?<fraction>\.\d+)?(?<offset>[Zz]|[+-]\d\d:\d\d)$/;

/** Epoch milliseconds of an RFC 3339 date-time. Throws `invalid_request` naming `param`. */
export function parseTime(text: string, param: string): number {
  // An offset's plus sign that was not percent-encoded in a URL arrives as a space.
  const parts = rfc3339.exec(text.replace(/ (\d\d:\d\d)$/, '+$1'))?.groups;
  const timeMs = parts === undefined ? Number.NaN : toEpochMs(parts);
  if (Number.isNaN(timeMs)) {
    throw new ApiError(
      'invalid_request',
      `The parameter ${param} must be an RFC 3339 date-time, such as 2026-11-20T03:04:05+00:00.`,
      { param },
    );
  }
  return timeMs;
}

/** NaN where there is no such time. */
function toEpochMs({ date, day, time, second, fraction = '', offset }: Partial<Record<string, string>>): number {
  // `Date.parse` takes 30 February for 2 March.
  if (new Date(`${date}T00:00:00Z`).getUTCDate() !== Number(day)) return Number.NaN;
  // It knows no leap second; the clocks of computers have the second before it or after it.
  const [known, extraMs] = second === '60' ? ['59', 1_000] : [second, 0];
  return Date.parse(`${date}T${time}:${known}${fraction}${offset}`.toUpperCase()) + extraMs;
}
