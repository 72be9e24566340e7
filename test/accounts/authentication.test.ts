import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiClient, readAnswer } from '../helpers/client.ts';
import { createTestClock } from '../helpers/clock.ts';
import { TestService } from '../helpers/service.ts';
import { createdKey, createKey } from './key-client.ts';

const clock = createTestClock();

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({ clock, trustedProxies: ['127.0.0.1'] });
});
afterAll(() => service.stop());

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });

test.each([
  ['no header', undefined],
  ['nothing', ''],
  ['another scheme', 'Basic ZHNfbGl2ZV86'],
  ['no key', 'Bearer'],
  ['an empty key', 'Bearer '],
  ['a key of another form', 'Bearer sk_live_0123456789012345678901234567890123456789'],
  ['a key that is too short', 'Bearer ds_live_0123456789'],
  ['a key nobody has', `Bearer ds_live_${'0'.repeat(40)}`],
  ['two keys', `Bearer ds_live_${'0'.repeat(40)} ds_live_${'0'.repeat(40)}`],
])('%s is answered with 401, at every path and without a rate', async (_name, authorization) => {
  for (const path of ['/account', '/messages/send', '/nothing-here']) {
    const response = await fetch(service.baseUrl + path, {
      headers: authorization === undefined ? {} : { authorization },
    });
    const { status, error, headers } = readAnswer(response.status, response.headers, await response.text());
    expect({ status, code: error.code }).toEqual({ status: 401, code: 'unauthorized' });
    expect(headers.has('x-ratelimit-limit')).toBe(false);
  }
});

test('the scheme may be written in any case', async () => {
  const { api } = await service.account();
  const { status } = await api.request('GET', '/account', { headers: { authorization: `bEARER ${api.key}` } });
  expect(status).toBe(200);
});

test('a key works up to the moment it expires', async () => {
  const { api } = await service.account();
  const expiresAt = new Date(clock.now() + 3_600_000);
  const { api: brief } = await createdKey(api, { expires_at: expiresAt.toISOString() });
  expect((await brief.request('GET', '/account')).status).toBe(200);
  clock.advance(3_600_000);
  const { status, error } = await brief.request('GET', '/account');
  expect({ status, code: error.code }).toEqual({ status: 401, code: 'unauthorized' });
  expect((await api.request('GET', '/account')).status).toBe(200);
});

test('an expired key makes room for another one', async () => {
  const { accountId, api } = await service.account();
  const expiresAt = new Date(clock.now() + 60_000);
  for (let count = 0; count < 99; count += 1) await service.key(accountId, { expiresAt });
  expect((await createKey(api)).status).toBe(400);
  clock.advance(60_000);
  expect((await createKey(api)).status).toBe(201);
});

describe('a key with allowed_ips', () => {
  test.each(['192.0.2.1', '::ffff:192.0.2.1', '203.0.113.50, 192.0.2.2'])('is accepted from %s', async (address) => {
    const { api } = await service.account();
    const { api: bound } = await createdKey(api, { allowed_ips: ['192.0.2.1', '192.0.2.2'] });
    expect((await bound.request('GET', '/account', from(address))).status).toBe(200);
  });

  test.each(['192.0.2.3', '2001:db8::1', '192.0.2.1, 203.0.113.50'])('is refused from %s', async (address) => {
    const { api } = await service.account();
    const { api: bound } = await createdKey(api, { allowed_ips: ['192.0.2.1'] });
    for (const [method, path] of [
      ['GET', '/account'],
      ['POST', '/messages/send'],
      ['POST', '/api-keys/create'],
    ] as const) {
      const answer = await bound.request(method, path, { ...from(address), json: method === 'GET' ? undefined : {} });
      expect(answer).toMatchObject({ status: 403, error: { code: 'forbidden' } });
    }
  });

  test('hands on addresses out of its own only', async () => {
    const { api } = await service.account();
    const own = { allowed_ips: ['192.0.2.1', '192.0.2.2'] };
    const { api: bound } = await createdKey(api, own);
    const create = (fields: Record<string, unknown>) =>
      bound.request<{ plain_key: string }>('POST', '/api-keys/create', {
        ...from('192.0.2.1'),
        json: { name: 'heir', ...fields },
      });
    for (const allowedIps of [null, ['192.0.2.3'], ['192.0.2.1', '192.0.2.3']]) {
      expect(await create({ allowed_ips: allowedIps })).toMatchObject({
        status: 403,
        error: { code: 'forbidden', param: 'allowed_ips' },
      });
    }
    const { data } = await create({});
    const heir = new ApiClient(api.baseUrl, data.plain_key);
    expect((await heir.request('GET', '/account', from('192.0.2.2'))).status).toBe(200);
    expect((await heir.request('GET', '/account', from('192.0.2.3'))).status).toBe(403);
  });

  test('shows a stranger its rate without using it up', async () => {
    const { api } = await service.account();
    const { api: bound } = await createdKey(api, { allowed_ips: ['192.0.2.1'], rate_limit: 2 });
    const remaining = async (address: string) => {
      const { status, headers } = await bound.request('GET', '/account', from(address));
      return [status, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')];
    };
    expect(await remaining('192.0.2.9')).toEqual([403, '2', '2']);
    expect(await remaining('192.0.2.1')).toEqual([200, '2', '1']);
    for (let count = 0; count < 5; count += 1) expect(await remaining('192.0.2.9')).toEqual([403, '2', '1']);
    expect(await remaining('192.0.2.1')).toEqual([200, '2', '0']);
    expect(await remaining('192.0.2.9')).toEqual([403, '2', '0']);
  });
});

test('an address that somebody else than a trusted proxy claims is not believed', async () => {
  const open = await TestService.start();
  try {
    const { api } = await open.account();
    const { api: bound } = await createdKey(api, { allowed_ips: ['192.0.2.1'] });
    expect((await bound.request('GET', '/account', from('192.0.2.1'))).status).toBe(403);
    const { api: local } = await createdKey(api, { allowed_ips: ['127.0.0.1'] });
    expect((await local.request('GET', '/account', from('192.0.2.1'))).status).toBe(200);
  } finally {
    await open.stop();
  }
});
