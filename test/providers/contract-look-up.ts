import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LookUpResult, Provider } from '../../src/providers/provider.ts';
import { messageWith, nowMs, type AdapterCases } from './cases.ts';
import { holdDeadlines, passDeadlines } from '../helpers/deadlines.ts';
import { withOddities } from './oddities.ts';
import { answer, garbage, reset, ScriptedServer, silence, type Script } from './scripted-server.ts';

const timeoutMs = 10_000;

/** Asking an upstream where a message is: the request, every kind of answer, and none at all. */
export function describeLookUps(cases: AdapterCases): void {
  const { lookUps } = cases;
  if (lookUps === undefined) return;
  const { providerMessageId, recipient = messageWith().to, wire } = lookUps;

  describe(`${cases.name}: looking up a message`, () => {
    holdDeadlines();

    let server: ScriptedServer;
    let provider: Provider;

    beforeEach(async () => {
      server = await ScriptedServer.start();
      provider = cases.create({ baseUrl: server.baseUrl, timeoutMs, clock: { now: () => nowMs } });
    });

    afterEach(async () => {
      await server.close();
      await provider.close();
    });

    async function lookUp(script: Script): Promise<LookUpResult | undefined> {
      server.script = script;
      return provider.lookUp?.(providerMessageId, recipient);
    }

    it('writes exactly the request of the upstream', async () => {
      await lookUp(answer({ status: 404, body: '' }));
      expect(server.requests).toEqual([
        {
          ...wire,
          headers: {
            host: server.host,
            connection: 'keep-alive',
            'accept-encoding': 'identity',
            'user-agent': 'heliograph',
            ...wire.headers,
          },
        },
      ]);
    });

    it.each(lookUps.found)('finds $title', async ({ answer: given, expected }) => {
      expect(await lookUp(answer(given))).toEqual({ outcome: 'found', receipt: expected });
    });

    it.each([{ title: 'a 404', answer: { status: 404, body: '{}' } }, ...lookUps.notFound])(
      'finds nothing in $title',
      async ({ answer: given }) => {
        expect(await lookUp(answer(given))).toEqual({ outcome: 'not_found' });
      },
    );

    const unclear = [
      { title: 'a 200 without a body', script: answer({ status: 200, body: '' }) },
      { title: 'a 200 without a state', script: answer({ status: 200, body: '{}' }) },
      { title: 'a list', script: answer({ status: 200, body: '[]' }) },
      { title: 'a 401', script: answer({ status: 401, body: '{}' }) },
      { title: 'a 503', script: answer({ status: 503, body: '' }) },
      { title: 'what is not HTTP', script: garbage },
      { title: 'a reset connection', script: reset },
      ...lookUps.unclear.map(({ title, answer: given }) => ({ title, script: answer(given) })),
    ];

    it.each(unclear)('learns nothing from $title', async ({ script }) => {
      expect(await lookUp(script)).toMatchObject({ outcome: 'unavailable' });
    });

    it('learns nothing from silence, and waits no longer than the deadline', async () => {
      const asked = lookUp(silence);
      await server.taken(1);
      await passDeadlines(timeoutMs);
      expect(await asked).toMatchObject({ outcome: 'unavailable', code: 'deadline' });
    });

    it('has a result for odd values anywhere in what it finds', async () => {
      for (const body of withOddities(lookUps.found[0]?.answer.body ?? '')) {
        const result = await lookUp(answer({ status: 200, body }));
        expect(['found', 'not_found', 'unavailable']).toContain(result?.outcome);
      }
    });

    it('learns nothing where nobody listens', async () => {
      await server.close();
      expect(await lookUp(silence)).toMatchObject({ outcome: 'unavailable', code: 'ECONNREFUSED' });
    });

    it('tells when to ask again', async () => {
      expect(await lookUp(answer({ status: 429, headers: { 'retry-after': '7' }, body: '' }))).toMatchObject({
        outcome: 'unavailable',
        retryAfterMs: 7_000,
      });
    });
  });
}
