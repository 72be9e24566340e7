import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { firstIdAt, toPublicId } from '../../src/lib/ids.ts';
import { enableEndpoint, listDeliveries, replayEvent, replaySpan } from '../../src/webhooks/replay.ts';
import { fail, ok } from './receiver.ts';
import { World, type Endpoint } from './world.ts';

const hours = 3_600_000;

let world: World;

beforeEach(async () => {
  world = await World.start();
});

afterEach(async () => {
  await world.stop();
});

async function replay(key: Endpoint, { fromMs, untilMs }: { fromMs: number; untilMs: number }): Promise<number> {
  const span = { fromEventId: firstIdAt(fromMs), untilMs };
  const { queued, nextEventId } = await replaySpan(world.pool, world.clock, key, span, 100);
  expect(nextEventId).toBeNull();
  return queued;
}

async function sweepAll(): Promise<void> {
  const deliverer = world.deliverer();
  while ((await deliverer.sweepDue()) > 0) await deliverer.idle();
}

describe('an endpoint that the operator enables', () => {
  test('gets what is new and, replayed, what was skipped or missed while it was disabled, each once', async () => {
    const receiver = await world.receiver(fail);
    const key = await world.endpoint(receiver.url, { events: ['message.sent'] });
    const deliverer = world.deliverer();
    const startMs = world.clock.now();
    deliverer.offer(await world.announce(key.accountId, 'sent', 25));
    await deliverer.idle();
    expect(await world.endpointState(key.endpointId)).toMatchObject({ is_active: false });
    world.clock.advance(hours);
    await world.announce(key.accountId, 'sent', 2);
    await world.announce(key.accountId, 'delivered', 1);
    const span = { fromMs: startMs, untilMs: world.clock.now() + 1 };
    expect(await replay(key, span)).toBe(0);

    receiver.answer = ok;
    receiver.requests.length = 0;
    expect(await enableEndpoint(world.pool, key)).toBe(true);
    expect(await world.endpointState(key.endpointId)).toMatchObject({
      is_active: true,
      failure_count: 0,
      disabled_at: null,
    });
    expect(await replay(key, span)).toBe(27);
    expect(await replay(key, span)).toBe(0);
    await sweepAll();
    expect(receiver.requests).toHaveLength(27);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(27);

    const deliveries = await listDeliveries(world.pool, key, { status: 'succeeded', limit: 100 });
    expect(deliveries).toHaveLength(27);
    expect(deliveries.at(-1)?.attempts).toMatchObject([{ status: 500 }, { status: 200 }]);
    expect(await replay(key, span)).toBe(0);
  });

  test('that does not exist is not found', async () => {
    const key = { accountId: await world.account(), endpointId: world.ids.next() };
    expect(await enableEndpoint(world.pool, key)).toBe(false);
  });
});

describe('replaying', () => {
  test('one event delivers it again, though it was acknowledged, with the same body', async () => {
    const receiver = await world.receiver();
    const key = await world.endpoint(receiver.url);
    const deliverer = world.deliverer();
    const [fresh, other] = await world.announce(key.accountId, 'sent', 2);
    if (fresh === undefined || other === undefined) throw new Error('nothing was announced');
    deliverer.offer([fresh, other]);
    await deliverer.idle();
    const publicId = toPublicId('evt', fresh.delivery.eventId);
    const first = receiver.requests.find(({ headers }) => headers['webhook-id'] === publicId);
    expect(await replayEvent(world.pool, world.clock, key, fresh.delivery.eventId)).toBe(true);
    expect(await world.delivery(fresh.delivery.eventId)).toMatchObject({ status: 'pending' });
    await sweepAll();
    expect(receiver.requests).toHaveLength(3);
    expect(receiver.requests[2]?.body).toBe(first?.body);
    expect(await world.delivery(fresh.delivery.eventId)).toMatchObject({
      status: 'succeeded',
      attempts: [{ status: 200 }, { status: 200 }],
    });
  });

  test('an event that is unknown, or of another account, does nothing', async () => {
    const key = await world.endpoint('http://127.0.0.1:9/');
    const stranger = await world.event(await world.account(), 'sent');
    expect(await replayEvent(world.pool, world.clock, key, world.ids.next())).toBe(false);
    expect(await replayEvent(world.pool, world.clock, key, stranger.eventId)).toBe(false);
  });

  test('a span of more events than one statement takes queues each of them once', async () => {
    const key = await world.endpoint('http://127.0.0.1:9/');
    const message = await world.message(key.accountId, 'sent');
    const eventIds = Array.from({ length: 2_300 }, () => world.ids.next());
    await world.pool.query(
      `INSERT INTO events (account_id, id, message_id, status) SELECT $1, id, $2, 'sent' FROM unnest($3::uuid[]) id`,
      [key.accountId, message.id, eventIds],
    );
    const span = { fromMs: world.clock.now() - hours, untilMs: world.clock.now() + hours };
    const from = { fromEventId: firstIdAt(span.fromMs), untilMs: span.untilMs };
    const first = await replaySpan(world.pool, world.clock, key, from, 2);
    expect(first.queued).toBeGreaterThan(1_000);
    const rest = await replaySpan(world.pool, world.clock, key, { ...from, fromEventId: first.nextEventId ?? '' }, 2);
    expect([first.queued + rest.queued, rest.nextEventId]).toEqual([2_300, null]);
    expect(await world.queued(key.endpointId)).toHaveLength(2_300);
  });
});

test('the list of deliveries goes newest first, page by page, by endpoint and status', async () => {
  const receiver = await world.receiver();
  const accountId = await world.account();
  const key = await world.endpoint(receiver.url, { accountId });
  const other = await world.endpoint(receiver.url, { accountId, events: ['message.failed'] });
  const deliverer = world.deliverer();
  const fresh = [...(await world.announce(accountId, 'sent', 3)), ...(await world.announce(accountId, 'failed', 1))];
  deliverer.offer(fresh);
  await deliverer.idle();
  const eventIds = fresh
    .filter(({ delivery }) => delivery.endpointId === key.endpointId)
    .map(({ delivery }) => delivery.eventId);
  const newestFirst = eventIds.toReversed();
  const all = await listDeliveries(world.pool, key, { limit: 10 });
  expect(all.map((row) => row.event_id)).toEqual(newestFirst);
  const rest = await listDeliveries(world.pool, key, { beforeEventId: newestFirst[1], limit: 10 });
  expect(rest.map((row) => row.event_id)).toEqual(newestFirst.slice(2));
  expect(await listDeliveries(world.pool, other, { limit: 10 })).toHaveLength(1);
  expect(await listDeliveries(world.pool, key, { status: 'abandoned', limit: 10 })).toEqual([]);
});
