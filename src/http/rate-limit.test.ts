import fastify from 'fastify';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { afterEach, expect, test } from 'vitest';
import { until } from '../../test/helpers/until.ts';
import { systemClock } from '../lib/clock.ts';
import type { Caller } from './caller.ts';
import { createRateLimit } from './rate-limit.ts';

const caller: Caller = {
  accountId: 'account',
  accountStatus: 'active',
  currency: 'USD',
  keyId: 'key',
  permissions: [],
  rateLimit: 2,
  dailyLimit: null,
  monthlyLimit: null,
  allowedIps: null,
  expiresAtMs: null,
  isActive: true,
};

const app = fastify();
afterEach(() => app.close());

test('a key may go on as soon as its minute is over', async () => {
  // A minute of one second.
  const counter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: 1 });
  app.decorateRequest('caller');
  app.addHook('onRequest', async (request) => {
    request.caller = caller;
  });
  app.addHook('onRequest', createRateLimit(counter, systemClock));
  app.get('/', async () => 'ok');
  const statusOf = async () => (await app.inject('/')).statusCode;
  expect([await statusOf(), await statusOf(), await statusOf()]).toEqual([200, 200, 429]);
  await until('the next minute has begun', async () => (await statusOf()) === 200, 3_000);
  expect([await statusOf(), await statusOf()]).toEqual([200, 429]);
});
