import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from './until.ts';
import { api, Client, createKey, time } from './client.ts';
import type { ApiKey, CreatedApiKey } from './resources.ts';

async function listed(id: string): Promise<ApiKey> {
  const { data: keys } = await api.get('GET /api-keys');
  const key = keys.find((candidate) => candidate.id === id);
  if (key === undefined) throw new Error(`the key ${id} is not in the list`);
  return key;
}

describe('the API key has', () => {
  const expiresAt = new Date(Date.now() + 3_600_000);
  let created: CreatedApiKey;

  beforeAll(async () => {
    const json = {
      name: 'Billing job',
      permissions: ['sms:read', 'balance:read'],
      rate_limit: 60,
      daily_limit: 10,
      monthly_limit: 100,
      allowed_ips: ['192.0.2.1', '127.0.0.1'],
      expires_at: expiresAt.toISOString(),
    };
    created = await api.get('POST /api-keys/create', { json });
  });
  afterAll(async () => {
    await api.call('DELETE /api-keys/{id}', { id: created.id });
  });

  test('id, a string', () => expect(created.id).toMatch(/./));
  test('object, which is api_key', () => expect(created.object).toBe('api_key'));
  test('name, as it was given', () => expect(created.name).toBe('Billing job'));
  test('key_hint, its first characters, three dots and its last four', () => {
    const [start = '', end = ''] = created.key_hint.split('...');
    expect(start).toMatch(/^ds_live_/);
    expect(created.plain_key.startsWith(start)).toBe(true);
    expect(end).toBe(created.plain_key.slice(-4));
  });
  test('is_active, true until it is revoked', async () => {
    const { id, is_active: isActive } = await createKey();
    expect(isActive).toBe(true);
    await api.get('DELETE /api-keys/{id}', { id });
    expect((await listed(id)).is_active).toBe(false);
  });
  test('permissions, a list of scopes', () => {
    expect(created.permissions.toSorted()).toEqual(['balance:read', 'sms:read']);
  });
  test('rate_limit, an integer', () => expect(created.rate_limit).toBe(60));
  test('last_used_at, null until its first use', async () => {
    expect(created.last_used_at).toBeNull();
    await new Client(created.plain_key).get('GET /account');
    const lastUsedAt = await until('the use is noted', async () => (await listed(created.id)).last_used_at);
    expect(lastUsedAt).toMatch(time);
  });
  test('expires_at, a time or null', async () => {
    expect(Date.parse(created.expires_at ?? '')).toBe(expiresAt.getTime());
    expect((await createKey()).expires_at).toBeNull();
  });
  test('created_at, a time', () => expect(created.created_at).toMatch(time));

  test('plain_key and plain_key_notice in the answer to its creation', () => {
    expect(created.plain_key).toMatch(/^ds_live_/);
    expect(created.plain_key_notice).toMatch(/./);
  });
  test('no plain_key that could be retrieved later', async () => {
    const { data } = await api.call('GET /api-keys');
    expect(JSON.stringify(data)).not.toContain(created.plain_key);
    expect(Object.keys(await listed(created.id))).not.toContain('plain_key');
  });
  test('no field that shows daily_limit, monthly_limit or allowed_ips', async () => {
    for (const key of [created, await listed(created.id)]) {
      expect(Object.keys(key)).not.toContain('daily_limit');
      expect(Object.keys(key)).not.toContain('monthly_limit');
      expect(Object.keys(key)).not.toContain('allowed_ips');
    }
  });
});
