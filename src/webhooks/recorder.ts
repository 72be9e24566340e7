import { setTimeout as delay } from 'node:timers/promises';
import { publishNotice } from '../db/notices.ts';
import { isConnectionFault, type Pool } from '../db/pool.ts';
import { transaction } from '../db/tx.ts';
import { Batcher } from '../lib/batcher.ts';
import type { Clock } from '../lib/clock.ts';
import { toPublicId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import {
  countFailures,
  deleteFromQueue,
  reschedule,
  skipWaiting,
  upsertDeliveries,
  type EndpointKey,
} from './delivery-queries.ts';
import { endpointName } from './receivers.ts';
import { tallyByEndpoint, type DeliveryResult } from './result.ts';

const batchMax = 256;
const waitingMax = 20_000;
/** A database that is away is asked again after each of these; then the results are given up, and their leases bring them back. */
const retryDelaysMs = [250, 500, 1_000, 2_000, 4_000];
/** Rows in one statement: short enough that nobody waits for it. */
const skipChunk = 1_000;

/**
 * Writes what became of deliveries, in batches. It alone changes the delivery queue, deliveries and endpoints' counts once an event is
 * written; an endpoint that it disables has what was waiting for it skipped.
 */
export class Recorder {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #batcher: Batcher<DeliveryResult, undefined>;
  readonly #stopping = new AbortController();
  readonly #skipping = new Set<Promise<void>>();

  constructor(options: { pool: Pool; clock: Clock; log: Log }) {
    this.#pool = options.pool;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#batcher = new Batcher({
      run: (results) => this.#run(results),
      maxWeight: batchMax,
      maxWaiting: waitingMax,
      isSharedFault: isConnectionFault,
    });
  }

  get waiting(): number {
    return this.#batcher.waiting;
  }

  /** Resolves when the result is written, or given up: then the delivery is made once more. */
  async add(result: DeliveryResult): Promise<void> {
    try {
      await this.#batcher.add(result);
    } catch (error) {
      if (isConnectionFault(error)) return;
      const event = toPublicId('evt', result.delivery.eventId);
      this.#log.error({ err: error, event }, 'the result of a webhook delivery is lost; it will be delivered again');
    }
  }

  /** Skips, in the background, what waits for an endpoint that is inactive or gone. */
  skip(key: EndpointKey): void {
    const skipping = this.#skip(key).finally(() => this.#skipping.delete(skipping));
    this.#skipping.add(skipping);
  }

  async idle(): Promise<void> {
    await this.#batcher.idle();
    await Promise.all(this.#skipping);
  }

  /** Writes what it has; from now on it does not wait for a database that is away. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.idle();
  }

  async #run(results: readonly DeliveryResult[]): Promise<undefined[]> {
    const { signal } = this.#stopping;
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#write(results);
      } catch (error) {
        const delayMs = signal.aborted ? undefined : retryDelaysMs[tries];
        if (!isConnectionFault(error)) throw error;
        this.#log.warn(
          { err: error, results: results.length, givenUp: delayMs === undefined },
          'cannot write webhook results',
        );
        if (delayMs === undefined) throw error;
        await delay(delayMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #write(results: readonly DeliveryResult[]): Promise<undefined[]> {
    const waiting = results.filter(({ settlement }) => settlement.status === 'pending');
    const settled = results.filter(({ settlement }) => settlement.status !== 'pending');
    const tallies = tallyByEndpoint(results);
    const disabled = await transaction(this.#pool, async (db) => {
      if (settled.length > 0)
        await deleteFromQueue(
          db,
          settled.map(({ delivery }) => delivery),
        );
      if (waiting.length > 0) await reschedule(db, waiting);
      await upsertDeliveries(db, results);
      if (tallies.length === 0) return [];
      // Last, because other processes' results for the same endpoint wait for this row until the commit.
      const keys = await countFailures(db, tallies, new Date(this.#clock.now()));
      for (const key of keys) await publishNotice(db, 'endpoint', endpointName(key));
      return keys;
    });
    for (const key of disabled) {
      this.#log.warn({ endpoint: toPublicId('whe', key.endpointId) }, 'webhook endpoint disabled: it failed too often');
      this.skip(key);
    }
    return results.map(() => undefined);
  }

  async #skip(key: EndpointKey): Promise<void> {
    try {
      while (!this.#stopping.signal.aborted) {
        const skipped = await skipWaiting(this.#pool, key, skipChunk);
        if (skipped < skipChunk) return;
      }
    } catch (error) {
      const endpoint = toPublicId('whe', key.endpointId);
      this.#log.warn({ err: error, endpoint }, 'waiting deliveries will be skipped as they come due');
    }
  }
}
