import { beforeAll, describe, expect, test } from 'vitest';
import { until } from './until.ts';
import { api, createKey, newSenderId, recipient, sendBody, time } from './client.ts';
import { Inbox } from './inbox.ts';
import type { Account, Balance, BulkResult, Deleted, Pagination, Usage } from './resources.ts';

function expectMarker({ id, object, deleted }: Deleted, wanted: { id: string; object: string }): void {
  expect({ id, object, deleted }).toEqual({ id: wanted.id, object: wanted.object, deleted: true });
}

describe('the Account has', () => {
  let account: Account;
  beforeAll(async () => {
    account = await api.get('GET /account');
  });

  test('id, a string', () => expect(account.id).toMatch(/./));
  test('object, which is account', () => expect(account.object).toBe('account'));
  test('email, name, company_name and country, strings', () => {
    const { email, name, company_name, country } = account;
    expect([email, name, company_name, country].map((value) => typeof value)).toEqual(Array(4).fill('string'));
  });
  test('status, a string', () => expect(account.status).toMatch(/./));
  test('kyc_verified, a boolean', () => expect(typeof account.kyc_verified).toBe('boolean'));
  test('balance, a number, and its currency', () => {
    expect(account.balance).toBeGreaterThan(0);
    expect(account.currency).toMatch(/^[A-Z]{3}$/);
  });
  test('created_at, a time', () => expect(account.created_at).toMatch(time));
});

describe('the Balance has', () => {
  let balance: Balance;
  beforeAll(async () => {
    balance = await api.get('GET /balance');
  });

  test('object, which is balance', () => expect(balance.object).toBe('balance'));
  test('balance, a number', () => expect(balance.balance).toBeGreaterThan(0));
  test('currency, that of the account', async () => {
    expect(balance.currency).toBe((await api.get('GET /account')).currency);
  });
  test('as_of, the time it is true of', () => {
    expect(balance.as_of).toMatch(time);
    expect(Math.abs(Date.now() - Date.parse(balance.as_of))).toBeLessThan(60_000);
  });
});

describe('the Usage has', () => {
  let usage: Usage;
  beforeAll(async () => {
    await api.send();
    usage = await api.get('GET /usage');
  });

  test('object, which is usage', () => expect(usage.object).toBe('usage'));
  test('period, a string', () => expect(usage.period).toBe('month'));
  test('starts_at and ends_at, times that span the present', () => {
    expect(usage.starts_at).toMatch(time);
    expect(usage.ends_at).toMatch(time);
    expect(Date.parse(usage.starts_at)).toBeLessThan(Date.now());
    expect(Date.parse(usage.ends_at)).toBeGreaterThan(Date.now() - 60_000);
  });
  test('currency, that of the account', async () => {
    expect(usage.currency).toBe((await api.get('GET /account')).currency);
  });
  test('totals of messages and cost', async () => {
    expect(usage.totals.messages).toBeGreaterThan(0);
    expect(usage.totals.cost).toBeGreaterThan(0);
    const { cost } = await api.send();
    const { totals } = await api.get('GET /usage');
    expect(totals.messages).toBeGreaterThan(usage.totals.messages);
    expect(totals.cost).toBeGreaterThanOrEqual(usage.totals.cost + cost - 1e-9);
  });
  test('by_status, an integer count for each status', () => {
    const counts = Object.entries(usage.by_status);
    const statuses = ['pending', 'sent', 'delivered', 'failed', 'undelivered'];
    expect(counts.filter(([status, count]) => !statuses.includes(status) || !Number.isInteger(count))).toEqual([]);
    expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(usage.totals.messages);
  });
});

describe('the Bulk result has', () => {
  const recipients = [recipient(), 'nobody', recipient()];
  let result: BulkResult;
  beforeAll(async () => {
    result = await api.get('POST /messages/bulk', { json: { ...sendBody({ to: undefined }), recipients } });
  });

  test('object, which is bulk_result', () => expect(result.object).toBe('bulk_result'));
  test('total, the number of recipients', () => expect(result.total).toBe(3));
  test('sent and failed, the numbers of the outcomes', () => {
    expect(result).toMatchObject({ sent: 2, failed: 1 });
  });
  test('messages, a Message for each recipient', () => {
    expect(result.messages.map(({ to }) => to)).toEqual(recipients);
    expect(result.messages.map(({ object }) => object)).toEqual(Array(3).fill('message'));
  });
});

describe('the Deleted marker', () => {
  test('of an API key has its id, its object and deleted, which is true', async () => {
    const key = await createKey();
    expectMarker(await api.get('DELETE /api-keys/{id}', { id: key.id }), key);
  });
  test('of a webhook endpoint has its id, its object and deleted, which is true', async () => {
    const endpoint = await api.get('POST /webhooks/create', { json: { url: 'http://127.0.0.1:9/' } });
    expectMarker(await api.get('DELETE /webhooks/{id}', { id: endpoint.id }), endpoint);
  });
});

describe('a list', () => {
  test('of messages, senders or events is an array with pagination beside it', async () => {
    for (const operation of ['GET /messages', 'GET /senders', 'GET /events'] as const) {
      const { data, pagination } = await api.call(operation);
      expect(Array.isArray(data)).toBe(true);
      expect(pagination).toBeInstanceOf(Object);
    }
  });
  test('of API keys or webhook endpoints is an object with data inside it, and has no pagination', async () => {
    await using _inbox = await Inbox.open();
    for (const operation of ['GET /api-keys', 'GET /webhooks'] as const) {
      const { data, pagination } = await api.call(operation);
      expect(Object.keys(data).sort()).toEqual(['data', 'object']);
      expect(data.object).toBe('list');
      expect(data.data.length).toBeGreaterThan(0);
      expect(pagination).toBeUndefined();
    }
  });
});

describe('Pagination', () => {
  /** Of five messages to one number, which nobody else sends to. */
  const to = recipient();
  const page = async (query: Record<string, number>): Promise<[ids: string[], Pagination]> => {
    const { data, pagination } = await api.call('GET /messages', { query: { to, ...query } });
    return [data.map(({ id }) => id), pagination];
  };

  beforeAll(async () => {
    await api.get('POST /messages/bulk', { json: { ...sendBody({ to: undefined }), recipients: Array(5).fill(to) } });
  });

  test('has page, limit, total, pages and has_more', async () => {
    const [, pagination] = await page({ page: 2, limit: 2 });
    expect(pagination).toEqual({ page: 2, limit: 2, total: 5, pages: 3, has_more: true });
  });
  test('has_more is false on the last page', async () => {
    const [, pagination] = await page({ page: 3, limit: 2 });
    expect(pagination).toMatchObject({ page: 3, has_more: false });
  });
  test('pages make up the whole list, each item once', async () => {
    const [all] = await page({});
    const pages: string[][] = [];
    for (const number of [1, 2, 3]) pages.push((await page({ page: number, limit: 2 }))[0]);
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(pages.flat()).toEqual(all);
    expect(new Set(all).size).toBe(5);
  });
  test('of senders and events has the same form', async () => {
    await api.get('POST /senders/create', { json: { sender_id: newSenderId() } });
    await until('there is an event', async () => (await api.get('GET /events')).length > 0);
    for (const operation of ['GET /senders', 'GET /events'] as const) {
      const { data, pagination } = await api.call(operation, { query: { limit: 1 } });
      const { total } = pagination;
      expect(data).toHaveLength(1);
      expect(pagination).toEqual({ page: 1, limit: 1, total, pages: total, has_more: total > 1 });
    }
  });
});
