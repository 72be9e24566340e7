import type { Pool } from '../db/pool.ts';
import type { Clock } from '../lib/clock.ts';
import type { ProviderName } from '../providers/provider.ts';
import type { Dispatcher } from './dispatcher.ts';
import { claimOrphans, findOrphans } from './queries.ts';
import { leaseMsFor } from './lease.ts';

export type SweeperDeps = {
  pool: Pool;
  clock: Clock;
  dispatcher: Dispatcher;
  attemptTimeoutMs: number;
  /** A whole number from 0 up to, not including, `count`: several processes begin at different messages. */
  randomBelow: (count: number) => number;
};

const orphansMax = 256;
/** Of so many times what it can take, a run takes a part. */
const windows = 4;

/**
 * Takes messages whose lease ran out, because their process was lost or had no room for them, and dispatches them. What becomes of each is
 * decided along its chain: never sent before → sent now; perhaps sent → by the time-out policy; too old → failed.
 */
export async function sweep({
  pool,
  clock,
  dispatcher,
  attemptTimeoutMs,
  randomBelow,
}: SweeperDeps): Promise<'more' | 'done'> {
  const limit = Math.min(orphansMax, dispatcher.room('bulk'));
  if (limit <= 0) return 'done';
  const found = await findOrphans(pool, clock.now(), limit * windows);
  const first = randomBelow(Math.max(0, found.length - limit) + 1);
  const orphans = found.slice(first, first + limit);
  if (orphans.length === 0) return 'done';
  const leasedUntilMs = clock.now() + leaseMsFor(attemptTimeoutMs);
  const claimed = await claimOrphans(pool, orphans, leasedUntilMs);
  for (const { message, segments, providers, tried, started } of claimed) {
    // Its own errors are logged there, and its message is left to a later sweep.
    void dispatcher.dispatch(
      {
        message,
        segments,
        providers: providers as ProviderName[],
        tried: tried ?? [],
        started: started as ProviderName[],
        ownsLastStarted: false,
        leasedUntilMs,
      },
      'bulk',
    );
  }
  return found.length > orphans.length || claimed.length === limit ? 'more' : 'done';
}
