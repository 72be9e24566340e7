import { insertAccount } from '../../src/accounts/account-queries.ts';
import { createKey } from '../../src/accounts/keys.ts';
import type { Pool } from '../../src/db/pool.ts';
import { transaction } from '../../src/db/tx.ts';
import { scopes } from '../../src/http/caller.ts';
import { recordTransfer } from '../../src/ledger/ledger.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createIdSource } from '../../src/lib/ids.ts';
import { insertSender } from '../../src/senders/queries.ts';

/** The account that a bench sends from. */
export type Tenant = { accountId: string; keys: string[]; sender: string };

/** A key makes at most 6,000 requests a minute: so many keys are good for 20,000 a second. */
const keyCount = 200;
const balanceMicros = 1_000_000 * 1_000_000;

/** An account with a balance that lasts, an approved sender and keys enough. */
export async function createTenant(pool: Pool): Promise<Tenant> {
  const ids = createIdSource(systemClock);
  const accountId = ids.next();
  const sender = 'HELIO';
  const now = new Date(systemClock.now());
  const keys = await transaction(pool, async (db) => {
    await insertAccount(db, {
      account_id: accountId,
      email: 'bench@example.com',
      name: 'Bench',
      company_name: 'Bench',
      country: 'US',
      kyc_verified: true,
      currency: 'USD',
      created_at: now,
    });
    const topUp = { id: ids.next(), kind: 'top_up', amountMicros: balanceMicros, note: 'bench' } as const;
    await recordTransfer(db, { ...topUp, accountId, atMs: now.getTime() });
    await insertSender(db, {
      account_id: accountId,
      id: ids.next(),
      sender_id: sender,
      type: 'alphanumeric',
      country_code: null,
      status: 'approved',
      approved_at: now,
      created_at: now,
    });
    const settings = {
      name: 'bench',
      permissions: [...scopes],
      rateLimit: 6_000,
      dailyLimit: null,
      monthlyLimit: null,
      allowedIps: null,
      expiresAt: null,
    };
    const made: string[] = [];
    for (let index = 0; index < keyCount; index += 1) {
      const { plainKey } = await createKey(db, accountId, settings, { ids, clock: systemClock });
      made.push(plainKey);
    }
    return made;
  });
  return { accountId, keys, sender };
}
