import type { UsageStatus } from '../accounts/usage-queries.ts';
import type { Db } from '../db/pool.ts';
import { messageColumns, type MessageRow, type MessageStatus } from '../events/message-view.ts';

/** Ids from `from` up to but not including `until`. */
export type IdRange = { from: string; until: string };

/** What a message of that status has. Failures have an index of their own; all other conditions are looked at row by row. */
const conditions = {
  any: 'true',
  pending: `m.status = 'pending'`,
  sent: `m.status = 'sent'`,
  delivered: `m.status = 'delivered'`,
  failed: 'm.failed_at IS NOT NULL',
  undelivered: `m.undelivered_at IS NOT NULL AND m.status = 'undelivered'`,
} satisfies Record<MessageStatus | 'any', string>;

async function countOf(result: Promise<{ rows: Array<{ count: number }> }>): Promise<number> {
  return (await result).rows[0]?.count ?? 0;
}

/** Without a status it reads no row, only the index. */
export function countToRecipient(
  db: Db,
  accountId: string,
  recipient: string,
  status: MessageStatus | undefined,
  { from, until }: IdRange,
): Promise<number> {
  const condition = status ?? 'any';
  return countOf(
    db.query<{ count: number }>({
      name: `count_to_recipient_${condition}`,
      text: `SELECT count(*) FROM messages m
             WHERE m.account_id = $1 AND m.recipient = $2 AND m.id >= $3 AND m.id < $4 AND ${conditions[condition]}`,
      values: [accountId, recipient, from, until],
    }),
  );
}

/** Rows are read of the page alone: without a status those before it are passed over in the index. */
export async function pageToRecipient(
  db: Db,
  accountId: string,
  recipient: string,
  status: MessageStatus | undefined,
  { from, until }: IdRange,
  offset: number,
  limit: number,
): Promise<MessageRow[]> {
  const condition = status ?? 'any';
  const { rows } = await db.query<MessageRow>({
    name: `page_to_recipient_${condition}`,
    text: `SELECT ${messageColumns}
           FROM (SELECT m.account_id, m.id FROM messages m
                 WHERE m.account_id = $1 AND m.recipient = $2 AND m.id >= $3 AND m.id < $4 AND ${conditions[condition]}
                 ORDER BY m.id DESC OFFSET $5 LIMIT $6) p
           JOIN messages m ON m.account_id = p.account_id AND m.id = p.id
           ORDER BY m.id DESC`,
    values: [accountId, recipient, from, until, offset, limit],
  });
  return rows;
}

export function countPending(db: Db, accountId: string, { from, until }: IdRange): Promise<number> {
  return countOf(
    db.query<{ count: number }>({
      name: 'count_pending',
      text: 'SELECT count(*) FROM dispatch_queue WHERE account_id = $1 AND message_id >= $2 AND message_id < $3',
      values: [accountId, from, until],
    }),
  );
}

export async function pagePending(
  db: Db,
  accountId: string,
  { from, until }: IdRange,
  offset: number,
  limit: number,
): Promise<MessageRow[]> {
  const { rows } = await db.query<MessageRow>({
    name: 'page_pending',
    text: `SELECT ${messageColumns}
           FROM (SELECT account_id, message_id FROM dispatch_queue
                 WHERE account_id = $1 AND message_id >= $2 AND message_id < $3
                 ORDER BY message_id DESC OFFSET $4 LIMIT $5) q
           JOIN messages m ON m.account_id = q.account_id AND m.id = q.message_id
           ORDER BY m.id DESC`,
    values: [accountId, from, until, offset, limit],
  });
  return rows;
}

/** Counts by the key; for edges of less than an hour. */
export function countRange(
  db: Db,
  accountId: string,
  status: MessageStatus | undefined,
  { from, until }: IdRange,
): Promise<number> {
  const condition = status ?? 'any';
  return countOf(
    db.query<{ count: number }>({
      name: `count_range_${condition}`,
      text: `SELECT count(*) FROM messages m WHERE m.account_id = $1 AND m.id >= $2 AND m.id < $3 AND ${conditions[condition]}`,
      values: [accountId, from, until],
    }),
  );
}

export type Hours = {
  total: number;
  /** Messages in the hours newer than those given; all of them where the page lies beyond the hours. */
  skipped: number;
  /** The hours, newest first, in which the wanted page lies. */
  hours: Array<{ hourMs: number }>;
};

/** Of the messages that are kept: the total over whole hours, and the hours that hold the messages from `offset` on, as many as fill `limit`. */
export async function findHours(
  db: Db,
  accountId: string,
  status: UsageStatus,
  { fromMs, untilMs, offset, limit }: { fromMs: number; untilMs: number; offset: number; limit: number },
): Promise<Hours> {
  const { rows } = await db.query<{ total: number; hour_ms: number | null; before: number | null }>({
    name: 'find_hours',
    text: `WITH h AS (
             SELECT hour, messages, (sum(messages) OVER (ORDER BY hour DESC))::bigint AS running
             FROM usage_hourly
             WHERE account_id = $1 AND status = $2 AND messages > 0
               AND hour >= greatest(to_timestamp($3::float8 / 1000), (SELECT since FROM kept WHERE table_name = 'messages'))
               AND hour < to_timestamp($4::float8 / 1000)
           )
           SELECT t.total, (extract(epoch FROM h.hour) * 1000)::float8 AS hour_ms, h.running - h.messages AS before
           FROM (SELECT coalesce(max(running), 0) AS total FROM h) t
           LEFT JOIN h ON h.running > $5::bigint AND h.running - h.messages < $5::bigint + $6::bigint
           ORDER BY h.hour DESC`,
    values: [accountId, status, fromMs, Math.min(untilMs, 253_402_300_800_000), offset, limit],
  });
  const hours = rows.flatMap(({ hour_ms: hourMs }) => (hourMs === null ? [] : [{ hourMs }]));
  return { total: rows[0]?.total ?? 0, skipped: rows[0]?.before ?? rows[0]?.total ?? 0, hours };
}

/** A page out of ranges that are given newest first. */
export async function pageRanges(
  db: Db,
  accountId: string,
  status: MessageStatus | undefined,
  ranges: readonly IdRange[],
  offset: number,
  limit: number,
): Promise<MessageRow[]> {
  const condition = status ?? 'any';
  const { rows } = await db.query<MessageRow>({
    name: `page_ranges_${condition}`,
    text: `SELECT p.* FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY r(lower, upper, place)
           CROSS JOIN LATERAL (
             SELECT ${messageColumns} FROM messages m
             WHERE m.account_id = $1 AND m.id >= r.lower AND m.id < r.upper AND ${conditions[condition]}
             ORDER BY m.id DESC LIMIT $4::bigint + $5::bigint
           ) p
           ORDER BY r.place, p.id DESC OFFSET $4 LIMIT $5`,
    values: [accountId, ranges.map(({ from }) => from), ranges.map(({ until }) => until), offset, limit],
  });
  return rows;
}
