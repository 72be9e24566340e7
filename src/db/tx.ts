import type { Db, Pool } from './pool.ts';

/** Deadlock and serialization failures: the same transaction run again usually succeeds. */
function isWorthRepeating(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '40P01' || error.code === '40001');
}

/** Settled together: each result in the order of what was given. */
type Together<Work extends readonly unknown[]> = Promise<{ -readonly [Index in keyof Work]: Awaited<Work[Index]> }>;

/** Ends a transaction with its last statements, which have just been issued: the commit leaves without waiting for their results. */
export type CommitWith = <const Work extends readonly unknown[]>(last: Work) => Together<Work>;

/**
 * Runs `work` in one transaction on one connection and repeats it, at most twice, when the database chose it as a deadlock's victim.
 * It commits when the work is done, or with its last statements, where the work ends with `commitWith`: that saves a round trip, and no
 * statement may follow. A connection that failed to roll back is thrown away.
 */
export async function transaction<Result>(
  pool: Pool,
  work: (db: Db, commitWith: CommitWith) => Promise<Result>,
  repeatsMax = 2,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  let committing: Promise<unknown> | undefined;
  const query = (...statement: [string]): Promise<unknown> => {
    if (committing !== undefined) return Promise.reject(new Error('a statement came after the commit'));
    return client.query(...statement);
  };
  const commitWith: CommitWith = async (last) => {
    const results = Promise.all(last);
    let hasFailed = false;
    results.catch(() => (hasFailed = true));
    // What fails in the database fails the commit too. What failed here, before it could leave, is known by now, and nothing is committed.
    await new Promise((resolve) => setImmediate(resolve));
    if (!hasFailed) committing = client.query('COMMIT');
    await Promise.all([results, committing]);
    return results;
  };
  try {
    // Not awaited: it leaves together with the first statement of the work, and fails that one if it fails.
    const begun = client.query('BEGIN');
    const [result] = await Promise.all([work({ query: query as Db['query'] }, commitWith), begun]);
    await (committing ?? client.query('COMMIT'));
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
