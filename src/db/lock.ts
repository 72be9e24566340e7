import type { Pool } from './pool.ts';

/** What one process at a time may do. The numbers are the same in every version of Heliograph. */
const lockIds = { look_ups: 4_736_210_713 } as const;

/**
 * Runs `work` while no other process does; gives undefined, at once and without running it, where another one is at it. The lock is its
 * connection's, which `work` does not use: it ends with the work, and with the process.
 */
export async function withLock<Result>(
  pool: Pool,
  name: keyof typeof lockIds,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const client = await pool.connect();
  let broken = true;
  try {
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [
      lockIds[name],
    ]);
    const isLocked = rows[0]?.locked === true;
    try {
      return isLocked ? await work() : undefined;
    } finally {
      if (isLocked) await client.query('SELECT pg_advisory_unlock($1)', [lockIds[name]]);
      broken = false;
    }
  } finally {
    // A connection that could not unlock is closed, and with it the lock is gone.
    client.release(broken);
  }
}
