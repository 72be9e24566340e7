import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeEndpoint } from '../../src/webhooks/endpoints.ts';
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

describe('an endpoint that fails', () => {
  test('is disabled at 25 consecutive failures over all its events, and what waits for it is skipped', async () => {
    const receiver = await world.receiver(fail);
    const { accountId, endpointId } = await world.endpoint(receiver.url);
    const deliverer = world.deliverer();
    const first = await world.announce(accountId, 'sent', 24);
    deliverer.offer(first);
    await deliverer.idle();
    expect(await world.endpointState(endpointId)).toMatchObject({
      is_active: true,
      failure_count: 24,
      disabled_at: null,
    });

    const last = await world.announce(accountId, 'sent', 1);
    const leftByOthers = await world.announce(accountId, 'delivered', 3);
    deliverer.offer(last);
    await deliverer.idle();
    expect(await world.endpointState(endpointId)).toMatchObject({
      is_active: false,
      failure_count: 25,
      disabled_at: new Date(world.clock.now()),
    });
    expect(await world.queued(endpointId)).toEqual([]);
    expect(await world.delivery(first[0]?.delivery.eventId ?? '')).toMatchObject({
      status: 'skipped',
      attempts: [{ status: 500 }],
    });
    expect(await world.delivery(leftByOthers[0]?.delivery.eventId ?? '')).toEqual({ status: 'skipped', attempts: [] });

    expect(await world.announce(accountId)).toEqual([]);
    expect(receiver.requests).toHaveLength(25);
  });

  test('is not disabled when a success comes between', async () => {
    const receiver = await world.receiver(fail);
    const { accountId, endpointId } = await world.endpoint(receiver.url);
    const deliverer = world.deliverer();
    for (const answer of [fail, ok, fail]) {
      receiver.answer = answer;
      deliverer.offer(await world.announce(accountId, 'sent', answer === ok ? 1 : 24));
      await deliverer.idle();
    }
    expect(await world.endpointState(endpointId)).toMatchObject({ is_active: true, failure_count: 24 });
  });

  test('gets nothing more from any process once it is disabled', async () => {
    const receiver = await world.receiver(fail);
    const { accountId, endpointId } = await world.endpoint(receiver.url);
    const here = world.deliverer();
    const elsewhere = world.deliverer();
    // Both have the endpoint in memory.
    for (const deliverer of [here, elsewhere]) {
      deliverer.offer(await world.announce(accountId));
      await deliverer.idle();
    }
    const heldElsewhere = await world.announce(accountId, 'sent', 1);
    here.offer(await world.announce(accountId, 'sent', 23));
    await here.idle();
    expect(await world.endpointState(endpointId)).toMatchObject({ is_active: false });
    await expect
      .poll(async () => {
        const before = receiver.requests.length;
        elsewhere.offer(heldElsewhere);
        await elsewhere.idle();
        return receiver.requests.length - before;
      })
      .toBe(0);
    expect(await world.delivery(heldElsewhere[0]?.delivery.eventId ?? '')).toMatchObject({ status: 'skipped' });
  });

  test('a delivery under way when its endpoint is disabled still counts if it succeeds', async () => {
    const { promise: letGo, resolve: release } = Promise.withResolvers<void>();
    const receiver = await world.receiver((request, response) => {
      if (request.body.includes('"message.delivered"')) void letGo.then(() => response.writeHead(200).end('late'));
      else fail(request, response);
    });
    const { accountId, endpointId } = await world.endpoint(receiver.url);
    const deliverer = world.deliverer();
    const late = await world.announce(accountId, 'delivered');
    deliverer.offer(late);
    await receiver.received(1);
    deliverer.offer(await world.announce(accountId, 'sent', 25));
    await expect.poll(() => world.endpointState(endpointId)).toMatchObject({ is_active: false });
    await expect.poll(() => world.queued(endpointId)).toEqual([]);
    release();
    await deliverer.idle();
    expect(await world.delivery(late[0]?.delivery.eventId ?? '')).toMatchObject({
      status: 'succeeded',
      attempts: [{ status: 200, answer: 'late' }],
    });
    expect(await world.endpointState(endpointId)).toMatchObject({ is_active: false, failure_count: 0 });
  });
});

describe('an endpoint that is gone', () => {
  test('has what waited for it skipped, more than one statement can take at a time', async () => {
    const receiver = await world.receiver();
    const { accountId, endpointId } = await world.endpoint(receiver.url);
    const [fresh] = await world.announce(accountId);
    await world.pool.query(
      `INSERT INTO delivery_queue (account_id, event_id, endpoint_id, message_id, status, due_at)
       SELECT account_id, gen_random_uuid(), endpoint_id, message_id, status, due_at FROM delivery_queue, generate_series(1, 2500)`,
    );
    // Their events have no month: move them to the one of the first.
    await world.pool.query(
      `UPDATE delivery_queue SET event_id = (substr($1, 1, 18) || substr(event_id::text, 19))::uuid`,
      [fresh?.delivery.eventId],
    );
    await removeEndpoint(world.pool, { accountId, endpointId });
    const deliverer = world.deliverer();
    deliverer.skipWaiting({ accountId, endpointId });
    await deliverer.idle();
    expect(await world.queued(endpointId)).toEqual([]);
    const { rows } = await world.pool.query('SELECT status, count(*) FROM deliveries GROUP BY status');
    expect(rows).toEqual([{ status: 'skipped', count: 2_501 }]);
  });

  test('gets nothing that was already in memory', async () => {
    const receiver = await world.receiver();
    const { accountId, endpointId } = await world.endpoint(receiver.url);
    const deliverer = world.deliverer();
    const fresh = await world.announce(accountId);
    await removeEndpoint(world.pool, { accountId, endpointId });
    deliverer.offer(fresh);
    await deliverer.idle();
    expect(receiver.requests).toHaveLength(0);
    expect(await world.delivery(fresh[0]?.delivery.eventId ?? '')).toEqual({ status: 'skipped', attempts: [] });
    expect(await world.queued(endpointId)).toEqual([]);
  });

  test('is never skipped while it is active', async () => {
    const { accountId, endpointId } = await world.endpoint('http://127.0.0.1:9/');
    await world.announce(accountId);
    const deliverer = world.deliverer();
    deliverer.skipWaiting({ accountId, endpointId });
    await deliverer.idle();
    expect(await world.queued(endpointId)).toHaveLength(1);
  });
});

test('a delivery whose message is gone is skipped', async () => {
  const { accountId, endpointId } = await world.endpoint('http://127.0.0.1:9/');
  const [fresh] = await world.announce(accountId);
  await world.pool.query('DELETE FROM messages');
  world.clock.advance(30 * seconds);
  const deliverer = world.deliverer();
  await deliverer.sweepDue();
  await deliverer.idle();
  expect(await world.delivery(fresh?.delivery.eventId ?? '')).toEqual({ status: 'skipped', attempts: [] });
  expect(await world.queued(endpointId)).toEqual([]);
});

test('an endpoint whose secret cannot be opened gets nothing, and its deliveries wait', async () => {
  const receiver = await world.receiver();
  const { accountId, endpointId } = await world.endpoint(receiver.url);
  const deliverer = world.deliverer({ secretKey: randomBytes(32) });
  deliverer.offer(await world.announce(accountId));
  await deliverer.idle();
  expect(receiver.requests).toHaveLength(0);
  expect(await world.queued(endpointId)).toMatchObject([{ attempts_made: 0 }]);
});

describe('stopping', () => {
  test('lets the attempts that run end and writes their results, and starts no others', async () => {
    const { promise: letGo, resolve: release } = Promise.withResolvers<void>();
    const receiver = await world.receiver((request, response) => void letGo.then(() => ok(request, response)));
    const { accountId, endpointId } = await world.endpoint(receiver.url);
    const deliverer = world.deliverer();
    deliverer.offer(await world.announce(accountId, 'sent', 10));
    await receiver.received(4);
    const stopped = deliverer.stop();
    release();
    await stopped;
    expect(receiver.requests).toHaveLength(4);
    expect(await world.queued(endpointId)).toHaveLength(6);
    deliverer.offer(await world.announce(accountId));
    world.clock.advance(30 * seconds);
    expect(await deliverer.sweepDue()).toBe(0);
    expect(receiver.requests).toHaveLength(4);
  });
});

describe('leases', () => {
  test('what a crashed process left is delivered by another once its lease has run out, and not before', async () => {
    const receiver = await world.receiver();
    const { accountId } = await world.endpoint(receiver.url);
    // Enqueued and never offered: as after a crash between commit and first attempt.
    const fresh = await world.announce(accountId);
    const survivor = world.deliverer();
    world.clock.advance(30 * seconds - 1);
    expect(await survivor.sweepDue()).toBe(0);
    world.clock.advance(1);
    expect(await survivor.sweepDue()).toBe(1);
    await survivor.idle();
    expect(receiver.requests).toHaveLength(1);
    expect(await world.delivery(fresh[0]?.delivery.eventId ?? '')).toMatchObject({ status: 'succeeded' });
  });

  test('what is due is taken by one process only', async () => {
    const receiver = await world.receiver();
    const { accountId } = await world.endpoint(receiver.url);
    await world.announce(accountId, 'sent', 20);
    world.clock.advance(30 * seconds);
    const deliverers = [world.deliverer(), world.deliverer(), world.deliverer()];
    const taken = await Promise.all(deliverers.map((deliverer) => deliverer.sweepDue()));
    await Promise.all(deliverers.map((deliverer) => deliverer.idle()));
    expect(taken.reduce((sum, count) => sum + count)).toBe(20);
    expect(receiver.requests).toHaveLength(20);
  });

  test('a delivery whose turn comes when its lease is nearly over is left to the sweep', async () => {
    const receiver = await world.receiver();
    const { accountId } = await world.endpoint(receiver.url);
    const deliverer = world.deliverer();
    const fresh = await world.announce(accountId);
    world.clock.advance(20 * seconds);
    deliverer.offer(fresh);
    await deliverer.idle();
    expect(receiver.requests).toHaveLength(0);
    world.clock.advance(10 * seconds);
    await deliverer.sweepDue();
    await deliverer.idle();
    expect(receiver.requests).toHaveLength(1);
  });

  test('what finds no room in memory is delivered later, all of it', async () => {
    const receiver = await world.receiver();
    const { accountId, endpointId } = await world.endpoint(receiver.url);
    const deliverer = world.deliverer({ limits: { waitingPerLaneMax: 10 } });
    deliverer.offer(await world.announce(accountId, 'sent', 35));
    await deliverer.idle();
    expect(receiver.requests).toHaveLength(10);
    for (let sweeps = 0; sweeps < 3; sweeps += 1) {
      world.clock.advance(30 * seconds);
      await deliverer.sweepDue();
      await deliverer.idle();
    }
    expect(receiver.requests).toHaveLength(35);
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(35);
    expect(await world.queued(endpointId)).toEqual([]);
  });

  test('a sweep goes through more due deliveries than fit on its page', async () => {
    const receiver = await world.receiver();
    const { accountId, endpointId } = await world.endpoint(receiver.url);
    const other = await world.endpoint(receiver.url);
    await world.announce(accountId, 'sent', 260);
    await world.announce(other.accountId, 'sent', 3);
    world.clock.advance(30 * seconds);
    const deliverer = world.deliverer();
    expect(await deliverer.sweepDue()).toBe(203);
    await deliverer.idle();
    expect(await deliverer.sweepDue()).toBe(60);
    await deliverer.idle();
    expect(receiver.requests).toHaveLength(263);
    expect(await world.queued(endpointId)).toEqual([]);
  });
});

describe('a database that is away', () => {
  test('for a moment costs nothing: the result is written when it is back', async () => {
    const { promise: letGo, resolve: release } = Promise.withResolvers<void>();
    const receiver = await world.receiver((request, response) => void letGo.then(() => ok(request, response)));
    const { accountId, endpointId } = await world.endpoint(receiver.url);
    const { pool, cable } = await world.cable();
    const deliverer = world.deliverer({ pool });
    const fresh = await world.announce(accountId);
    deliverer.offer(fresh);
    await receiver.received(1);
    cable.cut();
    release();
    await expect.poll(() => cable.refused).toBeGreaterThan(0);
    expect(await world.queued(endpointId)).toHaveLength(1);
    cable.mend();
    await deliverer.idle();
    expect(await world.delivery(fresh[0]?.delivery.eventId ?? '')).toMatchObject({ status: 'succeeded' });
    expect(await world.queued(endpointId)).toEqual([]);
    expect(receiver.requests).toHaveLength(1);
  });

  test('for good loses the result, not the event: its lease brings it back', async () => {
    const receiver = await world.receiver();
    const { accountId } = await world.endpoint(receiver.url);
    const { pool, cable } = await world.cable();
    const deliverer = world.deliverer({ pool });
    deliverer.offer(await world.announce(accountId));
    await deliverer.idle();
    const fresh = await world.announce(accountId);
    cable.cut();
    deliverer.offer(fresh);
    await receiver.received(2);
    await deliverer.stop();

    const survivor = world.deliverer();
    world.clock.advance(30 * seconds);
    expect(await survivor.sweepDue()).toBe(1);
    await survivor.idle();
    expect(receiver.requests).toHaveLength(3);
    expect(receiver.requests[2]?.body).toBe(receiver.requests[1]?.body);
    expect(await world.delivery(fresh[0]?.delivery.eventId ?? '')).toMatchObject({ status: 'succeeded' });
  });
});

describe('isolation', () => {
  test('endpoints that hang do not delay another, even on the same host', async () => {
    const deliverer = world.deliverer({ limits: { runningMax: 16 } });
    const receiver = await world.receiver((request, response) =>
      (request.path === '/hook' ? ok : hang)(request, response),
    );
    const accountId = await world.account();
    for (const path of ['/a', '/b', '/c']) await world.endpoint(new URL(path, receiver.url).href, { accountId });
    deliverer.offer(await world.announce(accountId, 'sent', 50));
    await receiver.received(12);

    const healthy = await world.endpoint(receiver.url);
    const startedAt = performance.now();
    const fresh = await world.announce(healthy.accountId, 'sent', 20);
    deliverer.offer(fresh);
    const lastEvent = fresh.at(-1)?.delivery.eventId ?? '';
    await expect.poll(() => world.delivery(lastEvent), { timeout: 4_000 }).toMatchObject({ status: 'succeeded' });
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(receiver.requests.filter(({ path }) => path === '/hook')).toHaveLength(20);
    expect(receiver.requests.filter(({ path }) => path !== '/hook')).toHaveLength(12);
    for (const path of ['/a', '/b', '/c']) expect(receiver.requests.filter((one) => one.path === path)).toHaveLength(4);
  });
});
