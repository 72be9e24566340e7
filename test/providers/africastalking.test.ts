import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  africastalkingCodes,
  africastalkingErrors,
  africastalkingReasons,
} from '../../src/providers/africastalking.ts';
import { messageWith, nowMs } from './cases.ts';
import { africastalkingCases, africastalkingCodesByClass, africastalkingSettings } from './africastalking-cases.ts';
import { describeAdapter } from './contract.ts';
import { divertHttps } from './divert-https.ts';
import { answer, ScriptedServer } from './scripted-server.ts';

describeAdapter(africastalkingCases);

type Client = { SMS: { send(message: { to: string; from: string; message: string }): Promise<unknown> } };

const createClient = createRequire(import.meta.url)('africastalking') as (credentials: {
  username: string;
  apiKey: string;
}) => Client;

describe('africastalking: oracles', () => {
  let server: ScriptedServer;
  let undivert: () => void;

  beforeAll(async () => {
    server = await ScriptedServer.start(answer(africastalkingCases.accepted.answer));
    undivert = divertHttps(server);
  });

  afterAll(async () => {
    undivert();
    await server.close();
  });

  it('the tables have no codes, names or reasons besides those that are tried above', () => {
    const tried = Object.assign({}, ...Object.values(africastalkingCodesByClass));
    expect([...africastalkingErrors.keys()].sort()).toEqual(Object.keys(tried).sort());
    expect(Object.fromEntries([...africastalkingCodes].map(([name, code]) => [code, name]))).toEqual(tried);
    const receipts = africastalkingCases.receipts.map(({ title }) => title.toLowerCase());
    const untried = [...africastalkingReasons.keys()].filter(
      (reason) => !receipts.some((title) => title.includes(` ${reason} `)),
    );
    expect(untried).toEqual([]);
  });

  it('says that its receipts name no more than the message', async () => {
    const provider = africastalkingCases.create({
      baseUrl: server.baseUrl,
      timeoutMs: 1_000,
      clock: { now: () => nowMs },
    });
    expect(provider.receiptsByMessageId).toBe(true);
    await provider.send(messageWith());
    expect(server.requests.at(-1)?.body).not.toContain(messageWith().ref);
    await provider.close();
  });

  it.each(africastalkingCases.messages)('its own client sends the same request: $title', async ({ request, wire }) => {
    const { username, apiKey } = africastalkingSettings;
    const from = new URLSearchParams(wire.body).get('from') ?? '';
    await createClient({ username, apiKey }).SMS.send({ to: request.to, from, message: request.body });
    const seen = server.requests.at(-1);
    expect(seen).toMatchObject({ method: 'POST', path: wire.path });
    expect(seen?.headers['apikey']).toBe(wire.headers['apikey']);
    expect(Object.fromEntries(new URLSearchParams(seen?.body))).toEqual(
      Object.fromEntries(new URLSearchParams(wire.body)),
    );
  });
});
