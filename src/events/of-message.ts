import type { Db } from '../db/pool.ts';
import { firstIdAt } from '../lib/ids.ts';
import type { EventStatus } from './event.ts';
import type { MessageRow } from './message-view.ts';

/** An event's id is made when its outcome is committed: at once as a rule, and not after outcomes are given up. */
const committedWithinMs = 15 * 60_000;

/** The moments at which a message entered its states. */
function entriesOf(message: MessageRow): Array<{ status: EventStatus; atMs: number }> {
  const entries: Array<[EventStatus, Date | null]> = [
    ['sent', message.sent_at],
    ['undelivered', message.undelivered_at],
    ['failed', message.failed_at],
    ['delivered', message.delivered_at],
  ];
  return entries.flatMap(([status, at]) => (at === null ? [] : [{ status, atMs: at.getTime() }]));
}

/** The events of one message, oldest first. They have no index by message: each is looked for from the moment of its state on. */
export async function findEventsOf(
  db: Db,
  message: MessageRow,
): Promise<Array<{ eventId: string; status: EventStatus }>> {
  const entries = entriesOf(message);
  const { rows } = await db.query<{ eventId: string; status: EventStatus }>({
    name: 'find_events_of_message',
    text: `SELECT e.id AS "eventId", e.status
           FROM unnest($3::text[], $4::uuid[], $5::uuid[]) x(status, first_id, last_id)
           CROSS JOIN LATERAL (
             SELECT id, status FROM events
             WHERE account_id = $1 AND id >= x.first_id AND id < x.last_id AND message_id = $2 AND status = x.status
             ORDER BY id LIMIT 1
           ) e
           ORDER BY e.id`,
    values: [
      message.account_id,
      message.id,
      entries.map(({ status }) => status),
      entries.map(({ atMs }) => firstIdAt(atMs - 1_000)),
      entries.map(({ atMs }) => firstIdAt(atMs + committedWithinMs)),
    ],
  });
  return rows;
}
