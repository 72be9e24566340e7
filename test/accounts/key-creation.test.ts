import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestService } from '../helpers/service.ts';
import { createdKey, createKey, listKeys, revoke } from './key-client.ts';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

describe('creating a key', () => {
  test('answers with every field of the contract, and the full key this once', async () => {
    const { api } = await service.account();
    const { status, data } = await createKey(api, {
      name: 'Ünïcode 🔑',
      permissions: ['sms:read', 'sms:send'],
      rate_limit: 6_000,
      daily_limit: 10,
      monthly_limit: null,
      allowed_ips: ['192.0.2.1'],
      expires_at: '2126-11-20T03:04:05+01:00',
    });
    expect(status).toBe(201);
    const { plain_key: plainKey } = data;
    expect(plainKey).toMatch(/^ds_live_[0-9A-Za-z]{40}$/);
    expect(data).toEqual({
      id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
      object: 'api_key',
      name: 'Ünïcode 🔑',
      key_hint: `${plainKey.slice(0, 12)}...${plainKey.slice(-4)}`,
      is_active: true,
      permissions: ['sms:send', 'sms:read'],
      rate_limit: 6_000,
      last_used_at: null,
      expires_at: '2126-11-20T02:04:05.000+00:00',
      created_at: expect.stringMatching(time),
      plain_key: plainKey,
      plain_key_notice: expect.stringMatching(/\.$/),
    });
    const { plain_key: _plainKey, plain_key_notice: _notice, ...shown } = data;
    expect(await listKeys(api)).toContainEqual(shown);
  });

  test('keeps no more of it than its SHA-256', async () => {
    const { accountId, api } = await service.account();
    const { key } = await createdKey(api);
    const { rows } = await service.pool.query(
      `SELECT h.hash, (SELECT string_agg(k::text, ' ') FROM api_keys k WHERE k.account_id = h.account_id) AS stored
       FROM api_key_hashes h WHERE h.account_id = $1 ORDER BY h.key_id DESC LIMIT 1`,
      [accountId],
    );
    expect(rows[0]).toMatchObject({ hash: createHash('sha256').update(key.plain_key).digest() });
    expect((rows[0] as { stored: string }).stored).not.toContain(key.plain_key.slice(12, -4));
  });

  test('gives what the creating key has where nothing is said, but no more than 600 requests per minute', async () => {
    const { api } = await service.account({ key: { permissions: ['sms:send', 'balance:read'] } });
    const { key } = await createdKey(api);
    expect(key).toMatchObject({ permissions: ['sms:send', 'balance:read'], rate_limit: 600, expires_at: null });
  });

  test('works for a key with any one permission', async () => {
    const { api } = await service.account({ key: { permissions: ['dlr:read'] } });
    const { key } = await createdKey(api);
    expect(key.permissions).toEqual(['dlr:read']);
  });

  test.each<[string, unknown, string]>([
    ['name', undefined, 'name'],
    ['name', '', 'name'],
    ['name', 'x'.repeat(256), 'name'],
    ['name', 'a\0b', 'name'],
    ['name', 7, 'name'],
    ['permissions', [], 'permissions'],
    ['permissions', null, 'permissions'],
    ['permissions', 'sms:send', 'permissions'],
    ['permissions', ['sms:send', 'sms:fly'], 'permissions'],
    ['rate_limit', 0, 'rate_limit'],
    ['rate_limit', 6_001, 'rate_limit'],
    ['rate_limit', 1.5, 'rate_limit'],
    ['rate_limit', '60', 'rate_limit'],
    ['daily_limit', 0, 'daily_limit'],
    ['daily_limit', 2_147_483_648, 'daily_limit'],
    ['monthly_limit', -1, 'monthly_limit'],
    ['monthly_limit', '5', 'monthly_limit'],
    ['allowed_ips', [], 'allowed_ips'],
    ['allowed_ips', Array.from({ length: 101 }, (_, index) => `192.0.2.${index}`), 'allowed_ips'],
    ['allowed_ips', ['2001:db8::1'], 'allowed_ips.0'],
    ['allowed_ips', ['192.0.2.1', 'localhost'], 'allowed_ips.1'],
    ['allowed_ips', '192.0.2.1', 'allowed_ips'],
    ['expires_at', '2001-01-01T00:00:00Z', 'expires_at'],
    ['expires_at', 'next year', 'expires_at'],
    ['expires_at', 1_795_000_000, 'expires_at'],
  ])('refuses the %s %j', async (field, value, param) => {
    const { api } = await service.account();
    const { status, error } = await createKey(api, { [field]: value });
    expect({ status, code: error.code, param: error.param }).toEqual({ status: 400, code: 'invalid_request', param });
    expect(await listKeys(api)).toHaveLength(1);
  });

  test('names the permission it does not know', async () => {
    const { api } = await service.account();
    expect((await createKey(api, { permissions: ['sms:fly'] })).error.message).toContain('"sms:fly"');
  });

  test.each(['[]', '"name"', 'null', '{"name":', ''])('refuses the body %j', async (rawBody) => {
    const { api } = await service.account();
    const { status, error } = await api.request('POST', '/api-keys/create', { rawBody });
    expect({ status, code: error.code }).toEqual({ status: 400, code: 'invalid_request' });
  });

  test('takes the largest values there are', async () => {
    const { api } = await service.account();
    const { key } = await createdKey(api, {
      name: '🔑'.repeat(127),
      daily_limit: 2_147_483_647,
      allowed_ips: Array.from({ length: 100 }, (_, index) => `192.0.2.${index}`),
      expires_at: '9999-12-31T23:59:59-23:59',
    });
    expect(key.name).toBe('🔑'.repeat(127));
    expect((await listKeys(api))[0]).toMatchObject({ id: key.id, expires_at: key.expires_at });
  });

  test('stops at 100 usable keys, also when many are made at once; a revoked one makes room', async () => {
    const { accountId, api } = await service.account();
    for (let count = 0; count < 94; count += 1) await service.key(accountId);
    const answers = await Promise.all(Array.from({ length: 12 }, () => createKey(api)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    for (const { status, error } of answers.filter((answer) => answer.status !== 201)) {
      expect({ status, code: error.code }).toEqual({ status: 400, code: 'invalid_request' });
    }
    const keys = await listKeys(api);
    expect(keys).toHaveLength(100);
    await revoke(api, keys[0]?.id ?? '');
    expect((await createKey(api)).status).toBe(201);
    expect((await createKey(api)).status).toBe(400);
    expect(await listKeys(api)).toHaveLength(101);
  });
});

describe('no key creates one more powerful than itself', () => {
  const bounds = {
    permissions: ['sms:send'],
    rate_limit: 50,
    daily_limit: 5,
    monthly_limit: 50,
    expires_at: '2126-01-01T00:00:00Z',
  };

  test.each<[string, unknown]>([
    ['permissions', ['sms:send', 'sms:read']],
    ['rate_limit', 51],
    ['daily_limit', 6],
    ['daily_limit', null],
    ['monthly_limit', 51],
    ['monthly_limit', null],
    ['expires_at', '2126-01-01T00:00:01Z'],
    ['expires_at', null],
  ])('%s %j is forbidden to a key that has less', async (field, value) => {
    const { api } = await service.account();
    const { api: limited } = await createdKey(api, bounds);
    const { status, error } = await createKey(limited, { [field]: value });
    expect({ status, code: error.code, param: error.param }).toEqual({ status: 403, code: 'forbidden', param: field });
    expect(await listKeys(api)).toHaveLength(2);
  });

  test('nor by way of a key that it creates: what is left out is inherited', async () => {
    const { api } = await service.account();
    const { api: limited } = await createdKey(api, bounds);
    const { key, api: heir } = await createdKey(limited);
    expect(key).toMatchObject({
      permissions: ['sms:send'],
      rate_limit: 50,
      expires_at: '2126-01-01T00:00:00.000+00:00',
    });
    for (const [field, value] of [
      ['daily_limit', 6],
      ['monthly_limit', null],
      ['expires_at', null],
    ] as const) {
      expect((await createKey(heir, { [field]: value })).status).toBe(403);
    }
    expect((await createKey(heir, { daily_limit: 5, monthly_limit: 50 })).status).toBe(201);
  });
});
