import { randomInt } from 'node:crypto';
import { publishNotice } from '../db/notices.ts';
import type { Db, Pool } from '../db/pool.ts';
import { transaction } from '../db/tx.ts';
import { hashKey } from '../http/auth.ts';
import type { Caller, Scope } from '../http/caller.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import type { IdSource } from '../lib/ids.ts';
import {
  countUsableKeys,
  deactivateKey,
  findKey,
  insertKey,
  lockActiveKey,
  lockKeys,
  type KeyRow,
} from './key-queries.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** So many usable keys an account may have. */
export const usableKeysMax = 100;
/** A list of keys shows all that are usable, and at least as many that no longer are. */
export const listedKeysMax = 2 * usableKeysMax;

/** `ds_live_` and 40 characters of base62: 238 bits from the system's random source. */
export function generateKey(): string {
  return `ds_live_${Array.from({ length: 40 }, () => alphabet[randomInt(alphabet.length)]).join('')}`;
}

/** The masked form that may be shown: the first 12 characters, `...`, the last four. */
export function hintOf(key: string): string {
  return `${key.slice(0, 12)}...${key.slice(-4)}`;
}

export type KeySettings = {
  name: string;
  permissions: Scope[];
  rateLimit: number;
  dailyLimit: number | null;
  monthlyLimit: number | null;
  allowedIps: string[] | null;
  expiresAt: Date | null;
};

/** Makes and stores a key. `plainKey` is known here once and never again. */
export async function createKey(
  db: Db,
  accountId: string,
  settings: KeySettings,
  deps: { ids: IdSource; clock: Clock },
): Promise<{ key: KeyRow; plainKey: string }> {
  const plainKey = generateKey();
  const key = {
    account_id: accountId,
    id: deps.ids.next(),
    name: settings.name,
    hint: hintOf(plainKey),
    permissions: settings.permissions,
    rate_limit: settings.rateLimit,
    daily_limit: settings.dailyLimit,
    monthly_limit: settings.monthlyLimit,
    allowed_ips: settings.allowedIps,
    expires_at: settings.expiresAt,
    created_at: new Date(deps.clock.now()),
  };
  await insertKey(db, { ...key, hash: hashKey(plainKey) });
  return { key: { ...key, is_active: true, last_used_at: null }, plainKey };
}

/** Makes a key on behalf of another one, unless that one is revoked first; on the operator's behalf where `keyId` is null. */
export function createKeyFor(
  { accountId, keyId }: { accountId: string; keyId: string | null },
  settings: KeySettings,
  deps: { pool: Pool; ids: IdSource; clock: Clock },
): Promise<{ key: KeyRow; plainKey: string }> {
  return transaction(deps.pool, async (db) => {
    await lockKeys(db, accountId);
    if (keyId !== null && !(await lockActiveKey(db, accountId, keyId))) {
      throw new ApiError('unauthorized', 'This API key was revoked. Use an active key.');
    }
    if ((await countUsableKeys(db, accountId, new Date(deps.clock.now()))) >= usableKeysMax) {
      throw new ApiError(
        'invalid_request',
        `This account has ${usableKeysMax} usable API keys, as many as it may have. Revoke one first.`,
      );
    }
    return createKey(db, accountId, settings, deps);
  });
}

/**
 * Revokes a key of the caller's account and tells every process. A key that is revoked already stays so. Throws `not_found`, or `forbidden`
 * where the key may do what the caller may not.
 */
export function revokeKey(
  { accountId, permissions }: Pick<Caller, 'accountId' | 'permissions'>,
  keyId: string,
  pool: Pool,
): Promise<void> {
  return transaction(pool, async (db) => {
    const key = await findKey(db, accountId, keyId);
    if (key === undefined) throw new ApiError('not_found', 'There is no such API key.', { param: 'id' });
    const missing = key.permissions.filter((scope) => !permissions.includes(scope));
    if (missing.length > 0) {
      throw new ApiError(
        'forbidden',
        `The key to revoke has the permission ${missing.join(', ')}, which this API key lacks. Use a key that has it.`,
      );
    }
    await deactivateKey(db, accountId, keyId);
    await publishNotice(db, 'key', keyId);
  });
}
