import pLimit, { type LimitFunction } from 'p-limit';
import type { Clock } from '../lib/clock.ts';

export type PaceSettings = {
  /** Messages per second the upstream takes from us; undefined for no limit of our own. */
  ratePerSecond: number | undefined;
  /** Attempts under way at a time. */
  concurrencyMax: number;
};

/** Why an attempt was not made: its rate is reached, or all its places are taken. */
export type TurnedAway = 'too_fast' | 'full';

/** A full bucket is a second's worth: a short burst passes at once. */
const bucketSeconds = 1;
/** Who would have to wait longer, be it for the rate or for a place, takes the next provider instead. */
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
  /** When a place was last taken or came free. */
  #movedAtMs: number;

  constructor({ ratePerSecond, concurrencyMax }: PaceSettings, clock: Clock) {
    this.#clock = clock;
    this.#perMs = (ratePerSecond ?? Infinity) / 1_000;
    this.#capacity = Math.max(1, (ratePerSecond ?? Infinity) * bucketSeconds);
    this.#tokens = this.#capacity;
    this.#filledAtMs = clock.now();
    this.#movedAtMs = this.#filledAtMs;
    this.#places = pLimit(concurrencyMax);
  }

  /**
   * Runs `send` when its turn comes, or tells why it does not: that would take more than a second. With `patienceMs`, for who has nowhere else
   * to go, it waits for a place that much longer.
   */
  async run<Result>(send: () => Promise<Result>, patienceMs = 0): Promise<Result | TurnedAway> {
    if (this.#places.pendingCount >= waitingMax || (patienceMs === 0 && this.#isStuck)) return 'full';
    const waitMs = this.#reserve();
    if (waitMs === undefined) return 'too_fast';
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    return this.#inPlace(send, waitMsMax + patienceMs);
  }

  get #isFull(): boolean {
    return this.#places.activeCount >= this.#places.concurrency;
  }

  /** For a second no place came free: whoever holds them waits for an upstream that may never answer. */
  get #isStuck(): boolean {
    return this.#isFull && this.#clock.now() - this.#movedAtMs > waitMsMax;
  }

  #inPlace<Result>(send: () => Promise<Result>, longestMs: number): Promise<Result | TurnedAway> {
    const attempt = async (): Promise<Result> => {
      try {
        return await send();
      } finally {
        this.#movedAtMs = this.#clock.now();
      }
    };
    if (!this.#isFull) {
      this.#movedAtMs = this.#clock.now();
      return this.#places(attempt);
    }
    // Who gives up keeps its number in the queue, and is passed over when that is called.
    return new Promise((resolve, reject) => {
      let hasGivenUp = false;
      const giveUp = setTimeout(() => {
        hasGivenUp = true;
        resolve('full');
      }, longestMs);
      const turn = this.#places(async (): Promise<Result | TurnedAway> => {
        clearTimeout(giveUp);
        return hasGivenUp ? 'full' : attempt();
      });
      turn.then(resolve, reject);
    });
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
