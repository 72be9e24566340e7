import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { until } from './until.ts';
import { fail, hang, ok, type Answer } from '../webhooks/receiver.ts';
import { api, magicRecipient, onMagic, recipient, sendBody, time } from './client.ts';
import { Inbox, type Delivery } from './inbox.ts';

const stripe = new Stripe('sk_test_unused');

describe('an event is delivered', () => {
  test('as an HTTP POST with JSON', async () => {
    await using inbox = await Inbox.open();
    const { id } = await api.send();
    const { method, headers, body } = await inbox.delivery(id, 'message.sent');
    expect(method).toBe('POST');
    expect(headers['content-type']).toMatch(/^application\/json\b/);
    expect(JSON.parse(body)).toBeInstanceOf(Object);
  });

  test('to each active endpoint whose events include its type', async () => {
    await using all = await Inbox.open();
    await using one = await Inbox.open({ events: ['message.sent'] });
    await using other = await Inbox.open({ events: ['message.delivered'] });
    const { id } = await api.send();
    await all.delivery(id, 'message.delivered');
    await other.delivery(id, 'message.delivered');
    const typesAt = (inbox: Inbox) => new Set(inbox.about(id).map(({ event }) => event.type));
    await one.delivery(id, 'message.sent');
    expect([typesAt(one), typesAt(other)]).toEqual([new Set(['message.sent']), new Set(['message.delivered'])]);
    await until('both are there', async () => typesAt(all).size === 2);
  });

  test('to no endpoint that is not active', async () => {
    await using disabled = await Inbox.open({ events: ['message.sent'] }, () => fail);
    await using witness = await Inbox.open({ events: ['message.sent'] });
    const recipients = Array.from({ length: 25 }, () => recipient());
    await api.get('POST /messages/bulk', { json: { ...sendBody({ to: undefined }), recipients } });
    const { id } = disabled.endpoint;
    await until('it is disabled', async () => !(await api.get('GET /webhooks/{id}', { id })).is_active);
    const message = await api.send();
    await witness.delivery(message.id, 'message.sent');
    expect(disabled.about(message.id)).toEqual([]);
  });
});

describe('the event', () => {
  test('message.sent is emitted when the upstream provider has accepted the message', async () => {
    await using inbox = await Inbox.open();
    const { id, provider } = await api.send();
    const { event } = await inbox.delivery(id, 'message.sent');
    expect(event.data).toMatchObject({ status: 'sent', provider, sent_at: expect.stringMatching(time) as string });
  });

  test('message.delivered is emitted when the carrier has confirmed delivery', async () => {
    await using inbox = await Inbox.open();
    const { id } = await api.send();
    const { event } = await inbox.delivery(id, 'message.delivered');
    expect(event.data).toMatchObject({ status: 'delivered', delivered_at: expect.stringMatching(time) as string });
  });

  onMagic.each([
    ['a provider error', '006'],
    ['a blocklist', '003'],
    ['an undeliverable number', '008'],
  ])('message.failed is emitted when the message could not be delivered: %s', async (_why, scenario) => {
    await using inbox = await Inbox.open({ events: ['message.failed'] });
    const to = magicRecipient(scenario);
    await api.call('POST /messages/send', { json: sendBody({ to }) });
    const [message] = await api.get('GET /messages', { query: { to } });
    const { event } = await inbox.delivery(message?.id ?? '', 'message.failed');
    expect(event.data).toMatchObject({ status: 'failed', failed_at: expect.stringMatching(time) as string });
  });
});

describe('the payload', () => {
  test('is an Event: id, object, type, created_at and data', async () => {
    await using inbox = await Inbox.open();
    const { id } = await api.send();
    const { event } = await inbox.delivery(id, 'message.sent');
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_/) as string,
      object: 'event',
      type: 'message.sent',
      created_at: expect.stringMatching(time) as string,
      data: expect.any(Object) as object,
    });
  });

  test('has a message with at least id, object, to, from, status, provider and the time of the change', async () => {
    await using inbox = await Inbox.open();
    const { id, to, from, provider } = await api.send();
    const { event } = await inbox.delivery(id, 'message.delivered');
    const delivered_at = expect.stringMatching(time) as string;
    expect(event.data).toMatchObject({ id, object: 'message', to, from, status: 'delivered', provider, delivered_at });
  });

  onMagic('of message.failed carries the error of the message', async () => {
    await using inbox = await Inbox.open();
    const { id } = await api.send({ to: magicRecipient('008') });
    const { event } = await inbox.delivery(id, 'message.failed');
    expect(event.data.error).toEqual({ code: expect.stringMatching(/./), message: expect.stringMatching(/./) });
  });

  test('echoes the caller’s reference', async () => {
    await using inbox = await Inbox.open();
    const { id } = await api.send({ reference: 'order 7' });
    for (const type of ['message.sent', 'message.delivered']) {
      expect((await inbox.delivery(id, type)).event.data.reference).toBe('order 7');
    }
  });
});

describe('the signature', () => {
  test('is in the header Service-Signature as t, a Unix time, and v1, lowercase hex', async () => {
    await using inbox = await Inbox.open();
    const { id } = await api.send();
    const { headers } = await inbox.delivery(id, 'message.sent');
    const [, t] = /^t=(\d+),v1=[0-9a-f]{64}$/.exec(headers['service-signature'] ?? '') ?? [];
    expect(Math.abs(Date.now() / 1_000 - Number(t))).toBeLessThan(60);
  });

  test('v1 is the HMAC-SHA-256 of the time, a dot and the raw body, keyed with signing_secret', async () => {
    await using inbox = await Inbox.open();
    const { id } = await api.send({ body: 'ünïcödé ✓ 😀' });
    const { headers, body } = await inbox.delivery(id, 'message.sent');
    const { t = '', v1 } = Object.fromEntries(new URLSearchParams(headers['service-signature']?.replace(',', '&')));
    expect(v1).toBe(createHmac('sha256', inbox.endpoint.signing_secret).update(`${t}.${body}`).digest('hex'));
  });

  test('is accepted by a receiver that verifies before it parses, and compares in constant time', async () => {
    await using inbox = await Inbox.open();
    const { id } = await api.send();
    const { headers, body, event } = await inbox.delivery(id, 'message.sent');
    const signature = headers['service-signature'] ?? '';
    const { signing_secret: secret } = inbox.endpoint;
    expect(stripe.webhooks.constructEvent(body, signature, secret)).toEqual(event);
    expect(() => stripe.webhooks.constructEvent(`${body} `, signature, secret)).toThrow(/signature/);
    expect(() => stripe.webhooks.constructEvent(body, signature, `${secret}x`)).toThrow(/signature/);
    expect(new Webhook(secret).verify(body, headers)).toEqual(event);
  });

  test('is rejected by a receiver whose clock is more than 5 minutes off', async () => {
    await using inbox = await Inbox.open();
    const { id } = await api.send();
    const { headers, body, atMs } = await inbox.delivery(id, 'message.sent');
    const signature = headers['service-signature'] ?? '';
    const verifyAt = (ms: number) =>
      stripe.webhooks.constructEvent(body, signature, inbox.endpoint.signing_secret, 300, undefined, ms);
    verifyAt(atMs + 295_000);
    expect(() => verifyAt(atMs + 305_000)).toThrow(/tolerance/);
  });
});

test('past events are listed by GET /events', async () => {
  await using inbox = await Inbox.open();
  const { id } = await api.send();
  const { event } = await inbox.delivery(id, 'message.sent');
  const events = await api.get('GET /events', { query: { type: 'message.sent', limit: 100 } });
  expect(events.find((past) => past.id === event.id)).toEqual(event);
});

/**
 * Two attempts at one event: the receiver fails at the first, and the schedule puts the second 30 seconds after its end. Events of other
 * tests' messages are acknowledged: too many failures in a row would disable the endpoint.
 */
async function twoAttempts(failure: Answer): Promise<{ first: Delivery; second: Delivery; secret: string }> {
  const to = recipient();
  let failures = 0;
  await using inbox = await Inbox.open({ events: ['message.sent'] }, ({ event }) => {
    if (event.data.to !== to || failures > 0) return ok;
    failures += 1;
    return failure;
  });
  const { id } = await api.send({ to });
  const attempts = await until('a second attempt', async () => inbox.about(id).length >= 2 && inbox.about(id), 60_000);
  const [first, second] = attempts as [Delivery, Delivery];
  return { first, second, secret: inbox.endpoint.signing_secret };
}

describe('the retry schedule', { timeout: 80_000, concurrent: true }, () => {
  test('has attempt 1 at once and attempt 2 after 30 seconds, with the same event id', async () => {
    const startedAtMs = Date.now();
    const { first, second, secret } = await twoAttempts(fail);
    expect(first.atMs - startedAtMs).toBeLessThan(5_000);
    expect(second.atMs - first.atMs).toBeGreaterThanOrEqual(29_500);
    expect(second.atMs - first.atMs).toBeLessThan(40_000);
    expect(second.event.id).toBe(first.event.id);
    const signature = second.headers['service-signature'] ?? '';
    expect(stripe.webhooks.constructEvent(second.body, signature, secret)).toEqual(first.event);
  });

  test('ends with an answer of any 2xx status within 10 seconds', async () => {
    await using inbox = await Inbox.open({ events: ['message.sent'] }, () => (_request, response) => {
      setTimeout(() => response.writeHead(299).end(), 8_000);
    });
    const { id } = await api.send();
    await inbox.delivery(id, 'message.sent');
    const read = () => api.get('GET /webhooks/{id}', { id: inbox.endpoint.id });
    await until('the success is noted', async () => (await read()).last_success_at !== null, 20_000);
    expect(await read()).toMatchObject({ failure_count: 0, last_failure_at: null });
  });

  test('counts a receiver that does not answer within 10 seconds as failed', async () => {
    const { promise: hungUp, resolve } = Promise.withResolvers<number>();
    const { first, second } = await twoAttempts((request, response) => {
      response.on('close', () => resolve(Date.now()));
      hang(request, response);
    });
    const waitedMs = (await hungUp) - first.atMs;
    expect(waitedMs).toBeGreaterThanOrEqual(9_500);
    expect(waitedMs).toBeLessThan(15_000);
    expect(second.atMs - first.atMs).toBeGreaterThanOrEqual(39_500);
  });
});
