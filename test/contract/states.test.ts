import { describe, expect, test } from 'vitest';
import { until } from './until.ts';
import { fail } from '../webhooks/receiver.ts';
import {
  api,
  Client,
  createKey,
  inState,
  magicRecipient,
  newSenderId,
  onMagic,
  recipient,
  sendBody,
  time,
} from './client.ts';
import { Inbox } from './inbox.ts';

describe('a message', () => {
  test('that a provider accepted is sent: sent_at is set, message.sent is emitted, the answer is 201', async () => {
    await using inbox = await Inbox.open();
    const { status, data } = await api.call('POST /messages/send', { json: sendBody() });
    expect(status).toBe(201);
    expect(data).toMatchObject({ status: 'sent', sent_at: expect.stringMatching(time) as string });
    expect((await inbox.delivery(data.id, 'message.sent')).event.data.status).toBe('sent');
  });

  test('that the carrier confirms is delivered: delivered_at is set, message.delivered is emitted', async () => {
    await using inbox = await Inbox.open();
    const { id } = await api.send();
    expect(await inState(id, 'delivered')).toMatchObject({ delivered_at: expect.stringMatching(time) as string });
    expect((await inbox.delivery(id, 'message.delivered')).event.data.status).toBe('delivered');
  });

  onMagic(
    'that the carrier reports failed is failed: failed_at and error are set, message.failed is emitted',
    async () => {
      await using inbox = await Inbox.open();
      const { id } = await api.send({ to: magicRecipient('008') });
      expect(await inState(id, 'failed')).toMatchObject({
        failed_at: expect.stringMatching(time) as string,
        error: { code: expect.any(String) as string, message: expect.any(String) as string },
      });
      expect((await inbox.delivery(id, 'message.failed')).event.data.error).toMatchObject({ code: expect.any(String) });
    },
  );

  onMagic.each([
    ['a provider error', '006'],
    ['a blocklist', '003'],
    ['an undeliverable number', '002'],
  ])('that fails for good is failed: %s', async (_why, scenario) => {
    await using inbox = await Inbox.open();
    const to = magicRecipient(scenario);
    await api.call('POST /messages/send', { json: sendBody({ to }) });
    const [message] = await api.get('GET /messages', { query: { to } });
    expect(message).toMatchObject({
      status: 'failed',
      failed_at: expect.stringMatching(time) as string,
      error: { code: expect.any(String) as string },
    });
    await inbox.delivery(message?.id ?? '', 'message.failed');
  });

  test('is always in one of the five states', async () => {
    for (const status of ['pending', 'sent', 'delivered', 'failed', 'undelivered']) {
      const messages = await api.get('GET /messages', { query: { status } });
      expect(messages.filter((message) => message.status !== status)).toEqual([]);
    }
  });
});

test('a sender that is applied for is pending until it is approved', async () => {
  const { id, status, approved_at } = await api.get('POST /senders/create', { json: { sender_id: newSenderId() } });
  expect({ status, approved_at }).toEqual({ status: 'pending', approved_at: null });
  expect((await api.get('GET /senders/{id}', { id })).status).toBe('pending');
});

test('an endpoint with 25 consecutive failed deliveries is disabled: is_active false, disabled_at set', async () => {
  await using inbox = await Inbox.open({ events: ['message.sent'] }, () => fail);
  const recipients = Array.from({ length: 25 }, () => recipient());
  await api.get('POST /messages/bulk', { json: { ...sendBody({ to: undefined }), recipients } });
  const { id } = inbox.endpoint;
  const disabled = await until('the endpoint is disabled', async () => {
    const endpoint = await api.get('GET /webhooks/{id}', { id });
    return !endpoint.is_active && endpoint;
  });
  expect(disabled.disabled_at).toMatch(time);
  expect(disabled.failure_count).toBeGreaterThanOrEqual(25);
});

describe('an API key', () => {
  test('that is revoked is no longer accepted', async () => {
    const { id, client } = await createKey();
    await client.get('GET /account');
    await api.get('DELETE /api-keys/{id}', { id });
    expect(await client.fail(401, 'GET /account')).toMatchObject({ code: 'unauthorized' });
  });

  test('that is invalid is rejected with 401', async () => {
    const { key } = api;
    const invented = new Client(`${key?.slice(0, -1)}${key?.endsWith('x') ? 'y' : 'x'}`);
    expect(await invented.fail(401, 'GET /account')).toMatchObject({ code: 'unauthorized' });
  });

  test('that is expired is rejected with 401', async () => {
    const expiresAt = new Date(Date.now() + 4_000);
    const { client } = await createKey({ expires_at: expiresAt.toISOString() });
    await client.get('GET /account');
    await until('the key has expired', async () => (await client.call('GET /account')).status === 401);
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt.getTime() - 1_000);
  });
});
