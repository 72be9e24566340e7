import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../src/http/caller.ts';
import { TestService } from '../helpers/service.ts';
import { Operator } from './operator.ts';

let service: TestService;
let operator: Operator;
beforeAll(async () => {
  service = await TestService.start();
  operator = new Operator(service);
});
afterAll(() => service.stop());

type List = { object: string; data: Array<Record<string, unknown>> };

describe("an account's key that the operator makes", () => {
  test('has every permission unless told otherwise, is shown in full once, and works', async () => {
    const { id } = await operator.createAccount();
    const { key, api } = await operator.createKey(id, { name: 'first' });
    expect(key).toMatchObject({
      object: 'api_key',
      name: 'first',
      is_active: true,
      permissions: [...scopes],
      rate_limit: 600,
      expires_at: null,
      plain_key: expect.stringMatching(/^ds_live_[0-9A-Za-z]{40}$/),
    });
    expect((await api.request('GET', '/balance')).status).toBe(200);
    const list = await operator.expect<List>(200, 'GET', `/accounts/${id}/api-keys`);
    expect(list).toMatchObject({ object: 'list', data: [{ id: key.id, last_used_at: expect.any(String) }] });
    expect(JSON.stringify(list)).not.toContain(key.plain_key);
  });

  test('has the bounds it is given', async () => {
    const { id } = await operator.createAccount();
    const { key, api } = await operator.createKey(id, {
      permissions: ['sms:read'],
      rate_limit: 6_000,
      daily_limit: 10,
      monthly_limit: 100,
      allowed_ips: ['127.0.0.1'],
      expires_at: '2099-01-01T00:00:00Z',
    });
    expect(key).toMatchObject({
      permissions: ['sms:read'],
      rate_limit: 6_000,
      expires_at: '2099-01-01T00:00:00.000+00:00',
    });
    expect((await api.list()).status).toBe(200);
    expect((await api.request('GET', '/balance')).status).toBe(403);
    expect((await api.request('POST', '/api-keys/create', { json: { name: 'x', daily_limit: 11 } })).error.param).toBe(
      'daily_limit',
    );
  });

  test.each([
    ['name', { name: '' }],
    ['permissions', { permissions: ['sms:everything'] }],
    ['rate_limit', { rate_limit: 6_001 }],
    ['allowed_ips.0', { allowed_ips: ['::1'] }],
    ['expires_at', { expires_at: '2020-01-01T00:00:00Z' }],
  ])('is refused with a wrong %s', async (param, fields) => {
    const { id } = await operator.createAccount();
    const { status, error } = await operator.post(`/accounts/${id}/api-keys`, { name: 'x', ...fields });
    expect([status, error.param]).toEqual([400, param]);
  });

  test('counts towards the hundred an account may have', async () => {
    const { id } = await operator.createAccount();
    const answers = await Promise.all(
      Array.from({ length: 101 }, () => operator.post(`/accounts/${id}/api-keys`, { name: 'one of many' })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(1);
  });
});

describe('a key that the operator revokes', () => {
  test('is not accepted from the next request on, and soon at no process', async () => {
    const peer = await service.peer();
    const { id } = await operator.createAccount();
    const { key, api } = await operator.createKey(id);
    const there = api.at(`${peer.url}/api/v1`);
    for (const caller of [api, there]) expect((await caller.request('GET', '/account')).status).toBe(200);
    const path = `/accounts/${id}/api-keys/${key.id}`;
    expect(await operator.expect(200, 'DELETE', path)).toEqual({ id: key.id, object: 'api_key', deleted: true });
    expect((await api.request('GET', '/account')).status).toBe(401);
    await expect.poll(async () => (await there.request('GET', '/account')).status).toBe(401);
    const { data } = await operator.expect<List>(200, 'GET', `/accounts/${id}/api-keys`);
    expect(data).toMatchObject([{ id: key.id, is_active: false }]);
  });

  test('must be one of the account', async () => {
    const mine = await operator.createAccount();
    const other = await operator.createAccount();
    const { key, api } = await operator.createKey(other.id);
    for (const keyId of [key.id, 'key_01h455vb4pex5vsknk084sn02q', 'nothing']) {
      expect((await operator.delete(`/accounts/${mine.id}/api-keys/${keyId}`)).status).toBe(404);
    }
    expect((await api.request('GET', '/account')).status).toBe(200);
  });
});
