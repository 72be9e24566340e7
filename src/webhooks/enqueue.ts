import type { Db } from '../db/pool.ts';
import { eventTypeOf, type EventStatus } from '../events/event.ts';

/** One event for one endpoint: what the delivery queue holds a row of. */
export type DeliveryKey = { accountId: string; eventId: string; endpointId: string };

/** A row of the delivery queue, in the hands of the process that holds its lease. */
export type QueuedDelivery = DeliveryKey & {
  messageId: string;
  status: EventStatus;
  attemptsMade: number;
  leasedUntilMs: number;
};

/**
 * Puts these events on the queue of every active endpoint that wants them, in the transaction that writes the events. The rows are leased
 * to this process until `leasedUntil`: it should make the first attempts itself, after the commit.
 */
export async function enqueueDeliveries(
  db: Db,
  events: ReadonlyArray<{ accountId: string; eventId: string; messageId: string; status: EventStatus }>,
  leasedUntil: Date,
): Promise<QueuedDelivery[]> {
  const { rows } = await db.query<{ event_id: string; endpoint_id: string }>({
    name: 'enqueue_deliveries',
    text: `INSERT INTO delivery_queue (account_id, event_id, endpoint_id, message_id, status, due_at)
           SELECT x.account_id, x.event_id, e.id, x.message_id, x.status, $6
           FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[]) x(account_id, event_id, message_id, status, type)
           JOIN webhook_endpoints e ON e.account_id = x.account_id AND e.is_active AND x.type = ANY (e.events)
           RETURNING event_id, endpoint_id`,
    values: [
      events.map(({ accountId }) => accountId),
      events.map(({ eventId }) => eventId),
      events.map(({ messageId }) => messageId),
      events.map(({ status }) => status),
      events.map(({ status }) => eventTypeOf(status)),
      leasedUntil,
    ],
  });
  if (rows.length === 0) return [];
  const eventById = new Map(events.map((event) => [event.eventId, event]));
  return rows.flatMap((row) => {
    const event = eventById.get(row.event_id);
    if (event === undefined) return [];
    return [{ ...event, endpointId: row.endpoint_id, attemptsMade: 0, leasedUntilMs: leasedUntil.getTime() }];
  });
}
