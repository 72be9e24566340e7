/**
 * What a batch gives back: one entry per item, in the items' order. An `Error` entry is that item's own failure.
 */
export type BatchRun<Item, Result> = (items: readonly Item[]) => Promise<ReadonlyArray<Result | Error>>;

export type BatcherOptions<Item, Result> = {
  run: BatchRun<Item, Result>;
  /** A batch takes items until their weights reach this; a single heavier item makes a batch alone. */
  maxWeight: number;
  weightOf?: (item: Item) => number;
  /** Items waiting beyond this are refused with `BatcherFullError`. */
  maxWaiting: number;
  /** True for faults of the whole batch (a lost connection): dividing it would only repeat them. */
  isSharedFault: (error: Error) => boolean;
  onBatch?: (size: number) => void;
};

/** Thrown to an item that finds the queue full: the caller should answer "try again later". */
export class BatcherFullError extends Error {
  override name = 'BatcherFullError';
}

type Waiting<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: Error) => void;
};

/**
 * Concurrent items share one run: a batch is whatever has queued up while the one before was being committed.
 * One batch is in flight at a time, and no timer adds delay on an idle server. A batch that fails because of an item is halved
 * until the culprit stands alone, so one bad item never fails its neighbours.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  #waiting: Array<Waiting<Item, Result>> = [];
  #running = false;
  #idle: Array<() => void> = [];

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: Item): Promise<Result> {
    if (this.#waiting.length >= this.#options.maxWaiting) {
      return Promise.reject(new BatcherFullError(`${this.#waiting.length} items wait already`));
    }
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#running) {
        this.#running = true;
        setImmediate(() => void this.#drain());
      }
    });
  }

  /** Resolves once everything added so far has its result. */
  async idle(): Promise<void> {
    if (!this.#running) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      this.#options.onBatch?.(batch.length);
      await this.#runBatch(batch);
    }
    this.#running = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #take(): Array<Waiting<Item, Result>> {
    const { weightOf, maxWeight } = this.#options;
    let count = 0;
    let weight = 0;
    for (const { item } of this.#waiting) {
      weight += weightOf?.(item) ?? 1;
      if (count > 0 && weight > maxWeight) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #runBatch(batch: ReadonlyArray<Waiting<Item, Result>>): Promise<void> {
    let results: ReadonlyArray<Result | Error>;
    try {
      results = await this.#options.run(batch.map(({ item }) => item));
      if (results.length !== batch.length) {
        throw new Error(`a batch of ${batch.length} gave ${results.length} results`);
      }
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      if (batch.length === 1 || this.#options.isSharedFault(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      const middle = batch.length >> 1;
      await this.#runBatch(batch.slice(0, middle));
      await this.#runBatch(batch.slice(middle));
      return;
    }
    for (const [index, { resolve, reject }] of batch.entries()) {
      const result = results[index] as Result | Error;
      if (result instanceof Error) reject(result);
      else resolve(result);
    }
  }
}
