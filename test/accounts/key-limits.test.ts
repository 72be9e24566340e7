import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deletePastKeyUsage } from '../../src/accounts/key-usage-queries.ts';
import { ApiClient } from '../helpers/client.ts';
import { createTestClock } from '../helpers/clock.ts';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { createdKey } from './key-client.ts';

const to = '+14155550123';
const hourMs = 3_600_000;

/** At 12:30 on the tenth of next month, a day on which neither the day nor the month is about to end. */
const clock = createTestClock();
const today = new Date();
clock.advance(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 10, 12, 30) - clock.now());

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({ clock });
});
afterAll(() => service.stop());

/** The key's own counts, as they are stored. */
async function counted(keyId: string): Promise<Record<string, number>> {
  const { rows } = await service.pool.query<{ period: string; messages: number }>(
    'SELECT period, messages FROM key_usage WHERE key_id = $1 ORDER BY starts_on DESC',
    [keyId],
  );
  return Object.fromEntries(rows.map(({ period, messages }) => [period, messages]));
}

async function settled(api: ApiClient): Promise<void> {
  await until('all is delivered', async () => (await api.list({ status: 'delivered' })).pagination.total > 0);
}

describe('a daily limit', () => {
  test('refuses the call that goes beyond it, before anything is stored, taken or sent', async () => {
    const { api } = await service.account({ key: { dailyLimit: 2 } });
    await api.sent({ to });
    await api.sent({ to });
    const balance = await api.balance();
    const { status, error, headers } = await api.send({ to });
    expect({ status, type: error.type, code: error.code }).toEqual({
      status: 429,
      type: 'rate_limit_error',
      code: 'daily_limit_exceeded',
    });
    expect((await api.list()).pagination.total).toBe(2);
    expect(await api.balance()).toBe(balance);
    expect(headers.get('x-ratelimit-limit')).toBe('6000');

    const midnightMs = Math.ceil(clock.now() / (24 * hourMs)) * 24 * hourMs;
    const retryAfter = Number(headers.get('retry-after'));
    expect(Math.abs(clock.now() / 1_000 + retryAfter - midnightMs / 1_000)).toBeLessThan(3);
    expect(error.details).toEqual({
      limit: 2,
      left: 0,
      resets_at: `${new Date(midnightMs).toISOString().slice(0, -1)}+00:00`,
    });
  });

  test('is for one key: others of the account go on', async () => {
    const { api } = await service.account();
    const { api: limited } = await createdKey(api, { daily_limit: 1 });
    const { api: alike } = await createdKey(api, { daily_limit: 1 });
    for (const key of [limited, alike]) {
      expect((await key.send({ to })).status).toBe(201);
      expect((await key.send({ to })).status).toBe(429);
    }
    expect((await api.send({ to })).status).toBe(201);
  });

  test('takes a bulk as a whole or not at all', async () => {
    const { api } = await service.account({ key: { dailyLimit: 5 } });
    expect((await api.bulk({ recipients: [to, to, to] })).status).toBe(201);
    const { status, error } = await api.bulk({ recipients: [to, to, to] });
    expect({ status, code: error.code, left: error.details?.['left'] }).toEqual({
      status: 429,
      code: 'daily_limit_exceeded',
      left: 2,
    });
    expect((await api.list()).pagination.total).toBe(3);
    expect((await api.bulk({ recipients: [to, to] })).status).toBe(201);
    expect((await api.send({ to })).status).toBe(429);
  });

  test('counts every message that is stored, also one that failed', async () => {
    const { api, keyId } = await service.account({ key: { dailyLimit: 6 } });
    await api.bulk({ recipients: ['nobody', '+99901002001', to] });
    expect((await api.send({ to: '+99901002001' })).status).toBe(400);
    expect(await counted(keyId)).toEqual({ day: 4 });
    expect((await api.bulk({ recipients: ['nobody', 'nobody', 'nobody'] })).status).toBe(429);
  });

  test('counts nothing of a call that is refused for another reason', async () => {
    const { api, keyId } = await service.account({ balance: 0.01, key: { dailyLimit: 2 } });
    expect((await api.send({ to: 'nobody' })).status).toBe(400);
    expect((await api.send({ to: '+447700900123' })).status).toBe(402);
    expect((await api.bulk({ recipients: ['+447700900123', '+447700900124'] })).status).toBe(402);
    expect((await api.send({ to })).status).toBe(201);
    expect(await counted(keyId)).toEqual({ day: 1 });
  });

  test('counts a repeated call once, and leaves the idempotency key of a refused one free', async () => {
    const { api, keyId } = await service.account({ key: { dailyLimit: 1 } });
    const first = { 'idempotency-key': 'first' };
    const second = { 'idempotency-key': 'second' };
    const message = await api.sent({ to }, first);
    expect((await api.send({ to }, second)).status).toBe(429);
    expect((await api.send({ to }, first)).data.id).toBe(message.id);
    expect(await counted(keyId)).toEqual({ day: 1 });
    await settled(api);
    clock.advance(12 * hourMs);
    expect((await api.send({ to }, second)).status).toBe(201);
  });
});

describe('periods', () => {
  test('the next UTC day begins anew; the month goes on, and is what the caller is told of when both are used up', async () => {
    const { api } = await service.account({ key: { dailyLimit: 2, monthlyLimit: 3 } });
    await api.sent({ to });
    await api.sent({ to });
    expect((await api.send({ to })).error.code).toBe('daily_limit_exceeded');
    await settled(api);
    clock.advance(24 * hourMs);
    await api.sent({ to });
    const { error, headers } = await api.send({ to });
    expect(error.code).toBe('monthly_limit_exceeded');
    const now = new Date(clock.now());
    const nextMonthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
    expect(Math.abs(clock.now() + Number(headers.get('retry-after')) * 1_000 - nextMonthMs)).toBeLessThan(3_000);
  });

  test('counts of periods that are over are dropped, those that still count are not', async () => {
    const { api, keyId } = await service.account({ key: { dailyLimit: 2, monthlyLimit: 3 } });
    await api.sent({ to });
    await settled(api);
    const endOfMonthMs = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 2, 1) - 1;
    await deletePastKeyUsage(service.pool, endOfMonthMs);
    expect(await counted(keyId)).toEqual({ day: 1, month: 1 });
    await deletePastKeyUsage(service.pool, endOfMonthMs + 40 * 24 * hourMs);
    expect(await counted(keyId)).toEqual({});
  });
});

test('a key without limits costs no count', async () => {
  const { api, keyId } = await service.account();
  await api.sent({ to });
  await api.bulk({ recipients: [to, to] });
  expect(await counted(keyId)).toEqual({});
});

describe('calls at the same time', () => {
  test('in two processes and in both lanes never get more than the limits together', async () => {
    const peer = await service.peer();
    const { api, keyId } = await service.account({ key: { dailyLimit: 50, monthlyLimit: 60 } });
    const elsewhere = new ApiClient(`${peer.url}/api/v1`, api.key);
    const calls = Array.from({ length: 60 }, (_, index) => {
      const client = index % 2 === 0 ? api : elsewhere;
      return index % 3 === 0 ? client.bulk({ recipients: [to, to, to] }) : client.send({ to });
    });
    const answers = await Promise.all(calls);
    for (const { status, error } of answers) {
      if (status !== 201) expect({ status, code: error.code }).toEqual({ status: 429, code: 'daily_limit_exceeded' });
    }
    // Singles fill up what no bulk fits into any more.
    while ((await api.send({ to })).status === 201);
    expect((await api.list()).pagination.total).toBe(50);
    expect(await counted(keyId)).toEqual({ day: 50, month: 50 });
  });

  test('of many keys do not disturb each other', async () => {
    const { api } = await service.account();
    const keys = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => createdKey(api, { daily_limit: index + 1, monthly_limit: 100 })),
    );
    const statuses = await Promise.all(
      keys.map(async ({ api: key }) => {
        const answers = await Promise.all(Array.from({ length: 8 }, () => key.send({ to })));
        return answers.filter(({ status }) => status === 201).length;
      }),
    );
    expect(statuses).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
