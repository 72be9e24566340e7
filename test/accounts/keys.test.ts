import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromPublicId, toPublicId } from '../../src/lib/ids.ts';
import { ApiClient } from '../helpers/client.ts';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { createdKey, createKey, listKeys, revoke } from './key-client.ts';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

describe('the list of keys', () => {
  test('is of this account, newest first, without pagination', async () => {
    const { api, keyId } = await service.account();
    await service.account();
    const { key: second } = await createdKey(api, { name: 'second' });
    const { key: third } = await createdKey(api, { name: 'third' });
    expect((await listKeys(api)).map(({ id }) => id)).toEqual([third.id, second.id, toPublicId('key', keyId)]);
    expect(await api.request('GET', '/api-keys')).not.toHaveProperty('pagination');
  });

  test('never shows a key, its limits or its addresses', async () => {
    const { api } = await service.account();
    await createdKey(api, { daily_limit: 5, allowed_ips: ['192.0.2.1'] });
    for (const key of await listKeys(api)) {
      expect(Object.keys(key).sort().join(' ')).toBe(
        'created_at expires_at id is_active key_hint last_used_at name object permissions rate_limit',
      );
    }
  });

  test('says when a key was last used, up to the request before', async () => {
    const { api } = await service.account();
    const { key, api: fresh } = await createdKey(api);
    const lastUsed = async () => (await listKeys(api)).find(({ id }) => id === key.id)?.last_used_at;
    expect(await lastUsed()).toBeNull();
    await fresh.request('GET', '/account');
    expect(await lastUsed()).toMatch(time);
  });

  test('always has the usable keys, however many were revoked since', async () => {
    const { accountId, api, keyId } = await service.account();
    for (let count = 0; count < 201; count += 1) await service.key(accountId);
    await service.pool.query('UPDATE api_keys SET is_active = false WHERE account_id = $1 AND id <> $2', [
      accountId,
      keyId,
    ]);
    const keys = await listKeys(api);
    expect(keys).toHaveLength(200);
    expect(keys.at(-1)).toMatchObject({ id: toPublicId('key', keyId), is_active: true });
  });
});

describe('revoking a key', () => {
  test('shuts it out at once, leaves the others, and keeps it in the list as inactive', async () => {
    const { api } = await service.account();
    const { key, api: old } = await createdKey(api);
    expect((await old.request('GET', '/account')).status).toBe(200);
    const { status, data } = await revoke(api, key.id);
    expect({ status, data }).toEqual({ status: 200, data: { id: key.id, object: 'api_key', deleted: true } });
    expect(await old.request('GET', '/account')).toMatchObject({ status: 401, error: { code: 'unauthorized' } });
    expect((await api.request('GET', '/account')).status).toBe(200);
    expect((await listKeys(api))[0]).toMatchObject({ id: key.id, is_active: false });
  });

  test('may be repeated', async () => {
    const { api } = await service.account();
    const { key } = await createdKey(api);
    expect((await revoke(api, key.id)).status).toBe(200);
    expect((await revoke(api, key.id)).status).toBe(200);
  });

  test('is possible for a key itself', async () => {
    const { api, keyId } = await service.account();
    expect((await revoke(api, toPublicId('key', keyId))).status).toBe(200);
    expect((await api.request('GET', '/account')).status).toBe(401);
  });

  test('is refused to a key that lacks one of its permissions', async () => {
    const { api } = await service.account();
    const { key: strong } = await createdKey(api, { permissions: ['sms:send', 'sms:read'] });
    const { api: weak } = await createdKey(api, { permissions: ['sms:send', 'balance:read'] });
    const { key: equal } = await createdKey(api, { permissions: ['balance:read', 'sms:send'] });
    const { status, error } = await revoke(weak, strong.id);
    expect({ status, code: error.code }).toEqual({ status: 403, code: 'forbidden' });
    expect(error.message).toContain('sms:read');
    expect((await new ApiClient(api.baseUrl, strong.plain_key).request('GET', '/account')).status).toBe(200);
    expect((await revoke(weak, equal.id)).status).toBe(200);
  });

  test('is 404 for what is not a key of this account', async () => {
    const { api } = await service.account();
    const { keyId: foreign, api: stranger } = await service.account();
    for (const id of [
      toPublicId('key', foreign),
      toPublicId('key', service.app.ids.next()),
      toPublicId('msg', service.app.ids.next()),
      'key_8zzzzzzzzzzzzzzzzzzzzzzzzz',
      'nothing',
      '%00',
    ]) {
      expect(await revoke(api, id)).toMatchObject({ status: 404, error: { code: 'not_found', param: 'id' } });
    }
    expect((await stranger.request('GET', '/account')).status).toBe(200);
  });

  test('reaches every other process', async () => {
    const peer = await service.peer();
    const { api } = await service.account();
    const { key } = await createdKey(api);
    const elsewhere = new ApiClient(`${peer.url}/api/v1`, key.plain_key);
    expect((await elsewhere.request('GET', '/account')).status).toBe(200);
    await revoke(api, key.id);
    // Well before what the other process has cached grows too old by itself.
    await until(
      'the other process knows',
      async () => (await elsewhere.request('GET', '/account')).status === 401,
      3_000,
    );
  });

  test('wins over what the key is creating at that moment', async () => {
    const { accountId, api } = await service.account();
    const { key, api: leaked } = await createdKey(api);
    expect((await leaked.request('GET', '/account')).status).toBe(200);
    const revoking = await service.pool.connect();
    let creation: Promise<{ status: number }>;
    try {
      await revoking.query('BEGIN');
      await revoking.query('UPDATE api_keys SET is_active = false WHERE account_id = $1 AND id = $2', [
        accountId,
        fromPublicId('key', key.id),
      ]);
      creation = createKey(leaked);
      await until('the creation waits for the revocation', async () => {
        const { rowCount } = await service.pool.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rowCount === 1;
      });
      await revoking.query('COMMIT');
    } finally {
      revoking.release();
    }
    expect((await creation).status).toBe(401);
    expect(await listKeys(api)).toHaveLength(2);
  });
});
