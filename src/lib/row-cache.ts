import { LRUCache } from 'lru-cache';

/**
 * Rows read often and changed rarely, kept for a short while and dropped by notice. Concurrent look-ups of one key share one read; a
 * row dropped while it is being read is not kept.
 */
export class RowCache<Row extends object> {
  readonly #rows: LRUCache<string, Row>;
  readonly #reading = new Map<string, Promise<Row | undefined>>();
  readonly #read: (key: string) => Promise<Row | undefined>;

  constructor(options: { max: number; ttlMs: number; read: (key: string) => Promise<Row | undefined> }) {
    this.#rows = new LRUCache({ max: options.max, ttl: options.ttlMs });
    this.#read = options.read;
  }

  async get(key: string): Promise<Row | undefined> {
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const running = this.#reading.get(key);
    if (running !== undefined) return running;
    const reading = this.#read(key).then(
      (row) => {
        if (this.#reading.get(key) === reading) {
          this.#reading.delete(key);
          if (row !== undefined) this.#rows.set(key, row);
        }
        return row;
      },
      (error: unknown) => {
        if (this.#reading.get(key) === reading) this.#reading.delete(key);
        throw error;
      },
    );
    this.#reading.set(key, reading);
    return reading;
  }

  /** Forgets one row, or all of them for `*`. */
  drop(key: string): void {
    if (key === '*') {
      this.#rows.clear();
      this.#reading.clear();
    } else {
      this.#rows.delete(key);
      this.#reading.delete(key);
    }
  }
}
