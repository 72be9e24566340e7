import pLimit, { type LimitFunction } from 'p-limit';
import type { Clock } from '../lib/clock.ts';

export type PaceSettings = {
  /** Messages per second the upstream takes from us; undefined for no limit of our own. */
  ratePerSecond: number | undefined;
  /** Attempts under way at a time. */
  concurrencyMax: number;
};

/** A full bucket is a second's worth: a short burst passes at once. */
const bucketSeconds = 1;
/** Who would have to wait longer takes the next provider instead. */
const waitMsMax = 1_000;
/** Attempts waiting for one of an upstream's places beyond this take the next provider. */
const waitingMax = 2_000;

/** How fast and how many at a time one upstream is called. */
export class Pace {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #capacity: number;
  readonly #places: LimitFunction;
  #tokens: number;
  #filledAtMs: number;

  constructor({ ratePerSecond, concurrencyMax }: PaceSettings, clock: Clock) {
    this.#clock = clock;
    this.#perMs = (ratePerSecond ?? Infinity) / 1_000;
    this.#capacity = Math.max(1, (ratePerSecond ?? Infinity) * bucketSeconds);
    this.#tokens = this.#capacity;
    this.#filledAtMs = clock.now();
    this.#places = pLimit(concurrencyMax);
  }

  /** Runs `send` when its turn comes; `too_fast` without running it when that would take more than a second. */
  async run<Result>(send: () => Promise<Result>): Promise<Result | 'too_fast'> {
    if (this.#places.pendingCount >= waitingMax) return 'too_fast';
    const waitMs = this.#reserve();
    if (waitMs === undefined) return 'too_fast';
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    return this.#places(send);
  }

  /** Takes a token, on credit where the bucket is empty, and tells how long to wait for it; undefined when that is too long. */
  #reserve(): number | undefined {
    if (this.#perMs === Infinity) return 0;
    const nowMs = this.#clock.now();
    this.#tokens = Math.min(this.#capacity, this.#tokens + Math.max(0, nowMs - this.#filledAtMs) * this.#perMs);
    this.#filledAtMs = nowMs;
    const waitMs = Math.max(0, Math.ceil((1 - this.#tokens) / this.#perMs));
    if (waitMs > waitMsMax) return undefined;
    this.#tokens -= 1;
    return waitMs;
  }
}
