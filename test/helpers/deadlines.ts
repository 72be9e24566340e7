import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, vi } from 'vitest';

/**
 * Holds the time of what the enclosing suite tests: a deadline passes when a test says so, and never because the machine is busy. Whatever
 * resolves without `passDeadlines` has needed none.
 */
export function holdDeadlines(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });
}

/** Time goes on by itself again, for what is yet to be closed. */
export function releaseDeadlines(): void {
  vi.useRealTimers();
}

/** Lets every deadline up to `ms` from now pass. */
export async function passDeadlines(ms: number): Promise<void> {
  // What the request itself has begun in this turn, such as connecting, goes first.
  await new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(ms);
}

/** Resolves once the head of the next answer was read. */
export function nextHead(): Promise<void> {
  return new Promise((resolve) => {
    const name = 'undici:request:headers';
    const onHead = (): void => {
      unsubscribe(name, onHead);
      resolve();
    };
    subscribe(name, onHead);
  });
}
