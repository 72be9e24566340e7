import type { Db } from '../db/pool.ts';
import type { EventStatus, EventType } from './event.ts';
import { messageColumns, type MessageRow } from './message-view.ts';

export type EventRow = MessageRow & { event_id: string; event_status: EventStatus };

/** Where a page of events lies. */
export type EventHours = {
  total: number;
  /** Events in the hours newer than those given; all of them where the page lies beyond the hours. */
  skipped: number;
  /** The starts of the hours that hold the page, newest first. */
  hours: Date[];
};

type Span = { offset: number; limit: number };

/** The number of an account's events since `from`, an hour's start, and the hours that hold those from the offset on. */
export async function findEventHours(
  db: Db,
  accountId: string,
  type: EventType | null,
  from: Date,
  { offset, limit }: Span,
): Promise<EventHours> {
  const { rows } = await db.query<{ total: number; hour: Date | null; before: number | null }>({
    name: 'find_event_hours',
    text: `WITH h AS (
             SELECT hour, sum(events)::bigint AS events, (sum(sum(events)) OVER (ORDER BY hour DESC))::bigint AS running
             FROM events_hourly
             WHERE account_id = $1 AND hour >= $2 AND ($3::text IS NULL OR type = $3)
             GROUP BY hour HAVING sum(events) > 0
           )
           SELECT t.total, h.hour, h.running - h.events AS before
           FROM (SELECT coalesce(max(running), 0) AS total FROM h) t
           LEFT JOIN h ON h.running > $4::bigint AND h.running - h.events < $4::bigint + $5::bigint
           ORDER BY h.hour DESC`,
    values: [accountId, from, type, offset, limit],
  });
  const [first] = rows;
  const total = first?.total ?? 0;
  return { total, skipped: first?.before ?? total, hours: rows.flatMap(({ hour }) => hour ?? []) };
}

/** Literals, so that the planner knows the index of failures when it sees its condition. */
const conditionOf: Record<EventType | 'any', string> = {
  any: 'true',
  'message.sent': `status = 'sent'`,
  'message.delivered': `status = 'delivered'`,
  'message.failed': `status IN ('failed', 'undelivered')`,
};

/** A page of events, newest first, with their messages, out of hours that are given newest first. Hours between them are not gone through. */
export async function readEventPage(
  db: Db,
  accountId: string,
  type: EventType | null,
  ranges: ReadonlyArray<{ fromId: string; untilId: string }>,
  { offset, limit }: Span,
): Promise<EventRow[]> {
  const kind = type ?? 'any';
  const { rows } = await db.query<EventRow>({
    name: `read_event_page ${kind}`,
    text: `SELECT e.id AS event_id, e.status AS event_status, ${messageColumns}
           FROM (SELECT p.*
                 FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY r(lower, upper, place)
                 CROSS JOIN LATERAL (
                   SELECT account_id, id, message_id, status FROM events
                   WHERE account_id = $1 AND id >= r.lower AND id < r.upper AND ${conditionOf[kind]}
                   ORDER BY id DESC LIMIT $4::bigint + $5::bigint
                 ) p
                 ORDER BY r.place, p.id DESC OFFSET $4 LIMIT $5) e
           JOIN messages m ON m.account_id = e.account_id AND m.id = e.message_id
           ORDER BY e.id DESC`,
    values: [accountId, ranges.map(({ fromId }) => fromId), ranges.map(({ untilId }) => untilId), offset, limit],
  });
  return rows;
}
