import type { Db } from '../db/pool.ts';

export type AccountRow = {
  account_id: string;
  email: string;
  name: string;
  company_name: string;
  country: string;
  status: 'active' | 'suspended' | 'closed';
  kyc_verified: boolean;
  currency: string;
  balance_micros: number;
  created_at: Date;
};

export async function readAccount(db: Db, accountId: string): Promise<AccountRow | undefined> {
  const { rows } = await db.query<AccountRow>({
    name: 'read_account',
    text: 'SELECT * FROM accounts WHERE account_id = $1',
    values: [accountId],
  });
  return rows[0];
}

/** The account behind a caller, which is there: accounts are closed, never deleted. */
export async function readOwnAccount(db: Db, accountId: string): Promise<AccountRow> {
  const account = await readAccount(db, accountId);
  if (account === undefined) throw new Error('the account of an accepted key is gone');
  return account;
}

export async function insertAccount(db: Db, account: Omit<AccountRow, 'balance_micros' | 'status'>): Promise<void> {
  await db.query({
    name: 'insert_account',
    text: `INSERT INTO accounts (account_id, email, name, company_name, country, kyc_verified, currency, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      account.account_id,
      account.email,
      account.name,
      account.company_name,
      account.country,
      account.kyc_verified,
      account.currency,
      account.created_at,
    ],
  });
}

/** `search` is a part of an email, a name or a company name, whatever its case; null for all. */
export type AccountFilter = { status: AccountRow['status'] | null; search: string | null };

const matchesFilter = `($1::text IS NULL OR status = $1)
             AND ($2::text IS NULL OR position(lower($2) IN lower(email || chr(10) || name || chr(10) || company_name)) > 0)`;

export async function countAccounts(db: Db, { status, search }: AccountFilter): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count_accounts',
    text: `SELECT count(*) FROM accounts WHERE ${matchesFilter}`,
    values: [status, search],
  });
  return rows[0]?.count ?? 0;
}

/** Accounts, newest first. */
export async function pageAccounts(
  db: Db,
  { status, search }: AccountFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<AccountRow[]> {
  const { rows } = await db.query<AccountRow>({
    name: 'page_accounts',
    text: `SELECT * FROM accounts WHERE ${matchesFilter} ORDER BY account_id DESC OFFSET $3 LIMIT $4`,
    values: [status, search, offset, limit],
  });
  return rows;
}

/** Undefined where the account is in none of the states `from`, or not there. */
export async function moveAccount(
  db: Db,
  accountId: string,
  from: ReadonlyArray<AccountRow['status']>,
  status: AccountRow['status'],
): Promise<AccountRow | undefined> {
  const { rows } = await db.query<AccountRow>({
    name: 'move_account',
    text: 'UPDATE accounts SET status = $3 WHERE account_id = $1 AND status = ANY ($2) RETURNING *',
    values: [accountId, from, status],
  });
  return rows[0];
}
