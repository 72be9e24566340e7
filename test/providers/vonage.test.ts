import { Auth } from '@vonage/auth';
import { Messages, SMS } from '@vonage/messages';
import { verifySignature } from '@vonage/jwt';
import { Direction, Product, Reports } from '@vonage/reports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vonageErrors } from '../../src/providers/vonage-errors.ts';
import { nowMs } from './cases.ts';
import { describeAdapter } from './contract.ts';
import { answer, ScriptedServer } from './scripted-server.ts';
import { vonageCases, vonageCodesByClass } from './vonage-cases.ts';
import { vonageLookUps } from './vonage-look-ups.ts';
import { vonageSettings, vonageSignature } from './vonage-signature.ts';

describeAdapter(vonageCases);

describe('vonage: oracles', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await ScriptedServer.start(answer(vonageCases.accepted.answer));
  });

  afterAll(() => server.close());

  it('the table of errors has no code besides those that are tried above', () => {
    const tried = Object.values(vonageCodesByClass).flatMap((codes) =>
      codes.replaceAll('-', '').toLowerCase().split(' '),
    );
    expect([...vonageErrors.keys()].sort()).toEqual([...new Set(tried)].sort());
  });

  it("Vonage's own library accepts the signatures of the receipts above", () => {
    const { authorization } = vonageSignature({ rawBody: Buffer.from('{}'), issuedAtMs: nowMs });
    expect(verifySignature(authorization.slice('Bearer '.length), vonageSettings.signatureSecret)).toBe(true);
  });

  it.each(vonageCases.messages)("Vonage's own client sends the same request: $title", async ({ request, wire }) => {
    const { apiKey, apiSecret } = vonageSettings;
    const client = new Messages(new Auth({ apiKey, apiSecret }), { apiHost: server.baseUrl });
    const own: Record<string, unknown> = JSON.parse(wire.body);
    await client.send(
      new SMS({
        channel: 'sms',
        messageType: 'text',
        to: String(own['to']),
        from: String(own['from']),
        text: request.body,
        clientRef: request.ref,
        webhookUrl: request.callbackUrl,
        webhookVersion: 'v1',
        sms: { encodingType: request.encoding === 'gsm7' ? 'text' : 'unicode' },
      }),
    );
    const seen = server.requests.at(-1);
    expect(seen).toMatchObject({ method: 'POST', path: wire.path });
    expect(seen?.headers['authorization']).toBe(wire.headers['authorization']);
    expect(JSON.parse(seen?.body ?? '')).toEqual(own);
  });

  it("Vonage's own client asks the same question about a message", async () => {
    const { apiKey, apiSecret } = vonageSettings;
    const { wire, providerMessageId } = vonageLookUps;
    const client = new Reports(new Auth({ apiKey, apiSecret }), { apiHost: server.baseUrl });
    // Its types leave out `id`, which the API takes.
    const question = {
      product: Product.MESSAGES as const,
      accountId: apiKey,
      direction: Direction.OUTBOUND,
      id: providerMessageId,
    };
    await client.getRecords(question);
    const seen = server.requests.at(-1);
    const [path, query] = (seen?.path ?? '').split('?');
    const [ownPath, ownQuery] = wire.path.split('?');
    expect(seen).toMatchObject({ method: wire.method, body: wire.body });
    expect(seen?.headers['authorization']).toBe(wire.headers['authorization']);
    expect(path).toBe(ownPath);
    expect(Object.fromEntries(new URLSearchParams(query))).toEqual(Object.fromEntries(new URLSearchParams(ownQuery)));
  });
});
