import type { Db } from '../db/pool.ts';

export type SuppressionRow = { account_id: string; recipient: string; source: string; created_at: Date };

/** An account's suppressions, in the order of their numbers, from after one of them on; or the one of `recipient`. */
export async function listSuppressions(
  db: Db,
  { accountId, recipient, after }: { accountId: string; recipient: string | null; after: string },
  limit: number,
): Promise<SuppressionRow[]> {
  const { rows } = await db.query<SuppressionRow>({
    name: `list_suppressions ${recipient === null ? 'all' : 'one'}`,
    text: `SELECT account_id, recipient, source, created_at FROM suppressions
           WHERE account_id = $1 AND ${recipient === null ? '$2::text IS NULL' : 'recipient = $2'} AND recipient > $3
           ORDER BY recipient LIMIT $4`,
    values: [accountId, recipient, after, limit],
  });
  return rows;
}

/** Suppresses recipients of an account; those that are suppressed already stay as they are. Returns how many were not. */
export async function addSuppressions(
  db: Db,
  accountId: string,
  recipients: readonly string[],
  { source, at }: { source: string; at: Date },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'add_suppressions',
    text: `INSERT INTO suppressions (account_id, recipient, source, created_at)
           SELECT $1, recipient, $3, $4 FROM unnest($2::text[]) recipient
           ON CONFLICT (account_id, recipient) DO NOTHING`,
    values: [accountId, recipients, source, at],
  });
  return rowCount ?? 0;
}

/** False when the recipient was not suppressed. */
export async function removeSuppression(db: Db, accountId: string, recipient: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'remove_suppression',
    text: 'DELETE FROM suppressions WHERE account_id = $1 AND recipient = $2',
    values: [accountId, recipient],
  });
  return rowCount === 1;
}
