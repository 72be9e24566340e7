import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { createSigningSecret } from './secret.ts';
import { signatureHeaders, signingKeysOf } from './signature.ts';

const stripe = new Stripe('sk_test_unused');

/** As a receiver would: Stripe's header has the same form and the same key. Throws when the signature is wrong or too old. */
function verifyAsStripe(body: string, header: string, secret: string, nowSeconds: number) {
  return stripe.webhooks.constructEvent(body, header, secret, 300, undefined, nowSeconds * 1_000);
}

describe('signatures', () => {
  // Made with `openssl dgst -sha256 -hmac`.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = Buffer.from('{"id":"evt_1","n":"é"}');
  const headers = signatureHeaders(signingKeysOf(secret), 'evt_1', 1_763_600_000, body);

  test('Service-Signature is the HMAC of time, dot and body under the whole secret', () => {
    expect(headers['service-signature']).toBe(
      't=1763600000,v1=8cd9066b82ff25078cecf0bcd38b68808e99bf24336eb62b58fc23e54615983e',
    );
  });

  test('the Standard Webhooks headers are the HMAC of id, time and body under the decoded secret', () => {
    expect(headers).toMatchObject({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1763600000',
      'webhook-signature': 'v1,OPgU1uzBB6hFGgvIQGAsANn8fslpAUa6sWvd0oi4+a8=',
    });
  });

  test("Stripe's library accepts a delivery, and refuses another secret, another body and another time", () => {
    const header = headers['service-signature'] ?? '';
    expect(verifyAsStripe(body.toString(), header, secret, 1_763_600_010)).toMatchObject({ id: 'evt_1' });
    expect(() => verifyAsStripe(body.toString(), header, createSigningSecret(), 1_763_600_010)).toThrow(/signature/);
    expect(() => verifyAsStripe(`${body.toString()} `, header, secret, 1_763_600_010)).toThrow(/signature/);
    expect(() => verifyAsStripe(body.toString(), header, secret, 1_763_600_301)).toThrow(/tolerance/);
  });

  test('whatever the body, both libraries accept what was signed', () => {
    fc.assert(
      fc.property(fc.json(), fc.uuid(), (text, id) => {
        const random = createSigningSecret();
        const nowSeconds = Math.floor(Date.now() / 1_000);
        const signed = signatureHeaders(signingKeysOf(random), id, nowSeconds, Buffer.from(text));
        expect(verifyAsStripe(text, signed['service-signature'] ?? '', random, nowSeconds)).toEqual(JSON.parse(text));
        expect(new Webhook(random).verify(text, signed)).toEqual(JSON.parse(text));
      }),
    );
  });
});
