import type { Clock } from '../lib/clock.ts';

export type TimerWheel<Item> = {
  add(item: Item, delayMs: number): void;
  clear(): void;
};

/** Items that are due later, with one timer for all of a tick instead of one for each item. */
export function createTimerWheel<Item>(clock: Clock, tickMs: number, onDue: (item: Item) => void): TimerWheel<Item> {
  const ticks = new Map<number, { items: Item[]; timer: NodeJS.Timeout }>();

  function open(tick: number, now: number): Item[] {
    const items: Item[] = [];
    const timer = setTimeout(
      () => {
        ticks.delete(tick);
        for (const item of items) onDue(item);
      },
      tick * tickMs - now,
    );
    timer.unref();
    ticks.set(tick, { items, timer });
    return items;
  }

  return {
    add(item, delayMs) {
      const now = clock.now();
      const tick = Math.ceil((now + delayMs) / tickMs);
      const items = ticks.get(tick)?.items ?? open(tick, now);
      items.push(item);
    },

    clear() {
      for (const { timer } of ticks.values()) clearTimeout(timer);
      ticks.clear();
    },
  };
}
