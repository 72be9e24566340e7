import type { Db } from '../db/pool.ts';
import type { EndpointKey } from './delivery-queries.ts';
import type { AttemptRecord } from './result.ts';
import type { DeliveryStatus } from './retry.ts';

export type DeliveryRow = {
  account_id: string;
  event_id: string;
  endpoint_id: string;
  message_id: string;
  status: DeliveryStatus;
  attempts: AttemptRecord[];
  /** When the next attempt comes, or one that runs now is given up; null where none does. */
  next_attempt_at: Date | null;
};

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Literals, so that the planner knows the index of what did not succeed when it sees its condition. */
const conditionOf: Record<DeliveryStatus | 'any', string> = {
  any: 'true',
  succeeded: `d.status = 'succeeded'`,
  pending: `d.status <> 'succeeded' AND d.status = 'pending'`,
  abandoned: `d.status <> 'succeeded' AND d.status = 'abandoned'`,
  skipped: `d.status <> 'succeeded' AND d.status = 'skipped'`,
};

/**
 * Deliveries to an endpoint that have had a result, newest event first, of events older than `beforeEventId`. The queue is asked by its whole
 * key, one row at a time: a join may be planned as a walk over all of it.
 */
export async function listDeliveries(
  db: Db,
  { accountId, endpointId }: EndpointKey,
  { status, beforeEventId, limit }: { status?: DeliveryStatus; beforeEventId?: string; limit: number },
): Promise<DeliveryRow[]> {
  const kind = status ?? 'any';
  const { rows } = await db.query<DeliveryRow>({
    name: `list_deliveries ${kind}`,
    text: `SELECT d.account_id, d.event_id, d.endpoint_id, d.message_id, d.status, d.attempts,
             (SELECT q.due_at FROM delivery_queue q WHERE (q.account_id, q.event_id, q.endpoint_id)
                BETWEEN (d.account_id, d.event_id, d.endpoint_id) AND (d.account_id, d.event_id, d.endpoint_id)) AS next_attempt_at
           FROM (SELECT * FROM deliveries d
                 WHERE d.account_id = $1 AND d.endpoint_id = $2 AND d.event_id < $3 AND ${conditionOf[kind]}
                 ORDER BY d.event_id DESC LIMIT $4) d
           ORDER BY d.event_id DESC`,
    values: [accountId, endpointId, beforeEventId ?? lastId, limit],
  });
  return rows;
}

/** What became of events at the endpoints they were for, those included that wait for their first attempt. */
export async function readDeliveriesOf(
  db: Db,
  accountId: string,
  eventIds: readonly string[],
): Promise<Array<DeliveryRow & { url: string | null }>> {
  const { rows } = await db.query<DeliveryRow & { url: string | null }>({
    name: 'read_deliveries_of_events',
    text: `SELECT account_id, event_id, endpoint_id, coalesce(d.message_id, q.message_id) AS message_id, coalesce(d.status, 'pending') AS status,
             coalesce(d.attempts, '[]') AS attempts, q.due_at AS next_attempt_at, w.url
           FROM (SELECT * FROM deliveries WHERE account_id = $1 AND event_id = ANY ($2::uuid[])) d
           FULL JOIN (SELECT * FROM delivery_queue WHERE account_id = $1 AND event_id = ANY ($2::uuid[])) q
             USING (account_id, event_id, endpoint_id)
           LEFT JOIN (SELECT id, url FROM webhook_endpoints WHERE account_id = $1) w ON w.id = endpoint_id
           ORDER BY event_id, endpoint_id`,
    values: [accountId, eventIds],
  });
  return rows;
}

/** False when there is no such endpoint. */
export async function enable(db: Db, { accountId, endpointId }: EndpointKey): Promise<boolean> {
  const { rowCount } = await db.query(
    'UPDATE webhook_endpoints SET is_active = true, failure_count = 0, disabled_at = NULL WHERE account_id = $1 AND id = $2',
    [accountId, endpointId],
  );
  return rowCount === 1;
}

export type ReplayChunk = EndpointKey & {
  /** Event ids, both included. */
  firstId: string;
  lastId: string;
  /** Also what the endpoint has acknowledged already. */
  evenSucceeded: boolean;
  limit: number;
  dueAt: Date;
};

/**
 * Queues, from the beginning, the events of a range that an active endpoint wants, whether or not they were ever meant for it; what waits
 * already goes on as it is. Returns how many were queued and, where the limit was reached, the event to go on from.
 */
export async function replayChunk(db: Db, chunk: ReplayChunk): Promise<{ queued: number; nextId: string | null }> {
  const { rows } = await db.query<{ queued: number; next_id: string | null }>({
    name: 'replay_deliveries',
    text: `WITH past AS (
             SELECT e.account_id, e.id, e.message_id, e.status, w.id AS endpoint_id,
               (CASE WHEN e.status IN ('sent', 'delivered') THEN 'message.' || e.status ELSE 'message.failed' END) = ANY (w.events) AS wanted
             FROM events e
             JOIN webhook_endpoints w ON w.account_id = e.account_id AND w.id = $2 AND w.is_active
             WHERE e.account_id = $1 AND e.id >= $3 AND e.id <= $4
             ORDER BY e.id
             LIMIT $5
           ), queued AS (
             INSERT INTO delivery_queue (account_id, event_id, endpoint_id, message_id, status, due_at)
             SELECT p.account_id, p.id, p.endpoint_id, p.message_id, p.status, $7
             FROM past p
             LEFT JOIN deliveries d ON d.account_id = p.account_id AND d.event_id = p.id AND d.endpoint_id = p.endpoint_id
             WHERE p.wanted AND ($6 OR d.status IS DISTINCT FROM 'succeeded')
             ON CONFLICT (account_id, event_id, endpoint_id) DO NOTHING
             RETURNING account_id, event_id, endpoint_id
           ), reopened AS (
             UPDATE deliveries d SET status = 'pending'
             FROM queued q
             WHERE d.account_id = q.account_id AND d.event_id = q.event_id AND d.endpoint_id = q.endpoint_id
           )
           SELECT (SELECT count(*) FROM queued) AS queued,
             (SELECT id FROM past ORDER BY id OFFSET $5 - 1) AS next_id`,
    values: [
      chunk.accountId,
      chunk.endpointId,
      chunk.firstId,
      chunk.lastId,
      chunk.limit,
      chunk.evenSucceeded,
      chunk.dueAt,
    ],
  });
  const [row] = rows;
  return { queued: row?.queued ?? 0, nextId: row?.next_id ?? null };
}
