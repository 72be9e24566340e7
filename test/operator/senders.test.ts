import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toPublicId } from '../../src/lib/ids.ts';
import { TestService, type TestAccount } from '../helpers/service.ts';
import { Operator, type Sender } from './operator.ts';

let service: TestService;
let operator: Operator;
beforeAll(async () => {
  service = await TestService.start();
  operator = new Operator(service);
});
afterAll(() => service.stop());

async function apply({ api }: TestAccount, senderId: string): Promise<string> {
  const { data, status } = await api.request<Sender>('POST', '/senders/create', { json: { sender_id: senderId } });
  expect(status).toBe(201);
  return data.id;
}

/** Brings a new sender into a state by the operator's own decisions. */
async function senderIn(state: string): Promise<string> {
  const id = await apply(await service.account(), 'SHOP');
  const decisions: Record<string, string[]> = {
    pending: [],
    approved: ['approve'],
    rejected: ['reject'],
    suspended: ['approve', 'suspend'],
  };
  for (const decision of decisions[state] ?? []) await operator.expect(200, 'POST', `/senders/${id}/${decision}`);
  return id;
}

describe('a decision about a sender', () => {
  test.each([
    ['pending', 'approve', 'approved'],
    ['pending', 'reject', 'rejected'],
    ['approved', 'suspend', 'suspended'],
    ['suspended', 'approve', 'approved'],
  ])('takes it from %s by %s to %s', async (from, decision, to) => {
    const id = await senderIn(from);
    const sender = await operator.expect<Sender>(200, 'POST', `/senders/${id}/${decision}`);
    expect(sender).toMatchObject({ id, sender_id: 'SHOP', status: to, account_id: expect.stringMatching(/^acc_/) });
    expect(sender.approved_at === null).toBe(to === 'rejected');
  });

  test.each([
    ['pending', 'suspend'],
    ['approved', 'approve'],
    ['approved', 'reject'],
    ['suspended', 'reject'],
    ['suspended', 'suspend'],
    ['rejected', 'approve'],
    ['rejected', 'reject'],
    ['rejected', 'suspend'],
  ])('about a %s one cannot be to %s', async (from, decision) => {
    const { status, error } = await operator.post(`/senders/${await senderIn(from)}/${decision}`);
    expect([status, error.message]).toEqual([
      400,
      expect.stringMatching(new RegExp(`^This sender is ${from}\\. Only`)),
    ]);
  });

  test('holds for the very next message, and soon at every process', async () => {
    const peer = await service.peer();
    const account = await service.account({ senders: [] });
    const id = await apply(account, 'SHOP');
    const { api } = account;
    const callers = [api, api.at(`${peer.url}/api/v1`)] as const;
    const statuses = () =>
      Promise.all(callers.map(async (caller) => (await caller.send({ to: '+14155550100', from: 'SHOP' })).status));
    expect(await statuses()).toEqual([400, 400]);
    await operator.expect(200, 'POST', `/senders/${id}/approve`);
    await api.sent({ to: '+14155550100', from: 'SHOP' });
    await expect.poll(statuses).toEqual([201, 201]);
    await operator.expect(200, 'POST', `/senders/${id}/suspend`);
    expect((await api.send({ to: '+14155550100', from: 'SHOP' })).error.code).toBe('sender_not_approved');
    await expect.poll(statuses).toEqual([400, 400]);
  });

  test('lets an account apply again after a rejection', async () => {
    const account = await service.account();
    const id = await apply(account, 'BANK');
    await operator.expect(200, 'POST', `/senders/${id}/reject`);
    expect(await apply(account, 'BANK')).not.toBe(id);
  });

  test.each(['snd_01h455vb4pex5vsknk084sn02q', 'nobody'])('needs a sender: %s is none', async (id) => {
    const { status, error } = await operator.post(`/senders/${id}/approve`);
    expect([status, error.code]).toEqual([404, 'not_found']);
  });
});

describe('the list of senders', () => {
  test('has those of all accounts, newest first, by status, by account and page by page', async () => {
    const [one, two] = [await service.account({ senders: [] }), await service.account({ senders: [] })];
    const ids = [await apply(one, 'ONE'), await apply(two, 'TWO'), await apply(one, 'THREE')];
    await operator.expect(200, 'POST', `/senders/${ids[0]}/approve`);
    const find = async (query: Record<string, string | number>) => {
      const { data, pagination } = await operator.client.request<Sender[]>('GET', '/senders', { query });
      return { ids: data.map(({ id }) => id), total: pagination.total };
    };
    const account = toPublicId('acc', one.accountId);
    expect(await find({ account })).toEqual({ ids: [ids[2], ids[0]], total: 2 });
    expect(await find({ account, status: 'approved' })).toEqual({ ids: [ids[0]], total: 1 });
    expect(await find({ account, status: 'rejected' })).toEqual({ ids: [], total: 0 });
    expect(await find({ account, limit: 1, page: 2 })).toEqual({ ids: [ids[0]], total: 2 });
    expect((await find({ limit: 3 })).ids).toEqual(ids.toReversed());
    expect((await find({ status: 'pending', limit: 2 })).ids).toEqual([ids[2], ids[1]]);
  });

  test.each([
    ['status', { status: 'open' }],
    ['account', { account: 'nobody' }],
  ])('refuses a wrong %s', async (param, query) => {
    const { status, error } = await operator.get('/senders', query);
    expect([status, error.param]).toEqual([400, param]);
  });
});
