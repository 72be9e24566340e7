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
