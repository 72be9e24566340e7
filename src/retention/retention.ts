import { deletePastKeyUsage } from '../accounts/key-usage-queries.ts';
import { dropPartitions, isTableInUse } from '../db/partitions.ts';
import type { Pool } from '../db/pool.ts';
import { deleteEventCounts } from '../events/record.ts';
import type { Clock } from '../lib/clock.ts';
import { firstIdAt } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { deleteExpiredKeys } from '../messages/idempotency.ts';
import { deleteOldLookUps } from '../receipts/look-up-queries.ts';
import { deleteOldProviderRefs, deleteOldUnmatchedReceipts } from '../receipts/queries.ts';
import { deleteOutdatedDeliveries } from '../webhooks/delivery-queries.ts';
import type { RetentionDays } from './retention-days.ts';

export type RetentionDeps = { pool: Pool; clock: Clock; log: Log; days: RetentionDays };

const dayMs = 24 * 3_600_000;

/** No upstream reports on a message for longer. */
const providerRefsKeptMs = 8 * dayMs;
const lookUpsKeptMs = 4 * dayMs;

/** Rows in one statement: short enough that nobody waits for it. */
const chunk = 10_000;
const accountsAtOnce = 200;

/**
 * Forgets everything that is past its time. Months go as a whole once all in them is past; what is kept by the row goes a chunk at a
 * time. The ledger and `usage_hourly` stay for ever: they are the bills. Any number of processes may do this at once.
 */
export async function applyRetention(deps: RetentionDeps): Promise<'more' | 'done'> {
  const { pool, clock, days } = deps;
  const nowMs = clock.now();
  // What names others goes before what it names.
  await dropMonths(deps, 'deliveries', nowMs - days.deliveriesDays * dayMs);
  await dropMonths(deps, 'events', nowMs - days.eventsDays * dayMs);
  await dropMonths(deps, 'receipts', nowMs - days.receiptsDays * dayMs);
  await dropMonths(deps, 'messages', nowMs - days.messagesDays * dayMs);

  await forgetEventCounts(pool);
  await deletePastKeyUsage(pool, nowMs);
  const deleted = [
    await deleteExpiredKeys(pool, nowMs, chunk),
    await deleteOldProviderRefs(pool, firstIdAt(nowMs - providerRefsKeptMs), chunk),
    await deleteOldUnmatchedReceipts(pool, firstIdAt(nowMs - days.receiptsDays * dayMs), chunk),
    await deleteOldLookUps(pool, nowMs - lookUpsKeptMs, chunk),
  ];
  return deleted.includes(chunk) ? 'more' : 'done';
}

async function dropMonths(
  { pool, clock, log }: RetentionDeps,
  table: 'deliveries' | 'events' | 'receipts' | 'messages',
  beforeMs: number,
): Promise<void> {
  try {
    // A delivery still queued for an event of a dropped month would find no place for its result.
    if (table === 'deliveries') while ((await deleteOutdatedDeliveries(pool, firstIdAt(beforeMs), chunk)) === chunk);
    for (const partition of await dropPartitions(pool, table, beforeMs, clock.now())) {
      log.info({ partition }, 'a month past its time was dropped');
    }
  } catch (error) {
    if (!isTableInUse(error)) throw error;
    log.warn({ table }, 'a month past its time is in use by a long transaction; it is dropped at a later run');
  }
}

/** Counts outlive their events by a run at most; lists begin later in any case. */
async function forgetEventCounts(pool: Pool): Promise<void> {
  let after: string | null = firstIdAt(0);
  while (after !== null) after = await deleteEventCounts(pool, after, accountsAtOnce);
}
