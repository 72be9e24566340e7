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

/** Notes that keys were used; each at most once a minute, so the hot path seldom writes here. */
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
