import type { Pool } from '../db/pool.ts';
import type { Clock } from '../lib/clock.ts';
import { touchKeys } from './key-queries.ts';

const keysMax = 10_000;

/** Remembers which keys were used, and writes that down in batches: `last_used_at` is true to within the time between two flushes. */
export class KeyUses {
  readonly #pool: Pool;
  readonly #clock: Clock;
  #accountByKey = new Map<string, string>();

  constructor(deps: { pool: Pool; clock: Clock }) {
    this.#pool = deps.pool;
    this.#clock = deps.clock;
  }

  note({ accountId, keyId }: { accountId: string; keyId: string }): void {
    if (this.#accountByKey.size < keysMax) this.#accountByKey.set(keyId, accountId);
  }

  /** Writes down what was noted. What could not be written is noted again. */
  async flush(): Promise<void> {
    if (this.#accountByKey.size === 0) return;
    const used = [...this.#accountByKey].map(([keyId, accountId]) => ({ accountId, keyId }));
    this.#accountByKey = new Map();
    try {
      await touchKeys(
        this.#pool,
        used.sort((first, second) => (first.keyId < second.keyId ? -1 : 1)),
        this.#clock.now(),
      );
    } catch (error) {
      for (const use of used) this.note(use);
      throw error;
    }
  }
}
