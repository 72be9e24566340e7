import type { Notices } from '../db/notices.ts';
import type { Pool } from '../db/pool.ts';
import { RowCache } from '../lib/row-cache.ts';
import { readApprovedSenders } from './queries.ts';

/** Answers whether an account may send from a text; each account's senders are read once and kept until one of them changes. */
export type IsApprovedSender = (accountId: string, senderId: string) => Promise<boolean>;

export function createIsApprovedSender(pool: Pool, notices: Notices): IsApprovedSender {
  const cache = new RowCache<Set<string>>({
    max: 10_000,
    ttlMs: 10_000,
    read: (accountId) => readApprovedSenders(pool, accountId),
  });
  notices.subscribe('sender', (accountId) => cache.drop(accountId));
  return async (accountId, senderId) => (await cache.get(accountId))?.has(senderId) ?? false;
}
