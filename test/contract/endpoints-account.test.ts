import { expect, test } from 'vitest';
import { api, Client } from './client.ts';
import type { Operation } from './resources.ts';

const day = 24 * 3_600_000;

test('GET /account answers 200 with the Account', async () => {
  const { status, data } = await api.call('GET /account');
  expect({ status, object: data.object }).toEqual({ status: 200, object: 'account' });
});

test('GET /balance answers 200 with the Balance', async () => {
  const { status, data } = await api.call('GET /balance');
  expect({ status, ...data }).toMatchObject({ status: 200, balance: expect.any(Number) as number });
});

test('GET /usage answers 200 with the Usage', async () => {
  const { status, data } = await api.call('GET /usage');
  expect({ status, ...data }).toMatchObject({ status: 200, totals: expect.any(Object) as object });
});

test('period is day, month or all; month unless told otherwise', async () => {
  expect((await api.get('GET /usage')).period).toBe('month');
  const spans: number[] = [];
  for (const period of ['day', 'month', 'all']) {
    const usage = await api.get('GET /usage', { query: { period } });
    expect(usage.period).toBe(period);
    spans.push(Date.parse(usage.ends_at) - Date.parse(usage.starts_at));
  }
  const [ofDay = 0, ofMonth = 0] = spans;
  expect(ofDay).toBe(day);
  expect([28, 29, 30, 31]).toContain(ofMonth / day);
  expect((await api.fail(400, 'GET /usage', { query: { period: 'year' } })).param).toBe('period');
});

test('GET /account, /balance and /usage answer 401 without a valid key', async () => {
  for (const operation of ['GET /account', 'GET /balance', 'GET /usage'] satisfies Operation[]) {
    await new Client(null).fail(401, operation);
  }
});
