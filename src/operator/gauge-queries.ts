import type { Db } from '../db/pool.ts';

/** Messages that no provider has accepted yet, and the age of the oldest. */
export async function readDispatchQueue(db: Db, nowMs: number): Promise<{ depth: number; oldestSeconds: number }> {
  const { rows } = await db.query<{ depth: number; oldest: string | null }>({
    name: 'read_dispatch_queue',
    // The first 48 bits of a UUIDv7 are its time; min(uuid) needs PostgreSQL 18.
    text: 'SELECT count(*) AS depth, min(left(message_id::text, 13)) AS oldest FROM dispatch_queue',
  });
  const { depth = 0, oldest = null } = rows[0] ?? {};
  const oldestMs = oldest === null ? nowMs : Number.parseInt(oldest.replace('-', ''), 16);
  return { depth, oldestSeconds: Math.max(0, nowMs - oldestMs) / 1_000 };
}

/** Webhook deliveries whose time came a while ago and that no process has taken: none on a healthy service. At most 100,000 are looked at. */
export async function readOverdueDeliveries(db: Db, nowMs: number): Promise<{ count: number; oldestSeconds: number }> {
  const { rows } = await db.query<{ count: number; oldest: Date | null }>({
    name: 'read_overdue_deliveries',
    text: `SELECT count(*), min(due_at) AS oldest
           FROM (SELECT due_at FROM delivery_queue WHERE due_at < to_timestamp($1::float8 / 1000) LIMIT 100000) overdue`,
    values: [nowMs - 5_000],
  });
  const { count = 0, oldest = null } = rows[0] ?? {};
  return { count, oldestSeconds: oldest === null ? 0 : (nowMs - oldest.getTime()) / 1_000 };
}
