import type { Db } from '../db/pool.ts';
import type { Caller, Scope } from '../http/caller.ts';

export type KeyRow = {
  account_id: string;
  id: string;
  name: string;
  hint: string;
  permissions: Scope[];
  rate_limit: number;
  daily_limit: number | null;
  monthly_limit: number | null;
  allowed_ips: string[] | null;
  is_active: boolean;
  last_used_at: Date | null;
  expires_at: Date | null;
  created_at: Date;
};

/** The key with this SHA-256 and the account behind it. */
export async function findCaller(db: Db, hash: Buffer): Promise<Caller | undefined> {
  const { rows } = await db.query<KeyRow & { account_status: Caller['accountStatus']; currency: string }>({
    name: 'find_caller',
    text: `SELECT k.*, a.status AS account_status, a.currency
           FROM api_key_hashes h
           JOIN api_keys k ON k.account_id = h.account_id AND k.id = h.key_id
           JOIN accounts a ON a.account_id = h.account_id
           WHERE h.hash = $1`,
    values: [hash],
  });
  const row = rows[0];
  if (row === undefined) return undefined;
  return {
    accountId: row.account_id,
    accountStatus: row.account_status,
    currency: row.currency,
    keyId: row.id,
    permissions: row.permissions,
    rateLimit: row.rate_limit,
    dailyLimit: row.daily_limit,
    monthlyLimit: row.monthly_limit,
    allowedIps: row.allowed_ips,
    expiresAtMs: row.expires_at?.getTime() ?? null,
    isActive: row.is_active,
  };
}

export type NewKey = Omit<KeyRow, 'is_active' | 'last_used_at'> & { hash: Buffer };

export async function insertKey(db: Db, key: NewKey): Promise<void> {
  await db.query({
    name: 'insert_key',
    text: `WITH hashed AS (INSERT INTO api_key_hashes (hash, account_id, key_id) VALUES ($1, $2, $3))
           INSERT INTO api_keys (account_id, id, name, hint, permissions, rate_limit, daily_limit, monthly_limit, allowed_ips, expires_at,
             created_at)
           VALUES ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      key.hash,
      key.account_id,
      key.id,
      key.name,
      key.hint,
      key.permissions,
      key.rate_limit,
      key.daily_limit,
      key.monthly_limit,
      key.allowed_ips,
      key.expires_at,
      key.created_at,
    ],
  });
}

/** Until the transaction ends, nobody else adds a key to the account: their number can be counted first. */
export async function lockKeys(db: Db, accountId: string): Promise<void> {
  await db.query(`SELECT pg_advisory_xact_lock(hashtextextended('api_keys ' || $1, 0))`, [accountId]);
}

/** False where the key is revoked; otherwise it cannot be until the transaction ends. */
export async function lockActiveKey(db: Db, accountId: string, keyId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'SELECT FROM api_keys WHERE account_id = $1 AND id = $2 AND is_active FOR SHARE',
    [accountId, keyId],
  );
  return rowCount === 1;
}

/** Neither revoked nor expired at `$2`. */
const isUsable = '(is_active AND (expires_at > $2) IS NOT FALSE)';

export async function countUsableKeys(db: Db, accountId: string, now: Date): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*) FROM api_keys WHERE account_id = $1 AND ${isUsable}`,
    [accountId, now],
  );
  return rows[0]?.count ?? 0;
}

/** At most `max` keys of an account, newest first. Where there are more, the oldest of those no longer usable are left out. */
export async function listKeys(db: Db, accountId: string, now: Date, max: number): Promise<KeyRow[]> {
  const { rows } = await db.query<KeyRow>(
    `SELECT * FROM (SELECT * FROM api_keys WHERE account_id = $1 ORDER BY ${isUsable} DESC, id DESC LIMIT $3) k
     ORDER BY id DESC`,
    [accountId, now, max],
  );
  return rows;
}

export async function findKey(db: Db, accountId: string, keyId: string): Promise<KeyRow | undefined> {
  const { rows } = await db.query<KeyRow>('SELECT * FROM api_keys WHERE account_id = $1 AND id = $2', [
    accountId,
    keyId,
  ]);
  return rows[0];
}

export async function deactivateKey(db: Db, accountId: string, keyId: string): Promise<void> {
  await db.query('UPDATE api_keys SET is_active = false WHERE account_id = $1 AND id = $2', [accountId, keyId]);
}

/** Notes that keys were used. Give them in the order of their ids: two transactions then lock rows in the same order. */
export async function touchKeys(
  db: Db,
  uses: ReadonlyArray<{ accountId: string; keyId: string }>,
  atMs: number,
): Promise<void> {
  await db.query({
    name: 'touch_keys',
    text: `UPDATE api_keys k SET last_used_at = to_timestamp($3::float8 / 1000)
           FROM unnest($1::uuid[], $2::uuid[]) x(account_id, id)
           WHERE k.account_id = x.account_id AND k.id = x.id`,
    values: [uses.map(({ accountId }) => accountId), uses.map(({ keyId }) => keyId), atMs],
  });
}
