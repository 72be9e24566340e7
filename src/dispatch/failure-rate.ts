import { CircuitState, type IBreaker } from 'cockatiel';
import type { Clock } from '../lib/clock.ts';

const slotMs = 1_000;
const slotCount = 10;
/** With fewer results than this in all slots, one message that fails everywhere would close a provider for others. */
const resultsMin = 50;
const failureShareMax = 0.5;

type Slot = { number: number; failures: number; successes: number };

/**
 * Opens a circuit when most results of the last ten seconds are failures. Cockatiel's own sampling forgets by results, one slot each, and not
 * by time: a provider that falls silent gives no results until its attempts time out, and was then judged by what it had accepted before.
 */
export class FailureRate implements IBreaker {
  readonly #clock: Clock;
  #slots: Slot[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get state(): unknown {
    return this.#slots;
  }

  set state(slots: unknown) {
    this.#slots = slots as Slot[];
  }

  success(circuit: CircuitState): void {
    if (circuit === CircuitState.HalfOpen) this.#slots = [];
    this.#slot().successes += 1;
  }

  failure(circuit: CircuitState): boolean {
    this.#slot().failures += 1;
    if (circuit !== CircuitState.Closed) return true;
    const failures = this.#slots.reduce((sum, slot) => sum + slot.failures, 0);
    const results = this.#slots.reduce((sum, slot) => sum + slot.successes, failures);
    return results >= resultsMin && failures > failureShareMax * results;
  }

  /** The slot of the present second; those of more than ten seconds ago are gone. */
  #slot(): Slot {
    const number = Math.floor(this.#clock.now() / slotMs);
    let slot = this.#slots.at(-1);
    if (slot?.number !== number) {
      slot = { number, failures: 0, successes: 0 };
      this.#slots = [
        ...this.#slots.filter((earlier) => earlier.number > number - slotCount && earlier.number < number),
        slot,
      ];
    }
    return slot;
  }
}
