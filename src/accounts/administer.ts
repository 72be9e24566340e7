import { publishNotice } from '../db/notices.ts';
import type { Pool } from '../db/pool.ts';
import { transaction } from '../db/tx.ts';
import { scopes } from '../http/caller.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import type { IdSource } from '../lib/ids.ts';
import {
  countAccounts,
  insertAccount,
  moveAccount,
  pageAccounts,
  readAccount,
  type AccountFilter,
  type AccountRow,
} from './account-queries.ts';
import type { KeyBounds } from './key-grant.ts';
import { rateLimitMax } from './key-schema.ts';

/** What the operator does with an account's status. Closing is for good. */
export type AccountChange = 'suspend' | 'resume' | 'close';

const changes: Record<AccountChange, { from: Array<AccountRow['status']>; to: AccountRow['status'] }> = {
  suspend: { from: ['active'], to: 'suspended' },
  resume: { from: ['suspended'], to: 'active' },
  close: { from: ['active', 'suspended'], to: 'closed' },
};

/** The operator hands on every permission there is. */
export const operatorBounds: KeyBounds = {
  permissions: scopes,
  rateLimit: rateLimitMax,
  dailyLimit: null,
  monthlyLimit: null,
  allowedIps: null,
  expiresAtMs: null,
};

export type NewAccount = Pick<AccountRow, 'email' | 'name' | 'company_name' | 'country' | 'kyc_verified' | 'currency'>;

/** Makes an account, active and without money. For the operator. */
export async function createAccount(
  account: NewAccount,
  { pool, clock, ids }: { pool: Pool; clock: Clock; ids: IdSource },
): Promise<AccountRow> {
  const row = { ...account, account_id: ids.next(), created_at: new Date(clock.now()) };
  await insertAccount(pool, row);
  return { ...row, status: 'active', balance_micros: 0 };
}

/** The account of this id. Throws `not_found`. */
export async function findAccount(pool: Pool, accountId: string | undefined): Promise<AccountRow> {
  const account = accountId === undefined ? undefined : await readAccount(pool, accountId);
  if (account === undefined) throw new ApiError('not_found', 'There is no such account.');
  return account;
}

/** Accounts, newest first, and how many there are of them. For the operator. */
export async function listAccounts(
  pool: Pool,
  filter: AccountFilter,
  page: { offset: number; limit: number },
): Promise<{ rows: AccountRow[]; total: number }> {
  const total = await countAccounts(pool, filter);
  return { rows: page.offset < total ? await pageAccounts(pool, filter, page) : [], total };
}

/** Suspends, resumes or closes an account and tells every process. Throws `not_found`, or `invalid_request` where its status forbids it. */
export async function changeAccount(pool: Pool, accountId: string, change: AccountChange): Promise<AccountRow> {
  const { from, to } = changes[change];
  const moved = await transaction(pool, async (db) => {
    const account = await moveAccount(db, accountId, from, to);
    if (account !== undefined) await publishNotice(db, 'account', accountId);
    return account;
  });
  if (moved !== undefined) return moved;
  const { status } = await findAccount(pool, accountId);
  throw new ApiError(
    'invalid_request',
    `This account is ${status}. Only one that is ${from.join(' or ')} can be ${to === 'active' ? 'resumed' : to}.`,
  );
}
