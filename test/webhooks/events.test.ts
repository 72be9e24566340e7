import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callerOf, World } from './world.ts';
import type { App } from '../../src/http/app.ts';
import { authorize } from '../../src/http/auth.ts';
import type { Scope } from '../../src/http/caller.ts';
import { Metrics } from '../../src/lib/metrics.ts';
import { createFastify } from '../../src/http/fastify.ts';
import { toPublicId } from '../../src/lib/ids.ts';
import type { EventStatus } from '../../src/events/event.ts';
import { findEventHours } from '../../src/events/queries.ts';
import { eventRoutes } from '../../src/events/routes.ts';

const minutes = 60_000;
const hours = 60 * minutes;
const days = 24 * hours;

type EventList = {
  status: number;
  data: Array<{ id: string; type: string; data: { status: string } }>;
  pagination: Record<string, unknown>;
};

let world: World;
let app: App;
let accountId: string;
let permissions: Scope[];

beforeAll(async () => {
  world = await World.start();
  const { pool, clock, log, ids } = world;
  app = createFastify({ log, ids, trustedProxies: [], metrics: new Metrics() });
  app.addHook('onRequest', async (request) => {
    request.caller = callerOf(accountId, permissions);
    await authorize(request);
  });
  eventRoutes(app, { pool, clock });
});

afterAll(async () => {
  await app.close();
  await world.stop();
});

beforeEach(async () => {
  accountId = await world.account();
  permissions = ['sms:read'];
});

async function list(query: Record<string, string | number> = {}): Promise<EventList> {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const answer = await app.inject({ method: 'GET', url: `/events?${search.toString()}` });
  return { status: answer.statusCode, ...answer.json<Omit<EventList, 'status'>>() };
}

/** Makes an event of a message that has just come to `status`, and tells its public id. */
async function happen(status: EventStatus): Promise<string> {
  const { eventId } = await world.event(accountId, status);
  return toPublicId('evt', eventId);
}

describe('the list of events', () => {
  test('shows the events of the account alone, newest first, each with its message as it was', async () => {
    const first = await happen('sent');
    const second = await happen('undelivered');
    await world.event(await world.account(), 'sent');
    const { status, data, pagination } = await list();
    expect(status).toBe(200);
    expect(data).toMatchObject([
      { id: second, object: 'event', type: 'message.failed', data: { object: 'message', status: 'undelivered' } },
      { id: first, object: 'event', type: 'message.sent', data: { status: 'sent', to: '+15005550001', error: null } },
    ]);
    expect(pagination).toEqual({ page: 1, limit: 50, total: 2, pages: 1, has_more: false });
  });

  test('an account without events has an empty list', async () => {
    const { data, pagination } = await list();
    expect(data).toEqual([]);
    expect(pagination).toEqual({ page: 1, limit: 50, total: 0, pages: 0, has_more: false });
  });

  test.each([
    ['message.sent', ['sent']],
    ['message.delivered', ['delivered']],
    ['message.failed', ['undelivered', 'failed']],
  ])('of type %s holds those alone, and counts them', async (type, statuses) => {
    for (const status of ['sent', 'delivered', 'failed', 'undelivered'] as const) await happen(status);
    const { data, pagination } = await list({ type });
    expect(data.map((event) => event.data.status)).toEqual(statuses);
    expect(data.every((event) => event.type === type)).toBe(true);
    expect(pagination).toMatchObject({ total: statuses.length });
  });

  test('whatever the page size, its pages are the whole list in order, across hours and for each type', async () => {
    const made: Array<{ id: string; type: string }> = [];
    const story: EventStatus[] = ['sent', 'delivered', 'sent', 'sent', 'failed'];
    for (let at = 0; at < 23; at += 1) {
      const status = story[at % story.length] ?? 'sent';
      const id = await happen(status);
      made.unshift({ id, type: status === 'failed' ? 'message.failed' : `message.${status}` });
      // Several in one hour, some hours without any.
      if (at % 4 === 3) world.clock.advance((at % 3) * hours + 25 * minutes);
    }
    for (const type of [undefined, 'message.sent', 'message.delivered', 'message.failed']) {
      const expected = made.filter((event) => type === undefined || event.type === type).map(({ id }) => id);
      for (const limit of [1, 3, 7, 100]) {
        const pages = Math.ceil(expected.length / limit);
        const found: string[] = [];
        for (let page = 1; page <= pages; page += 1) {
          const { data, pagination } = await list({ ...(type === undefined ? {} : { type }), page, limit });
          expect(pagination).toEqual({ page, limit, total: expected.length, pages, has_more: page < pages });
          found.push(...data.map(({ id }) => id));
        }
        expect(found).toEqual(expected);
      }
    }
  });

  test('of a type is read from the hours that have it, and not from those between', async () => {
    await happen('delivered');
    world.clock.advance(1 * hours);
    const between = world.clock.now();
    await happen('sent');
    world.clock.advance(1 * hours);
    await happen('delivered');
    const from = new Date(between - 1 * days);
    const found = await findEventHours(world.pool, accountId, 'message.delivered', from, { offset: 0, limit: 50 });
    expect(found.total).toBe(2);
    const startOfHour = between - (between % hours);
    expect(found.hours.map((hour) => hour.getTime())).toEqual([startOfHour + hours, startOfHour - hours]);
  });

  test.each([2, 1_000, Number.MAX_SAFE_INTEGER])(
    'page %d, past the end, is empty and has the total all the same',
    async (page) => {
      await happen('sent');
      const { status, data, pagination } = await list({ page, limit: 100 });
      expect(status).toBe(200);
      expect(data).toEqual([]);
      expect(pagination).toMatchObject({ total: 1, pages: 1, has_more: false });
    },
  );

  test('shows the last 30 days, whole hours of them', async () => {
    const old = await happen('sent');
    world.clock.advance(30 * days);
    const recent = await happen('sent');
    expect((await list()).data.map(({ id }) => id)).toEqual([recent, old]);
    world.clock.advance(1 * hours);
    const { data, pagination } = await list();
    expect(data.map(({ id }) => id)).toEqual([recent]);
    expect(pagination).toMatchObject({ total: 1 });
  });

  test.each([
    ['page', { page: 0 }],
    ['page', { page: -1 }],
    ['page', { page: 1.5 }],
    ['page', { page: 'two' }],
    ['limit', { limit: 0 }],
    ['limit', { limit: 101 }],
    ['type', { type: 'message.read' }],
    ['type', { type: '' }],
  ])('%s out of bounds is a 400 that names it: %j', async (param, query) => {
    const answer = await list(query);
    expect(answer).toMatchObject({ status: 400, success: false, error: { code: 'invalid_request', param } });
  });

  test('takes dlr:read or sms:read, and nothing else', async () => {
    permissions = ['sms:send', 'sms:bulk', 'balance:read'];
    expect(await list()).toMatchObject({ status: 403, error: { code: 'forbidden' } });
    permissions = ['dlr:read'];
    expect((await list()).status).toBe(200);
  });
});
