import type { Notices } from '../db/notices.ts';
import type { Pool } from '../db/pool.ts';
import type { Caller } from '../http/caller.ts';
import { RowCache } from '../lib/row-cache.ts';
import { findCaller } from './key-queries.ts';

const callersMax = 10_000;
/** Notices drop a changed key at once; the age limit only covers a listener that is reconnecting. */
const callerAgeMsMax = 10_000;

/** The callers behind keys, through a cache that changes of keys and accounts drop. */
export class Callers {
  readonly #cache: RowCache<Caller>;
  readonly #hashesByKey = new Map<string, string>();

  constructor(pool: Pool, notices: Notices) {
    this.#cache = new RowCache<Caller>({
      max: callersMax,
      ttlMs: callerAgeMsMax,
      read: async (hash) => {
        const caller = await findCaller(pool, Buffer.from(hash, 'base64'));
        if (caller !== undefined) {
          if (this.#hashesByKey.size >= callersMax) this.#hashesByKey.clear();
          this.#hashesByKey.set(caller.keyId, hash);
        }
        return caller;
      },
    });
    notices.subscribe('key', (keyId) => this.forget(keyId));
    notices.subscribe('account', () => this.forget('*'));
  }

  find(keyHash: Buffer): Promise<Caller | undefined> {
    return this.#cache.get(keyHash.toString('base64'));
  }

  /** The next request with this key (`*`: with any key) is looked up anew. */
  forget(keyId: string): void {
    // A key whose hash is not known may be being looked up right now.
    this.#cache.drop(this.#hashesByKey.get(keyId) ?? '*');
  }
}
