import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestService } from '../helpers/service.ts';
import { Operator, type Account } from './operator.ts';

let service: TestService;
let operator: Operator;
beforeAll(async () => {
  service = await TestService.start();
  operator = new Operator(service);
});
afterAll(() => service.stop());

describe('creating an account', () => {
  test('makes it active and without money, and shows it as its owner sees it', async () => {
    const account = await operator.createAccount({
      name: 'Ana Silva',
      email: 'ana@example.com',
      company_name: 'Exemplo Lda',
      country: 'pt',
      currency: 'EUR',
      kyc_verified: true,
    });
    expect(account).toEqual({
      id: expect.stringMatching(/^acc_[0-9a-z]{26}$/),
      object: 'account',
      name: 'Ana Silva',
      email: 'ana@example.com',
      company_name: 'Exemplo Lda',
      country: 'PT',
      status: 'active',
      kyc_verified: true,
      balance: 0,
      currency: 'EUR',
      created_at: expect.stringMatching(/^\d{4}-.*\+00:00$/),
    });
    expect(await operator.expect<Account>(200, 'GET', `/accounts/${account.id}`)).toEqual(account);
    const { api } = await operator.createKey(account.id);
    expect((await api.request('GET', '/account')).data).toEqual(account);
  });

  test('needs no more than a name and an address', async () => {
    expect(await operator.createAccount()).toMatchObject({ currency: 'USD', company_name: '', kyc_verified: false });
  });

  test.each([
    ['email', { email: undefined }],
    ['email', { email: 'nobody' }],
    ['email', { email: 7 }],
    ['name', { name: '' }],
    ['name', { name: 'x\0y' }],
    ['country', { country: 'PRT' }],
    ['country', { country: 'P1' }],
    ['currency', { currency: 'euro' }],
    ['currency', { currency: 'eur' }],
    ['kyc_verified', { kyc_verified: 'yes' }],
  ])('refuses a wrong %s: %j', async (param, fields) => {
    const { status, error } = await operator.post('/accounts', { name: 'Ana', email: 'ana@example.com', ...fields });
    expect([status, error.code, error.param]).toEqual([400, 'invalid_request', param]);
  });
});

describe('the list of accounts', () => {
  test('finds them by a part of name, address or company, in any case, and by status, page by page', async () => {
    const made: string[] = [];
    for (const index of [1, 2, 3]) {
      const account = await operator.createAccount({
        name: index === 1 ? 'Zebra One' : 'Somebody',
        email: index === 2 ? 'zebra-two@example.com' : 'somebody@example.com',
        company_name: index === 3 ? 'Ltd ZEBRA three' : '',
      });
      made.push(account.id);
    }
    await operator.expect(200, 'POST', `/accounts/${made[1]}/suspend`);
    const find = async (query: Record<string, string | number>) => {
      const { data, pagination } = await operator.client.request<Account[]>('GET', '/accounts', { query });
      return { ids: data.map(({ id }) => id), pagination };
    };
    expect((await find({ search: 'zebra' })).ids).toEqual(made.toReversed());
    expect((await find({ search: 'zebra', status: 'suspended' })).ids).toEqual([made[1]]);
    expect(await find({ search: 'Zebra', limit: 2, page: 2 })).toEqual({
      ids: [made[0]],
      pagination: { page: 2, limit: 2, total: 3, pages: 2, has_more: false },
    });
    expect((await find({ search: 'zebra', page: 9 })).ids).toEqual([]);
    expect((await find({ search: '100 %' })).ids).toEqual([]);
  });

  test.each([
    ['status', { status: 'open' }],
    ['limit', { limit: 101 }],
    ['page', { page: 0 }],
    ['search', { search: '\0' }],
  ])('refuses a wrong %s', async (param, query) => {
    const { status, error } = await operator.get('/accounts', query);
    expect([status, error.param]).toEqual([400, param]);
  });
});

describe('an account', () => {
  test('that is suspended cannot send, from the next request on and at every process, until it is resumed', async () => {
    const peer = await service.peer();
    const { id } = await operator.createAccount();
    const { api } = await operator.createKey(id);
    const there = api.at(`${peer.url}/api/v1`);
    const refusals = async () => {
      const answers = await Promise.all([api, there].map((caller) => caller.send({ to: '+14155550100' })));
      return answers.map(({ status, error }) => `${status} ${error.code}`);
    };
    expect(await refusals()).toEqual(Array(2).fill('400 sender_not_approved'));
    expect((await new Operator(service, peer).post(`/accounts/${id}/suspend`)).data).toMatchObject({
      status: 'suspended',
    });
    expect((await there.send({ to: '+14155550100' })).error.code).toBe('account_suspended');
    await expect.poll(refusals).toEqual(Array(2).fill('403 account_suspended'));
    expect((await api.request('GET', '/balance')).status).toBe(200);
    await operator.expect(200, 'POST', `/accounts/${id}/resume`);
    expect((await api.send({ to: '+14155550100' })).error.code).toBe('sender_not_approved');
  });

  test('that is closed is gone for its keys, and stays closed', async () => {
    const { id } = await operator.createAccount();
    const { api } = await operator.createKey(id);
    expect((await api.request('GET', '/account')).status).toBe(200);
    expect(await operator.expect(200, 'POST', `/accounts/${id}/close`)).toMatchObject({ id, status: 'closed' });
    expect((await api.request('GET', '/account')).status).toBe(401);
    for (const change of ['resume', 'suspend', 'close']) {
      const { status, error } = await operator.post(`/accounts/${id}/${change}`);
      expect([status, error.message]).toEqual([400, expect.stringMatching(/^This account is closed\. Only/)]);
    }
    expect((await operator.post(`/accounts/${id}/api-keys`, { name: 'late' })).status).toBe(400);
    expect((await operator.post(`/accounts/${id}/top-ups`, { amount: 1 })).status).toBe(400);
  });

  test.each([
    ['active', 'resume'],
    ['suspended', 'suspend'],
  ])('that is %s cannot be changed by %s', async (state, change) => {
    const { id } = await operator.createAccount();
    if (state === 'suspended') await operator.expect(200, 'POST', `/accounts/${id}/suspend`);
    expect((await operator.post(`/accounts/${id}/${change}`)).status).toBe(400);
  });

  test.each(['acc_01h455vb4pex5vsknk084sn02q', 'acc_x', 'nobody', 'msg_01h455vb4pex5vsknk084sn02q'])(
    'that does not exist is not found: %s',
    async (id) => {
      const answers = await Promise.all([
        operator.get(`/accounts/${id}`),
        operator.post(`/accounts/${id}/suspend`),
        operator.post(`/accounts/${id}/top-ups`, { amount: 1 }),
        operator.get(`/accounts/${id}/api-keys`),
        operator.post(`/accounts/${id}/api-keys`, { name: 'x' }),
      ]);
      expect(answers.map(({ status, error }) => `${status} ${error.code}`)).toEqual(Array(5).fill('404 not_found'));
    },
  );
});
