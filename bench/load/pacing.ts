import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { LoadPlan } from './plan.ts';

/** One request on a connection; the time of its answer counts from `dueMs`. */
export type Exchange = (connection: Connection, dueMs: number) => Promise<void>;

/** Every connection sends its next request when it has the answer to the one before: nothing stays unsent. */
export async function runInTurn(
  { durationMs, pauseMs }: LoadPlan,
  connections: readonly Connection[],
  exchange: Exchange,
): Promise<number> {
  const endMs = performance.now() + durationMs;
  const drive = async (connection: Connection): Promise<void> => {
    for (let atMs = performance.now(); atMs < endMs; atMs = performance.now()) {
      await exchange(connection, atMs);
      if (pauseMs > 0) await delay(pauseMs);
    }
  };
  await Promise.all(connections.map(drive));
  return 0;
}

/** A request is due whenever so much time is over, whatever the answers do. Resolves to how many found no connection free. */
export async function runSteadily(
  { durationMs, everyMs = 1 }: LoadPlan,
  connections: readonly Connection[],
  exchange: Exchange,
): Promise<number> {
  // In turn, so that none lies idle for as long as a server suffers it.
  const free = [...connections];
  const running = new Set<Promise<void>>();
  const startedMs = performance.now();
  let unsent = 0;
  for (let dueMs = startedMs; dueMs < startedMs + durationMs; dueMs += everyMs) {
    const aheadMs = dueMs - performance.now();
    if (aheadMs > 0) await delay(aheadMs);
    const connection = free.shift();
    if (connection === undefined) {
      unsent += 1;
      continue;
    }
    const exchanging = exchange(connection, dueMs);
    running.add(exchanging);
    void exchanging.finally(() => {
      free.push(connection);
      running.delete(exchanging);
    });
  }
  await Promise.all(running);
  return unsent;
}
