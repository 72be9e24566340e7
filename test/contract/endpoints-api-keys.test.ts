import { describe, expect, test } from 'vitest';
import { api, Client, createKey, sendBody, target } from './client.ts';

/** The parameter that a refused creation names. */
async function refused(fields: Record<string, unknown>): Promise<string | undefined> {
  const error = await api.fail(400, 'POST /api-keys/create', { json: { name: 'contract', ...fields } });
  return error.param;
}

describe('GET /api-keys', () => {
  test('answers 200 with the wrapped list of API keys', async () => {
    const { id } = await createKey();
    const { status, data } = await api.call('GET /api-keys');
    expect(status).toBe(200);
    expect(data.data.map((key) => key.id)).toContain(id);
  });
  test('answers 401 without a valid key', async () => {
    await new Client(null).fail(401, 'GET /api-keys');
  });
});

describe('POST /api-keys/create', () => {
  test('answers 201 with the API key, plain_key and plain_key_notice', async () => {
    const key = await createKey();
    expect(key).toMatchObject({
      object: 'api_key',
      plain_key: expect.any(String),
      plain_key_notice: expect.any(String),
    });
    expect((await key.client.call('GET /account')).status).toBe(200);
  });
  test('name is required', async () => {
    expect((await createKey({ name: 'Nightly job' })).name).toBe('Nightly job');
    expect(await refused({ name: undefined })).toBe('name');
  });
  test('permissions, a list of scopes, is optional', async () => {
    expect((await createKey({ permissions: ['dlr:read'] })).permissions).toEqual(['dlr:read']);
    expect(await refused({ permissions: ['sms:everything'] })).toMatch(/^permissions/);
  });
  test('rate_limit, an integer from 1 to 6000, is optional', async () => {
    for (const rate_limit of [1, 6_000]) expect((await createKey({ rate_limit })).rate_limit).toBe(rate_limit);
    for (const rate_limit of [0, 6_001, 1.5, '60']) expect(await refused({ rate_limit })).toBe('rate_limit');
  });
  test('daily_limit, an integer of at least 1 or null, is optional and holds', async () => {
    await createKey({ daily_limit: null });
    for (const daily_limit of [0, -1, 1.5]) expect(await refused({ daily_limit })).toBe('daily_limit');
    const { client } = await createKey({ daily_limit: 1 });
    await client.get('POST /messages/send', { json: sendBody() });
    await client.fail(429, 'POST /messages/send', { json: sendBody() });
  });
  test('monthly_limit, an integer of at least 1 or null, is optional and holds', async () => {
    await createKey({ monthly_limit: null });
    for (const monthly_limit of [0, -1, 1.5]) expect(await refused({ monthly_limit })).toBe('monthly_limit');
    const { client } = await createKey({ monthly_limit: 1 });
    await client.get('POST /messages/send', { json: sendBody() });
    await client.fail(429, 'POST /messages/send', { json: sendBody() });
  });
  test('allowed_ips, IPv4 addresses or null, is optional', async () => {
    await createKey({ allowed_ips: null });
    await createKey({ allowed_ips: [target.callerAddress, '192.0.2.1'] });
    for (const address of ['localhost', '300.1.1.1', '2001:db8::1']) {
      expect(await refused({ allowed_ips: [address] })).toMatch(/^allowed_ips/);
    }
  });
  test('expires_at, a time or null, is optional', async () => {
    await createKey({ expires_at: null });
    const at = new Date(Date.now() + 3_600_000);
    expect(Date.parse((await createKey({ expires_at: at.toISOString() })).expires_at ?? '')).toBe(at.getTime());
    expect(await refused({ expires_at: 'tomorrow' })).toBe('expires_at');
  });
  test('answers 400 to an invalid request', async () => {
    expect((await api.fail(400, 'POST /api-keys/create', { json: {} })).type).toBe('invalid_request_error');
  });
  test('answers 403 to a key that lacks what it would give', async () => {
    const { client } = await createKey({ permissions: ['sms:read'] });
    const json = { name: 'contract', permissions: ['sms:send'] };
    expect((await client.fail(403, 'POST /api-keys/create', { json })).code).toBe('forbidden');
  });
});

describe('DELETE /api-keys/{id}', () => {
  test('answers 200 with the deleted marker', async () => {
    const { id } = await createKey();
    const { status, data } = await api.call('DELETE /api-keys/{id}', { id });
    expect({ status, ...data }).toMatchObject({ status: 200, id, deleted: true });
  });
  test('answers 404 when there is no such key', async () => {
    expect((await api.fail(404, 'DELETE /api-keys/{id}', { id: 'key_00000000000000000000000000' })).code).toBe(
      'not_found',
    );
  });
});
