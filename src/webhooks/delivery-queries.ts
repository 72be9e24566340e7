import type { Db } from '../db/pool.ts';
import type { DeliveryKey, QueuedDelivery } from './enqueue.ts';
import type { DeliveryResult, EndpointTally } from './result.ts';

/** When an endpoint has failed so many attempts in a row, it is disabled (spec: Webhook endpoint activity). */
const consecutiveFailuresMax = 25;

export type EndpointKey = { accountId: string; endpointId: string };

type KeyRow = { account_id: string; event_id: string; endpoint_id: string };

function keyOf(row: KeyRow): DeliveryKey {
  return { accountId: row.account_id, eventId: row.event_id, endpointId: row.endpoint_id };
}

/**
 * `q` is the row with the key of `x`. Equalities would allow a plan that walks the whole queue, and it is what PostgreSQL chooses whenever
 * a vacuum has just found the queue empty (10 ms for a batch of 256 with a few hundred rows waiting, against 1 ms, and growing with them).
 * A comparison of rows can only be looked up in the primary key.
 */
const sameKey = `(q.account_id, q.event_id, q.endpoint_id)
             BETWEEN (x.account_id, x.event_id, x.endpoint_id) AND (x.account_id, x.event_id, x.endpoint_id)`;

function keyColumns(keys: readonly DeliveryKey[]): [string[], string[], string[]] {
  return [
    keys.map(({ accountId }) => accountId),
    keys.map(({ eventId }) => eventId),
    keys.map(({ endpointId }) => endpointId),
  ];
}

/** A delivery that was due when it was found. `dueAt` is PostgreSQL's text: exact, where a Date would round it. */
export type DueDelivery = DeliveryKey & { dueAt: string };

/**
 * Due deliveries, some of each endpoint, from the endpoints after `after` on. Inactive endpoints too: theirs are to be skipped. Inside, the
 * endpoint alone is named: naming its account as well would let a plan walk all that the account has waiting.
 */
export async function findDue(
  db: Db,
  options: { now: Date; after: EndpointKey; perEndpoint: number; limit: number },
): Promise<DueDelivery[]> {
  const { rows } = await db.query<KeyRow & { due_at: string }>({
    name: 'find_due_deliveries',
    text: `SELECT due.account_id, due.event_id, due.endpoint_id, due.due_at::text
           FROM webhook_endpoints e
           CROSS JOIN LATERAL (
             SELECT q.account_id, q.event_id, q.endpoint_id, q.due_at
             FROM delivery_queue q
             WHERE q.endpoint_id = e.id AND q.due_at <= $1
             ORDER BY q.due_at
             LIMIT $2
           ) due
           WHERE due.account_id = e.account_id AND (e.account_id, e.id) > ($3, $4)
           ORDER BY e.account_id, e.id
           LIMIT $5`,
    values: [options.now, options.perEndpoint, options.after.accountId, options.after.endpointId, options.limit],
  });
  return rows.map((row) => ({ ...keyOf(row), dueAt: row.due_at }));
}

type QueueRow = KeyRow & { message_id: string; status: QueuedDelivery['status']; attempts_made: number };

/** Leases those that nobody has leased since they were found. */
export async function claimDue(db: Db, due: readonly DueDelivery[], leasedUntil: Date): Promise<QueuedDelivery[]> {
  const { rows } = await db.query<QueueRow>({
    name: 'claim_due_deliveries',
    text: `UPDATE delivery_queue q
           SET due_at = $5
           FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[]) x(account_id, event_id, endpoint_id, due_at)
           WHERE ${sameKey} AND q.due_at IS NOT DISTINCT FROM x.due_at
           RETURNING q.account_id, q.event_id, q.endpoint_id, q.message_id, q.status, q.attempts_made`,
    values: [...keyColumns(due), due.map(({ dueAt }) => dueAt), leasedUntil],
  });
  return rows.map((row) => ({
    ...keyOf(row),
    messageId: row.message_id,
    status: row.status,
    attemptsMade: row.attempts_made,
    leasedUntilMs: leasedUntil.getTime(),
  }));
}

/** Takes settled deliveries off the queue. */
export async function deleteFromQueue(db: Db, keys: readonly DeliveryKey[]): Promise<void> {
  await db.query({
    name: 'delete_from_delivery_queue',
    text: `DELETE FROM delivery_queue q
           USING unnest($1::uuid[], $2::uuid[], $3::uuid[]) x(account_id, event_id, endpoint_id)
           WHERE ${sameKey}`,
    values: keyColumns(keys),
  });
}

/** Gives failed deliveries their next time. One that another process attempted meanwhile keeps the time that one gave it. */
export async function reschedule(db: Db, results: readonly DeliveryResult[]): Promise<void> {
  await db.query({
    name: 'reschedule_deliveries',
    text: `UPDATE delivery_queue q
           SET attempts_made = x.attempts_made + 1, due_at = to_timestamp(x.due_at_ms / 1000)
           FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::float8[])
             x(account_id, event_id, endpoint_id, attempts_made, due_at_ms)
           WHERE ${sameKey}
             AND q.attempts_made = x.attempts_made`,
    values: [
      ...keyColumns(results.map(({ delivery }) => delivery)),
      results.map(({ delivery }) => delivery.attemptsMade),
      results.map(({ settlement }) => settlement.dueAtMs),
    ],
  });
}

/** Writes results on their deliveries. A delivery that is settled stays so, unless a late attempt turns out to have succeeded. */
export async function upsertDeliveries(db: Db, results: readonly DeliveryResult[]): Promise<void> {
  await db.query({
    name: 'upsert_deliveries',
    text: `INSERT INTO deliveries AS d (account_id, event_id, endpoint_id, message_id, status, attempts)
           SELECT x.account_id, x.event_id, x.endpoint_id, x.message_id, x.status, x.attempts::jsonb
           FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[])
             x(account_id, event_id, endpoint_id, message_id, status, attempts)
           ON CONFLICT (account_id, event_id, endpoint_id) DO UPDATE
           SET attempts = d.attempts || excluded.attempts,
             status = CASE WHEN d.status = 'pending' OR excluded.status = 'succeeded' THEN excluded.status ELSE d.status END`,
    values: [
      ...keyColumns(results.map(({ delivery }) => delivery)),
      results.map(({ delivery }) => delivery.messageId),
      results.map(({ settlement }) => settlement.status),
      results.map(({ attempt }) => JSON.stringify(attempt === null ? [] : [attempt])),
    ],
  });
}

/** Counts consecutive failures, and disables the endpoints that have had too many. Returns those it disabled. */
export async function countFailures(db: Db, tallies: readonly EndpointTally[], now: Date): Promise<EndpointKey[]> {
  const { rows } = await db.query<{ account_id: string; id: string }>({
    name: 'count_webhook_failures',
    text: `WITH counted AS (
             UPDATE webhook_endpoints e
             SET failure_count = CASE WHEN x.success_ms IS NULL THEN e.failure_count ELSE 0 END + x.trailing_failures,
               last_success_at = coalesce(to_timestamp(x.success_ms / 1000), e.last_success_at),
               last_failure_at = coalesce(to_timestamp(x.failure_ms / 1000), e.last_failure_at),
               is_active = e.is_active AND e.failure_count + x.leading_failures < $9 AND x.longest_run < $9,
               disabled_at = CASE WHEN e.failure_count + x.leading_failures < $9 AND x.longest_run < $9 THEN e.disabled_at
                 ELSE coalesce(e.disabled_at, $8) END
             FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::int[], $6::float8[], $7::float8[])
               x(account_id, id, leading_failures, trailing_failures, longest_run, success_ms, failure_ms)
             WHERE e.account_id = x.account_id AND e.id = x.id
             RETURNING e.account_id, e.id, e.disabled_at
           )
           SELECT account_id, id FROM counted WHERE disabled_at = $8`,
    values: [
      tallies.map(({ accountId }) => accountId),
      tallies.map(({ endpointId }) => endpointId),
      tallies.map(({ leadingFailures }) => leadingFailures),
      tallies.map(({ trailingFailures }) => trailingFailures),
      tallies.map(({ longestRun }) => longestRun),
      tallies.map(({ lastSuccessAtMs }) => lastSuccessAtMs),
      tallies.map(({ lastFailureAtMs }) => lastFailureAtMs),
      now,
      consecutiveFailuresMax,
    ],
  });
  return rows.map((row) => ({ accountId: row.account_id, endpointId: row.id }));
}

/** Moves up to `limit` waiting deliveries of an endpoint that is inactive or gone off the queue, as skipped. Returns how many there were. */
export async function skipWaiting(db: Db, { accountId, endpointId }: EndpointKey, limit: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'skip_waiting_deliveries',
    text: `WITH waiting AS (
             SELECT q.account_id, q.event_id, q.endpoint_id
             FROM delivery_queue q
             WHERE q.endpoint_id = $2
               AND NOT EXISTS (SELECT FROM webhook_endpoints e WHERE e.account_id = $1 AND e.id = $2 AND e.is_active)
             ORDER BY q.due_at
             LIMIT $3
           ), taken AS (
             DELETE FROM delivery_queue q USING waiting x WHERE ${sameKey}
             RETURNING q.account_id, q.event_id, q.endpoint_id, q.message_id
           ), skipped AS (
             INSERT INTO deliveries AS d (account_id, event_id, endpoint_id, message_id, status, attempts)
             SELECT account_id, event_id, endpoint_id, message_id, 'skipped', '[]' FROM taken
             ON CONFLICT (account_id, event_id, endpoint_id) DO UPDATE SET status = 'skipped' WHERE d.status = 'pending'
           )
           SELECT count(*) FROM taken`,
    values: [accountId, endpointId, limit],
  });
  return rows[0]?.count ?? 0;
}

/** Endpoints that are gone and still have something waiting: its row was written while they were being deleted. Walks the queue. */
export async function findOrphaned(db: Db, limit: number): Promise<EndpointKey[]> {
  const { rows } = await db.query<EndpointKey>({
    name: 'find_orphaned_deliveries',
    text: `SELECT DISTINCT q.account_id AS "accountId", q.endpoint_id AS "endpointId"
           FROM delivery_queue q
           WHERE NOT EXISTS (SELECT FROM webhook_endpoints e WHERE e.account_id = q.account_id AND e.id = q.endpoint_id)
           LIMIT $1`,
    values: [limit],
  });
  return rows;
}

/** Takes deliveries of events older than that id off the queue, at most `limit` at once: nobody waits for them any more. Walks the queue. */
export async function deleteOutdatedDeliveries(db: Db, beforeEventId: string, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM delivery_queue WHERE ctid = ANY (ARRAY(SELECT ctid FROM delivery_queue WHERE event_id < $1 LIMIT $2))`,
    [beforeEventId, limit],
  );
  return rowCount ?? 0;
}
