import { describe, expect, test } from 'vitest';
import {
  api,
  Client,
  createKey,
  magicRecipient,
  onMagic,
  onPenniless,
  recipient,
  sendBody,
  served,
  target,
} from './client.ts';

describe('the error of a failed request', () => {
  test('is in a body of success, which is false, error and meta', async () => {
    // The client holds every answer to exactly these names.
    const answer = await api.call('GET /messages', { query: { page: 0 } });
    expect(answer).toMatchObject({ status: 400, success: false, error: expect.any(Object) as object });
    expect(answer.meta.api_version).toBe('v1');
  });

  test('type is one of seven', () => {
    const seven = ['invalid_request', 'authentication', 'authorization', 'balance', 'rate_limit', 'provider', 'api'];
    const declared = new Set<string>();
    JSON.stringify(served.document, (name, value: unknown) => {
      const types = (value as { type?: { enum?: string[] } } | null)?.type?.enum;
      if (name === 'properties' && types?.[0]?.endsWith('_error')) for (const type of types) declared.add(type);
      return value;
    });
    expect([...declared].sort()).toEqual(seven.map((name) => `${name}_error`).sort());
  });

  test('code is a machine code', async () => {
    expect((await api.fail(400, 'POST /messages/send', { json: {} })).code).toBe('invalid_request');
    expect((await api.fail(404, 'GET /messages/{id}', { id: 'msg_0' })).code).toMatch(/^[a-z_]+$/);
  });

  test('message is a sentence', async () => {
    expect((await api.fail(404, 'GET /messages/{id}', { id: 'msg_0' })).message).toMatch(/^[A-Z].+\.$/);
  });

  test('param is the offending parameter, where one is', async () => {
    expect((await api.fail(400, 'GET /messages', { query: { limit: 0 } })).param).toBe('limit');
    expect(await new Client(null).fail(401, 'GET /messages')).not.toHaveProperty('param');
  });

  onMagic('details, an object, is free-form', async () => {
    const error = await api.fail(500, 'POST /messages/send', { json: sendBody({ to: magicRecipient('006') }) });
    expect(error.details).toBeInstanceOf(Object);
  });
});

describe('the status', () => {
  test('400 means an invalid request', async () => {
    expect(await api.fail(400, 'GET /messages', { query: { status: 'lost' } })).toMatchObject({
      type: 'invalid_request_error',
      code: 'invalid_request',
    });
  });
  test('401 means a missing or invalid API key', async () => {
    expect(await new Client(null).fail(401, 'GET /balance')).toMatchObject({
      type: 'authentication_error',
      code: 'unauthorized',
    });
  });
  onPenniless('402 means a balance that does not suffice to send', async () => {
    const client = new Client(target.pennilessKey);
    expect(await client.fail(402, 'POST /messages/send', { json: sendBody() })).toMatchObject({
      type: 'balance_error',
    });
  });
  test('403 means a key that lacks the permission', async () => {
    const { client } = await createKey({ permissions: ['sms:send'] });
    expect(await client.fail(403, 'GET /balance')).toMatchObject({ type: 'authorization_error', code: 'forbidden' });
  });
  test('404 means a resource that is not found', async () => {
    await api.fail(404, 'GET /messages/{id}', { id: 'msg_0' });
    for (const [method, path] of [
      ['GET', '/nothing-here'],
      ['PUT', '/messages'],
      ['DELETE', '/balance'],
    ] as const) {
      expect((await api.callUnknown(method, path)).status).toBe(404);
    }
  });
  test('429 means that the rate limit is exceeded', async () => {
    const { client } = await createKey({ rate_limit: 1 });
    await client.get('GET /account');
    expect(await client.fail(429, 'GET /account')).toMatchObject({
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
    });
  });
  onMagic('500 means an error of the server', async () => {
    const json = sendBody({ to: magicRecipient('006') });
    expect((await api.fail(500, 'POST /messages/send', { json })).type).toMatch(/^(provider|api)_error$/);
  });
  test('is none but those of the table, for any operation', () => {
    const declared = Object.values(served.document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ responses }) => Object.keys(responses)),
    );
    const known = ['200', '201', '400', '401', '402', '403', '404', '429', '500'];
    expect([...new Set(declared)].filter((status) => !known.includes(status))).toEqual([]);
  });
});

onMagic('a retryable failure falls through to the next provider, a hard one stops the chain', async () => {
  const [retried, refused] = [magicRecipient('005'), magicRecipient('002')];
  expect(await api.send({ to: retried })).toMatchObject({ status: 'sent', attempts: 2 });
  await api.call('POST /messages/send', { json: sendBody({ to: refused }) });
  const [message] = await api.get('GET /messages', { query: { to: refused } });
  expect(message).toMatchObject({ status: 'failed', attempts: 1 });
});

onMagic('a bulk with failed items answers 201, and each failed item carries an error', async () => {
  const recipients = [magicRecipient('002'), recipient(), magicRecipient('003')];
  const json = { ...sendBody({ to: undefined }), recipients };
  const { status, data } = await api.call('POST /messages/bulk', { json });
  expect(status).toBe(201);
  const failed = data.messages.filter((message) => message.status === 'failed');
  expect(failed).toHaveLength(2);
  for (const { error } of failed) expect(error).toEqual({ code: expect.any(String), message: expect.any(String) });
});
