import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fail, hang, ok } from './receiver.ts';
import { World } from './world.ts';

const seconds = 1_000;

let world: World;

beforeEach(async () => {
  world = await World.start();
});

afterEach(async () => {
  await world.stop();
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

  test('an attempt that outlived its lease is recorded, and does not move the time that another process has set', async () => {
    const { promise: letGo, resolve: release } = Promise.withResolvers<void>();
    let calls = 0;
    const receiver = await world.receiver((request, response) => {
      calls += 1;
      if (calls === 1) void letGo.then(() => fail(request, response));
      else fail(request, response);
    });
    const { accountId, endpointId } = await world.endpoint(receiver.url);
    const late = world.deliverer();
    const fresh = await world.announce(accountId);
    late.offer(fresh);
    await receiver.received(1);
    world.clock.advance(30 * seconds);
    const other = world.deliverer();
    await other.sweepDue();
    await other.idle();
    const scheduled = await world.queued(endpointId);
    expect(scheduled).toMatchObject([{ attempts_made: 1 }]);
    world.clock.advance(5 * seconds);
    release();
    await late.idle();
    expect(await world.queued(endpointId)).toEqual(scheduled);
    expect(await world.delivery(fresh[0]?.delivery.eventId ?? '')).toMatchObject({
      status: 'pending',
      attempts: [{ status: 500 }, { status: 500 }],
    });
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
