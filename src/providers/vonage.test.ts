import { verifySignature } from '@vonage/jwt';
import { SignJWT } from 'jose';
import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { SendRequest } from './provider.ts';
import { createVonageProvider, reportsUrl } from './vonage.ts';

const signatureSecret = 'XsA5o1P9c6JrkKoOsXvpb6h6Sw5ySecret';
const issuedAtMs = 1_587_494_962_000;
const hourMs = 60 * 60 * 1_000;

const clock = { nowMs: issuedAtMs, now: () => clock.nowMs };
const provider = createVonageProvider(
  { baseUrl: 'http://127.0.0.1:9', apiKey: 'a1b2c3d', apiSecret: 'secret', signatureSecret, timeoutMs: 1_000 },
  { clock },
);

afterAll(() => provider.close());

const body = '{"message_uuid":"aaaaaaaa-bbbb-cccc-dddd-0123456789ab","status":"delivered"}';
const token =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE1ODc0OTQ5NjIsImp0aSI6ImM1YmE4ZjI0LTFhMTQtNGMxMC1iZmRmLTNmYmU4Y2U1MTFi' +
  'NSIsImlzcyI6IlZvbmFnZSIsInBheWxvYWRfaGFzaCI6IjMyMTM4YjY0NzVjNGM0YjU1YjI0YjU2MjBlOTJjZGNmMzI2ZDQ0ZDcyZjVjNDI1MzVlMGQy' +
  'ZTg2NWFmNWI1YzciLCJhcGlfa2V5IjoiYTFiMmMzZCJ9.nJRwICijY7pj-usnvMEzxDtI5tTFa64ebQzI9nSAZR8';

const delivered = {
  ok: true,
  receipts: [{ providerMessageId: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab', state: 'delivered' }],
};

function read(authorization: string, nowMs = issuedAtMs) {
  clock.nowMs = nowMs;
  return provider.readReceipts({
    method: 'POST',
    url: 'https://sms.example.com/receipts/vonage/x',
    headers: { authorization },
    rawBody: Buffer.from(body),
  });
}

describe('the token of a Vonage callback', () => {
  it("is accepted where Vonage's own library accepts it", () => {
    expect(verifySignature(token, signatureSecret)).toBe(true);
    expect(read(`Bearer ${token}`)).toEqual(delivered);
  });

  it.each([
    { age: 'five minutes ahead', nowMs: issuedAtMs - hourMs / 12, accepted: true },
    { age: 'more than five minutes ahead', nowMs: issuedAtMs - hourMs / 12 - 1, accepted: false },
    { age: '25 hours old', nowMs: issuedAtMs + 25 * hourMs, accepted: true },
    { age: 'more than 25 hours old', nowMs: issuedAtMs + 25 * hourMs + 1, accepted: false },
  ])('that is $age: accepted is $accepted', ({ nowMs, accepted }) => {
    expect(read(`Bearer ${token}`, nowMs).ok).toBe(accepted);
  });

  it('is refused in any other spelling of the same signature', () => {
    const padded = `${token}=`;
    // 32 bytes leave two bits of the last character unused: `8` and `9` decode to the same signature.
    const respelled = `${token.slice(0, -1)}9`;
    expect(Buffer.from(respelled.split('.')[2] ?? '', 'base64url')).toEqual(
      Buffer.from(token.split('.')[2] ?? '', 'base64url'),
    );
    expect(read(`Bearer ${padded}`)).toMatchObject({ problem: 'forged' });
    expect(read(`Bearer ${respelled}`)).toMatchObject({ problem: 'forged' });
  });

  it.each(['HS384', 'HS512'])('is refused when signed with %s under the right secret', async (alg) => {
    const claims = {
      iss: 'Vonage',
      api_key: 'a1b2c3d',
      payload_hash: createHash('sha256').update(body).digest('hex'),
    };
    const sign = (algorithm: string) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm })
        .setIssuedAt(issuedAtMs / 1_000)
        .sign(Buffer.from(signatureSecret));
    expect(read(`Bearer ${await sign('HS256')}`)).toEqual(delivered);
    expect(read(`Bearer ${await sign(alg)}`)).toMatchObject({ problem: 'forged' });
  });
});

describe('a text longer than Vonage takes', () => {
  it('goes to the next provider without a request, and says nothing about the health of this one', async () => {
    const request: SendRequest = {
      to: '+447700900123',
      from: 'HELIO',
      body: 'a'.repeat(1_001),
      encoding: 'gsm7',
      segments: 7,
      callbackUrl: 'https://sms.example.com/receipts/vonage/x',
      ref: 'x',
    };
    expect(await provider.send(request)).toEqual({
      outcome: 'retryable',
      reason: 'unsupported',
      code: 'text_too_long',
      message: 'Vonage takes texts of up to 1000 characters',
    });
  });
});

describe('lost receipts are asked for', () => {
  it.each([
    'https://api.nexmo.com',
    'https://api-eu.nexmo.com',
    'https://api-us.vonage.com',
    'https://api.vonage.com/',
  ])('at the one host of the Reports API where messages go to %s', (baseUrl) => {
    expect(reportsUrl(baseUrl)).toBe('https://api.nexmo.com');
  });

  it.each(['http://127.0.0.1:8081/vonage', 'https://proxy.example.com', 'https://nexmo.com.example.com/vonage'])(
    'where messages go, at %s, which is not of Vonage',
    (baseUrl) => {
      expect(reportsUrl(baseUrl)).toBe(baseUrl);
    },
  );
});
