import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toPublicId } from '../../src/lib/ids.ts';
import { fail, hang, ok } from './receiver.ts';
import { World } from './world.ts';

const stripe = new Stripe('sk_test_unused');
const seconds = 1_000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

let world: World;

beforeEach(async () => {
  world = await World.start();
});

afterEach(async () => {
  await world.stop();
});

describe('a first attempt', () => {
  test.each([
    ['sent', 'message.sent', 'sent', 'sent_at'],
    ['delivered', 'message.delivered', 'delivered', 'delivered_at'],
    ['failed', 'message.failed', 'failed', 'failed_at'],
    ['undelivered', 'message.failed', 'undelivered', 'failed_at'],
  ] as const)('tells that a message was %s, as the spec has it, in a signed POST', async (status, type, shown, at) => {
    const receiver = await world.receiver();
    const endpoint = await world.endpoint(receiver.url);
    const deliverer = world.deliverer();
    const fresh = await world.announce(endpoint.accountId, status);
    deliverer.offer(fresh);
    await deliverer.idle();

    const [request] = receiver.requests;
    if (request === undefined) throw new Error('nothing was delivered');
    expect(request).toMatchObject({
      method: 'POST',
      path: '/hook',
      headers: { 'content-type': 'application/json', 'user-agent': 'Heliograph/test' },
    });
    const eventId = toPublicId('evt', fresh[0]?.delivery.eventId ?? '');
    const event = stripe.webhooks.constructEvent(
      request.body,
      request.headers['service-signature'] ?? '',
      endpoint.secret,
    );
    expect(event).toMatchObject({
      id: eventId,
      object: 'event',
      type,
      data: {
        object: 'message',
        to: '+15005550001',
        from: 'HELIO',
        status: shown,
        provider: 'twilio',
        reference: 'order-7',
      },
    });
    expect(event.data).toHaveProperty(at, expect.stringMatching(/^\d{4}-.+\+00:00$/));
    const hasFailed = type === 'message.failed';
    expect(event.data).toHaveProperty('error', hasFailed ? expect.objectContaining({ code: 'delivery_failed' }) : null);
    expect(new Webhook(endpoint.secret).verify(request.body, request.headers)).toEqual(event);
    expect(await world.delivery(eventId)).toMatchObject({
      status: 'succeeded',
      attempts: [{ status: 200, answer: 'ok', error: null }],
    });
    expect(await world.queued(endpoint.endpointId)).toEqual([]);
  });

  test('goes to each active endpoint that wants the type, and to no other', async () => {
    const wanting = await world.receiver();
    const other = await world.receiver();
    const accountId = await world.account();
    await world.endpoint(wanting.url, { accountId });
    await world.endpoint(wanting.url, { accountId, events: ['message.delivered'] });
    await world.endpoint(other.url, { accountId, events: ['message.sent', 'message.failed'] });
    await world.endpoint(other.url);
    const inactive = await world.endpoint(other.url, { accountId });
    await world.pool.query('UPDATE webhook_endpoints SET is_active = false, disabled_at = now() WHERE id = $1', [
      inactive.endpointId,
    ]);
    const deliverer = world.deliverer();
    deliverer.offer(await world.announce(accountId, 'delivered'));
    await deliverer.idle();
    expect(wanting.requests).toHaveLength(2);
    expect(other.requests).toHaveLength(0);
  });

  test('an account without endpoints gets no deliveries', async () => {
    expect(await world.announce(await world.account(), 'sent', 3)).toEqual([]);
  });
});

describe('retries', () => {
  test('six attempts, each after its delay from the end of the one before, with the same body; then abandoned', async () => {
    const receiver = await world.receiver(fail);
    const { accountId, endpointId, secret } = await world.endpoint(receiver.url);
    const deliverer = world.deliverer();
    const fresh = await world.announce(accountId);
    const eventId = fresh[0]?.delivery.eventId ?? '';
    deliverer.offer(fresh);
    await deliverer.idle();
    expect(receiver.requests).toHaveLength(1);

    let attempts = 1;
    for (const delayMs of [30 * seconds, 5 * minutes, 30 * minutes, 2 * hours, 12 * hours]) {
      expect(await world.queued(endpointId)).toEqual([
        { attempts_made: attempts, due_at: new Date(world.clock.now() + delayMs) },
      ]);
      expect(await world.delivery(eventId)).toMatchObject({ status: 'pending' });
      world.clock.advance(delayMs - 1);
      expect(await deliverer.sweepDue()).toBe(0);
      world.clock.advance(1);
      expect(await deliverer.sweepDue()).toBe(1);
      await deliverer.idle();
      attempts += 1;
      expect(receiver.requests).toHaveLength(attempts);
    }

    expect(await world.queued(endpointId)).toEqual([]);
    const delivery = await world.delivery(eventId);
    expect(delivery?.status).toBe('abandoned');
    expect(delivery?.attempts).toHaveLength(6);
    expect(delivery?.attempts.at(-1)).toMatchObject({ status: 500, answer: 'broken', error: null, latency_ms: 0 });
    world.clock.advance(30 * 24 * hours);
    expect(await deliverer.sweepDue()).toBe(0);

    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1);
    const times = receiver.requests.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect(new Set(times).size).toBe(6);
    for (const [attempt, { body, headers }] of receiver.requests.entries()) {
      const atMs = (times[attempt] ?? 0) * 1_000;
      stripe.webhooks.constructEvent(body, headers['service-signature'] ?? '', secret, 300, undefined, atMs);
    }
  });

  test('the body stays the same when the message has moved on meanwhile', async () => {
    const receiver = await world.receiver(fail);
    const { accountId } = await world.endpoint(receiver.url);
    const deliverer = world.deliverer();
    const fresh = await world.announce(accountId, 'sent');
    deliverer.offer(fresh);
    await deliverer.idle();
    await world.pool.query(`UPDATE messages SET status = 'delivered', delivered_at = now() WHERE id = $1`, [
      fresh[0]?.message.id,
    ]);
    world.clock.advance(30 * seconds);
    await deliverer.sweepDue();
    await deliverer.idle();
    const [first, second] = receiver.requests;
    expect(second?.body).toBe(first?.body);
  });

  test('a success at a later attempt settles the delivery and resets the count of failures', async () => {
    const receiver = await world.receiver(fail);
    const { accountId, endpointId } = await world.endpoint(receiver.url);
    const deliverer = world.deliverer();
    const fresh = await world.announce(accountId);
    deliverer.offer(fresh);
    await deliverer.idle();
    expect(await world.endpointState(endpointId)).toMatchObject({
      failure_count: 1,
      last_failure_at: new Date(world.clock.now()),
      last_success_at: null,
    });
    receiver.answer = ok;
    world.clock.advance(30 * seconds);
    await deliverer.sweepDue();
    await deliverer.idle();
    expect(await world.delivery(fresh[0]?.delivery.eventId ?? '')).toMatchObject({
      status: 'succeeded',
      attempts: [{ status: 500 }, { status: 200 }],
    });
    expect(await world.endpointState(endpointId)).toMatchObject({
      failure_count: 0,
      last_success_at: new Date(world.clock.now()),
    });
    expect(await world.queued(endpointId)).toEqual([]);
  });

  test.each([
    ['a redirect', 302],
    ['a client error', 410],
    ['a server error', 503],
  ])('%s is a failure', async (_what, status) => {
    const receiver = await world.receiver((_request, response) =>
      response.writeHead(status, { location: '/elsewhere' }).end(),
    );
    const { accountId } = await world.endpoint(receiver.url);
    const deliverer = world.deliverer();
    const fresh = await world.announce(accountId);
    deliverer.offer(fresh);
    await deliverer.idle();
    expect(receiver.requests).toHaveLength(1);
    expect(await world.delivery(fresh[0]?.delivery.eventId ?? '')).toMatchObject({
      status: 'pending',
      attempts: [{ status }],
    });
  });

  test('a receiver that does not answer in time has failed', async () => {
    const receiver = await world.receiver(hang);
    const { accountId } = await world.endpoint(receiver.url);
    const deliverer = world.deliverer({ timeoutMs: 100 });
    const fresh = await world.announce(accountId);
    deliverer.offer(fresh);
    await deliverer.idle();
    expect(await world.delivery(fresh[0]?.delivery.eventId ?? '')).toMatchObject({
      status: 'pending',
      attempts: [{ status: null, answer: null, error: 'no answer within 0.1 s' }],
    });
  });
});
