import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensurePartitions } from '../../src/db/partitions.ts';
import type { Message } from '../../src/events/message-view.ts';
import { firstIdAt } from '../../src/lib/ids.ts';
import { createLog } from '../../src/lib/log.ts';
import { applyRetention } from '../../src/retention/retention.ts';
import type { Query } from '../helpers/client.ts';
import { createTestClock } from '../helpers/clock.ts';
import { TestService, type TestAccount } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

const dayMs = 24 * 3_600_000;
const clock = createTestClock();
let service: TestService;
let account: TestAccount;

const days = { messagesDays: 62, eventsDays: 30, deliveriesDays: 30, receiptsDays: 30 };

function forget(): Promise<'more' | 'done'> {
  return applyRetention({ pool: service.pool, clock, log: createLog({ level: 'silent' }), days });
}

/** To noon of the tenth day of the month that many months ahead. */
async function goTo(monthsAhead: number): Promise<void> {
  const now = new Date(clock.now());
  clock.advance(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + monthsAhead, 10, 12) - now.getTime());
  await ensurePartitions(service.pool, clock.now());
}

/** Sends, and waits until all is known of it: `delivered` messages, one that is reported failed and one that nothing is reported of. */
async function sendSome(delivered: number): Promise<void> {
  const recipients = Array.from({ length: delivered }, (_, index) => `+9990100130${index}`);
  const before = (await account.api.list({ status: 'failed' })).pagination.total;
  await account.api.bulk({ recipients: ['+9990100830', '+9990101030', ...recipients] });
  await until('all is known', async () => {
    const { pagination } = await account.api.list({ status: 'failed' });
    const { data } = await account.api.list({ limit: delivered + 2 });
    return pagination.total === before + 1 && data.filter(({ status }) => status === 'delivered').length === delivered;
  });
}

async function countRows(table: string): Promise<number> {
  const { rows } = await service.pool.query<{ count: number }>(`SELECT count(*) FROM ${table}`);
  return rows[0]?.count ?? 0;
}

async function readUsage(): Promise<{ totals: { messages: number }; by_status: Record<string, number> }> {
  const { data } = await account.api.request<Awaited<ReturnType<typeof readUsage>>>('GET', '/usage', {
    query: { period: 'all' },
  });
  return data;
}

/** Every list, read page by page, against its own total. */
async function expectListsExact(total: number): Promise<void> {
  const queries: Query[] = [
    {},
    { status: 'delivered' },
    { status: 'failed' },
    { status: 'sent' },
    { to: '+99901001300' },
  ];
  for (const query of queries) {
    const all: Message[] = [];
    for (let page = 1; ; page += 1) {
      const { data, pagination } = await account.api.list({ ...query, page, limit: 2 });
      all.push(...data);
      if (!pagination.has_more) {
        expect(all, JSON.stringify(query)).toHaveLength(pagination.total);
        break;
      }
    }
    if (Object.keys(query).length === 0) expect(all).toHaveLength(total);
  }
}

beforeAll(async () => {
  service = await TestService.start({ clock });
  await goTo(1);
  account = await service.account();
});
afterAll(() => service.stop());

describe('what is past its time', () => {
  let oldest: Message;

  beforeAll(async () => {
    await sendSome(3);
    [oldest] = (await account.api.list()).data as [Message];
    await goTo(1);
    await sendSome(4);
    await goTo(2);
    await sendSome(2);
    expect((await account.api.list()).pagination.total).toBe(15);
    // Several processes at once, and traffic meanwhile.
    await Promise.all([forget(), forget(), forget(), account.api.sent({ to: '+9990101031' })]);
  });

  it('is dropped by the month: messages after 62 days, events and receipts after 30', async () => {
    expect(await countRows('messages')).toBe(11);
    expect(await countRows('events')).toBe(3 * 2 + 2);
    expect(await countRows('receipts')).toBe(3 * 2);
    const { data } = await account.api.list({ limit: 100 });
    expect(data.map(({ id }) => id)).not.toContain(oldest.id);
    expect((await account.api.request('GET', `/messages/${oldest.id}`)).status).toBe(404);
  });

  it('is in no total of a list any more', async () => {
    await expectListsExact(11);
    expect((await account.api.list({ created_before: oldest.created_at })).pagination.total).toBe(0);
    const after = await account.api.list({ created_after: '2020-01-01T00:30:00Z' });
    expect(after.pagination.total).toBe(11);
  });

  it('leaves no counts of events behind', async () => {
    const { data, pagination } = await account.api.request<unknown[]>('GET', '/events', { query: { limit: 100 } });
    expect(pagination.total).toBe(data.length);
    const { rows } = await service.pool.query<{ count: number }>('SELECT sum(events)::int AS count FROM events_hourly');
    expect(rows[0]?.count).toBe(data.length);
  });

  it('stays in the usage and in the ledger, and the books agree', async () => {
    const { totals, by_status: byStatus } = await readUsage();
    expect(totals.messages).toBe(16);
    expect(byStatus).toEqual({ pending: 0, sent: 4, delivered: 9, failed: 3, undelivered: 0 });
    expect(await service.differences()).toEqual([]);
    expect(await account.api.balance()).toBeCloseTo(100 - 16 * 0.01, 6);
  });

  it('is dropped once', async () => {
    expect(await forget()).toBe('done');
    expect(await countRows('messages')).toBe(11);
    await expectListsExact(11);
  });

  it('is sought by the service itself, and what is kept for long stays', async () => {
    await goTo(6);
    const peer = await service.peer();
    await until('the events are gone', async () => (await countRows('events')) === 0);
    expect(await countRows('messages')).toBe(11);
    expect((await account.api.at(`${peer.url}/api/v1`).list()).pagination.total).toBe(11);
  });
});

describe('rows past their time', () => {
  const ages = [9 * dayMs, 40 * dayMs];

  it('are deleted, and younger ones stay', async () => {
    const { pool } = service;
    for (const ageMs of [0, ...ages]) {
      const at = new Date(clock.now() - ageMs);
      const id = firstIdAt(clock.now() - ageMs).replace(/.$/, '1');
      await pool.query(
        `INSERT INTO unmatched_receipts (id, provider, provider_message_id, reason, raw, received_at) VALUES ($1, 'twilio', '1', 'test', '', $2)`,
        [id, at],
      );
      await pool.query(
        `INSERT INTO idempotency_keys (account_id, key, fingerprint, message_ids, created_at) VALUES ($1, $2, '', '{}', $3)`,
        [account.accountId, `key ${ageMs}`, at],
      );
      await pool.query(
        `INSERT INTO provider_refs (provider, provider_message_id, account_id, message_id, attempt, recipient) VALUES ('smpp', $1, $2, $3, 0, '')`,
        [`id ${ageMs}`, account.accountId, id],
      );
      await pool.query(
        `INSERT INTO key_usage (account_id, key_id, period, starts_on, messages) VALUES ($1, $2, 'day', $3, 1)`,
        [account.accountId, account.keyId, at],
      );
      await pool.query(`INSERT INTO look_ups (account_id, hour, round, places) VALUES ($1, $2, 1, '{}')`, [
        account.accountId,
        at,
      ]);
      await pool.query(
        `INSERT INTO delivery_queue (account_id, event_id, endpoint_id, message_id, status, due_at) VALUES ($1, $2, $3, $2, 'sent', 'infinity')`,
        [account.accountId, id, account.keyId],
      );
    }
    expect(await forget()).toBe('done');
    const left = await Promise.all(
      ['unmatched_receipts', 'idempotency_keys', 'provider_refs', 'key_usage', 'look_ups', 'delivery_queue'].map(
        async (table) => [table, await countRows(table)],
      ),
    );
    expect(Object.fromEntries(left)).toEqual({
      unmatched_receipts: 2,
      idempotency_keys: 1,
      provider_refs: 1,
      key_usage: 2,
      look_ups: 1,
      delivery_queue: 2,
    });
    await pool.query('DELETE FROM delivery_queue');
  });
});
