import type { Pool } from '../db/pool.ts';
import { findMissingMigrations } from '../db/migrate.ts';
import type { Worker } from '../lib/worker.ts';

/** What the service needs to serve, and whether it has it. Says what is wrong in a log line, not to whoever asks. */
export type Readiness = Record<'database' | 'migrations' | 'workers', Error | undefined>;

/**
 * Looks at the parts. Workers count as working while they run: one whose runs fail is told of by the log and by
 * `heliograph_worker_runs_total`, and is no reason to send callers away, who would find it failing everywhere.
 */
export async function readReadiness(pool: Pool, workers: readonly Worker[]): Promise<Readiness> {
  const stopped = workers.filter(({ isRunning }) => !isRunning);
  const state: Readiness = { database: undefined, migrations: undefined, workers: undefined };
  if (workers.length === 0) state.workers = new Error('no worker was started');
  if (stopped.length > 0) state.workers = new Error(`stopped: ${stopped.map(({ name }) => name).join(', ')}`);
  try {
    const missing = await findMissingMigrations(pool);
    if (missing.length > 0) state.migrations = new Error(`not applied: ${missing.join(', ')}`);
  } catch (error) {
    const fault = error instanceof Error ? error : new Error(String(error));
    state.database = fault;
    state.migrations = fault;
  }
  return state;
}
