import { createHmac } from 'node:crypto';
import { createSinchProvider, type SinchSettings } from '../../src/providers/sinch.ts';
import { nowMs, type AdapterCases } from './cases.ts';

export const sinchSettings: SinchSettings = {
  baseUrl: 'https://us.sms.api.sinch.com',
  servicePlanId: 'a-service-plan',
  apiToken: 'a-token-of-the-plan',
  timeoutMs: 1_000,
};

export const sinchWebhookSecret = 'foo_secret1234';

/** A callback's headers as Sinch signs them, where that was arranged. */
export function sinchSignature(
  rawBody: Buffer,
  { issuedAtMs = nowMs, nonce = '01FJA8B4A7BM43YGWSG9GBV067', secret = sinchWebhookSecret } = {},
): Record<string, string> {
  const timestamp = String(Math.floor(issuedAtMs / 1_000));
  const signed = Buffer.concat([rawBody, Buffer.from(`.${nonce}.${timestamp}`)]);
  return {
    'x-sinch-webhook-signature': createHmac('sha256', secret).update(signed).digest('base64'),
    'x-sinch-webhook-signature-nonce': nonce,
    'x-sinch-webhook-signature-timestamp': timestamp,
    'x-sinch-webhook-signature-algorithm': 'HmacSHA256',
  };
}

function resigned(title: string, changes: Parameters<typeof sinchSignature>[1]): AdapterCases['forgeries'][number] {
  return { title, forge: (receipt) => ({ ...receipt, headers: sinchSignature(receipt.rawBody, changes) }) };
}

function changed(title: string, name: string, value: string | string[] | undefined): AdapterCases['forgeries'][number] {
  return { title, forge: (receipt) => ({ ...receipt, headers: { ...receipt.headers, [name]: value } }) };
}

const hourMs = 60 * 60 * 1_000;

/** The same adapter with a secret: nothing unsigned is believed any more. */
export const sinchSigned: Pick<AdapterCases, 'create' | 'sign' | 'forgeries'> = {
  create: ({ baseUrl, timeoutMs, clock }) =>
    createSinchProvider({ ...sinchSettings, webhookSecret: sinchWebhookSecret, baseUrl, timeoutMs }, { clock }),
  sign: ({ rawBody, issuedAtMs }) => sinchSignature(rawBody, { issuedAtMs }),
  forgeries: [
    resigned('another secret', { secret: 'another' }),
    resigned('a signature more than 25 hours old', { issuedAtMs: nowMs - 25 * hourMs - 1_000 }),
    resigned('a signature more than five minutes ahead', { issuedAtMs: nowMs + hourMs / 12 + 1_000 }),
    changed('another nonce', 'x-sinch-webhook-signature-nonce', '01FJA8B4A7BM43YGWSG9GBV068'),
    changed('no nonce', 'x-sinch-webhook-signature-nonce', undefined),
    changed('another time', 'x-sinch-webhook-signature-timestamp', String(nowMs / 1_000 + 1)),
    changed('a time that is no number', 'x-sinch-webhook-signature-timestamp', 'now'),
    changed('no time', 'x-sinch-webhook-signature-timestamp', undefined),
    changed('an empty signature', 'x-sinch-webhook-signature', ''),
    changed('two signatures', 'x-sinch-webhook-signature', ['one', 'another']),
  ],
};
