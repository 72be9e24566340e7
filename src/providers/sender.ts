const digitsWithOrWithoutPlus = /^\+?(\d+)$/;
const shortCodeLengthMax = 8;

/** A sender for upstreams that want E.164 with the `+`: `+14155552671`, but `40404` and `ACME`. */
export function senderWithPlus(from: string): string {
  const digits = digitsWithOrWithoutPlus.exec(from)?.[1];
  if (digits === undefined) return from;
  return digits.length <= shortCodeLengthMax ? digits : `+${digits}`;
}

/** A sender for upstreams that want bare digits: `14155552671`, `40404`, `ACME`. */
export function senderWithoutPlus(from: string): string {
  return digitsWithOrWithoutPlus.exec(from)?.[1] ?? from;
}
