import { once } from 'node:events';
import { createServer, Socket, type AddressInfo, type Server } from 'node:net';
import { Pool } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import { post, type PostOutcome } from '../../src/webhooks/post.ts';
import { hang, Receiver, type Answer } from './receiver.ts';

const cleanUps: Array<() => Promise<unknown>> = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

function poolFor(url: string): Pool {
  const pool = new Pool(new URL(url).origin, { connections: 1 });
  cleanUps.push(() => pool.destroy());
  return pool;
}

function send(pool: Pool, timeoutMs = 10_000): Promise<PostOutcome> {
  return post(pool, { path: '/hook', headers: { 'x-test': '1' }, body: Buffer.from('{"a":"é"}'), timeoutMs });
}

async function receiverThat(answer: Answer): Promise<{ receiver: Receiver; pool: Pool }> {
  const receiver = await Receiver.start(answer);
  cleanUps.push(() => receiver.stop());
  return { receiver, pool: poolFor(receiver.url) };
}

/** A server below HTTP, for answers that no HTTP server would give. */
async function rawServer(onRequest: (socket: Socket) => void): Promise<Pool> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.once('data', () => onRequest(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return poolFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

describe('one POST', () => {
  test('sends the body as it is and tells the status and the answer', async () => {
    const { receiver, pool } = await receiverThat((_request, response) => response.writeHead(202).end('thanks'));
    expect(await send(pool)).toEqual({ status: 202, answer: 'thanks' });
    expect(receiver.requests).toMatchObject([
      { method: 'POST', path: '/hook', body: '{"a":"é"}', headers: { 'x-test': '1', 'content-length': '10' } },
    ]);
  });

  test('a redirect is not followed', async () => {
    const { receiver, pool } = await receiverThat((_request, response) =>
      response.writeHead(307, { location: '/elsewhere' }).end(),
    );
    expect(await send(pool)).toEqual({ status: 307, answer: '' });
    expect(receiver.requests).toHaveLength(1);
  });

  test('a receiver that never answers costs the time-out and no more', async () => {
    const { pool } = await receiverThat(hang);
    const startedAt = performance.now();
    expect(await send(pool, 150)).toEqual({ error: 'no answer within 0.15 s' });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test('a receiver that accepts no connection in time costs the time-out', async () => {
    const stuck = new Pool('http://127.0.0.1:1', { connections: 1, connect: () => undefined });
    cleanUps.push(() => stuck.destroy());
    expect(await send(stuck, 100)).toEqual({ error: 'no answer within 0.1 s' });
  });

  test('a request whose time was up before its connection stood is never sent', async () => {
    const { receiver, pool: direct } = await receiverThat((_request, response) => response.end());
    const held: Array<() => void> = [];
    let isHeld = true;
    const slow = new Pool(new URL(receiver.url).origin, {
      connections: 1,
      connect: (options, callback) => {
        const socket = new Socket();
        const open = () => void socket.connect(Number(options.port), options.hostname, () => callback(null, socket));
        if (isHeld) held.push(open);
        else open();
      },
    });
    cleanUps.push(() => slow.destroy());
    expect(await send(slow, 50)).toMatchObject({ error: expect.stringContaining('no answer') as string });
    const second = send(slow);
    isHeld = false;
    for (const open of held) open();
    expect(await second).toMatchObject({ status: 200 });
    await send(direct);
    expect(receiver.requests).toHaveLength(2);
  });

  test('an answer whose head came in time counts, however slowly its body drips', async () => {
    const { pool } = await receiverThat((_request, response) => {
      response.writeHead(200).write('so far');
    });
    expect(await send(pool, 200)).toEqual({ status: 200, answer: 'so far' });
  });

  test('of a long answer the first 1 KiB is kept, and its connection lives on', async () => {
    const { receiver, pool } = await receiverThat((_request, response) => response.end('x'.repeat(8_000)));
    const outcome = await send(pool);
    expect(outcome).toEqual({ status: 200, answer: 'x'.repeat(1_024) });
    await send(pool);
    expect(receiver.connections).toBe(1);
  });

  test('an endless answer is cut off', async () => {
    const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
    const { pool } = await receiverThat((_request, response) => {
      const pump = () => {
        while (!response.destroyed && response.write('x'.repeat(4_096)));
      };
      response.on('drain', pump).on('close', onClosed);
      pump();
    });
    expect(await send(pool)).toEqual({ status: 200, answer: 'x'.repeat(1_024) });
    await closed;
  });

  test('an answer is kept as text that a database takes: no NUL, no half character', async () => {
    const { pool } = await receiverThat((_request, response) => response.end(`a\0b${'é'.repeat(600)}`));
    const outcome = await send(pool);
    expect(outcome).toEqual({ status: 200, answer: `a\u{FFFD}b${'é'.repeat(510)}` });
  });

  test('an answer that is not text is kept as such', async () => {
    const { pool } = await receiverThat((_request, response) => response.end(Buffer.from([0xff, 0xfe, 0x41])));
    expect(await send(pool)).toEqual({ status: 200, answer: '\u{FFFD}\u{FFFD}A' });
  });

  test('interim answers are not the answer', async () => {
    const pool = await rawServer((socket) => {
      socket.write('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n');
    });
    expect(await send(pool)).toEqual({ status: 204, answer: '' });
  });

  test('interim answers without end do not prolong the time', async () => {
    const pool = await rawServer((socket) => {
      const drip = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 10);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await send(pool, 200)).toEqual({ error: 'no answer within 0.2 s' });
  });

  test.each([
    ['what is not HTTP', (socket: Socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n')],
    ['a connection closed without a word', (socket: Socket) => void socket.end()],
    ['a connection reset', (socket: Socket) => void socket.resetAndDestroy()],
    [
      'a head larger than 16 KiB',
      (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`),
    ],
    [
      'an upgrade that nobody asked for',
      (socket: Socket) =>
        void socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
  ])('%s is an error, told in a few words', async (_what, onRequest) => {
    const outcome = await send(await rawServer(onRequest), 2_000);
    expect(outcome).toEqual({ error: expect.stringMatching(/^.{3,200}$/) as string });
    expect(outcome).not.toMatchObject({ error: expect.stringContaining('no answer within') as string });
  });

  test('a port where nobody listens is an error', async () => {
    const { receiver, pool } = await receiverThat(hang);
    await receiver.stop();
    cleanUps.splice(0, 1);
    expect(await send(pool)).toEqual({ error: expect.stringContaining('ECONNREFUSED') as string });
  });
});
