import type { Pool } from '../db/pool.ts';
import type { Clock } from '../lib/clock.ts';
import { touchKeys } from './key-queries.ts';

const keysMax = 10_000;

/** Remembers which keys were used, and writes that down in batches: `last_used_at` is true to within the time between two flushes. */
export class KeyUses {
  readonly #pool: Pool;
  readonly #clock: Clock;
  #used = new Map<string, string>();

  constructor(deps: { pool: Pool; clock: Clock }) {
    this.#pool = deps.pool;
    this.#clock = deps.clock;
  }

  note({ accountId, keyId }: { accountId: string; keyId: string }): void {
    if (this.#used.size < keysMax) this.#used.set(keyId, accountId);
  }

  async flush(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = this.#used;
    this.#used = new Map();
    await touchKeys(
      this.#pool,
      [...used].map(([keyId, accountId]) => ({ accountId, keyId })),
      this.#clock.now(),
    );
  }
}
