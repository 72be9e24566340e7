import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Provider } from '../../src/providers/provider.ts';
import { messageWith, nowMs, type AdapterCases } from './cases.ts';
import { holdDeadlines, nextHead, passDeadlines } from '../helpers/deadlines.ts';
import { holdsNul, withOddities } from './oddities.ts';
import {
  answer,
  answerCutAfter,
  garbage,
  hangUp,
  reset,
  ScriptedServer,
  silence,
  trickle,
  type Script,
} from './scripted-server.ts';

const timeoutMs = 10_000;

/** Broken upstreams and networks: what is certainly not sent is retryable, what may have been sent is unknown, nothing throws. */
export function describeFaults(cases: AdapterCases): void {
  describe(`${cases.name}: faults`, () => {
    holdDeadlines();

    let server: ScriptedServer;
    let provider: Provider;

    const createFor = (baseUrl: string) => cases.create({ baseUrl, timeoutMs, clock: { now: () => nowMs } });

    beforeEach(async () => {
      server = await ScriptedServer.start();
      provider = createFor(server.baseUrl);
    });

    afterEach(async () => {
      await server.close();
      await provider.close();
    });

    const unavailable = { outcome: 'retryable', reason: 'unavailable' };
    const unknown = { outcome: 'unknown' };
    const { answer: acceptance, providerMessageId } = cases.accepted;

    it('is retryable when the connection is refused', async () => {
      await server.close();
      expect(await provider.send(messageWith())).toMatchObject({ ...unavailable, code: 'ECONNREFUSED' });
    });

    it('is retryable when the host does not exist', async () => {
      const lost = createFor('http://upstream.invalid');
      const sent = lost.send(messageWith());
      // Some machines look for it until the deadline.
      await passDeadlines(timeoutMs);
      expect(await sent).toMatchObject(unavailable);
      await lost.close();
    });

    it('is retryable when TLS fails', async () => {
      const plain = createServer().listen(0, '127.0.0.1');
      await once(plain, 'listening');
      const mistaken = createFor(`https://127.0.0.1:${(plain.address() as AddressInfo).port}`);
      expect(await mistaken.send(messageWith())).toMatchObject({
        ...unavailable,
        code: 'ERR_SSL_WRONG_VERSION_NUMBER',
      });
      await mistaken.close();
      plain.close();
    });

    it('is retryable when the deadline passes before the request is written', async () => {
      // TLS never gets past its greeting: the scripted server waits for the end of an HTTP head.
      const secure = createFor(`https://${server.host}`);
      const sent = secure.send(messageWith());
      await server.connected();
      await passDeadlines(timeoutMs);
      expect(await sent).toMatchObject({ ...unavailable, code: 'deadline' });
      await server.close();
      await secure.close();
      expect(server.requests).toEqual([]);
    });

    it('is unknown when the request was taken and no answer comes before the deadline', async () => {
      server.script = silence;
      const sent = provider.send(messageWith());
      await server.taken(1);
      await passDeadlines(timeoutMs);
      expect(await sent).toMatchObject(unknown);
      expect(server.requests).toHaveLength(1);
    });

    it.each([
      { title: 'an acceptance', given: acceptance, expected: unknown },
      { title: 'a 500', given: { status: 500, body: '' }, expected: unavailable },
    ])('waits for $title that trickles no longer than the deadline', async ({ given, expected }) => {
      server.script = trickle(given);
      const begun = nextHead();
      const sent = provider.send(messageWith());
      await begun;
      await passDeadlines(timeoutMs);
      expect(await sent).toMatchObject(expected);
      expect(server.requests).toHaveLength(1);
    });

    const unanswered: Array<{ title: string; script: Script }> = [
      { title: 'the connection is reset', script: reset },
      { title: 'the connection ends without an answer', script: hangUp },
      { title: 'the answer is not HTTP', script: garbage },
      { title: 'an acceptance is reset half way', script: answerCutAfter(5, acceptance) },
      { title: 'an acceptance has no body', script: answer({ ...acceptance, body: '' }) },
      {
        title: 'an acceptance has half its JSON',
        script: answer({ ...acceptance, body: acceptance.body.slice(0, -5) }),
      },
      { title: 'an acceptance is HTML', script: answer({ ...acceptance, body: '<html>All is well</html>' }) },
      { title: 'an acceptance is JSON without an id', script: answer({ ...acceptance, body: '{}' }) },
      { title: 'an acceptance is JSON of another kind', script: answer({ ...acceptance, body: '[null]' }) },
      {
        title: 'an acceptance is larger than an answer may be',
        script: answer({ ...acceptance, body: ' '.repeat(1024 * 1024) + acceptance.body }),
      },
    ];

    it.each(unanswered)('is unknown when the request was taken and $title', async ({ script }) => {
      server.script = script;
      expect(await provider.send(messageWith())).toMatchObject(unknown);
      expect(server.requests).toHaveLength(1);
    });

    it('is unknown when a connection in use is closed as the next request is written', async () => {
      server.script = answer(acceptance);
      await provider.send(messageWith());
      server.script = reset;
      expect(await provider.send(messageWith())).toMatchObject(unknown);
      expect(server.requests).toHaveLength(2);
    });

    const byStatus: Array<{ title: string; script: Script; expected: object }> = [
      { title: 'a bare 503', script: answer({ status: 503, body: '' }), expected: unavailable },
      {
        title: 'a 502 in HTML',
        script: answer({ status: 502, body: '<html>Bad gateway</html>' }),
        expected: unavailable,
      },
      {
        title: 'a 500 of a megabyte',
        script: answer({ status: 500, body: 'x'.repeat(1024 * 1024) }),
        expected: unavailable,
      },
      {
        title: 'a 504 that is cut',
        script: answerCutAfter(1, { status: 504, body: '{"a":1}' }),
        expected: unavailable,
      },
      {
        title: 'a bare 429 with Retry-After in seconds',
        script: answer({ status: 429, headers: { 'retry-after': '7' }, body: '' }),
        expected: { outcome: 'retryable', reason: 'throttled', retryAfterMs: 7_000 },
      },
      {
        title: 'a bare 429 with Retry-After as a date',
        script: answer({ status: 429, headers: { 'Retry-After': new Date(nowMs + 90_000).toUTCString() }, body: '' }),
        expected: { outcome: 'retryable', reason: 'throttled', retryAfterMs: 90_000 },
      },
      {
        title: 'a bare 401',
        script: answer({ status: 401, body: '' }),
        expected: { outcome: 'retryable', reason: 'credentials' },
      },
      {
        title: 'a bare 402',
        script: answer({ status: 402, body: '' }),
        expected: { outcome: 'rejected', class: 'billing' },
      },
      {
        title: 'a bare 400',
        script: answer({ status: 400, body: '' }),
        expected: { outcome: 'rejected', class: 'invalid_content' },
      },
      {
        title: 'a redirect, which is not followed',
        script: answer({ status: 302, headers: { location: '/elsewhere' }, body: '' }),
        expected: unavailable,
      },
    ];

    it.each(byStatus)('reads an answer it cannot parse by its status: $title', async ({ script, expected }) => {
      server.script = script;
      expect(await provider.send(messageWith())).toMatchObject(expected);
      expect(server.requests).toHaveLength(1);
    });

    it('reads an acceptance in spite of a body that is cut after its end', async () => {
      server.script = answerCutAfter(Buffer.byteLength(acceptance.body), {
        ...acceptance,
        body: `${acceptance.body}   `,
      });
      expect(await provider.send(messageWith())).toEqual({ outcome: 'accepted', providerMessageId });
    });

    it.each([{ title: 'an acceptance', answer: acceptance }, ...cases.refusals.slice(0, 1)])(
      'has a result for odd values anywhere in $title',
      async ({ answer: given }) => {
        for (const body of withOddities(given.body)) {
          server.script = answer({ ...given, body });
          const result = await provider.send(messageWith());
          if (result.outcome === 'accepted')
            expect([providerMessageId, '__proto__']).toContain(result.providerMessageId);
          else expect(result).toMatchObject({ code: expect.any(String), message: expect.any(String) });
          expect(holdsNul(result)).toBe(false);
        }
      },
    );

    it('has a result for any answer whatever', async () => {
      const anyAnswer = fc.record({
        status: fc.integer({ min: 200, max: 599 }),
        body: fc.oneof(fc.string({ unit: 'binary' }), fc.json()),
      });
      await fc.assert(
        fc.asyncProperty(anyAnswer, async (any) => {
          server.script = answer(any);
          const { outcome } = await provider.send(messageWith());
          expect(['rejected', 'retryable', 'unknown']).toContain(outcome);
        }),
        { numRuns: 100 },
      );
    });
  });
}
