import { randomInt } from 'node:crypto';
import type { Notices } from '../db/notices.ts';
import type { Db, Pool } from '../db/pool.ts';
import { hashKey, type FindCaller } from '../http/auth.ts';
import type { Caller, Scope } from '../http/caller.ts';
import type { Clock } from '../lib/clock.ts';
import type { IdSource } from '../lib/ids.ts';
import { RowCache } from '../lib/row-cache.ts';
import { findCaller, insertKey, type KeyRow } from './key-queries.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

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

const callersMax = 10_000;
/** Notices drop a changed key at once; the age limit only covers a listener that is reconnecting. */
const callerAgeMsMax = 10_000;

/** Finds callers by key hash through a cache that changes of keys and accounts drop. */
export function createFindCaller(pool: Pool, notices: Notices): FindCaller {
  const hashesByKey = new Map<string, string>();
  const cache = new RowCache<Caller>({
    max: callersMax,
    ttlMs: callerAgeMsMax,
    async read(hash) {
      const caller = await findCaller(pool, Buffer.from(hash, 'base64'));
      if (caller !== undefined) {
        if (hashesByKey.size >= callersMax) hashesByKey.clear();
        hashesByKey.set(caller.keyId, hash);
      }
      return caller;
    },
  });
  notices.subscribe('key', (keyId) => cache.drop(keyId === '*' ? '*' : (hashesByKey.get(keyId) ?? '*')));
  notices.subscribe('account', () => cache.drop('*'));
  return (keyHash) => cache.get(keyHash.toString('base64'));
}
