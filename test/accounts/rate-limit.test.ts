import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient, Answer } from '../helpers/client.ts';
import { TestService } from '../helpers/service.ts';
import { createdKey } from './key-client.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

function rateOf({ headers }: Answer<unknown>): { limit: number; remaining: number; reset: number } {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));
  for (const value of [limit, remaining, reset]) expect(value).toMatch(/^\d+$/);
  return { limit: Number(limit), remaining: Number(remaining), reset: Number(reset) };
}

async function limited(rateLimit: number): Promise<ApiClient> {
  const { api } = await service.account();
  return (await createdKey(api, { rate_limit: rateLimit })).api;
}

test('remaining falls by one with each request, and reset is the end of the minute of the first', async () => {
  const api = await limited(600);
  const beforeMs = Date.now();
  const first = rateOf(await api.request('GET', '/account'));
  const afterMs = Date.now();
  expect(first).toMatchObject({ limit: 600, remaining: 599 });
  expect(first.reset).toBeGreaterThanOrEqual(Math.floor((beforeMs + 60_000) / 1_000));
  expect(first.reset).toBeLessThanOrEqual(Math.ceil((afterMs + 60_000) / 1_000));
  for (const remaining of [598, 597, 596]) {
    const rate = rateOf(await api.request('GET', '/account'));
    expect(rate).toMatchObject({ limit: 600, remaining });
    expect(Math.abs(rate.reset - first.reset)).toBeLessThanOrEqual(1);
  }
});

describe('the rate is told on every answer', () => {
  test.each<[number, string, string, Parameters<ApiClient['request']>[2]]>([
    [200, 'GET', '/messages', {}],
    [400, 'GET', '/messages', { query: { limit: 0 } }],
    [400, 'POST', '/messages/send', { json: {} }],
    [400, 'POST', '/messages/send', { rawBody: '{' }],
    [400, 'POST', '/messages/send', { rawBody: 'x'.repeat(1_100_000) }],
    [400, 'POST', '/messages/send', { rawBody: 'a=b', headers: { 'content-type': 'text/plain' } }],
    [402, 'POST', '/messages/send', { json: { to: '+14155550123', from: 'HELIO', body: 'Hello' } }],
    [404, 'GET', '/messages/nothing', {}],
    [404, 'GET', '/nothing-here', {}],
    [404, 'PUT', '/account', {}],
    [404, 'DELETE', '/api-keys/nothing', {}],
  ])('%i of %s %s', async (status, method, path, options) => {
    const { api } = await service.account({ balance: 0.001, key: { rateLimit: 10 } });
    const answer = await api.request(method, path, options);
    expect(answer.status).toBe(status);
    expect(rateOf(answer)).toMatchObject({ limit: 10, remaining: 9 });
    expect(rateOf(await api.request('GET', '/account')).remaining).toBe(8);
  });

  test('403 of a key that lacks the permission', async () => {
    const { api } = await service.account({ key: { permissions: ['sms:read'], rateLimit: 10 } });
    const answer = await api.send({ to: '+14155550123' });
    expect(answer.status).toBe(403);
    expect(rateOf(answer).remaining).toBe(9);
  });

  test('500 of a message that no provider took', async () => {
    const { api } = await service.account({ key: { rateLimit: 10 } });
    const answer = await api.send({ to: '+99901006001' });
    expect(answer.status).toBe(500);
    expect(rateOf(answer).remaining).toBe(9);
  });
});

test('of requests at the same time exactly as many pass as the limit allows; the others are told when to come back', async () => {
  const api = await limited(10);
  const answers = await Promise.all(Array.from({ length: 25 }, () => api.request('GET', '/account')));
  const passed = answers.filter(({ status }) => status === 200);
  expect(passed.map((answer) => rateOf(answer).remaining).sort((a, b) => a - b)).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
  ]);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused).toHaveLength(15);
  for (const answer of refused) {
    expect(answer).toMatchObject({ status: 429, error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } });
    const { limit, remaining, reset } = rateOf(answer);
    expect({ limit, remaining }).toEqual({ limit: 10, remaining: 0 });
    const retryAfter = Number(answer.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(50);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(Math.abs(Date.now() / 1_000 + retryAfter - reset)).toBeLessThan(2);
  }
});

test('what is over the limit does nothing', async () => {
  const { api } = await service.account();
  const { api: slow } = await createdKey(api, { rate_limit: 1 });
  expect((await slow.send({ to: '+14155550123' })).status).toBe(201);
  expect((await slow.send({ to: '+14155550123' })).status).toBe(429);
  expect((await api.list()).pagination.total).toBe(1);
});

test('each key has a rate of its own', async () => {
  const { api } = await service.account();
  const { api: slow } = await createdKey(api, { rate_limit: 1 });
  expect((await slow.request('GET', '/account')).status).toBe(200);
  expect((await slow.request('GET', '/account')).status).toBe(429);
  expect((await api.request('GET', '/account')).status).toBe(200);
});
