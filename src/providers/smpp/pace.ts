import type { SmppTiming } from './timing.ts';

/** A bucket holds a tenth of a second's tokens: enough for timers that fire late, too few for a burst that a carrier would notice. */
const bucketSeconds = 0.1;

/** After a throttling the rate is half of the contract's for so long: a carrier that counts otherwise than we do gets room to recover. */
const slowMs = 60_000;

/** How fast the carrier lets us write: the rate of the contract, and the pauses its throttling asks for. Times are the caller's. */
export class Pace {
  readonly #perSecond: number;
  readonly #capacity: number;
  readonly #timing: Pick<SmppTiming, 'pauseFirstMs' | 'pauseLongestMs'>;
  #tokens: number;
  #filledAtMs = 0;
  #pausedUntilMs = 0;
  #pauseMs = 0;
  #slowUntilMs = 0;
  #period = 0;

  constructor(perSecond: number | undefined, timing: Pick<SmppTiming, 'pauseFirstMs' | 'pauseLongestMs'>) {
    this.#perSecond = perSecond ?? Infinity;
    this.#capacity = Math.max(1, this.#perSecond * bucketSeconds);
    this.#tokens = this.#capacity;
    this.#timing = timing;
  }

  /** Counts pauses: what was written in a period before the last pause says nothing about the one after it. */
  get period(): number {
    return this.#period;
  }

  pausedMs(nowMs: number): number {
    return Math.max(0, this.#pausedUntilMs - nowMs);
  }

  /** Takes the right to write one PDU and returns 0, or returns how many milliseconds to wait for it. */
  take(nowMs: number): number {
    const pausedMs = this.pausedMs(nowMs);
    if (pausedMs > 0) return pausedMs;
    if (this.#perSecond === Infinity) return 0;
    const elapsedMs = Math.max(0, nowMs - this.#filledAtMs);
    const perSecond = nowMs < this.#slowUntilMs ? this.#perSecond / 2 : this.#perSecond;
    this.#tokens = Math.min(this.#capacity, this.#tokens + (elapsedMs / 1_000) * perSecond);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) / perSecond) * 1_000);
    this.#tokens -= 1;
    return 0;
  }

  /** The carrier throttled a PDU written in `period`: a whole window of such answers makes one pause. */
  throttled(period: number, nowMs: number): void {
    if (period !== this.#period) return;
    const { pauseFirstMs, pauseLongestMs } = this.#timing;
    this.#pauseMs = this.#pauseMs === 0 ? pauseFirstMs : Math.min(2 * this.#pauseMs, pauseLongestMs);
    this.#pausedUntilMs = nowMs + this.#pauseMs;
    this.#slowUntilMs = this.#pausedUntilMs + slowMs;
    this.#period += 1;
  }

  /** The carrier took a PDU written in `period`: the next pause is a first one again. */
  accepted(period: number): void {
    if (period === this.#period) this.#pauseMs = 0;
  }
}
