import fc from 'fast-check';
import plivo from 'plivo';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plivoReceiptTexts } from '../../src/providers/plivo.ts';
import { messageWith, nowMs } from './cases.ts';
import { describeAdapter } from './contract.ts';
import { plivoCases, plivoCodes } from './plivo-cases.ts';
import { plivoSettings, plivoSignature } from './plivo-signature.ts';
import { answer, ScriptedServer } from './scripted-server.ts';

describeAdapter(plivoCases);

const { authToken } = plivoSettings;
const nonce = '1234567890';

describe('plivo: oracles', () => {
  const provider = plivoCases.create({
    baseUrl: 'http://127.0.0.1:9',
    timeoutMs: 1_000,
    clock: { now: () => nowMs },
  });
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await ScriptedServer.start(answer(plivoCases.accepted.answer));
  });

  afterAll(async () => {
    await provider.close();
    await server.close();
  });

  function isRefused(url: string, body: string, headers: Record<string, string>): boolean {
    const reading = provider.readReceipts({
      method: 'POST',
      url,
      headers: { 'x-plivo-signature-v3-nonce': nonce, ...headers },
      rawBody: Buffer.from(body),
    });
    return !reading.ok && reading.problem === 'forged';
  }

  it('the table of codes has none besides those that are documented', () => {
    expect([...plivoReceiptTexts.keys()]).toEqual(plivoCodes.map(String));
  });

  it.each([
    { url: 'https://hooks.example.com/dlr/plivo/abc', signature: 'QAd9aMUK8lqFUMDp9j2vSvdSZzDo8S6OJeqq40Z0WO4=' },
    {
      url: 'https://hooks.example.com/dlr/plivo/abc?b=2&a=1',
      signature: '7NtPlO0gR/TpHzY4uSllnY8Pr9ZnY/ugNtTaFTiYulM=',
    },
  ])('a signature over $url is accepted, by us and by Plivo', ({ url, signature }) => {
    const params = { MessageUUID: 'a1b2', Status: 'delivered', To: '254712345678', From: 'ACME', Units: '1' };
    expect(plivo.validateV3Signature('POST', url, nonce, authToken, signature, params)).toBe(true);
    const body = new URLSearchParams(params).toString();
    expect(isRefused(url, body, { 'x-plivo-signature-v3': signature })).toBe(false);
    expect(isRefused(url, body, { 'x-plivo-signature-ma-v3': signature })).toBe(false);
    expect(isRefused(url, body, { 'x-plivo-signature-v3': `b3RoZXI=,${signature}` })).toBe(false);
    expect(isRefused(url, body, { 'x-plivo-signature-v3': 'b3RoZXI=', 'x-plivo-signature-ma-v3': signature })).toBe(
      false,
    );
    expect(isRefused(`${url}x`, body, { 'x-plivo-signature-v3': signature })).toBe(true);
  });

  it("agrees with Plivo's own library on any fields and query", () => {
    const anyName = fc.oneof(fc.constantFrom('MessageUUID', 'Status', 'a', 'B'), fc.string({ unit: 'binary' }));
    const anyFields = fc.array(fc.tuple(anyName, fc.string({ unit: 'binary' })));
    const anyQuery = fc.array(fc.tuple(fc.stringMatching(/^[a-zA-Z]{1,3}$/), fc.stringMatching(/^[\w-]{0,4}$/)));
    fc.assert(
      fc.property(anyFields, anyQuery, fc.boolean(), (fields, query, isTampered) => {
        const grouped: Record<string, string[]> = Object.create(null);
        for (const [name, value] of fields) (grouped[name] ??= []).push(value);
        const url = `https://sms.example.com:8443/r/x${query.length > 0 ? `?${new URLSearchParams(query).toString()}` : ''}`;
        const body = new URLSearchParams(fields).toString();
        const signature = plivoSignature(url, Buffer.from(body))['x-plivo-signature-v3'] ?? '';
        const receivedUrl = isTampered ? url.replace('/r/x', '/r/y') : url;

        const isForged = isRefused(receivedUrl, body, { 'x-plivo-signature-v3': signature });
        const isValid = plivo.validateV3Signature('POST', receivedUrl, nonce, authToken, signature, grouped);
        expect(isForged).toBe(!isValid);
        expect(isForged).toBe(isTampered);
      }),
      { examples: [[[['', '']], [], false]] },
    );
  });

  it.each(plivoCases.messages)("Plivo's own client sends the same request: $title", async ({ request, wire }) => {
    const own: Record<string, unknown> = JSON.parse(wire.body);
    const url = `${server.baseUrl}/v1/Account/${plivoSettings.authId}`;
    const client = new plivo.Client(plivoSettings.authId, authToken, { url });
    const sent = { src: own['src'], dst: own['dst'], text: request.body, url: request.callbackUrl, method: 'POST' };
    // One object of named fields, which the types of the client do not know.
    await (client.messages.create as (fields: object) => Promise<unknown>).call(client.messages, sent);
    const seen = server.requests.at(-1);
    expect(seen).toMatchObject({ method: 'POST', path: wire.path });
    expect(seen?.headers['authorization']).toBe(wire.headers['authorization']);
    expect(JSON.parse(seen?.body ?? '')).toEqual(own);
  });

  it('a longer Unicode text goes to the next provider without a request', async () => {
    const request = messageWith({ body: 'ж'.repeat(738), encoding: 'ucs2', segments: 12 });
    expect(await provider.send(request)).toEqual({
      outcome: 'retryable',
      reason: 'unsupported',
      code: 'text_too_long',
      message: 'Plivo takes Unicode texts of up to 737 characters',
    });
  });
});
