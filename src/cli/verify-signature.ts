import { createHmac, timingSafeEqual } from 'node:crypto';

const toleranceSeconds = 300;

/** What is wrong with a delivery's `Service-Signature`; undefined where nothing is (spec: Signature header). */
export function findSignatureFault(
  header: string | undefined,
  { secret, body, nowMs }: { secret: string; body: Buffer; nowMs: number },
): string | undefined {
  if (header === undefined) return 'it has no Service-Signature header';
  const [, time, signature] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (time === undefined || signature === undefined) return 'its Service-Signature header is not well-formed';
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) return 'its signature was not made with this secret';
  const ageSeconds = Math.abs(nowMs / 1_000 - Number(time));
  return ageSeconds > toleranceSeconds ? `it was signed ${Math.round(ageSeconds)} s from now` : undefined;
}
