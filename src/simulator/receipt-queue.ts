import type { Clock } from '../lib/clock.ts';
import { createTimerWheel } from './timer-wheel.ts';

const TICK_MS = 10;

export type ReceiptQueue<Item> = {
  /** False when the queue is full, and the item lost. */
  add(item: Item, delayMs: number): boolean;
  /** Forgets what waits, and returns what was due already. */
  clear(): Item[];
};

/**
 * What waits to be posted: first for its time, then, in order, for one of `postsMax` turns. `waitingMax` bounds both
 * together; items are small, and what is posted is made only when its turn comes.
 */
export function createReceiptQueue<Item>(options: {
  clock: Clock;
  postsMax: number;
  waitingMax: number;
  post: (item: Item, done: () => void) => void;
}): ReceiptQueue<Item> {
  const { clock, postsMax, waitingMax, post } = options;
  const wheel = createTimerWheel<Item>(clock, TICK_MS, takeTurn);
  let due: Item[] = [];
  let taken = 0;
  let posting = 0;
  let waiting = 0;

  function takeTurn(item: Item): void {
    due.push(item);
    pump();
  }

  function pump(): void {
    while (posting < postsMax) {
      const item = due[taken];
      if (item === undefined) break;
      taken += 1;
      waiting -= 1;
      posting += 1;
      post(item, finish);
    }
    // Cut off what was taken once in a while: a shift for each would copy a long queue each time.
    if (taken > 1_024 && taken * 2 > due.length) {
      due = due.slice(taken);
      taken = 0;
    }
  }

  function finish(): void {
    posting -= 1;
    pump();
  }

  return {
    add(item, delayMs) {
      if (waiting === waitingMax) return false;
      waiting += 1;
      if (delayMs > 0) wheel.add(item, delayMs);
      else takeTurn(item);
      return true;
    },

    clear() {
      const abandoned = due.slice(taken);
      due = [];
      taken = 0;
      waiting = 0;
      wheel.clear();
      return abandoned;
    },
  };
}
