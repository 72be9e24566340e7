import fc from 'fast-check';
import twilio from 'twilio';
import { afterAll, describe, expect, it } from 'vitest';
import { createTwilioProvider } from './twilio.ts';

const authToken = '12345';
const provider = createTwilioProvider(
  { baseUrl: 'https://api.twilio.com', accountSid: `AC${'x'.repeat(32)}`, authToken, timeoutMs: 1_000 },
  { clock: { now: () => 0 } },
);

afterAll(() => provider.close());

function read(url: string, body: string, signature: string) {
  return provider.readReceipts({
    method: 'POST',
    url,
    headers: { 'x-twilio-signature': signature },
    rawBody: Buffer.from(body),
  });
}

describe('X-Twilio-Signature', () => {
  const sid = 'SM1342fe1b2c904d1ab04f0fc7a58abca9';
  const url = 'https://hooks.example.com/dlr/twilio/abc?x=1';

  it('verifies a whole callback', () => {
    const body = new URLSearchParams({
      MessageSid: sid,
      SmsSid: sid,
      MessageStatus: 'delivered',
      SmsStatus: 'delivered',
      AccountSid: `AC${'x'.repeat(32)}`,
      From: '+15017250604',
      To: '+15558675310',
      ApiVersion: '2010-04-01',
      RawDlrDoneDate: '2301011200',
    }).toString();
    expect(read(url, body, 'yPM1y+d7IgcXxYPQLOXa/CMWm90=')).toEqual({
      ok: true,
      receipts: [{ providerMessageId: sid, state: 'delivered' }],
    });
  });

  it('sorts upper case first and takes each distinct value of a repeated field once', () => {
    const signature = 'nJVtxMnTjmgfzQbteCaYzKlcKhI=';
    expect(read(url, 'a=2&a=1&a=2&B=x', signature)).toMatchObject({ problem: 'malformed' });
    expect(read(url, 'B=x&a=1&a=2', signature)).toMatchObject({ problem: 'malformed' });
    expect(read(url, 'a=2&a=1&a=3&B=x', signature)).toMatchObject({ problem: 'forged' });
  });

  it.each([
    ['https://sms.example.com/r/x', 'https://sms.example.com:443/r/x'],
    ['https://sms.example.com:443/r/x?a=b', 'https://sms.example.com/r/x?a=b'],
    ['http://sms.example.com/r/x', 'http://sms.example.com:80/r/x'],
    ['http://sms.example.com:8080/r/x', 'http://sms.example.com/r/x'],
    ['https://sms.example.com:8443/r/x', 'https://sms.example.com:8443/r/x'],
    ['https://[2001:db8::1]/r/x', 'https://[2001:db8::1]:443/r/x'],
    ['https://sms.example.com/r/x#rc=3', 'https://sms.example.com/r/x'],
    ['https://sms.example.com', 'https://sms.example.com:443'],
  ])('accepts for %s a signature over %s', (configured, signed) => {
    const body = `MessageSid=${sid}&MessageStatus=sent`;
    const signature = twilio.getExpectedTwilioSignature(authToken, signed, { MessageSid: sid, MessageStatus: 'sent' });
    expect(read(configured, body, signature)).toMatchObject({ ok: true });
  });

  it('does not accept a signature over a port that is neither the configured nor the standard one', () => {
    const signature = twilio.getExpectedTwilioSignature(authToken, 'https://sms.example.com:444/r/x', { a: '1' });
    expect(read('https://sms.example.com/r/x', 'a=1', signature)).toMatchObject({ problem: 'forged' });
    expect(read('https://sms.example.com:8443/r/x', 'a=1', signature)).toMatchObject({ problem: 'forged' });
  });

  it("agrees with Twilio's own library on any fields", () => {
    const anyName = fc.oneof(fc.constantFrom('MessageSid', 'MessageStatus', 'a', 'B'), fc.string({ unit: 'binary' }));
    const anyFields = fc.array(fc.tuple(anyName, fc.string({ unit: 'binary' })));
    const anyPath = fc.webPath();
    fc.assert(
      fc.property(anyFields, anyPath, fc.boolean(), (fields, path, tampered) => {
        const grouped: Record<string, string[]> = Object.create(null);
        for (const [name, value] of fields) (grouped[name] ??= []).push(value);
        const signedUrl = `https://sms.example.com${path}`;
        const signature = twilio.getExpectedTwilioSignature(authToken, signedUrl, grouped);
        const givenUrl = tampered ? `${signedUrl}x` : signedUrl;

        const reading = read(givenUrl, new URLSearchParams(fields).toString(), signature);
        const isForged = !reading.ok && reading.problem === 'forged';
        expect(isForged).toBe(!twilio.validateRequest(authToken, signature, givenUrl, grouped));
        expect(isForged).toBe(tampered);
      }),
    );
  });
});
