import { createRequire } from 'node:module';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { sinchErrors } from '../../src/providers/sinch.ts';
import { messageWith, nowMs } from './cases.ts';
import { describeReceipts } from './contract-receipts.ts';
import { describeAdapter } from './contract.ts';
import { sinchCases, sinchCodesByClass } from './sinch-cases.ts';
import { sinchSignature, sinchSigned, sinchWebhookSecret } from './sinch-signature.ts';

describeAdapter(sinchCases);

describe('sinch: receipts under a secret', () => {
  describeReceipts({ ...sinchCases, ...sinchSigned });
});

type Oracle = {
  validateWebhookSignature(secret: string, headers: Record<string, string | undefined>, body: string): boolean;
};

/** The entry of the package asks for another package that cannot be installed; this one file of it stands alone. */
function loadOracle(): Oracle {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('@sinch/sdk-client');
  return require(path.join(path.dirname(entry), 'utils', 'authorization.helper.js'));
}

describe('sinch: oracles', () => {
  const oracle = loadOracle();
  const clock = { nowMs, now: () => clock.nowMs };
  const provider = sinchSigned.create({ baseUrl: 'http://127.0.0.1:9', timeoutMs: 1_000, clock });
  afterAll(() => provider.close());

  it('the table of errors has no code besides those that are tried above', () => {
    expect([...sinchErrors.keys()].sort()).toEqual(Object.values(sinchCodesByClass).flat().sort());
  });

  it('a signature of 2021 is accepted at its time, by us and by Sinch', () => {
    const body = '{"type":"recipient_delivery_report_sms","batch_id":"01FC66621XXXXX119Z8PMV1QPQ"}';
    const headers = {
      'x-sinch-webhook-signature': '4Iy15kv1euyleuU6UgPS73ELZf8i5e5SFkE/XB3iVMA=',
      'x-sinch-webhook-signature-nonce': '01FJA8B4A7BM43YGWSG9GBV067',
      'x-sinch-webhook-signature-timestamp': '1634579353',
    };
    const { callbackUrl: url } = messageWith();
    expect(oracle.validateWebhookSignature(sinchWebhookSecret, headers, body)).toBe(true);

    clock.nowMs = 1_634_579_353_000;
    const receipt = { method: 'POST', url, headers, rawBody: Buffer.from(body) };
    expect(provider.readReceipts(receipt)).toMatchObject({ problem: 'malformed' });
    clock.nowMs += 26 * 60 * 60 * 1_000;
    expect(provider.readReceipts(receipt)).toMatchObject({ problem: 'forged' });
    clock.nowMs = nowMs;
  });

  it("agrees with Sinch's own library on any body, nonce and secret", () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), fc.boolean(), (body, nonce, isTampered) => {
        const headers = sinchSignature(Buffer.from(body), { nonce });
        const received = isTampered ? `${body} ` : body;
        const reading = provider.readReceipts({
          method: 'POST',
          url: messageWith().callbackUrl,
          headers,
          rawBody: Buffer.from(received),
        });
        const isForged = !reading.ok && reading.problem === 'forged';
        expect(isForged).toBe(!oracle.validateWebhookSignature(sinchWebhookSecret, headers, received));
        expect(isForged).toBe(isTampered);
      }),
    );
  });
});
