import { createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMessagebirdProvider, messagebirdErrors } from '../../src/providers/messagebird.ts';
import { messageWith, nowMs } from './cases.ts';
import { describeReceipts } from './contract-receipts.ts';
import { describeAdapter } from './contract.ts';
import { divertHttps } from './divert-https.ts';
import { messagebirdCases, messagebirdCodesByClass } from './messagebird-cases.ts';
import { messagebirdSettings, messagebirdSignature } from './messagebird-signature.ts';
import { answer, ScriptedServer } from './scripted-server.ts';

describeAdapter(messagebirdCases);

const require = createRequire(import.meta.url);

type Client = {
  messages: { create(fields: Record<string, unknown>, callback: (error: Error | null, result: unknown) => void): void };
};
const messagebird = require('messagebird') as { initClient(accessKey: string): Client };

type Verifier = {
  verify(
    url: string,
    body: Buffer | null,
    token: string,
    key: ReturnType<typeof createSecretKey>,
    options: object,
  ): Promise<true>;
  VerifyOptions: new (validateUrl: boolean, validatePayload: boolean, options: object) => object;
};
const verifier = require('messagebird/lib/webhook-signature-jwt.js') as Verifier;

function readsAsGenuine(
  { signingKey, atMs }: { signingKey: string; atMs: number },
  request: { method: string; url: string; rawBody: Buffer; token: string },
): boolean {
  const provider = createMessagebirdProvider({ ...messagebirdSettings, signingKey }, { clock: { now: () => atMs } });
  const { token, ...receipt } = request;
  const reading = provider.readReceipts({ ...receipt, headers: { 'messagebird-signature-jwt': token } });
  return reading.ok || reading.problem !== 'forged';
}

type Vector = {
  name: string;
  method: string;
  secret?: string;
  url: string;
  payload?: string;
  timestamp: string;
  token: string;
  valid: boolean;
};

const vectors: Vector[] = JSON.parse(
  readFileSync(require.resolve('messagebird/lib/testdata/webhook-signature-jwt-reference.json'), 'utf8'),
);

describe('messagebird: receipts of an account without a signing key', () => {
  const { signingKey: _unused, ...unsigned } = messagebirdSettings;
  describeReceipts({
    ...messagebirdCases,
    create: ({ baseUrl, timeoutMs, clock }) =>
      createMessagebirdProvider({ ...unsigned, baseUrl, timeoutMs }, { clock }),
    sign: () => ({}),
    forgeries: [],
  });
});

describe("messagebird: MessageBird's own examples of signatures", () => {
  it('are all there', () => {
    expect(vectors).toHaveLength(44);
    expect(vectors.filter(({ valid }) => valid)).toHaveLength(24);
  });

  it.each(vectors)('$name: valid is $valid', ({ secret, timestamp, method, url, payload, token, valid }) => {
    const request = { method, url, rawBody: Buffer.from(payload ?? ''), token };
    const atMs = Date.parse(timestamp);
    expect(readsAsGenuine({ signingKey: secret ?? 'any', atMs }, request)).toBe(valid);
  });
});

describe('messagebird: oracles', () => {
  let server: ScriptedServer;
  let undivert: () => void;

  beforeAll(async () => {
    server = await ScriptedServer.start(answer(messagebirdCases.accepted.answer));
    undivert = divertHttps(server);
  });

  afterAll(async () => {
    undivert();
    await server.close();
  });

  it('the table of errors has no code besides those that are tried above', () => {
    const tried = Object.values(messagebirdCodesByClass).flat().map(String);
    expect([...messagebirdErrors.keys()].sort()).toEqual(tried.sort());
  });

  it.each([
    { title: 'HS256', header: {}, hash: 'sha256' },
    { title: 'HS384', header: { alg: 'HS384' }, hash: 'sha384' },
    { title: 'HS512', header: { alg: 'HS512' }, hash: 'sha512' },
  ])("a token of $title is accepted by MessageBird's own library and by us", async ({ header, hash }) => {
    const url = `${messageWith().callbackUrl}?id=1`;
    const { 'messagebird-signature-jwt': token } = messagebirdSignature(
      { url, rawBody: Buffer.alloc(0) },
      { header, hash },
    );
    const key = createSecretKey(Buffer.from(messagebirdSettings.signingKey));
    const options = new verifier.VerifyOptions(true, true, { issuer: 'MessageBird', currentDate: new Date(nowMs) });
    await expect(verifier.verify(url, null, token, key, options)).resolves.toBe(true);
    const request = { method: 'GET', url, rawBody: Buffer.alloc(0), token };
    expect(readsAsGenuine({ signingKey: messagebirdSettings.signingKey, atMs: nowMs }, request)).toBe(true);
  });

  it.each([
    { title: '5 s early', offsetMs: -5_000, accepted: true },
    { title: 'more than 5 s early', offsetMs: -5_001, accepted: false },
    { title: 'until 5 s after its end', offsetMs: 64_999, accepted: true },
    { title: 'from 5 s after its end', offsetMs: 65_000, accepted: false },
  ])('a token that comes $title: accepted is $accepted', ({ offsetMs, accepted }) => {
    const url = `${messageWith().callbackUrl}?id=1`;
    const rawBody = Buffer.alloc(0);
    const { 'messagebird-signature-jwt': token } = messagebirdSignature({ url, rawBody });
    const received = { signingKey: messagebirdSettings.signingKey, atMs: nowMs + offsetMs };
    expect(readsAsGenuine(received, { method: 'GET', url, rawBody, token })).toBe(accepted);
  });

  it.each(messagebirdCases.messages)(
    "MessageBird's own client sends the same request: $title",
    async ({ request, wire }) => {
      const own: Record<string, unknown> = JSON.parse(wire.body);
      await new Promise<void>((resolve, reject) => {
        messagebird
          .initClient(messagebirdSettings.accessKey)
          .messages.create(
            { ...own, recipients: [request.to.slice(1)], body: request.body, reportUrl: request.callbackUrl },
            (error) => (error === null ? resolve() : reject(error)),
          );
      });
      const seen = server.requests.at(-1);
      expect(seen).toMatchObject({ method: 'POST', path: wire.path });
      expect(seen?.headers['authorization']).toBe(wire.headers['authorization']);
      // It writes its list of recipients as one text, joined by commas; the API takes both.
      expect(JSON.parse(seen?.body ?? '')).toEqual({ ...own, recipients: request.to.slice(1) });
    },
  );

  it('a text of more segments goes to the next provider without a request', async () => {
    const provider = createMessagebirdProvider(
      { ...messagebirdSettings, baseUrl: server.baseUrl },
      { clock: { now: () => nowMs } },
    );
    const before = server.requests.length;
    expect(await provider.send(messageWith({ body: 'a'.repeat(1_378), segments: 10 }))).toEqual({
      outcome: 'retryable',
      reason: 'unsupported',
      code: 'text_too_long',
      message: 'MessageBird takes texts of up to 9 segments',
    });
    expect(server.requests).toHaveLength(before);
    await provider.close();
  });
});
