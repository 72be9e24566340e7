import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toPublicId } from '../../src/lib/ids.ts';
import type { Answer, ApiClient, Query } from '../helpers/client.ts';
import { TestService } from '../helpers/service.ts';

type Sender = {
  id: string;
  object: string;
  sender_id: string;
  type: string;
  country_code: string | null;
  status: string;
  approved_at: string | null;
  created_at: string;
};

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const create = (api: ApiClient, json: unknown): Promise<Answer<Sender>> =>
  api.request('POST', '/senders/create', { json });
const list = (api: ApiClient, query: Query = {}): Promise<Answer<Sender[]>> =>
  api.request('GET', '/senders', { query });

describe('creating a sender', () => {
  test('answers with every field of the contract, pending', async () => {
    const { api } = await service.account();
    const { status, data } = await create(api, { sender_id: 'ACME', type: 'alphanumeric', country_code: 'gb' });
    expect(status).toBe(201);
    expect(data).toEqual({
      id: expect.stringMatching(/^snd_[0-9a-z]{26}$/),
      object: 'sender',
      sender_id: 'ACME',
      type: 'alphanumeric',
      country_code: 'GB',
      status: 'pending',
      approved_at: null,
      created_at: expect.stringMatching(time),
    });
    expect((await api.request('GET', `/senders/${data.id}`)).data).toEqual(data);
    expect((await list(api)).data[0]).toEqual(data);
  });

  test('does not let it be sent from before it is approved', async () => {
    const { api } = await service.account();
    await create(api, { sender_id: 'ACME' });
    const { status, error } = await api.send({ to: '+14155550123', from: 'ACME' });
    expect({ status, code: error.code }).toEqual({ status: 400, code: 'sender_not_approved' });
  });

  test.each([
    ['ACME', 'alphanumeric'],
    ['ABCDEFGHIJKLMNOP', 'alphanumeric'],
    ['My shop & co.', 'alphanumeric'],
    ['12345', 'short_code'],
    ['+15005550009', 'long_code'],
    ['447700900123', 'long_code'],
    ['1234567890123456', 'numeric'],
  ])('infers what %s is', async (senderId, type) => {
    const { api } = await service.account();
    expect(await create(api, { sender_id: senderId })).toMatchObject({
      status: 201,
      data: { type, country_code: null },
    });
  });

  test.each<[Record<string, unknown>, string]>([
    [{}, 'sender_id'],
    [{ sender_id: '' }, 'sender_id'],
    [{ sender_id: 'ABCDEFGHIJKLMNOPQ' }, 'sender_id'],
    [{ sender_id: 12_345 }, 'sender_id'],
    [{ sender_id: ' ACME' }, 'sender_id'],
    [{ sender_id: ' ' }, 'sender_id'],
    [{ sender_id: 'AC\nME' }, 'sender_id'],
    [{ sender_id: 'AC\0ME' }, 'sender_id'],
    [{ sender_id: 'Çafé' }, 'sender_id'],
    [{ sender_id: 'ACME', type: 'letters' }, 'type'],
    [{ sender_id: 'ACME', type: 'long_code' }, 'type'],
    [{ sender_id: 'ACME', type: 'numeric' }, 'type'],
    [{ sender_id: '12345', type: 'alphanumeric' }, 'type'],
    [{ sender_id: '+15005550009', type: 'short_code' }, 'type'],
    [{ sender_id: 'ACME', country_code: 'G' }, 'country_code'],
    [{ sender_id: 'ACME', country_code: 'GBR' }, 'country_code'],
    [{ sender_id: 'ACME', country_code: '44' }, 'country_code'],
    [{ sender_id: 'ACME', country_code: 'ÅL' }, 'country_code'],
    [{ sender_id: 'ACME', country_code: 44 }, 'country_code'],
  ])('refuses %j', async (body, param) => {
    const { api } = await service.account({ senders: [] });
    const { status, error } = await create(api, body);
    expect({ status, code: error.code, param: error.param }).toEqual({ status: 400, code: 'invalid_request', param });
    expect((await list(api)).pagination.total).toBe(0);
  });

  test.each(['pending', 'approved', 'suspended'] as const)('refuses one that exists as %s', async (status) => {
    const { api } = await service.account({ senders: [{ sender_id: 'ACME', status }] });
    const { status: answered, error } = await create(api, { sender_id: 'ACME' });
    expect({ answered, code: error.code, param: error.param }).toEqual({
      answered: 400,
      code: 'sender_exists',
      param: 'sender_id',
    });
  });

  test('allows one that was rejected before, or that is another account’s', async () => {
    const { api } = await service.account({ senders: [{ sender_id: 'ACME', status: 'rejected' }] });
    await service.account({ senders: [{ sender_id: 'OTHER', status: 'approved' }] });
    expect((await create(api, { sender_id: 'ACME' })).status).toBe(201);
    expect((await create(api, { sender_id: 'OTHER' })).status).toBe(201);
    expect((await list(api)).data.map(({ sender_id: id, status }) => [id, status])).toEqual([
      ['OTHER', 'pending'],
      ['ACME', 'pending'],
      ['ACME', 'rejected'],
    ]);
  });

  test('makes one sender of requests at the same time', async () => {
    const { api } = await service.account({ senders: [] });
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(api, { sender_id: 'ACME' })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ error }) => error?.code === 'sender_exists')).toHaveLength(7);
    expect((await list(api)).pagination.total).toBe(1);
  });

  test('stops at 1,000 that are not rejected', async () => {
    const { accountId, api } = await service.account({ senders: [] });
    const { ids } = service.app;
    await service.pool.query(
      `INSERT INTO senders (account_id, id, sender_id, type, status, created_at)
       SELECT $1, id, 'S' || place, 'alphanumeric', 'pending', now() FROM unnest($2::uuid[]) WITH ORDINALITY x(id, place)`,
      [accountId, Array.from({ length: 999 }, () => ids.next())],
    );
    expect((await create(api, { sender_id: 'LAST' })).status).toBe(201);
    expect(await create(api, { sender_id: 'MORE' })).toMatchObject({ status: 400, error: { code: 'invalid_request' } });
    await service.pool.query(`UPDATE senders SET status = 'rejected' WHERE account_id = $1 AND sender_id = 'LAST'`, [
      accountId,
    ]);
    expect((await create(api, { sender_id: 'MORE' })).status).toBe(201);
  });
});

describe('the list of senders', () => {
  test('is of this account, newest first, in pages with an exact total', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `S${index}`);
    const { api } = await service.account({ senders: names.map((name) => ({ sender_id: name, status: 'approved' })) });
    const newestFirst = names.toReversed();
    const first = await list(api, { limit: 3 });
    expect(first.data.map(({ sender_id: id }) => id)).toEqual(newestFirst.slice(0, 3));
    expect(first.pagination).toEqual({ page: 1, limit: 3, total: 7, pages: 3, has_more: true });
    const last = await list(api, { limit: 3, page: 3 });
    expect(last.data.map(({ sender_id: id }) => id)).toEqual(newestFirst.slice(6));
    expect(last.pagination).toEqual({ page: 3, limit: 3, total: 7, pages: 3, has_more: false });
    expect((await list(api)).pagination).toMatchObject({ page: 1, limit: 50 });
  });

  test.each([4, 1_000_000, 9_007_199_254_740_991])('is empty past its end: page %i', async (page) => {
    const { api } = await service.account();
    const { status, data, pagination } = await list(api, { page });
    expect({ status, data }).toEqual({ status: 200, data: [] });
    expect(pagination).toMatchObject({ page, total: 1, pages: 1, has_more: false });
  });

  test('shows those of one status where asked', async () => {
    const senders = (['pending', 'approved', 'rejected', 'suspended'] as const).flatMap((status) => [
      { sender_id: `${status}-1`, status },
      { sender_id: `${status}-2`, status },
    ]);
    const { api } = await service.account({ senders });
    for (const status of ['pending', 'approved', 'rejected', 'suspended']) {
      const { data, pagination } = await list(api, { status, limit: 1 });
      expect(data.map(({ sender_id: id }) => id)).toEqual([`${status}-2`]);
      expect(pagination).toMatchObject({ total: 2, pages: 2 });
    }
  });

  test.each<[Query, string]>([
    [{ status: 'open' }, 'status'],
    [{ page: 0 }, 'page'],
    [{ page: 'x' }, 'page'],
    [{ page: 1.5 }, 'page'],
    [{ limit: 0 }, 'limit'],
    [{ limit: 101 }, 'limit'],
  ])('refuses %j', async (query, param) => {
    const { api } = await service.account();
    expect(await list(api, query)).toMatchObject({ status: 400, error: { code: 'invalid_request', param } });
  });
});

test('any valid key reads and creates senders', async () => {
  const { api } = await service.account({ key: { permissions: ['dlr:read'] } });
  const { status, data } = await create(api, { sender_id: 'ACME' });
  expect(status).toBe(201);
  expect((await list(api)).status).toBe(200);
  expect((await api.request('GET', `/senders/${data.id}`)).status).toBe(200);
});

test('what is not a sender of this account is 404', async () => {
  const { api } = await service.account();
  const { api: stranger } = await service.account();
  const { data: foreign } = await create(stranger, { sender_id: 'ACME' });
  const { ids } = service.app;
  for (const id of [foreign.id, toPublicId('snd', ids.next()), toPublicId('key', ids.next()), 'ACME', '%00']) {
    expect(await api.request('GET', `/senders/${id}`)).toMatchObject({
      status: 404,
      error: { code: 'not_found', param: 'id' },
    });
  }
});
