import { beforeAll, describe, expect, test } from 'vitest';
import { api, inState, magicRecipient, onMagic, recipient, sendBody, time } from './client.ts';
import { Inbox } from './inbox.ts';
import type { Message } from './resources.ts';

describe('the Message has', () => {
  const asked = sendBody({ to: recipient(), body: 'Grüße ✓', reference: 'order 7' });
  let sent: Message;
  let delivered: Message;

  beforeAll(async () => {
    sent = await api.get('POST /messages/send', { json: asked });
    delivered = await inState(sent.id, 'delivered');
  });

  test('id, with the prefix msg_', () => expect(sent.id).toMatch(/^msg_./));
  test('object, which is message', () => expect(sent.object).toBe('message'));
  test('to, the recipient in E.164', () => expect(sent.to).toBe(asked['to']));
  test('from, the sender ID', () => expect(sent.from).toBe(asked['from']));
  test('body, as it was given', () => expect(sent.body).toBe(asked['body']));
  test('status, one of five', () => {
    expect(['pending', 'sent', 'delivered', 'failed', 'undelivered']).toContain(sent.status);
    expect(delivered.status).toBe('delivered');
  });
  test('cost, a number', () => expect(sent.cost).toBeGreaterThan(0));
  test('currency, the code of one', () => expect(sent.currency).toMatch(/^[A-Z]{3}$/));
  test('provider, the upstream that handled it', () => expect(sent.provider).toMatch(/./));
  test('provider_message_id, the upstream’s own id', () => expect(sent.provider_message_id).toMatch(/./));
  test('attempts, the number of provider attempts', () => expect(sent.attempts).toBe(1));
  test('error, which is null while nothing failed', () => {
    expect([sent.error, delivered.error]).toEqual([null, null]);
  });
  test('created_at, a time', () => expect(sent.created_at).toMatch(time));
  test('sent_at, a time once it is sent', () => expect(sent.sent_at).toMatch(time));
  test('delivered_at, null, then a time once it is delivered', () => {
    expect(sent.delivered_at).toBeNull();
    expect(delivered.delivered_at).toMatch(time);
  });
  test('failed_at, null while nothing failed', () =>
    expect([sent.failed_at, delivered.failed_at]).toEqual([null, null]));
});

onMagic('a failed Message has error as code and message, and failed_at', async () => {
  const { id } = await api.send({ to: magicRecipient('008') });
  const failed = await inState(id, 'failed');
  expect(failed.error).toEqual({ code: expect.stringMatching(/^[a-z_]+$/), message: expect.stringMatching(/./) });
  expect(failed.failed_at).toMatch(time);
});

test('cost is the total of all segments, each billed on its own', async () => {
  const costs: number[] = [];
  for (const length of [1, 161, 307, 1_531]) costs.push((await api.send({ body: 'a'.repeat(length) })).cost);
  const [one = 0] = costs;
  expect(costs.map((cost) => Math.round((cost / one) * 1e6) / 1e6)).toEqual([1, 2, 3, 11]);
});

test('an item of a bulk result has at least id, to, status and cost', async () => {
  const recipients = [recipient(), recipient()];
  const { messages } = await api.get('POST /messages/bulk', { json: { ...sendBody({ to: undefined }), recipients } });
  for (const [index, to] of recipients.entries()) {
    expect(messages[index]).toMatchObject({
      id: expect.stringMatching(/^msg_/) as string,
      to,
      status: 'sent',
      cost: expect.any(Number) as number,
    });
  }
});

onMagic('an item of a bulk result carries an error when its recipient failed', async () => {
  const recipients = [recipient(), magicRecipient('002')];
  const { messages } = await api.get('POST /messages/bulk', { json: { ...sendBody({ to: undefined }), recipients } });
  expect(messages.map(({ status }) => status)).toEqual(['sent', 'failed']);
  expect(messages[0]?.error ?? null).toBeNull();
  expect(messages[1]?.error).toEqual({ code: expect.any(String), message: expect.any(String) });
});

test('the reference of the request is echoed in webhooks', async () => {
  await using inbox = await Inbox.open();
  const { id } = await api.send({ reference: 'order 4711/ü' });
  const { event } = await inbox.delivery(id, 'message.sent');
  expect(event.data.reference).toBe('order 4711/ü');
});
