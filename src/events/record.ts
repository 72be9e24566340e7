import type { Db } from '../db/pool.ts';
import { timeOfId } from '../lib/ids.ts';
import { eventTypeOf, type EventStatus } from './event.ts';

/** An event to be: the message and the state it entered. */
export type NewEvent = { accountId: string; eventId: string; messageId: string; status: EventStatus };

/** Writes events in the transaction that changes their messages. */
export async function insertEvents(db: Db, events: readonly NewEvent[]): Promise<void> {
  await db.query({
    name: 'insert_events',
    text: `INSERT INTO events (account_id, id, message_id, status)
           SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[])`,
    values: [
      events.map(({ accountId }) => accountId),
      events.map(({ eventId }) => eventId),
      events.map(({ messageId }) => messageId),
      events.map(({ status }) => status),
    ],
  });
}

/** Counts new events by account, hour and type, so that lists know exact totals. Rows are locked in the order of their key. */
export async function addEventCounts(db: Db, events: readonly NewEvent[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const { accountId, eventId, status } of events) {
    const timeMs = timeOfId(eventId);
    const key = `${accountId} ${timeMs - (timeMs % 3_600_000)} ${eventTypeOf(status)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const keys = [...counts.keys()].sort();
  const parts = keys.map((key) => key.split(' '));
  await db.query({
    name: 'add_event_counts',
    text: `INSERT INTO events_hourly AS e (account_id, hour, type, events)
           SELECT x.account_id, to_timestamp(x.hour_ms / 1000), x.type, x.events
           FROM unnest($1::uuid[], $2::float8[], $3::text[], $4::bigint[]) x(account_id, hour_ms, type, events)
           ON CONFLICT (account_id, hour, type) DO UPDATE SET events = e.events + excluded.events`,
    values: [
      parts.map(([id]) => id),
      parts.map(([, hour]) => hour),
      parts.map(([, , type]) => type),
      keys.map((key) => counts.get(key)),
    ],
  });
}

/**
 * Forgets the counts of the next accounts after `afterAccountId` whose events have been dropped with their months. Returns the last of these
 * accounts; null after the last of all.
 */
export async function deleteEventCounts(db: Db, afterAccountId: string, accounts: number): Promise<string | null> {
  const { rows } = await db.query<{ last: string | null }>({
    name: 'delete_event_counts',
    text: `WITH page AS (
             SELECT account_id FROM accounts WHERE account_id > $1 ORDER BY account_id LIMIT $2
           ), gone AS (
             DELETE FROM events_hourly h USING page
             WHERE h.account_id = page.account_id AND h.hour < (SELECT since FROM kept WHERE table_name = 'events')
           )
           SELECT (SELECT account_id FROM page ORDER BY account_id DESC LIMIT 1) AS last`,
    values: [afterAccountId, accounts],
  });
  return rows[0]?.last ?? null;
}
