import { offsetOf } from '../http/pagination.ts';
import type { Db } from '../db/pool.ts';
import { firstIdAt } from '../lib/ids.ts';
import type { EventType } from './event.ts';
import { findEventHours, readEventPage, type EventRow } from './queries.ts';

const hourMs = 3_600_000;
/** Older events are not shown any more, whether or not their partition has been dropped yet. */
const shownForMs = 30 * 24 * hourMs;

export type EventPage = { rows: EventRow[]; total: number };

/**
 * A page of an account's events, newest first. The counts by hour say where it begins, so that the ten-thousandth page costs what the
 * first one does. The time shown begins at a whole hour, so the counts alone make up the exact total.
 */
export async function listEvents(
  db: Db,
  query: { accountId: string; type: EventType | null; page: number; limit: number; nowMs: number },
): Promise<EventPage> {
  const { accountId, type, page, limit, nowMs } = query;
  const fromMs = Math.floor((nowMs - shownForMs) / hourMs) * hourMs;
  const offset = offsetOf(page, limit);
  const { total, skipped, hours } = await findEventHours(db, accountId, type, new Date(fromMs), { offset, limit });
  if (hours.length === 0) return { rows: [], total };
  const ranges = hours.map((hour) => ({
    fromId: firstIdAt(hour.getTime()),
    untilId: firstIdAt(hour.getTime() + hourMs),
  }));
  return { rows: await readEventPage(db, accountId, type, ranges, { offset: offset - skipped, limit }), total };
}
