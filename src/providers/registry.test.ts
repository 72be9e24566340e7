import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Check, Default, Errors } from 'typebox/value';
import type { TObject } from 'typebox';
import { describe, expect, it } from 'vitest';
import { createProviders, paceOf, providersSettingsSchema, type ProvidersSettings } from './registry.ts';

const twilio = { accountSid: `AC${'0'.repeat(32)}`, authToken: 'token' };
const vonage = { apiKey: 'key', apiSecret: 'secret', signatureSecret: 'another' };
const infobip = { apiKey: 'key' };
const sinch = { servicePlanId: 'plan', apiToken: 'token' };
const plivo = { authId: 'MA0123', authToken: 'token' };
const telnyx = { apiKey: 'key', publicKey: `${'0'.repeat(43)}=` };
const messagebird = { accessKey: 'key', signingKey: 'another' };
const africastalking = { username: 'name', apiKey: 'key' };
const all = { twilio, vonage, infobip, sinch, plivo, telnyx, messagebird, africastalking };

function withDefaults(settings: unknown): ProvidersSettings {
  const complete: unknown = Default(providersSettingsSchema, structuredClone(settings));
  if (!Check(providersSettingsSchema, complete)) {
    throw new Error(JSON.stringify(Errors(providersSettingsSchema, complete)));
  }
  return complete;
}

describe('the settings of providers', () => {
  it('need no more than the credentials', () => {
    const timeoutMs = 10_000;
    expect(withDefaults(all)).toEqual({
      twilio: { ...twilio, baseUrl: 'https://api.twilio.com', timeoutMs },
      vonage: { ...vonage, baseUrl: 'https://api.nexmo.com', timeoutMs },
      infobip: { ...infobip, baseUrl: 'https://api.infobip.com', deliveredToOperatorIsDelivered: true, timeoutMs },
      sinch: { ...sinch, baseUrl: 'https://us.sms.api.sinch.com', timeoutMs },
      plivo: { ...plivo, baseUrl: 'https://api.plivo.com', timeoutMs },
      telnyx: { ...telnyx, baseUrl: 'https://api.telnyx.com', timeoutMs },
      messagebird: { ...messagebird, baseUrl: 'https://rest.messagebird.com', timeoutMs },
      africastalking: { ...africastalking, baseUrl: 'https://api.africastalking.com', timeoutMs },
    });
    expect(withDefaults({})).toEqual({});
  });

  it('may replace every default', () => {
    const complete = {
      twilio: {
        ...twilio,
        baseUrl: 'http://127.0.0.1:8081/twilio',
        apiKey: { sid: `SK${'0'.repeat(32)}`, secret: 'secret' },
        messagingServiceSid: `MG${'0'.repeat(32)}`,
        timeoutMs: 60_000,
      },
    };
    expect(withDefaults(complete)).toEqual(complete);
  });

  it('give a signature of receipts its defaults', () => {
    const receiptSignature = { secret: 'secret', header: 'X-Signature' };
    expect(withDefaults({ infobip: { ...infobip, receiptSignature } })).toMatchObject({
      infobip: { receiptSignature: { ...receiptSignature, prefix: '', algorithm: 'sha256' } },
    });
  });

  it.each([
    ['a provider nobody knows', { nobody: {} }],
    ['missing credentials', { twilio: { accountSid: twilio.accountSid } }],
    ['a setting nobody knows', { vonage: { ...vonage, retries: 3 } }],
    ['an account SID of another kind', { twilio: { ...twilio, accountSid: 'SK123' } }],
    ['an empty secret', { vonage: { ...vonage, signatureSecret: '' } }],
    ['a public key of another length', { telnyx: { ...telnyx, publicKey: 'AAAA' } }],
    ['a service plan that is a path', { sinch: { ...sinch, servicePlanId: 'a/b' } }],
    [
      'a hash nobody knows',
      { infobip: { ...infobip, receiptSignature: { secret: 's', header: 'h', algorithm: 'md5' } } },
    ],
    ['a base URL of another scheme', { vonage: { ...vonage, baseUrl: 'ftp://example.com' } }],
    ['a base URL with a query', { vonage: { ...vonage, baseUrl: 'https://example.com/?a=b' } }],
    ['a time-out beyond a minute', { vonage: { ...vonage, timeoutMs: 60_001 } }],
    ['a time-out of nothing', { vonage: { ...vonage, timeoutMs: 0 } }],
  ])('refuse %s', (_title, settings) => {
    expect(() => withDefaults(settings)).toThrow();
  });

  it('are all described', () => {
    const { properties } = providersSettingsSchema as unknown as { properties: Record<string, TObject> };
    for (const schema of Object.values(properties)) {
      for (const property of Object.values(schema.properties)) expect(property).toHaveProperty('description');
    }
  });
});

describe('the pace of a provider', () => {
  it.each([
    ['twilio', 2_000, 100],
    ['vonage', 30, 128],
    ['infobip', undefined, 128],
    ['sinch', undefined, 128],
    ['plivo', 5, 128],
    ['telnyx', 50, 128],
    ['messagebird', 10, 128],
    ['africastalking', 10, 128],
    ['smpp', undefined, 128],
  ] as const)('is what %s documents, unless it is set', (name, ratePerSecond, concurrencyMax) => {
    const settings = { ...withDefaults(all), smpp: { host: 'smsc.example' } } as unknown as ProvidersSettings;
    expect(paceOf(settings, name)).toEqual({ ratePerSecond, concurrencyMax });
  });

  it('is as it is set; a bind keeps to its rate by itself', () => {
    const pace = { ratePerSecond: 7.5, concurrency: 3 };
    const settings = withDefaults({ plivo: { ...plivo, ...pace } });
    expect(paceOf(settings, 'plivo')).toEqual({ ratePerSecond: 7.5, concurrencyMax: 3 });
    const bind = { smpp: { ...pace } } as unknown as ProvidersSettings;
    expect(paceOf(bind, 'smpp')).toEqual({ ratePerSecond: undefined, concurrencyMax: 3 });
  });

  it('is described with what it is where it is not set', () => {
    const { properties } = providersSettingsSchema as unknown as {
      properties: Record<string, { properties: Record<string, { description: string }> }>;
    };
    const about = (name: string, setting: string) => properties[name]?.properties[setting]?.description;
    expect(about('vonage', 'ratePerSecond')).toMatch(/Omitted: 30\.$/);
    expect(about('infobip', 'ratePerSecond')).toMatch(/Omitted: no limit\.$/);
    expect(about('twilio', 'concurrency')).toMatch(/Omitted: 100\.$/);
  });
});

describe('the providers', () => {
  it('are those that are configured, in the order of the API', async () => {
    const reversed = Object.fromEntries(Object.entries(all).toReversed());
    const providers = createProviders(withDefaults(reversed), { clock: { now: () => 0 }, random: () => 0.5 });
    expect([...providers.keys()]).toEqual(Object.keys(all));
    for (const [name, provider] of providers) {
      expect(provider.name).toBe(name);
      await provider.close();
    }
  });

  it('take as many messages at a time as they were given places for', async () => {
    const concurrency = 140;
    const waiting: ServerResponse[] = [];
    const server = createServer((_request, response) => waiting.push(response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const settings = withDefaults({ sinch: { ...sinch, baseUrl: `http://127.0.0.1:${port}`, concurrency } });
    const provider = createProviders(settings, { clock: { now: () => 0 }, random: () => 0.5 }).get('sinch');
    if (provider === undefined) throw new Error('there is no sinch');
    const request = {
      to: '+14155550123',
      from: 'HELIO',
      body: 'Hello',
      callbackUrl: 'http://127.0.0.1/',
      ref: 'ref',
      segments: 1,
    };
    const sending = Array.from({ length: concurrency }, () => provider.send({ ...request, encoding: 'gsm7' }));
    await expect.poll(() => waiting.length).toBe(concurrency);
    for (const response of waiting) response.writeHead(503).end();
    await Promise.all(sending);
    await provider.close();
    server.close();
  });

  it('are none where none is configured', () => {
    expect(createProviders({}, { clock: { now: () => 0 }, random: () => 0.5 })).toEqual(new Map());
  });
});
