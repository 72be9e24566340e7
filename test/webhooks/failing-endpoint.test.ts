import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeEndpoint } from '../../src/webhooks/endpoints.ts';
import { fail, ok } from './receiver.ts';
import { World } from './world.ts';

const seconds = 1_000;

let world: World;

beforeEach(async () => {
  world = await World.start();
});

afterEach(async () => {
  await world.stop();
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

  test.each([
    ['succeeds', ok, { status: 'succeeded', attempts: [{ status: 200 }] }, 0],
    ['fails', fail, { status: 'skipped', attempts: [{ status: 500 }] }, 26],
  ])('when a delivery under way at that time %s, that is what it says', async (_how, answer, delivery, failures) => {
    const { promise: letGo, resolve: release } = Promise.withResolvers<void>();
    const receiver = await world.receiver((request, response) => {
      if (request.body.includes('"message.delivered"')) void letGo.then(() => answer(request, response));
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
    expect(await world.delivery(late[0]?.delivery.eventId ?? '')).toMatchObject(delivery);
    expect(await world.endpointState(endpointId)).toMatchObject({ is_active: false, failure_count: failures });
    expect(await world.queued(endpointId)).toEqual([]);
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

  test('has what a sweep would never find skipped as well', async () => {
    const { accountId, endpointId } = await world.endpoint('http://127.0.0.1:9/');
    const other = await world.endpoint('http://127.0.0.1:9/');
    const [orphan] = await world.announce(accountId);
    await world.announce(other.accountId);
    await removeEndpoint(world.pool, { accountId, endpointId });
    const deliverer = world.deliverer();
    world.clock.advance(30 * seconds);
    await world.pool.query('UPDATE delivery_queue SET due_at = now() + interval $$1 day$$');
    expect(await deliverer.sweepDue()).toBe(0);
    await deliverer.skipOrphaned();
    await deliverer.idle();
    expect(await world.delivery(orphan?.delivery.eventId ?? '')).toEqual({ status: 'skipped', attempts: [] });
    expect(await world.queued(other.endpointId)).toHaveLength(1);
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
