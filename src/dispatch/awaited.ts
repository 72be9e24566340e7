import type { Pool } from '../db/pool.ts';
import type { MessageRow } from '../events/message-view.ts';
import { readMessages } from '../events/read.ts';

type Waiting = { message: MessageRow; tell: (row: MessageRow) => void };

/** Messages that somebody waits for beyond this are not waited for. */
const waitingMax = 20_000;
const chunkSize = 1_000;

/**
 * Callers of messages that were left to a later turn, here or in another process, and that they still wait to hear of. What this process
 * settles it tells at once; what another one settles is found in the database.
 */
export class Awaited {
  readonly #pool: Pool;
  readonly #waiting = new Map<string, Waiting>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Resolves to what became of the message, or to the message as it was when the time is up. */
  async wait(message: MessageRow, ms: number): Promise<MessageRow> {
    if (ms <= 0 || this.#waiting.size >= waitingMax) return message;
    const { promise, resolve } = Promise.withResolvers<MessageRow>();
    const timer = setTimeout(() => resolve(message), ms);
    this.#waiting.set(message.id, { message, tell: resolve });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(message.id);
    }
  }

  tell(row: MessageRow): void {
    if (row.status !== 'pending') this.#waiting.get(row.id)?.tell(row);
  }

  /** Looks at what is waited for. */
  async look(): Promise<void> {
    const waiting = [...this.#waiting.values()];
    for (let first = 0; first < waiting.length; first += chunkSize) {
      const keys = waiting
        .slice(first, first + chunkSize)
        .map(({ message }) => ({ accountId: message.account_id, messageId: message.id }));
      const rows = await readMessages(this.#pool, keys);
      for (const row of rows.values()) this.tell(row);
    }
  }

  /** Nobody waits any longer. */
  release(): void {
    for (const { message, tell } of this.#waiting.values()) tell(message);
  }
}
