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
/** Who gives way leaves the other half of that wait, and a quarter of the places, to those who do not. */
const shareOf = { waitMs: waitMsMax / 2, places: 0.75 };
/** Nobody is sent away for longer: by then there may be room. */
const turnMsMax = 60_000;

export type Manners = {
  /** For who has nowhere else to go: waits for a place that much longer than a second. */
  patienceMs?: number;
  /** For who comes in great numbers: lets others pass. */
  givesWay?: boolean;
};

/** How fast and how many at a time one upstream is called. */
export class Pace {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #capacity: number;
  readonly #places: LimitFunction;
  /** Whoever gives way needs one of these first. */
  readonly #commonPlaces: LimitFunction;
  #tokens: number;
  #filledAtMs: number;
  /** When a place was last taken or came free. */
  #movedAtMs: number;
  #turnsGivenUntilMs = 0;

  constructor({ ratePerSecond, concurrencyMax }: PaceSettings, clock: Clock) {
    this.#clock = clock;
    this.#perMs = (ratePerSecond ?? Infinity) / 1_000;
    this.#capacity = Math.max(1, (ratePerSecond ?? Infinity) * bucketSeconds);
    this.#tokens = this.#capacity;
    this.#filledAtMs = clock.now();
    this.#movedAtMs = this.#filledAtMs;
    this.#places = pLimit(concurrencyMax);
    this.#commonPlaces = pLimit(Math.ceil(concurrencyMax * shareOf.places));
  }

  /** Runs `send` when its turn comes, or tells why it does not: that would take more than a second. */
  async run<Result>(
    send: () => Promise<Result>,
    { patienceMs = 0, givesWay = false }: Manners = {},
  ): Promise<Result | TurnedAway> {
    if (this.#places.pendingCount >= waitingMax || (patienceMs === 0 && this.#isStuck(givesWay))) return 'full';
    const waitMs = this.#reserve(givesWay ? shareOf.waitMs : waitMsMax);
    if (waitMs === undefined) return 'too_fast';
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    return this.#inPlace(send, waitMsMax + patienceMs, givesWay);
  }

  /** When who is turned away next, because the rate is reached, gets its turn. */
  get nextTurnAtMs(): number {
    return Math.max(this.#turnsGivenUntilMs, this.#clock.now() + waitMsMax) + 1 / this.#perMs;
  }

  /** In how long to come again for who was turned away because the rate is reached: one after another, as fast as that allows. */
  takeTurn(): number {
    const nowMs = this.#clock.now();
    this.#turnsGivenUntilMs = Math.min(this.nextTurnAtMs, nowMs + turnMsMax);
    return Math.ceil(this.#turnsGivenUntilMs - nowMs);
  }

  #isFull(givesWay: boolean): boolean {
    const lines = givesWay ? [this.#commonPlaces, this.#places] : [this.#places];
    return lines.some(({ activeCount, concurrency }) => activeCount >= concurrency);
  }

  /** For a second no place came free: whoever holds them waits for an upstream that may never answer. */
  #isStuck(givesWay: boolean): boolean {
    return this.#isFull(givesWay) && this.#clock.now() - this.#movedAtMs > waitMsMax;
  }

  #inPlace<Result>(send: () => Promise<Result>, longestMs: number, givesWay: boolean): Promise<Result | TurnedAway> {
    const attempt = async (): Promise<Result> => {
      try {
        return await send();
      } finally {
        this.#movedAtMs = this.#clock.now();
      }
    };
    const queue = <Value>(turn: () => Promise<Value>): Promise<Value> =>
      givesWay ? this.#commonPlaces(() => this.#places(turn)) : this.#places(turn);
    if (!this.#isFull(givesWay)) {
      this.#movedAtMs = this.#clock.now();
      return queue(attempt);
    }
    // Who gives up keeps its number in the queue, and is passed over when that is called.
    return new Promise((resolve, reject) => {
      let hasGivenUp = false;
      const giveUp = setTimeout(() => {
        hasGivenUp = true;
        resolve('full');
      }, longestMs);
      const turn = queue(async (): Promise<Result | TurnedAway> => {
        clearTimeout(giveUp);
        return hasGivenUp ? 'full' : attempt();
      });
      turn.then(resolve, reject);
    });
  }

  /** Takes a token, on credit where the bucket is empty, and tells how long to wait for it; undefined when that is too long. */
  #reserve(longestMs: number): number | undefined {
    if (this.#perMs === Infinity) return 0;
    const nowMs = this.#clock.now();
    this.#tokens = Math.min(this.#capacity, this.#tokens + Math.max(0, nowMs - this.#filledAtMs) * this.#perMs);
    this.#filledAtMs = nowMs;
    const waitMs = Math.max(0, Math.ceil((1 - this.#tokens) / this.#perMs));
    if (waitMs > longestMs) return undefined;
    this.#tokens -= 1;
    return waitMs;
  }
}
