import type { Pool } from '../db/pool.ts';
import type { Clock } from '../lib/clock.ts';
import type { ProviderName } from '../providers/provider.ts';
import type { Dispatcher } from './dispatcher.ts';
import { claimOrphans, findOrphans } from './queries.ts';
import { leaseMsFor } from './send.ts';

export type SweeperDeps = {
  pool: Pool;
  clock: Clock;
  dispatcher: Dispatcher;
  attemptTimeoutMs: number;
  /** A random UUID: where this run starts to look, so that several processes do not all take the same rows. */
  randomId: () => string;
};

const orphansMax = 256;

/**
 * Takes messages whose lease ran out, because their process was lost or had no room for them, and dispatches them. What becomes of each is
 * decided along its chain: never sent before → sent now; perhaps sent → by the time-out policy; too old → failed.
 */
export async function sweep({
  pool,
  clock,
  dispatcher,
  attemptTimeoutMs,
  randomId,
}: SweeperDeps): Promise<'more' | 'done'> {
  const limit = Math.min(orphansMax, dispatcher.room('bulk'));
  if (limit <= 0) return 'done';
  let orphans = await findOrphans(pool, clock.now(), randomId(), limit);
  if (orphans.length === 0) {
    orphans = await findOrphans(pool, clock.now(), '00000000-0000-0000-0000-000000000000', limit);
  }
  if (orphans.length === 0) return 'done';
  const leasedUntilMs = clock.now() + leaseMsFor(attemptTimeoutMs);
  const claimed = await claimOrphans(pool, orphans, leasedUntilMs);
  for (const { message, segments, providers, started } of claimed) {
    // Its own errors are logged there, and its message is left to a later sweep.
    void dispatcher.dispatch(
      {
        message,
        segments,
        providers: providers as ProviderName[],
        started: started as ProviderName[],
        ownsLastStarted: false,
        leasedUntilMs,
      },
      'bulk',
    );
  }
  return claimed.length === limit ? 'more' : 'done';
}
