import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Provider } from '../../src/providers/provider.ts';
import { messageWith, nowMs, type AdapterCases } from './cases.ts';
import { answer, ScriptedServer, silence } from './scripted-server.ts';

/** What goes over the wire, and how every answer is read. */
export function describeSending(cases: AdapterCases): void {
  describe(`${cases.name}: sending`, () => {
    let server: ScriptedServer;
    let provider: Provider;

    beforeEach(async () => {
      server = await ScriptedServer.start(answer(cases.accepted.answer));
      provider = cases.create({ baseUrl: server.baseUrl, timeoutMs: 5_000, clock: { now: () => nowMs } });
    });

    afterEach(async () => {
      await server.close();
      await provider.close();
    });

    const accepted = { outcome: 'accepted', providerMessageId: cases.accepted.providerMessageId };

    it('has the name it is configured under', () => {
      expect(provider.name).toBe(cases.name);
    });

    it.each(cases.messages)('writes exactly the request of the upstream: $title', async ({ request, wire }) => {
      expect(await provider.send(request)).toEqual(accepted);
      expect(server.requests).toEqual([
        {
          ...wire,
          headers: {
            host: server.host,
            connection: 'keep-alive',
            'accept-encoding': 'identity',
            'user-agent': 'heliograph',
            'content-length': String(Buffer.byteLength(wire.body)),
            ...wire.headers,
          },
        },
      ]);
    });

    it('keeps a path prefix of its base URL', async () => {
      const prefixed = cases.create({
        baseUrl: `${server.baseUrl}/some/prefix/`,
        timeoutMs: 5_000,
        clock: { now: () => nowMs },
      });
      expect(await prefixed.send(messageWith())).toEqual(accepted);
      await prefixed.close();
      const [first] = cases.messages;
      expect(server.requests[0]?.path).toBe(`/some/prefix${first?.wire.path}`);
    });

    it.each(cases.refusals)('reads $title', async ({ answer: refusal, expected }) => {
      server.script = answer(refusal);
      expect(await provider.send(messageWith())).toEqual(expected);
      expect(server.requests).toHaveLength(1);
    });

    it('uses its connections again', async () => {
      for (let sent = 0; sent < 20; sent += 1) await provider.send(messageWith());
      // A send that follows at once may find the first connection not yet free again.
      expect(server.connections).toBeLessThanOrEqual(2);
    });

    it('sends on after the upstream has closed an idle connection', async () => {
      await provider.send(messageWith());
      await server.disconnect();
      expect(await provider.send(messageWith())).toEqual(accepted);
      expect(server.requests).toHaveLength(2);
    });

    it('lets a running request end on close, and writes nothing afterwards', async () => {
      const taken = new Promise<() => void>((resolve) => {
        server.script = (socket, request) => resolve(() => answer(cases.accepted.answer)(socket, request));
      });
      const running = provider.send(messageWith());
      const finish = await taken;
      const closed = provider.close();
      server.script = silence;
      finish();
      expect(await running).toEqual(accepted);
      await closed;
      expect(await provider.send(messageWith())).toMatchObject({ outcome: 'retryable', reason: 'unavailable' });
      expect(server.requests).toHaveLength(1);
    });
  });
}
