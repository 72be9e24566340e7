import { LRUCache } from 'lru-cache';

const destinationsMax = 10_000;
const referencesCount = 0x1_0000;

/**
 * References of long messages: a counter for each destination, so that two messages to one handset never share their parts, from a random
 * start, so that those of a restarted or parallel process rarely do.
 */
export class PartReferences {
  readonly #last = new LRUCache<string, number>({ max: destinationsMax });
  readonly #random: () => number;

  /** `random` gives numbers from 0 up to, not including, 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  next(destination: string): number {
    const last = this.#last.get(destination) ?? Math.floor(this.#random() * referencesCount);
    const reference = (last + 1) % referencesCount;
    this.#last.set(destination, reference);
    return reference;
  }
}
