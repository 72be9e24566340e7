import type { Db, Pool } from './pool.ts';

/** Deadlock and serialization failures: the same transaction run again usually succeeds. */
function isWorthRepeating(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '40P01' || error.code === '40001');
}

/**
 * Runs `work` in one transaction on one connection and repeats it, at most twice, when the database chose it as a deadlock's victim.
 * It commits when the work is done, or with the work's last statements, where the work calls `commit` right after issuing them: that saves
 * a round trip, and no statement may follow. A connection that failed to roll back is thrown away.
 */
export async function transaction<Result>(
  pool: Pool,
  work: (db: Db, commit: () => Promise<unknown>) => Promise<Result>,
  repeatsMax = 2,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  let committing: Promise<unknown> | undefined;
  const commit = (): Promise<unknown> => (committing ??= client.query('COMMIT'));
  const query = (...statement: [string]): Promise<unknown> => {
    if (committing !== undefined) return Promise.reject(new Error('a statement came after the commit'));
    return client.query(...statement);
  };
  try {
    // Not awaited: it leaves together with the first statement of the work, and fails that one if it fails.
    const begun = client.query('BEGIN');
    const [result] = await Promise.all([work({ query: query as Db['query'] }, commit), begun]);
    await commit();
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
