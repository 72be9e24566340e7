import { publishNotice } from '../db/notices.ts';
import type { Pool } from '../db/pool.ts';
import { transaction } from '../db/tx.ts';
import type { Clock } from '../lib/clock.ts';
import { firstIdAt } from '../lib/ids.ts';
import type { EndpointKey } from './delivery-queries.ts';
import { endpointName } from './receivers.ts';
import { enable, replayChunk } from './replay-queries.ts';

export { listDeliveries, readDeliveriesOf, type DeliveryRow } from './replay-queries.ts';

const chunkSize = 1_000;

/** Makes an endpoint active again, with no failures to its name. False when there is none. For the operator. */
export function enableEndpoint(pool: Pool, key: EndpointKey): Promise<boolean> {
  return transaction(pool, async (db) => {
    const found = await enable(db, key);
    if (found) await publishNotice(db, 'endpoint', endpointName(key));
    return found;
  });
}

/**
 * Delivers to an active endpoint, with six attempts each, all events of a span of time that it wants and has not acknowledged: skipped,
 * abandoned, or from before it was made. Goes through `chunksMax` thousand events at once, from the oldest on; returns how many it queued and,
 * where the span has more, the event to go on from. For the operator.
 */
export async function replaySpan(
  pool: Pool,
  clock: Clock,
  key: EndpointKey,
  span: { fromEventId: string; untilMs: number },
  chunksMax: number,
): Promise<{ queued: number; nextEventId: string | null }> {
  const lastId = firstIdAt(span.untilMs);
  const dueAt = new Date(clock.now());
  let queued = 0;
  let firstId: string | null = span.fromEventId;
  for (let chunks = 0; firstId !== null && chunks < chunksMax; chunks += 1) {
    const chunk = await replayChunk(pool, { ...key, firstId, lastId, evenSucceeded: false, limit: chunkSize, dueAt });
    queued += chunk.queued;
    firstId = chunk.nextId;
  }
  return { queued, nextEventId: firstId };
}

/** Delivers one event to an active endpoint once more, acknowledged or not. False when there is nothing to deliver. For the operator. */
export async function replayEvent(pool: Pool, clock: Clock, key: EndpointKey, eventId: string): Promise<boolean> {
  const dueAt = new Date(clock.now());
  const range = { firstId: eventId, lastId: eventId, limit: chunkSize };
  const { queued } = await replayChunk(pool, { ...key, ...range, evenSucceeded: true, dueAt });
  return queued > 0;
}
