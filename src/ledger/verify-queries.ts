import type { Db } from '../db/pool.ts';

/** Ids above `after`, below `until`, of one account. */
export type IdSpan = { accountId: string; after: string; until: string };

/** The next accounts in the order of their ids. */
export async function readAccountIds(db: Db, after: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>({
    name: 'verify_account_ids',
    text: 'SELECT account_id FROM accounts WHERE account_id > $1 ORDER BY account_id LIMIT $2',
    values: [after, limit],
  });
  return rows.map((row) => row.account_id);
}

export async function readBalance(db: Db, accountId: string): Promise<number | undefined> {
  const { rows } = await db.query<{ balance_micros: number }>({
    name: 'verify_balance',
    text: 'SELECT balance_micros FROM accounts WHERE account_id = $1',
    values: [accountId],
  });
  return rows[0]?.balance_micros;
}

/** The first id and the first hour from there on about which any of the books has something to say. */
export async function findNextEntry(
  db: Db,
  accountId: string,
  after: string,
  from: Date,
): Promise<{ id: string | null; hour: Date | null }> {
  const { rows } = await db.query<{ id: string | null; hour: Date | null }>({
    name: 'verify_next_entry',
    text: `SELECT
             least(
               (SELECT id FROM ledger_entries WHERE account_id = $1 AND id > $2 ORDER BY id LIMIT 1),
               (SELECT id FROM messages WHERE account_id = $1 AND id > $2 ORDER BY id LIMIT 1),
               (SELECT id FROM events WHERE account_id = $1 AND id > $2 ORDER BY id LIMIT 1),
               (SELECT message_id FROM dispatch_queue WHERE account_id = $1 AND message_id > $2 ORDER BY message_id LIMIT 1)
             ) AS id,
             least(
               (SELECT hour FROM usage_hourly WHERE account_id = $1 AND hour >= $3 ORDER BY hour LIMIT 1),
               (SELECT hour FROM events_hourly WHERE account_id = $1 AND hour >= $3 ORDER BY hour LIMIT 1)
             ) AS hour`,
    values: [accountId, after, from],
  });
  return rows[0] ?? { id: null, hour: null };
}

export type LedgerSums = { total: number; charged: number; refunded: number };

export async function sumLedger(db: Db, { accountId, after, until }: IdSpan): Promise<LedgerSums> {
  const { rows } = await db.query<LedgerSums>({
    name: 'verify_ledger_sums',
    text: `SELECT coalesce(sum(amount_micros), 0)::bigint AS total,
             coalesce(-sum(amount_micros) FILTER (WHERE kind = 'charge'), 0)::bigint AS charged,
             coalesce(sum(amount_micros) FILTER (WHERE kind = 'refund'), 0)::bigint AS refunded
           FROM ledger_entries WHERE account_id = $1 AND id > $2 AND id < $3`,
    values: [accountId, after, until],
  });
  return rows[0] ?? { total: 0, charged: 0, refunded: 0 };
}

/** A message whose charge or place in the queue is not what its row says. A missing row costs nothing and waits for nothing. */
export type MessageMismatch = { id: string; cost: number; paid: number; isPending: boolean; isQueued: boolean };

export async function findMessageMismatches(
  db: Db,
  { accountId, after, until }: IdSpan,
  limit: number,
): Promise<MessageMismatch[]> {
  const { rows } = await db.query<MessageMismatch>({
    name: 'verify_messages',
    text: `WITH m AS (
             SELECT id, status, cost_micros FROM messages WHERE account_id = $1 AND id > $2 AND id < $3
           ), l AS (
             SELECT id, -sum(amount_micros)::bigint AS paid FROM ledger_entries
             WHERE account_id = $1 AND id > $2 AND id < $3 AND kind IN ('charge', 'refund') GROUP BY id
           ), q AS (
             SELECT message_id AS id, true AS queued FROM dispatch_queue WHERE account_id = $1 AND message_id > $2 AND message_id < $3
           ), joined AS (
             SELECT id, coalesce(m.cost_micros, 0) AS cost, coalesce(l.paid, 0) AS paid, coalesce(m.status = 'pending', false) AS "isPending",
               coalesce(q.queued, false) AS "isQueued"
             FROM m FULL JOIN l USING (id) FULL JOIN q USING (id)
           )
           SELECT * FROM joined WHERE cost <> paid OR "isPending" <> "isQueued" ORDER BY id LIMIT $4`,
    values: [accountId, after, until, limit],
  });
  return rows;
}

/** How many things are counted under a name, by the things themselves and by the roll-up. */
export type Count = { name: string; counted: number; recorded: number };

/** Messages of an hour by status, and all of them as `accepted`. */
export async function countMessages(db: Db, { accountId, after, until }: IdSpan, hour: Date): Promise<Count[]> {
  const { rows } = await db.query<Count>({
    name: 'verify_usage',
    text: `WITH m AS (
             SELECT coalesce(status, 'accepted') AS name, count(*) AS counted
             FROM messages WHERE account_id = $1 AND id > $2 AND id < $3
             GROUP BY GROUPING SETS ((), (status))
           ), u AS (
             SELECT status AS name, messages AS recorded FROM usage_hourly WHERE account_id = $1 AND hour = $4
           )
           SELECT name, coalesce(counted, 0) AS counted, coalesce(recorded, 0) AS recorded
           FROM m FULL JOIN u USING (name) WHERE name <> 'pending' ORDER BY name`,
    values: [accountId, after, until, hour],
  });
  return rows;
}

/** What the roll-up says was charged and given back for the messages of an hour. */
export async function readHourlyCost(
  db: Db,
  accountId: string,
  hour: Date,
): Promise<{ charged: number; refunded: number }> {
  const { rows } = await db.query<{ charged: number; refunded: number }>({
    name: 'verify_usage_cost',
    text: `SELECT coalesce(sum(cost_micros) FILTER (WHERE status = 'accepted'), 0)::bigint AS charged,
             coalesce(-sum(cost_micros) FILTER (WHERE status <> 'accepted'), 0)::bigint AS refunded
           FROM usage_hourly WHERE account_id = $1 AND hour = $2`,
    values: [accountId, hour],
  });
  return rows[0] ?? { charged: 0, refunded: 0 };
}

/** Events of an hour by type. */
export async function countEvents(db: Db, { accountId, after, until }: IdSpan, hour: Date): Promise<Count[]> {
  const { rows } = await db.query<Count>({
    name: 'verify_events',
    text: `WITH e AS (
             SELECT CASE WHEN status IN ('sent', 'delivered') THEN 'message.' || status ELSE 'message.failed' END AS name, count(*) AS counted
             FROM events WHERE account_id = $1 AND id > $2 AND id < $3 GROUP BY 1
           ), h AS (
             SELECT type AS name, events AS recorded FROM events_hourly WHERE account_id = $1 AND hour = $4
           )
           SELECT name, coalesce(counted, 0) AS counted, coalesce(recorded, 0) AS recorded
           FROM e FULL JOIN h USING (name) ORDER BY name`,
    values: [accountId, after, until, hour],
  });
  return rows;
}

/** Where the oldest partition of a table begins: what was before it has been dropped with its month. Null where there is none. */
export async function findOldestPartition(db: Db, table: 'messages' | 'events'): Promise<string | null> {
  const { rows } = await db.query<{ lower: string | null }>({
    name: 'verify_oldest_partition',
    text: `SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM $$FROM \\('([0-9a-f-]{36})'\\)$$) AS lower
           FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
           WHERE i.inhparent = $1::regclass ORDER BY lower LIMIT 1`,
    values: [table],
  });
  return rows[0]?.lower ?? null;
}
