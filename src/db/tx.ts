import type { Pool } from './pool.ts';
import type pg from 'pg';

/** Deadlock and serialization failures: the same transaction run again usually succeeds. */
function isWorthRepeating(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '40P01' || error.code === '40001');
}

/**
 * Runs `work` in one transaction on one connection and repeats it, at most twice, when the database chose it as a deadlock's victim.
 * A connection that failed to roll back is thrown away.
 */
export async function transaction<Result>(
  pool: Pool,
  work: (db: pg.PoolClient) => Promise<Result>,
  repeatsMax = 2,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    // Not awaited: it leaves together with the first statement of the work, and fails that one if it fails.
    const begun = client.query('BEGIN');
    const [result] = await Promise.all([work(client), begun]);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    if (repeatsMax === 0 || broken !== undefined || !isWorthRepeating(error)) throw error;
  } finally {
    client.release(broken);
  }
  return transaction(pool, work, repeatsMax - 1);
}
