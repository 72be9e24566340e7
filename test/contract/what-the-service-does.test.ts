import { describe, expect, test } from 'vitest';
import {
  api,
  Client,
  magicRecipient,
  onMagic,
  providers,
  recipient,
  sendBody,
  served,
  target,
  time,
} from './client.ts';
import { Inbox } from './inbox.ts';
import { operations, type Operation } from './resources.ts';

const [first = '', second = ''] = providers;

test('the base URL ends with the version prefix', () => {
  expect(target.baseUrl).toMatch(/\/api\/v1$/);
});

test('times are ISO 8601 with a numeric offset', async () => {
  // The client holds every time of every answer to it.
  const { created_at: createdAt, sent_at: sentAt } = await api.send();
  expect([createdAt, sentAt]).toEqual([expect.stringMatching(time), expect.stringMatching(time)]);
  expect(Math.abs(Date.now() - Date.parse(createdAt))).toBeLessThan(60_000);
});

describe('the service', () => {
  test('takes and answers JSON', async () => {
    const { headers, data } = await api.call('POST /messages/send', { json: sendBody({ body: 'grüß dich ✓' }) });
    expect(headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(data.body).toBe('grüß dich ✓');
    const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, json: sendBody() };
    await api.fail(400, 'POST /messages/send', form);
  });

  test('refuses every operation without a key', async () => {
    for (const operation of Object.keys(operations) as Operation[]) {
      const id = operation.includes('{id}') ? 'x_0' : undefined;
      const error = await new Client(null).fail(401, operation, { id });
      expect(error.code).toBe('unauthorized');
    }
  });

  test('is described by its document, operation by operation', () => {
    const declared = Object.entries(served.document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(declared.sort()).toEqual(Object.keys(operations).sort());
  });
});

describe('routing', () => {
  test('a preferred provider is tried first', async () => {
    expect(await api.send({ provider: first })).toMatchObject({ provider: first, attempts: 1 });
    expect(await api.send({ provider: second })).toMatchObject({ provider: second, attempts: 1 });
  });

  onMagic('a 5xx of a provider hands the message to the next one', async () => {
    const message = await api.send({ to: magicRecipient('005'), provider: second });
    expect(message).toMatchObject({ status: 'sent', attempts: 2 });
    expect(message.provider).not.toBe(second);
  });

  onMagic('a network time-out of a provider hands the message to the next one', async () => {
    const message = await api.send({ to: magicRecipient('007'), provider: second });
    expect(message).toMatchObject({ status: 'sent', attempts: 2 });
    expect(message.provider).not.toBe(second);
  });

  onMagic.each([
    ['validation', '002'],
    ['blacklist', '003'],
    ['billing', '004'],
  ])('a hard failure stops the chain, so that nothing is sent twice: %s', async (_kind, scenario) => {
    const to = magicRecipient(scenario);
    const { status } = await api.call('POST /messages/send', { json: sendBody({ to }) });
    expect([400, 500]).toContain(status);
    const [message] = await api.get('GET /messages', { query: { to } });
    expect(message).toMatchObject({ status: 'failed', attempts: 1 });
  });

  test('the caller supplies content; encoding, segments and route are the service’s', async () => {
    const text = 'Привет '.repeat(20);
    const short = await api.send({ to: recipient(), body: 'Hello' });
    const long = await api.send({ to: recipient(), body: text });
    expect(short).toMatchObject({ status: 'sent', provider: expect.stringMatching(/./) as string });
    expect(long).toMatchObject({ status: 'sent', body: text });
    expect(long.cost / short.cost).toBeCloseTo(3);
  });
});

describe('the envelope', () => {
  test('of a success has success, data and meta', async () => {
    // The client holds every answer to exactly these names.
    const { success, data, meta } = await api.call('GET /balance');
    expect({ success, data, meta }).toEqual({
      success: true,
      data: expect.any(Object) as object,
      meta: expect.any(Object) as object,
    });
  });

  test('of a list carries pagination too', async () => {
    for (const operation of ['GET /messages', 'GET /senders', 'GET /events'] as const) {
      const { data, pagination } = await api.call(operation);
      expect(Array.isArray(data)).toBe(true);
      expect(pagination).toMatchObject({ page: 1, limit: 50 });
    }
  });

  test('of a failure has success, error and meta', async () => {
    const answer = await api.call('GET /messages/{id}', { id: 'msg_0' });
    expect(answer).toMatchObject({ status: 404, success: false });
    expect(answer).not.toHaveProperty('data');
  });

  test('meta has request_id, new for each answer, and api_version v1', async () => {
    const [one, other] = [await api.call('GET /balance'), await api.call('GET /balance')];
    expect(one.meta).toEqual({ request_id: expect.any(String) as string, api_version: 'v1' });
    expect(other.meta.request_id).not.toBe(one.meta.request_id);
  });
});

test('a change of status is reported to the caller’s endpoint by a signed webhook', async () => {
  await using inbox = await Inbox.open();
  const { id } = await api.send();
  const { headers } = await inbox.delivery(id, 'message.sent');
  expect(headers['service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
});
