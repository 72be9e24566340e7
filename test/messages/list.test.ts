import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message, MessageStatus } from '../../src/events/message-view.ts';
import { createAccept } from '../../src/messages/accept.ts';
import type { ApiClient } from '../helpers/client.ts';
import { createTestClock } from '../helpers/clock.ts';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

const hourMs = 3_600_000;
const clock = createTestClock();
const service = await TestService.start({ clock });
afterAll(() => service.stop());

const { api, accountId } = await service.account();

/** Every message of the account, newest first: what the lists are held against. */
let all: Message[] = [];

const recipients = ['+14155550101', '+14155550102', '+999010021', '+999010081', '+999010091', '+999010101'];

async function idsOf(query: Record<string, string>): Promise<string[]> {
  return (await api.list({ ...query, limit: 100 })).data.map(({ id }) => id);
}

/** Stored and leased for a day, and never handed to the dispatcher: pending for as long as the test runs. */
async function leavePending(): Promise<void> {
  const { pool, app } = service;
  const accept = createAccept({
    pool,
    clock,
    ids: app.ids,
    dispatchLeaseMs: 24 * hourMs,
    onDeliveries: () => undefined,
  });
  await accept.add({
    accountId,
    currency: 'USD',
    limits: null,
    idempotency: null,
    startsAtOnce: false,
    drafts: ['+14155550101', '+14155550109'].map((recipient) => ({
      id: app.ids.next(),
      recipient,
      sender: 'HELIO',
      body: 'Hello',
      reference: null,
      segments: 1,
      costMicros: 7_900,
      routeId: 1,
      providers: ['twilio'],
      fault: null,
    })),
  });
}

async function readAll(caller: ApiClient): Promise<Message[]> {
  const messages: Message[] = [];
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await caller.list({ page, limit: 100 });
    messages.push(...data);
    if (!pagination.has_more) return messages;
  }
}

// Six hours with a dozen messages every 25 minutes, in every state, from the middle of an hour to the middle of another.
beforeAll(async () => {
  const other = await service.account();
  clock.advance(hourMs - (clock.now() % hourMs) + 20 * 60_000);
  for (let step = 0; step < 14; step += 1) {
    // Two hours in which nothing happens.
    clock.advance(step === 8 ? 2 * hourMs : 25 * 60_000);
    await api.bulk({ recipients: [...recipients, ...recipients, 'malformed'] });
    await other.api.bulk({ recipients });
    if (step % 4 === 1) await leavePending();
  }
  const settled = 14 * recipients.length * 2 + 14 + 8;
  await until('all but those left pending and those never reported on are final', async () => {
    const counts = await Promise.all(
      ['pending', 'sent', 'delivered', 'failed', 'undelivered'].map(
        async (status) => (await api.list({ status, limit: 1 })).pagination.total,
      ),
    );
    return counts.join() === `8,28,56,70,28`;
  });
  all = await readAll(api);
  expect(all).toHaveLength(settled);
});

type Filter = {
  status?: MessageStatus;
  to?: string;
  created_after?: string;
  created_before?: string;
};

function expected({ status, to, created_after, created_before }: Filter): string[] {
  return all
    .filter(
      (message) =>
        (status === undefined || message.status === status) &&
        (to === undefined || message.to === to) &&
        (created_after === undefined || Date.parse(message.created_at) > Date.parse(created_after)) &&
        (created_before === undefined || Date.parse(message.created_at) < Date.parse(created_before)),
    )
    .map(({ id }) => id);
}

describe('the list of messages', () => {
  it('is newest first', () => {
    const times = all.map(({ created_at }) => Date.parse(created_at));
    expect(times).toEqual(times.toSorted((first, second) => second - first));
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
  });

  it('has 50 messages on a page unless told otherwise, and says how many there are', async () => {
    const { data, pagination } = await api.list();
    expect(data).toHaveLength(50);
    expect(pagination).toEqual({ page: 1, limit: 50, total: 190, pages: 4, has_more: true });
  });

  it('shows each message as it is retrieved alone', async () => {
    const { data } = await api.list({ limit: 20 });
    for (const message of data) expect(await api.get(message.id)).toEqual(message);
  });

  it('has an empty page past the end, with the total all the same', async () => {
    const { status, data, pagination } = await api.list({ page: 5, limit: 50 });
    expect({ status, data, pagination }).toEqual({
      status: 200,
      data: [],
      pagination: { page: 5, limit: 50, total: 190, pages: 4, has_more: false },
    });
  });

  it.each([
    ['any', {}],
    ['failed', { status: 'failed' }],
    ['pending', { status: 'pending' }],
    ['to a recipient', { to: '+14155550101' }],
  ])('has an empty page as far past the end as a number goes: %s', async (_which, filter) => {
    for (const page of ['1000000000', '9007199254740991']) {
      const { status, data } = await api.list({ ...filter, page, limit: 100 });
      expect({ page, status, data }).toEqual({ page, status: 200, data: [] });
    }
  });

  it('is empty for an account without messages', async () => {
    const fresh = await service.account();
    const { data, pagination } = await fresh.api.list();
    expect({ data, pagination }).toEqual({
      data: [],
      pagination: { page: 1, limit: 50, total: 0, pages: 0, has_more: false },
    });
  });

  const someTime = fc
    .record({ index: fc.nat({ max: 189 }), shiftMs: fc.constantFrom(-1, 0, 1, -hourMs, 17 * 60_000) })
    .map(({ index, shiftMs }) => new Date(Date.parse(all[index]?.created_at ?? '') + shiftMs).toISOString());
  const someStatus = fc.constantFrom<MessageStatus>('pending', 'sent', 'delivered', 'failed', 'undelivered');

  it('is exact for every combination of filters', async () => {
    const to = fc.constantFrom(...recipients, 'malformed', '+14155550109', '+1415555010');
    const query = fc.record(
      {
        status: someStatus,
        to,
        created_after: someTime,
        created_before: someTime,
        page: fc.integer({ min: 1, max: 4 }),
        limit: fc.integer({ min: 1, max: 100 }),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(query, async ({ page = 1, limit = 50, ...filter }) => {
        const ids = expected(filter);
        const { data, pagination } = await api.list({ ...filter, page, limit });
        expect(data.map(({ id }) => id)).toEqual(ids.slice((page - 1) * limit, page * limit));
        const pages = Math.ceil(ids.length / limit);
        expect(pagination).toEqual({ page, limit, total: ids.length, pages, has_more: page < pages });
      }),
      { numRuns: 300 },
    );
  });

  it('has every message on exactly one page, wherever the pages are cut', async () => {
    const query = fc.record(
      { status: someStatus, created_after: someTime, created_before: someTime, limit: fc.integer({ min: 5, max: 40 }) },
      { requiredKeys: ['limit'] },
    );
    await fc.assert(
      fc.asyncProperty(query, async ({ limit, ...filter }) => {
        const ids = expected(filter);
        const pages = Array.from({ length: Math.ceil(ids.length / limit) + 1 }, (_, index) =>
          api.list({ ...filter, page: index + 1, limit }),
        );
        const listed = (await Promise.all(pages)).flatMap(({ data }) => data.map(({ id }) => id));
        expect(listed).toEqual(ids);
      }),
      { numRuns: 150 },
    );
  });

  it('leaves out the millisecond named by created_after and that named by created_before', async () => {
    const message = all[60] as Message;
    const at = message.created_at;
    const [before, after] = [-1, 1].map((ms) => new Date(Date.parse(at) + ms).toISOString()) as [string, string];
    expect(await idsOf({ created_after: at, created_before: after })).not.toContain(message.id);
    expect(await idsOf({ created_after: before, created_before: at })).not.toContain(message.id);
    expect(await idsOf({ created_after: before, created_before: after })).toContain(message.id);
  });

  it.each([
    ['with a Z', (time: number) => new Date(time).toISOString()],
    ['with an offset', (time: number) => `${new Date(time + 2 * hourMs).toISOString().slice(0, -1)}+02:00`],
    ['as the API prints it', (time: number) => `${new Date(time).toISOString().slice(0, -1)}+00:00`],
    ['with a small t and z', (time: number) => new Date(time).toISOString().toLowerCase()],
  ])('takes a time %s', async (_form, write) => {
    const time = Date.parse(all[90]?.created_at ?? '');
    const { pagination } = await api.list({ created_after: write(time) });
    expect(pagination.total).toBe(expected({ created_after: new Date(time).toISOString() }).length);
  });

  it('takes the plus signs of a query that were not percent-encoded', async () => {
    const to = recipients[0] as string;
    const { data } = await api.request<Message[]>('GET', `/messages?to=${to}`);
    expect(data).toHaveLength(expected({ to }).length);
    const time = all[90]?.created_at ?? '';
    const { pagination } = await api.request('GET', `/messages?created_after=${time}`);
    expect(pagination.total).toBe(expected({ created_after: time }).length);
  });

  it.each([
    ['the distant past', { created_after: '0001-01-01T00:00:00Z' }, 190],
    ['the distant future', { created_before: '9999-12-31T23:59:59Z' }, 190],
    ['nothing between', { created_after: '2020-01-02T00:00:00Z', created_before: '2020-01-01T00:00:00Z' }, 0],
    ['before there were any', { created_before: '1969-01-01T00:00:00Z' }, 0],
  ])('takes any time: %s', async (_what, query, total) => {
    expect((await api.list(query)).pagination.total).toBe(total);
  });

  it.each(['%00', '%2B1415%00', '%ff', '%F0%9F%98%80'])('finds nothing to %s', async (to) => {
    const { status, data } = await api.request('GET', `/messages?to=${to}`);
    expect({ status, data }).toEqual({ status: 200, data: [] });
  });

  it.each([
    ['status', 'queued'],
    ['status', ''],
    ['status', 'Sent'],
    ['page', '0'],
    ['page', '-1'],
    ['page', '1.5'],
    ['page', 'first'],
    ['page', ''],
    ['limit', '0'],
    ['limit', '101'],
    ['limit', 'all'],
    ['created_after', 'yesterday'],
    ['created_after', '2026-11-20'],
    ['created_after', '2026-11-20T03:04:05'],
    ['created_after', '2026-13-01T00:00:00Z'],
    ['created_after', '1763600000'],
    ['created_before', '2026-11-20T25:00:00Z'],
    ['created_before', ''],
  ])('refuses %s=%s with 400', async (param, value) => {
    const { status, error } = await api.list({ [param]: value });
    expect({ status, code: error.code, param: error.param }).toEqual({ status: 400, code: 'invalid_request', param });
  });

  it('refuses a parameter that is given twice', async () => {
    const { status, error } = await api.request('GET', '/messages?status=sent&status=failed');
    expect({ status, param: error.param }).toEqual({ status: 400, param: 'status' });
  });
});
