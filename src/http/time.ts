import { ApiError } from '../lib/errors.ts';

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Epoch milliseconds of an RFC 3339 date-time. Throws `invalid_request` naming `param`. */
export function parseTime(text: string, param: string): number {
  // An offset's plus sign that was not percent-encoded in a URL arrives as a space.
  const mended = text.replace(/ (\d\d:\d\d)$/, '+$1');
  const time = rfc3339.test(mended) ? Date.parse(mended.replace(/^(.{10}) /, '$1T')) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new ApiError(
      'invalid_request',
      `The parameter ${param} must be an RFC 3339 date-time, such as 2026-11-20T03:04:05+00:00.`,
      { param },
    );
  }
  return time;
}
