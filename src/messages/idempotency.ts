import { createHash } from 'node:crypto';
import type { Db } from '../db/pool.ts';

/** How long a key answers for its first request. */
const keptMs = 24 * 3_600_000;

/** What a key stands for: the same key with other content is a conflict. */
export function fingerprintOf(operation: string, content: readonly unknown[]): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([operation, ...content]))
    .digest();
}

export type IdempotencyRecord = {
  fingerprint: Buffer;
  messageIds: string[];
  /** The stored answer: its status and its JSON text; null while the first request still runs, or when its process was lost. */
  status: number | null;
  answer: string | null;
  createdAt: Date;
};

export type IdempotencyClaim = { accountId: string; key: string; fingerprint: Buffer; messageIds: readonly string[] };

/** Claims keys in the accept transaction; gives back those that are new (or past their 24 h), as `accountId key`. */
export async function claimKeys(db: Db, claims: readonly IdempotencyClaim[], nowMs: number): Promise<Set<string>> {
  const { rows } = await db.query<{ account_id: string; key: string }>({
    name: 'claim_idempotency_keys',
    text: `INSERT INTO idempotency_keys AS k (account_id, key, fingerprint, message_ids, created_at)
           SELECT x.account_id, x.key, x.fingerprint, string_to_array(x.message_ids, ',')::uuid[], to_timestamp($5::float8 / 1000)
           FROM unnest($1::uuid[], $2::text[], $3::bytea[], $4::text[]) x(account_id, key, fingerprint, message_ids)
           ON CONFLICT (account_id, key) DO UPDATE
           SET fingerprint = excluded.fingerprint, message_ids = excluded.message_ids, status = NULL, answer = NULL,
             created_at = excluded.created_at
           WHERE k.created_at <= to_timestamp($6::float8 / 1000)
           RETURNING k.account_id, k.key`,
    values: [
      claims.map(({ accountId }) => accountId),
      claims.map(({ key }) => key),
      claims.map(({ fingerprint }) => fingerprint),
      claims.map(({ messageIds }) => messageIds.join(',')),
      nowMs,
      nowMs - keptMs,
    ],
  });
  return new Set(rows.map((row) => `${row.account_id} ${row.key}`));
}

/** Gives a key back whose request was refused as a whole: it stored nothing. */
export async function releaseKey(db: Db, accountId: string, key: string): Promise<void> {
  await db.query({
    name: 'release_idempotency_key',
    text: 'DELETE FROM idempotency_keys WHERE account_id = $1 AND key = $2',
    values: [accountId, key],
  });
}

export async function readKey(
  db: Db,
  accountId: string,
  key: string,
  nowMs: number,
): Promise<IdempotencyRecord | undefined> {
  const { rows } = await db.query<IdempotencyRecord>({
    name: 'read_idempotency_key',
    text: `SELECT fingerprint, message_ids AS "messageIds", status, answer, created_at AS "createdAt"
           FROM idempotency_keys WHERE account_id = $1 AND key = $2 AND created_at > to_timestamp($3::float8 / 1000)`,
    values: [accountId, key, nowMs - keptMs],
  });
  return rows[0];
}

/** Stores the answer before it is sent, for repeats of the request. */
export async function storeAnswer(
  db: Db,
  accountId: string,
  key: string,
  answer: { status: number; text: string },
): Promise<void> {
  await db.query({
    name: 'store_idempotent_answer',
    text: 'UPDATE idempotency_keys SET status = $3, answer = $4 WHERE account_id = $1 AND key = $2',
    values: [accountId, key, answer.status, answer.text],
  });
}

/** Drops keys past their 24 h, at most `limit` at once. */
export async function deleteExpiredKeys(db: Db, nowMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM idempotency_keys WHERE created_at <= to_timestamp($1::float8 / 1000) LIMIT $2))`,
    [nowMs - keptMs, limit],
  );
  return rowCount ?? 0;
}
