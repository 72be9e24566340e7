import type { Db } from '../db/pool.ts';
import { addEventCounts, insertEvents } from '../events/record.ts';
import type { EventStatus } from '../events/event.ts';
import type { MessageRow } from '../events/message-view.ts';
import type { IdSource } from '../lib/ids.ts';
import { enqueueDeliveries, type QueuedDelivery } from './enqueue.ts';

/** A message that just entered a state. */
export type Change = { message: MessageRow; status: EventStatus };

/** A delivery for the process that made it to attempt at once, with the message it tells of. */
export type FreshDelivery = { delivery: QueuedDelivery; message: MessageRow };

/** A fresh delivery is this process's own for as long; after that any process's sweep may take it. */
export const deliveryLeaseMs = 30_000;

/**
 * Writes the events of these changes, their counts and their deliveries, in the transaction that made the changes. Hand what comes back
 * to the deliverer after the commit.
 */
export async function announce(
  db: Db,
  changes: readonly Change[],
  ids: IdSource,
  nowMs: number,
): Promise<FreshDelivery[]> {
  if (changes.length === 0) return [];
  const events = changes.map(({ message, status }) => ({
    accountId: message.account_id,
    eventId: ids.next(),
    messageId: message.id,
    status,
  }));
  const [deliveries] = await Promise.all([
    enqueueDeliveries(db, events, new Date(nowMs + deliveryLeaseMs)),
    insertEvents(db, events),
    addEventCounts(db, events),
  ]);
  if (deliveries.length === 0) return [];
  const messageById = new Map(changes.map(({ message }) => [message.id, message]));
  return deliveries.flatMap((delivery) => {
    const message = messageById.get(delivery.messageId);
    return message === undefined ? [] : [{ delivery, message }];
  });
}
