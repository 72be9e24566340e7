import fc from 'fast-check';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Upstream, type HttpResult } from '../../src/providers/http.ts';
import { holdDeadlines, passDeadlines } from '../helpers/deadlines.ts';
import {
  answer,
  flood,
  hangUp,
  reset,
  ScriptedServer,
  silence,
  type Script,
  type WireRequest,
} from './scripted-server.ts';

const ok = answer({ status: 200, body: 'ok' });

describe('Upstream', () => {
  let server: ScriptedServer;
  let upstream: Upstream;

  const create = (changes: Partial<ConstructorParameters<typeof Upstream>[0]> = {}) =>
    new Upstream({ baseUrl: server.baseUrl, headers: {}, timeoutMs: 5_000, ...changes });

  beforeEach(async () => {
    server = await ScriptedServer.start(ok);
    upstream = create();
  });

  afterEach(async () => {
    await server.close();
    await upstream.close();
  });

  it('gives the whole answer: status, headers in lower case, body', async () => {
    server.script = answer({ status: 418, headers: { 'X-Some-Header': 'Some Value' }, body: 'Grüße 😀' });
    expect(await upstream.post('/path?query=1', 'body')).toEqual({
      kind: 'answer',
      status: 418,
      headers: expect.objectContaining({ 'x-some-header': 'Some Value' }),
      body: 'Grüße 😀',
    });
  });

  it('asks without a body, and without the type of one', async () => {
    const typed = create({ headers: { accept: 'text/plain', 'content-type': 'text/plain' } });
    expect(await typed.get('/path?query=1')).toMatchObject({ kind: 'answer', status: 200, body: 'ok' });
    expect(server.requests).toMatchObject([{ method: 'GET', path: '/path?query=1', body: '' }]);
    expect(server.requests[0]?.headers).toHaveProperty('accept', 'text/plain');
    expect(server.requests[0]?.headers).not.toHaveProperty('content-type');
    await typed.close();
  });

  it('reads a chunked answer, whatever the pieces it comes in', async () => {
    const plain = createServer((_request, response) => {
      const bytes = Buffer.from('é'.repeat(1_000));
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    }).listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const chunked = create({ baseUrl: `http://127.0.0.1:${(plain.address() as AddressInfo).port}` });
    expect(await chunked.post('/', '')).toMatchObject({ kind: 'answer', status: 200, body: 'é'.repeat(1_000) });
    await chunked.close();
    plain.close();
  });

  it('waits for the final answer after an interim one', async () => {
    server.script = (socket, request) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
      ok(socket, request);
    };
    expect(await upstream.post('/', '')).toMatchObject({ kind: 'answer', status: 200, body: 'ok' });
  });

  it('knows nothing of an answer from an interim one', async () => {
    server.script = (socket) => void socket.write('HTTP/1.1 103 Early Hints\r\n\r\n', () => socket.resetAndDestroy());
    expect(await upstream.post('/', '')).toMatchObject({ kind: 'no_answer' });
  });

  it('hangs up on an answer without end, long before the deadline', async () => {
    const closed = new Promise((resolve) => {
      server.script = (socket, request) => {
        socket.once('close', resolve);
        flood(socket, request);
      };
    });
    const patient = create({ timeoutMs: 60_000 });
    expect(await patient.post('/', '')).toMatchObject({ kind: 'answer', status: 200, body: 'x'.repeat(65_536) });
    await closed;
    await patient.close();
  });

  it('holds 64 KiB of an answer and no more', async () => {
    server.script = answer({ status: 200, body: 'x'.repeat(65_536) });
    expect(await upstream.post('/', '')).toMatchObject({ kind: 'answer', body: 'x'.repeat(65_536) });
    server.script = answer({ status: 200, body: 'x'.repeat(65_537) });
    expect(await upstream.post('/', '')).toMatchObject({ kind: 'answer', status: 200, body: 'x'.repeat(65_536) });
  });

  describe('whose only connection is taken', () => {
    holdDeadlines();

    const timeoutMs = 5_000;
    let narrow: Upstream;
    let first: Promise<HttpResult>;

    beforeEach(async () => {
      server.script = silence;
      narrow = create({ connectionsMax: 1, timeoutMs });
      first = narrow.post('/first', '');
      await server.taken(1);
    });

    afterEach(() => narrow.close());

    it('never writes a request whose deadline passed while it waited for the connection', async () => {
      const second = narrow.post('/second', '');
      await passDeadlines(timeoutMs);
      expect(await first).toMatchObject({ kind: 'no_answer', code: 'deadline' });
      expect(await second).toMatchObject({ kind: 'not_written', code: 'deadline' });

      server.script = ok;
      expect(await narrow.post('/third', '')).toMatchObject({ kind: 'answer' });
      expect(server.requests.map(({ path }) => path)).toEqual(['/first', '/third']);
    });

    it('refuses requests beyond those it lets wait, and takes them again once the line has moved on', async () => {
      const waiting = Array.from({ length: 10_000 }, () => narrow.post('/', ''));
      expect(await narrow.post('/', '')).toMatchObject({ kind: 'not_written', code: 'queue_full' });
      await passDeadlines(timeoutMs);
      expect(new Set((await Promise.all(waiting)).map(({ kind }) => kind))).toEqual(new Set(['not_written']));

      server.script = ok;
      let next = await narrow.post('/', '');
      // The connection is lost with the first request; the line moves on over the next one.
      while (next.kind === 'not_written') {
        expect(next.code).toBe('queue_full');
        await passDeadlines(0);
        next = await narrow.post('/', '');
      }
      expect(next).toMatchObject({ kind: 'answer' });
    });
  });

  describe('that is asked as much as it lets wait', () => {
    holdDeadlines();

    it('counts as waiting neither what was answered nor what failed', { timeout: 60_000 }, async () => {
      const answered = await many(upstream);
      expect(new Set(answered.map(({ kind }) => kind))).toEqual(new Set(['answer']));
      expect(await upstream.post('/', '')).toMatchObject({ kind: 'answer' });

      const lost = create();
      await server.close();
      const refused = await many(lost);
      expect(new Set(refused.map(({ kind }) => kind))).toEqual(new Set(['not_written']));
      expect(await lost.post('/', '')).toMatchObject({ kind: 'not_written', code: 'ECONNREFUSED' });
      await lost.close();
    });
  });

  it('opens no more connections than it may', async () => {
    const narrow = create({ connectionsMax: 3 });
    const results = await Promise.all(Array.from({ length: 100 }, () => narrow.post('/', '')));
    expect(results.every(({ kind }) => kind === 'answer')).toBe(true);
    expect(server.connections).toBe(3);
    await narrow.close();
  });

  it('closes twice as well as once', async () => {
    await upstream.post('/', '');
    await Promise.all([upstream.close(), upstream.close()]);
    expect(await upstream.post('/', '')).toMatchObject({ kind: 'not_written' });
  });
});

const faults: Record<string, Script> = {
  answers: ok,
  'answers and closes': answer({ status: 200, headers: { connection: 'close' }, body: 'ok' }),
  'answers, then closes without notice': (socket, request) => {
    ok(socket, request);
    socket.end();
  },
  'answers, then resets': (socket) =>
    void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok', () => socket.resetAndDestroy()),
  'hangs up': hangUp,
  resets: reset,
  'stays silent': silence,
};

function scriptOf(scripts: readonly string[], { path }: WireRequest): Script {
  return faults[scripts[Number(path.slice(1))] ?? ''] ?? reset;
}

function expectTruth(result: HttpResult, wasSeen: boolean): void {
  if (result.kind === 'not_written') expect(wasSeen).toBe(false);
  if (result.kind === 'answer') expect(wasSeen).toBe(true);
}

describe('what an upstream saw, under any mixture of faults', () => {
  it('is nothing of a request called not written, and no request twice', { timeout: 60_000 }, async () => {
    const anyScripts = fc.array(fc.constantFrom(...Object.keys(faults)), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(anyScripts, fc.integer({ min: 1, max: 6 }), async (scripts, connectionsMax) => {
        const server = await ScriptedServer.start((socket, request) => scriptOf(scripts, request)(socket, request));
        const upstream = new Upstream({ baseUrl: server.baseUrl, headers: {}, timeoutMs: 60, connectionsMax });
        const results = await Promise.all(scripts.map((_script, index) => upstream.post(`/${index}`, 'body')));
        await upstream.close();
        await server.close();

        const seen = server.requests.map(({ path }) => path);
        expect(new Set(seen).size).toBe(seen.length);
        for (const [index, result] of results.entries()) expectTruth(result, seen.includes(`/${index}`));
      }),
      { numRuns: 40 },
    );
  });
});

/** As many requests at once as may wait for a connection. */
function many(upstream: Upstream): Promise<HttpResult[]> {
  return Promise.all(Array.from({ length: 10_000 }, () => upstream.post('/', '')));
}
