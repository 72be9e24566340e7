import type { Clock } from '../../src/lib/clock.ts';

/** Runs as the system's clock does, from wherever the test moves it to. */
export type TestClock = Clock & { advance(ms: number): void };

export function createTestClock(): TestClock {
  let aheadMs = 0;
  return {
    now: () => Date.now() + aheadMs,
    advance(ms) {
      aheadMs += ms;
    },
  };
}

/** Stands still until the test moves it. */
export function createStillClock(): TestClock {
  let nowMs = Date.now();
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}
