import { createHmac } from 'node:crypto';
import { Stripe } from 'stripe';
import { describe, expect, test } from 'vitest';
import { findSignatureFault } from './verify-signature.ts';

const secret = 'whsec_c2VjcmV0IG9mIGEgdGVzdA==';
const body = Buffer.from('{"id":"evt_1","text":"Grüße"}');
const nowMs = 1_800_000_000_000;

function sign(seconds: number, bytes = body, key = secret): string {
  const signature = createHmac('sha256', key).update(`${seconds}.`).update(bytes).digest('hex');
  return `t=${seconds},v1=${signature}`;
}

function faultOf(header: string | undefined): string | undefined {
  return findSignatureFault(header, { secret, body, nowMs });
}

describe('a signature', () => {
  test('made with the secret is accepted', () => {
    expect(faultOf(sign(nowMs / 1_000))).toBeUndefined();
  });

  test("made by Stripe's own library, which signs the same way, is accepted", () => {
    const header = Stripe.webhooks.generateTestHeaderString({
      payload: body.toString(),
      secret,
      timestamp: nowMs / 1_000,
    });
    expect(faultOf(header)).toBeUndefined();
  });

  test.each([300, -300])('is accepted when it is %d s old', (ageSeconds) => {
    expect(faultOf(sign(nowMs / 1_000 - ageSeconds))).toBeUndefined();
  });

  test.each([301, -301])('is refused when it is %d s old', (ageSeconds) => {
    expect(faultOf(sign(nowMs / 1_000 - ageSeconds))).toBe('it was signed 301 s from now');
  });

  test.each([
    [undefined, 'it has no Service-Signature header'],
    ['', 'its Service-Signature header is not well-formed'],
    [`t=x,${sign(1).slice(4)}`, 'its Service-Signature header is not well-formed'],
    [sign(nowMs / 1_000).toUpperCase(), 'its Service-Signature header is not well-formed'],
    [sign(nowMs / 1_000, Buffer.from('{}')), 'its signature was not made with this secret'],
    [sign(nowMs / 1_000, body, 'whsec_other'), 'its signature was not made with this secret'],
    [sign(nowMs / 1_000).replace('t=1', 't=2'), 'its signature was not made with this secret'],
  ])('is refused: %s', (header, fault) => {
    expect(faultOf(header)).toBe(fault);
  });
});
