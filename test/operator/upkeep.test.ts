import { afterAll, beforeAll, expect, test } from 'vitest';
import { toPublicId } from '../../src/lib/ids.ts';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { Operator } from './operator.ts';

let service: TestService;
let operator: Operator;
beforeAll(async () => {
  service = await TestService.start({
    providers: (settings) => ({
      ...settings,
      twilio: settings.twilio === undefined ? undefined : { ...settings.twilio, ratePerSecond: 500, concurrency: 7 },
      africastalking: { baseUrl: 'http://127.0.0.1:9', username: 'sandbox', apiKey: 'key', timeoutMs: 1_000 },
    }),
  });
  operator = new Operator(service);
});
afterAll(() => service.stop());

type Provider = {
  name: string;
  breaker: string;
  rate_per_second: number | null;
  concurrency: number;
  recent: Record<string, number | null>;
  receipts_url: string | null;
};
type Check = { accounts: number; differences: unknown[]; is_cut: boolean; next_cursor: string | null };

async function readProviders(): Promise<Map<string, Provider>> {
  const { data } = await operator.expect<{ data: Provider[] }>(200, 'GET', '/providers');
  return new Map(data.map((provider) => [provider.name, provider]));
}

test('providers are shown with their breaker, their pace and what came of their last attempts', async () => {
  const { api } = await service.account();
  expect((await readProviders()).get('vonage')).toMatchObject({
    breaker: 'closed',
    recent: { seconds: 300, accepted: 0, error_rate: null, latency_ms: null },
  });
  await api.sent({ to: '+14155550400' });
  await api.send({ to: '+99901002001' });
  await api.sent({ to: '+99901005001' });
  const providers = await readProviders();
  expect([...providers.keys()]).toEqual(['twilio', 'vonage', 'africastalking']);
  expect(providers.get('twilio')).toEqual({
    object: 'provider',
    name: 'twilio',
    breaker: 'closed',
    rate_per_second: 500,
    concurrency: 7,
    recent: {
      seconds: 300,
      accepted: 1,
      rejected: 1,
      retryable: 1,
      unknown: 0,
      error_rate: 1 / 3,
      latency_ms: expect.any(Number),
    },
    receipts_url: null,
  });
  expect(providers.get('vonage')?.recent).toMatchObject({ accepted: 1, error_rate: 0 });
});

test('a provider whose credentials are refused is shown with an open breaker', async () => {
  const token = 'x'.repeat(32);
  const other = await TestService.start({
    providers: (settings) => ({
      ...settings,
      twilio: settings.twilio === undefined ? undefined : { ...settings.twilio, authToken: token },
    }),
  });
  try {
    const account = await other.account();
    await account.api.sent({ to: '+14155550401' });
    const { data } = await new Operator(other).expect<{ data: Provider[] }>(200, 'GET', '/providers');
    expect(data.map(({ name, breaker }) => `${name} ${breaker}`)).toEqual(['twilio open', 'vonage closed']);
  } finally {
    await other.stop();
  }
});

test('a provider that is told on its dashboard where to report has the address to type in there', async () => {
  const url = (await readProviders()).get('africastalking')?.receipts_url;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/receipts\/africastalking\/[\w-]{27}$/);
  const body = new URLSearchParams({
    id: 'ATXid_unknown',
    status: 'Success',
    phoneNumber: '+254711000000',
    networkCode: '63902',
  });
  expect((await fetch(url ?? '', { method: 'POST', body })).status).toBe(200);
  const unmatched = await operator.expect<unknown[]>(200, 'GET', '/receipts/unmatched');
  expect(unmatched).toEqual([
    {
      object: 'unmatched_receipt',
      provider: 'africastalking',
      provider_message_id: 'ATXid_unknown',
      reason: 'its id is not known',
      raw: expect.stringContaining('ATXid_unknown'),
      received_at: expect.any(String),
      tries: expect.any(Number),
      next_try_at: expect.any(String),
    },
  ]);
});

test('unmatched receipts are listed newest first, page by page', async () => {
  const { ids, pool } = service.app;
  await pool.query('DELETE FROM unmatched_receipts');
  const names = ['a', 'b', 'c'];
  for (const name of names) {
    await pool.query(
      `INSERT INTO unmatched_receipts (id, provider, provider_message_id, reason, raw, received_at) VALUES ($1, 'twilio', $2, 'test', '', now())`,
      [ids.next(), name],
    );
  }
  type Page = { provider_message_id: string }[];
  const first = await operator.client.request<Page>('GET', '/receipts/unmatched', { query: { limit: 2 } });
  const { next_cursor: cursor } = first.pagination as unknown as { next_cursor: string };
  const second = await operator.client.request<Page>('GET', '/receipts/unmatched', { query: { limit: 2, cursor } });
  expect([...first.data, ...second.data].map(({ provider_message_id: id }) => id)).toEqual(['c', 'b', 'a']);
  expect(second.pagination).toEqual({ limit: 2, has_more: false, next_cursor: null });
  expect((await operator.get('/receipts/unmatched', { cursor: 'x' })).error.param).toBe('cursor');
});

test('the check of the ledger goes through all accounts in parts, and names what does not agree', async () => {
  const accounts = [await service.account(), await service.account(), await service.account()];
  const total = (await operator.get('/accounts', { limit: 1 })).pagination.total;
  const wrong = accounts[1]?.accountId ?? '';
  await service.pool.query('UPDATE accounts SET balance_micros = balance_micros + 5 WHERE account_id = $1', [wrong]);
  try {
    let checked = 0;
    const differences: unknown[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
      const part: Check = await operator.expect<Check>(200, 'GET', '/ledger/check', { query });
      expect(part.accounts).toBeLessThanOrEqual(2);
      checked += part.accounts;
      differences.push(...part.differences);
      cursor = part.next_cursor;
    }
    expect(checked).toBe(total);
    expect(differences).toEqual([
      { account_id: toPublicId('acc', wrong), what: 'balance', of: null, expected: 100_000_000, found: 100_000_005 },
    ]);
  } finally {
    await service.pool.query('UPDATE accounts SET balance_micros = balance_micros - 5 WHERE account_id = $1', [wrong]);
  }
  expect((await operator.get('/ledger/check', { cursor: 'x' })).error.param).toBe('cursor');
});

test('what the operator does is in the log, without numbers, keys or secrets', async () => {
  const { id } = await operator.createAccount();
  await operator.createKey(id);
  await operator.expect(201, 'POST', '/suppressions', { json: { account: id, recipients: ['+14155550402'] } });
  await operator.expect(201, 'POST', `/accounts/${id}/top-ups`, { json: { amount: 3 } });
  for (const line of ['account created', 'key created', 'recipients suppressed', 'account topped up']) {
    await until(`the log has "${line}"`, () => service.logged.includes(`"msg":"operator: ${line}"`));
  }
});
