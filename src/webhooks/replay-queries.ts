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
};

/** Deliveries of an account that have had a result, newest event first, of events older than `beforeEventId`. */
export async function listDeliveries(
  db: Db,
  filter: { accountId: string; endpointId?: string; status?: DeliveryStatus; beforeEventId?: string; limit: number },
): Promise<DeliveryRow[]> {
  const { accountId, endpointId, status, beforeEventId, limit } = filter;
  const { rows } = await db.query<DeliveryRow>({
    name: 'list_deliveries',
    text: `SELECT account_id, event_id, endpoint_id, message_id, status, attempts
           FROM deliveries
           WHERE account_id = $1 AND event_id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
             AND ($3::uuid IS NULL OR endpoint_id = $3) AND ($4::text IS NULL OR status = $4)
           ORDER BY event_id DESC, endpoint_id DESC
           LIMIT $5`,
    values: [accountId, beforeEventId ?? null, endpointId ?? null, status ?? null, limit],
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
