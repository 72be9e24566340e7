import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../helpers/client.ts';
import { createTestClock } from '../helpers/clock.ts';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

const dayMs = 24 * 3_600_000;

type Usage = {
  period: string;
  starts_at: string;
  ends_at: string;
  totals: { messages: number; cost: number };
  by_status: Record<string, number>;
};

async function usage(api: ApiClient, period?: string): Promise<Usage> {
  const { status, data } = await api.request<Usage>('GET', '/usage', { query: period === undefined ? {} : { period } });
  expect(status).toBe(200);
  return data;
}

function monthOf(date: Date, offset = 0): string {
  const first = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1));
  return `${first.toISOString().slice(0, 10)}T00:00:00.000+00:00`;
}

describe('what is counted', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ answerWithinMs: 1_500 });
  });
  afterAll(() => service.stop());

  test('an account without messages has zeros in all five states', async () => {
    const { api } = await service.account();
    for (const period of ['day', 'month', 'all']) {
      expect(await usage(api, period)).toMatchObject({
        object: 'usage',
        period,
        currency: 'USD',
        totals: { messages: 0, cost: 0 },
        by_status: { pending: 0, sent: 0, delivered: 0, failed: 0, undelivered: 0 },
      });
    }
  });

  test('every message is under the state it has now, and what was given back is not part of the cost', async () => {
    const { api } = await service.account();
    await api.bulk({
      recipients: [
        '+99901001001', // delivered
        '+99901001002', // delivered
        '+99901001003', // delivered
        '+99901002001', // refused by the provider
        'nobody', // malformed
        '+99901008001', // reported failed
        '+99901009001', // reported expired
        '+99901010001', // nothing is reported
        '+99901010002', // nothing is reported
        '+99901014001', // not answered while the caller waits
      ],
    });
    const expected = { pending: 1, sent: 2, delivered: 3, failed: 3, undelivered: 1 };
    await until('all reports are in', async () => {
      const { by_status: now } = await usage(api);
      return Object.entries(expected).every(([status, count]) => now[status] === count);
    });
    const { data } = await api.list({ limit: 100 });
    for (const period of ['day', 'month', 'all']) {
      const { totals, by_status: byStatus } = await usage(api, period);
      expect(byStatus).toEqual(expected);
      expect(totals.messages).toBe(10);
      expect(totals.cost).toBeCloseTo(
        data.reduce((sum, { cost }) => sum + cost, 0),
        6,
      );
      // Refused and malformed ones cost nothing; one that failed later had been accepted.
      expect(totals.cost).toBeCloseTo(0.08, 6);
    }
    expect(await api.balance()).toBeCloseTo(100 - 0.08, 6);
    await until('the late answer is in', async () => (await usage(api)).by_status['pending'] === 0);
    expect((await usage(api)).totals.messages).toBe(10);
  });

  test('requests that were refused as a whole, and other accounts, are not counted', async () => {
    const { api } = await service.account();
    const { api: other } = await service.account();
    await other.sent({ to: '+14155550123' });
    await api.send({ to: '4155550123' });
    await api.send({ to: '+14155550123', from: 'NOBODY' });
    expect((await usage(api)).totals).toEqual({ messages: 0, cost: 0 });
  });

  test.each(['week', 'DAY', '', 'day,month'])('the period %j is refused', async (period) => {
    const { api } = await service.account();
    expect(await api.request('GET', '/usage', { query: { period } })).toMatchObject({
      status: 400,
      error: { code: 'invalid_request', param: 'period' },
    });
  });
});

describe('when it is counted', () => {
  const clock = createTestClock();
  let service: TestService;

  /** To 12:30 on a day of the month that is `months` after this one. */
  function moveTo(months: number, day: number): Date {
    const now = new Date();
    const target = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, day, 12, 30);
    clock.advance(target - clock.now());
    return new Date(target);
  }

  beforeAll(async () => {
    moveTo(1, 10);
    service = await TestService.start({ clock });
  });
  afterAll(() => service.stop());

  test('a day and a month are those of UTC, and everything begins with the account', async () => {
    const { api } = await service.account();
    const { data: account } = await api.request<{ created_at: string }>('GET', '/account');
    const first = new Date(clock.now());
    const message = await api.sent({ to: '+14155550123' });
    await until('it is delivered', async () => (await api.get(message.id)).status === 'delivered');

    const today = `${first.toISOString().slice(0, 10)}T00:00:00.000+00:00`;
    const tomorrow = `${new Date(first.getTime() + dayMs).toISOString().slice(0, 10)}T00:00:00.000+00:00`;
    expect(await usage(api, 'day')).toMatchObject({ starts_at: today, ends_at: tomorrow, totals: { messages: 1 } });
    const month = { period: 'month', starts_at: monthOf(first), ends_at: monthOf(first, 1) };
    expect(await usage(api, 'month')).toMatchObject({ ...month, totals: { messages: 1 } });
    expect(await usage(api)).toEqual(await usage(api, 'month'));
    const all = await usage(api, 'all');
    expect(all).toMatchObject({ starts_at: account.created_at, totals: { messages: 1 } });
    expect(Math.abs(Date.parse(all.ends_at) - clock.now())).toBeLessThan(5_000);

    const second = moveTo(1, 11);
    expect(await usage(api, 'day')).toMatchObject({ starts_at: tomorrow, totals: { messages: 0, cost: 0 } });
    expect(await usage(api, 'month')).toMatchObject({ ...month, totals: { messages: 1 } });
    await api.sent({ to: '+14155550123' });
    expect((await usage(api, 'day')).totals.messages).toBe(1);
    expect((await usage(api, 'month')).totals.messages).toBe(2);

    moveTo(2, 10);
    expect(await usage(api, 'month')).toMatchObject({ starts_at: monthOf(second, 1), totals: { messages: 0 } });
    expect((await usage(api, 'all')).totals.messages).toBe(2);
  });
});
