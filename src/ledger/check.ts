import type { Pool } from '../db/pool.ts';
import type { Clock } from '../lib/clock.ts';
import { readAccountIds } from './verify-queries.ts';
import { verifyLedger, type Difference } from './verify.ts';

export type CheckPart = {
  /** Accounts that were gone through, to their end or to the last difference there is room for. */
  accounts: number;
  differences: Difference[];
  /** There are more than could be named: mend these first. */
  isCut: boolean;
  /** The last account that was checked; null where there are no more. */
  lastAccountId: string | null;
};

/**
 * Checks the books of the next accounts after one, in the order of their ids: as many as `accountsMax`, or as can be begun within
 * `withinMs`. So the whole check goes on in parts, however many accounts there are.
 */
export async function checkAccounts(
  pool: Pool,
  clock: Clock,
  {
    after,
    accountsMax,
    differencesMax,
    withinMs,
  }: { after: string; accountsMax: number; differencesMax: number; withinMs: number },
): Promise<CheckPart> {
  const accountIds = await readAccountIds(pool, after, accountsMax);
  const endsAtMs = clock.now() + withinMs;
  const differences: Difference[] = [];
  let accounts = 0;
  for (const accountId of accountIds) {
    if (accounts > 0 && clock.now() >= endsAtMs) break;
    accounts += 1;
    for await (const difference of verifyLedger(pool, { accountId })) {
      if (differences.length === differencesMax) {
        return { accounts, differences, isCut: true, lastAccountId: accountId };
      }
      differences.push(difference);
    }
  }
  const isLast = accounts === accountIds.length && accountIds.length < accountsMax;
  return { accounts, differences, isCut: false, lastAccountId: isLast ? null : (accountIds[accounts - 1] ?? null) };
}
