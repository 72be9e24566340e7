import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishNotice } from '../../src/db/notices.ts';
import { toPublicId } from '../../src/lib/ids.ts';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

async function setStatus(accountId: string, status: string): Promise<void> {
  await service.pool.query('UPDATE accounts SET status = $2 WHERE account_id = $1', [accountId, status]);
  await publishNotice(service.pool, 'account', accountId);
}

test('an account is shown with every field of the contract and nothing else', async () => {
  const { accountId, api } = await service.account({ balance: 12.345678 });
  const { status, data } = await api.request('GET', '/account');
  expect(status).toBe(200);
  expect(data).toEqual({
    id: toPublicId('acc', accountId),
    object: 'account',
    email: 'someone@example.com',
    name: 'Someone',
    company_name: 'Example',
    country: 'US',
    status: 'active',
    kyc_verified: true,
    balance: 12.345678,
    currency: 'USD',
    created_at: expect.stringMatching(time),
  });
});

test('the balance is what the account shows, and falls by what a message costs', async () => {
  const { api } = await service.account({ balance: 1 });
  const { cost } = await api.sent({ to: '+447700900123', body: 'x'.repeat(161) });
  const { data } = await api.request<{ balance: number }>('GET', '/balance');
  expect(cost).toBe(0.1);
  expect(data).toEqual({ object: 'balance', balance: 0.9, currency: 'USD', as_of: expect.stringMatching(time) });
  expect((await api.request<{ balance: number }>('GET', '/account')).data.balance).toBe(0.9);
});

test('any valid key reads the account; balance and usage need balance:read', async () => {
  const { accountId, api: reader } = await service.account({ key: { permissions: ['balance:read'] } });
  const { api: other } = await service.key(accountId, {
    permissions: ['sms:send', 'sms:bulk', 'sms:read', 'dlr:read'],
  });
  for (const api of [reader, other]) expect((await api.request('GET', '/account')).status).toBe(200);
  for (const path of ['/balance', '/usage']) {
    expect((await reader.request('GET', path)).status).toBe(200);
    expect(await other.request('GET', path)).toMatchObject({ status: 403, error: { code: 'forbidden' } });
  }
});

test('a suspended account reads and does not send; a closed one is not let in', async () => {
  const { accountId, api } = await service.account();
  expect((await api.send({})).status).toBe(400);
  await setStatus(accountId, 'suspended');
  await until('the suspension is seen', async () => (await api.send({})).status === 403);
  expect(await api.send({ to: '+14155550123' })).toMatchObject({ status: 403, error: { code: 'account_suspended' } });
  expect(await api.bulk({ recipients: ['+14155550123'] })).toMatchObject({ status: 403 });
  expect((await api.request<{ status: string }>('GET', '/account')).data.status).toBe('suspended');
  expect((await api.list()).pagination.total).toBe(0);
  await setStatus(accountId, 'closed');
  await until('the closing is seen', async () => (await api.request('GET', '/account')).status === 401);
});
