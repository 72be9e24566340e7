import { describe, expect, test } from 'vitest';
import { until } from './until.ts';
import { api, Client, createKey, sendBody, target } from './client.ts';
import type { Operation } from './resources.ts';

/** Requests that only a key with the scope may make. */
const grants: Array<[scope: string, operation: Operation, json?: () => Record<string, unknown>]> = [
  ['sms:send', 'POST /messages/send', () => sendBody()],
  ['sms:bulk', 'POST /messages/bulk', () => ({ ...sendBody({ to: undefined }), recipients: [sendBody()['to']] })],
  ['sms:read', 'GET /messages'],
  ['sms:read', 'GET /messages/{id}'],
  ['balance:read', 'GET /balance'],
  ['balance:read', 'GET /usage'],
];
const scopes = ['sms:send', 'sms:bulk', 'sms:read', 'balance:read', 'dlr:read'];

/** What a key may do, operation by operation. */
async function statusOf(client: Client, operation: Operation, json?: () => Record<string, unknown>): Promise<number> {
  const id = operation.includes('{id}') ? (await api.send()).id : undefined;
  return (await client.call(operation, { id, json: json?.() })).status;
}

/** Holds each operation of a scope to it: 2xx with nothing but the scope, 403 with all others. */
async function expectGrant(wanted: string): Promise<void> {
  const { client: holder } = await createKey({ permissions: [wanted] });
  const { client: others } = await createKey({ permissions: scopes.filter((scope) => scope !== wanted) });
  for (const [scope, operation, json] of grants) {
    const status = await statusOf(holder, operation, json);
    expect([operation, status < 400]).toEqual([operation, scope === wanted]);
    if (scope === wanted) expect([operation, await statusOf(others, operation, json)]).toEqual([operation, 403]);
  }
}

describe('a request', () => {
  test('carries its key in the header Authorization, as Bearer', async () => {
    await api.get('GET /account');
    for (const authorization of [`Basic ${api.key}`, `${api.key}`, 'Bearer', 'Bearer ']) {
      await new Client(null).fail(401, 'GET /account', { headers: { authorization } });
    }
  });
  test('without a key is rejected: 401, unauthorized', async () => {
    expect((await new Client(null).fail(401, 'GET /account')).code).toBe('unauthorized');
  });
  test('with an invalid key is rejected: 401, unauthorized', async () => {
    for (const key of [`ds_live_${'0'.repeat(40)}`, 'ds_live_', 'sk_live_1234567890']) {
      expect((await new Client(key).fail(401, 'GET /account')).code).toBe('unauthorized');
    }
  });
  test('with a disabled key is rejected: 401, unauthorized', async () => {
    const { id, client } = await createKey();
    await api.get('DELETE /api-keys/{id}', { id });
    expect((await client.fail(401, 'GET /account')).code).toBe('unauthorized');
  });
  test('with an expired key is rejected: 401, unauthorized', async () => {
    const { client } = await createKey({ expires_at: new Date(Date.now() + 1_000).toISOString() });
    await until('the key has expired', async () => (await client.call('GET /account')).status === 401);
    expect((await client.fail(401, 'GET /account')).code).toBe('unauthorized');
  });
  test('with a key that lacks the permission is rejected: 403, forbidden', async () => {
    const { client } = await createKey({ permissions: ['sms:send'] });
    expect((await client.fail(403, 'GET /messages')).code).toBe('forbidden');
  });
  test('over the rate of its key is rejected: 429, rate_limit_exceeded', async () => {
    const { client } = await createKey({ rate_limit: 2 });
    for (const status of [200, 200, 429]) expect((await client.call('GET /account')).status).toBe(status);
    expect((await client.fail(429, 'GET /account')).code).toBe('rate_limit_exceeded');
  });
});

describe('a key', () => {
  test('is a long random string that starts with ds_live_', async () => {
    const keys = [await createKey(), await createKey()].map(({ plain_key: key }) => key);
    for (const key of keys) expect(key).toMatch(/^ds_live_[0-9A-Za-z]{24,}$/);
    expect(new Set(keys).size).toBe(2);
  });
  test('is shown in full only once, at creation', async () => {
    const { plain_key: key } = await createKey();
    expect(JSON.stringify(await api.get('GET /api-keys'))).not.toContain(key);
  });
  test('has one or more of five scopes', async () => {
    for (const scope of scopes) expect((await createKey({ permissions: [scope] })).permissions).toEqual([scope]);
    expect((await createKey({ permissions: scopes })).permissions.toSorted()).toEqual(scopes.toSorted());
    const json = { name: 'contract', permissions: [] };
    await api.fail(400, 'POST /api-keys/create', { json });
  });
  test('restricted to other addresses is rejected: 403, forbidden', async () => {
    const { client } = await createKey({ allowed_ips: ['192.0.2.1'] });
    expect((await client.fail(403, 'GET /account')).code).toBe('forbidden');
  });
  test('restricted to the caller’s address is accepted', async () => {
    const { client } = await createKey({ allowed_ips: ['192.0.2.1', target.callerAddress] });
    await client.get('GET /account');
  });
  test('is rotated: the old and the new one work in parallel until the old one is revoked', async () => {
    const [old, fresh] = [await createKey(), await createKey()];
    for (const { client } of [old, fresh]) await client.get('GET /account');
    await fresh.client.get('DELETE /api-keys/{id}', { id: old.id });
    await old.client.fail(401, 'GET /account');
    await fresh.client.get('GET /account');
  });
});

describe('the scope', () => {
  test('sms:send grants sending single messages', () => expectGrant('sms:send'));
  test('sms:bulk grants sending to many recipients', () => expectGrant('sms:bulk'));
  test('sms:read grants reading messages', () => expectGrant('sms:read'));
  test('balance:read grants reading balance and usage', () => expectGrant('balance:read'));
  test('dlr:read grants reading delivery reports', async () => {
    const { client } = await createKey({ permissions: ['dlr:read'] });
    await client.get('GET /events');
    for (const [, operation, json] of grants) expect(await statusOf(client, operation, json)).toBe(403);
  });
});
