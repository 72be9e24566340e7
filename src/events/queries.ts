import type { Db } from '../db/pool.ts';
import type { EventStatus, EventType } from './event.ts';
import { messageColumns, type MessageRow } from './message-view.ts';

export type EventRow = MessageRow & { event_id: string; event_status: EventStatus };

/** Where a page of events lies. */
export type EventHours = {
  total: number;
  /** Events in the hours newer than `newest`. */
  skipped: number;
  /** The hours that hold the page; null where it is empty. */
  newest: Date | null;
  oldest: Date | null;
};

type Span = { offset: number; limit: number };

/** The number of an account's events since `from`, an hour's start, and the hours that hold those at the offset. */
export async function findEventHours(
  db: Db,
  accountId: string,
  type: EventType | null,
  from: Date,
  { offset, limit }: Span,
): Promise<EventHours> {
  const { rows } = await db.query<EventHours>({
    name: 'find_event_hours',
    text: `WITH hours AS (
             SELECT hour, sum(events)::bigint AS events, (sum(sum(events)) OVER (ORDER BY hour DESC))::bigint AS running
             FROM events_hourly
             WHERE account_id = $1 AND hour >= $2 AND ($3::text IS NULL OR type = $3)
             GROUP BY hour
           ), placed AS (
             SELECT hour, events, running, running > $4::bigint AND running - events < $4::bigint + $5::bigint AS holds FROM hours
           )
           SELECT coalesce(max(running), 0) AS total,
             coalesce(min(running - events) FILTER (WHERE holds), 0) AS skipped,
             max(hour) FILTER (WHERE holds) AS newest,
             min(hour) FILTER (WHERE holds) AS oldest
           FROM placed`,
    values: [accountId, from, type, offset, limit],
  });
  return rows[0] as EventHours;
}

/** Literals, so that the planner knows the index of failures when it sees its condition. */
const conditionOf: Record<EventType | 'any', string> = {
  any: 'true',
  'message.sent': `status = 'sent'`,
  'message.delivered': `status = 'delivered'`,
  'message.failed': `status IN ('failed', 'undelivered')`,
};

/** Events with ids from `fromId` up to `untilId`, newest first, with their messages. */
export async function readEventPage(
  db: Db,
  accountId: string,
  type: EventType | null,
  { fromId, untilId }: { fromId: string; untilId: string },
  { offset, limit }: Span,
): Promise<EventRow[]> {
  const kind = type ?? 'any';
  const { rows } = await db.query<EventRow>({
    name: `read_event_page ${kind}`,
    text: `SELECT e.id AS event_id, e.status AS event_status, ${messageColumns}
           FROM (SELECT account_id, id, message_id, status
                 FROM events
                 WHERE account_id = $1 AND id >= $2 AND id < $3 AND ${conditionOf[kind]}
                 ORDER BY id DESC OFFSET $4 LIMIT $5) e
           JOIN messages m ON m.account_id = e.account_id AND m.id = e.message_id
           ORDER BY e.id DESC`,
    values: [accountId, fromId, untilId, offset, limit],
  });
  return rows;
}
