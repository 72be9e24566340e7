import { randomUUID } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../test/helpers/until.ts';
import { createLog } from '../lib/log.ts';
import { connectRequestCounter, type RequestCounter } from './request-counter.ts';

const redisUrl = process.env['REDIS_URL'];

function connect(url: string): { counter: RequestCounter; logged: string[] } {
  const logged: string[] = [];
  const destination = new Writable({ write: (line, _encoding, done) => done(void logged.push(String(line))) });
  const { counter, close } = connectRequestCounter(url, createLog({ level: 'warn', destination }));
  onTestFinished(close);
  return { counter, logged };
}

const used = async (counter: RequestCounter, key: string) => (await counter.consume(key)).consumedPoints;

test('while Redis is not there, requests are counted in memory, and the log says so', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  const { counter, logged } = connect(`redis://127.0.0.1:${port}`);
  expect([await used(counter, 'key'), await used(counter, 'key'), await used(counter, 'key')]).toEqual([1, 2, 3]);
  expect((await counter.get('key'))?.consumedPoints).toBe(3);
  await until('the log says so', () => logged.some((line) => line.includes('Redis does not answer')));
});

async function countTogether(url: string): Promise<void> {
  const key = randomUUID();
  const { counter: one } = connect(url);
  const { counter: two } = connect(url);
  // Until both are connected, each counts in memory.
  const shared = async () => {
    const probe = randomUUID();
    await Promise.all([one.consume(probe), two.consume(probe)]);
    return (await one.get(probe))?.consumedPoints === 2 && (await two.get(probe))?.consumedPoints === 2;
  };
  await until('both are connected', shared);
  expect([await used(one, key), await used(two, key), await used(one, key)]).toEqual([1, 2, 3]);
  const count = await two.get(key);
  expect(count?.consumedPoints).toBe(3);
  expect(count?.msBeforeNext).toBeGreaterThan(0);
  expect(count?.msBeforeNext).toBeLessThanOrEqual(60_000);
}

// No npm package ships a Redis: `.ci/run` starts one and names it here. Where there is none, there is nothing to share a count over.
if (redisUrl !== undefined) test('with Redis all processes count together', () => countTogether(redisUrl));
