import { Telnyx } from 'telnyx';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTelnyxProvider, telnyxErrors } from '../../src/providers/telnyx.ts';
import { messageWith, nowMs } from './cases.ts';
import { describeAdapter } from './contract.ts';
import { answer, ScriptedServer } from './scripted-server.ts';
import { telnyxCases, telnyxCodesByClass } from './telnyx-cases.ts';
import { telnyxForgeries, telnyxSettings, telnyxSignature } from './telnyx-signature.ts';

describeAdapter(telnyxCases);

describe('telnyx: oracles', () => {
  const { apiKey, publicKey } = telnyxSettings;
  const clock = { nowMs, now: () => clock.nowMs };
  const { callbackUrl: url } = messageWith();
  let server: ScriptedServer;
  let client: Telnyx;

  beforeAll(async () => {
    server = await ScriptedServer.start(answer(telnyxCases.accepted.answer));
    client = new Telnyx({ apiKey, publicKey, baseURL: `${server.baseUrl}/v2`, maxRetries: 0 });
  });

  afterAll(() => server.close());

  async function read(rawBody: Buffer, headers: Record<string, string | string[] | undefined>, atMs: number) {
    clock.nowMs = atMs;
    const provider = telnyxCases.create({ baseUrl: server.baseUrl, timeoutMs: 1_000, clock });
    const reading = provider.readReceipts({ method: 'POST', url, headers, rawBody });
    await provider.close();
    return reading;
  }

  it('the table of errors has no code besides those that are tried above', () => {
    const tried = Object.values(telnyxCodesByClass).flat().map(String);
    expect([...telnyxErrors.keys()].sort()).toEqual(tried.sort());
  });

  it('a signature of 2023 is accepted at its time', async () => {
    const rawBody = Buffer.from('{"data":{"event_type":"message.finalized"}}');
    const headers = {
      'telnyx-timestamp': '1700000000',
      'telnyx-signature-ed25519':
        'q3zIeDwREjaDqgWn+KzZuzxZrbVNXEaeobZD29+OsH07SF+V8dixRhDrOkQ7OmpPWSbsglJEIff33FcH9AlaDg==',
    };
    expect(telnyxSignature(rawBody, { issuedAtMs: 1_700_000_000_000 })).toEqual(headers);
    expect(await read(rawBody, headers, 1_700_000_000_000)).toMatchObject({ problem: 'malformed' });
    expect(await read(rawBody, headers, 1_700_000_300_000)).toMatchObject({ problem: 'malformed' });
    expect(await read(rawBody, headers, 1_699_999_700_000)).toMatchObject({ problem: 'malformed' });
    expect(await read(rawBody, headers, 1_700_000_300_001)).toMatchObject({ problem: 'forged' });
    expect(await read(rawBody, headers, 1_699_999_699_999)).toMatchObject({ problem: 'forged' });
  });

  // The client looks at the real time.
  const atMs = Date.now();

  it("Telnyx's own client accepts the signatures of the receipts above", async () => {
    const [receipt] = telnyxCases.receipts;
    const rawBody = Buffer.from(receipt?.content ?? '');
    const headers = telnyxSignature(rawBody, { issuedAtMs: atMs });
    await expect(client.webhooks.unwrap(rawBody.toString(), { headers })).resolves.toMatchObject({ data: {} });
    expect(await read(rawBody, headers, atMs)).toEqual({ ok: true, receipts: receipt?.expected });
  });

  const shifted = telnyxForgeries.filter(({ title }) => !/300 s|another time|two signatures/.test(title));

  it.each(shifted)("Telnyx's own client refuses $title too", async (forgery) => {
    const rawBody = Buffer.from('{"data":{}}');
    const { headers } = forgery.forge({
      method: 'POST',
      url,
      rawBody,
      headers: telnyxSignature(rawBody, { issuedAtMs: atMs }),
    });
    const given: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') given[name] = value;
    await expect(client.webhooks.unwrap(rawBody.toString(), { headers: given })).rejects.toThrow();
  });

  it.each(telnyxCases.messages)("Telnyx's own client sends the same request: $title", async ({ request, wire }) => {
    const own: Record<string, unknown> = JSON.parse(wire.body);
    await client.messages.send({
      from: String(own['from']),
      to: request.to,
      text: request.body,
      type: 'SMS',
      encoding: request.encoding,
      webhook_url: request.callbackUrl,
      use_profile_webhooks: false,
    });
    const seen = server.requests.at(-1);
    expect(seen).toMatchObject({ method: 'POST', path: wire.path });
    expect(seen?.headers['authorization']).toBe(wire.headers['authorization']);
    expect(JSON.parse(seen?.body ?? '')).toEqual(own);
  });

  it('names the messaging profile where one is configured', async () => {
    const settings = { ...telnyxSettings, baseUrl: server.baseUrl, messagingProfileId: 'a-profile' };
    const provider = createTelnyxProvider(settings, { clock });
    await provider.send(messageWith());
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toMatchObject({ messaging_profile_id: 'a-profile' });
    await provider.close();
  });
});
