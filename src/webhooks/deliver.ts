import type { Notices } from '../db/notices.ts';
import type { Pool } from '../db/pool.ts';
import { showEvent } from '../events/event.ts';
import { readMessages } from '../events/read.ts';
import { formatTime, type Clock } from '../lib/clock.ts';
import { firstIdAt } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { RowCache } from '../lib/row-cache.ts';
import { deliveryLeaseMs, type FreshDelivery } from './announce.ts';
import { Connector } from './connect.ts';
import { claimDue, findDue, findOrphaned, type DueDelivery, type EndpointKey } from './delivery-queries.ts';
import type { QueuedDelivery } from './enqueue.ts';
import { Lanes, type LaneLimits, type TurnEnd } from './lanes.ts';
import { post, type PostOutcome } from './post.ts';
import { createReceivers, endpointName, type Receiver } from './receivers.ts';
import { Recorder } from './recorder.ts';
import type { AttemptRecord } from './result.ts';
import { settle } from './retry.ts';
import { signatureHeaders } from './signature.ts';
import type { TargetGuard } from './target.ts';

export type DelivererOptions = {
  pool: Pool;
  notices: Notices;
  clock: Clock;
  log: Log;
  /** 32 bytes: what signing secrets are sealed under. */
  secretKey: Buffer;
  guard: TargetGuard;
  /** `Heliograph/<version>`. */
  userAgent: string;
  /** What a receiver has to answer in (spec: Acknowledgement). */
  timeoutMs?: number;
  limits?: Partial<LaneLimits>;
  onAttempt?: (result: 'succeeded' | 'failed') => void;
};

const defaultLimits: LaneLimits = {
  waitingPerLaneMax: 1_000,
  waitingMax: 20_000,
  runningPerLaneMax: 32,
  runningMax: 512,
};

/** No attempt starts whose result might come after the end of its lease: time to write it must be left. */
const recordingMs = 5_000;
/** With more results than this unwritten, nothing new is sent: what is not recorded would be sent twice. */
const unrecordedMax = 5_000;

const sweep = { perEndpoint: 200, pageSize: 2_000, pagesMax: 5 } as const;
const firstEndpoint: EndpointKey = { accountId: firstIdAt(0), endpointId: firstIdAt(0) };

/**
 * Delivers events to webhook endpoints. Fresh deliveries are offered by the process that made them; retries, and what other processes left
 * behind, are found by the sweep. What finds no place in memory is left to its lease, so memory is bounded and nothing is lost.
 */
export class Deliverer {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #userAgent: string;
  readonly #timeoutMs: number;
  readonly #onAttempt: DelivererOptions['onAttempt'];
  readonly #lanes: Lanes<FreshDelivery>;
  readonly #connector: Connector;
  readonly #receivers: RowCache<Receiver>;
  readonly #recorder: Recorder;
  readonly #unsubscribe: () => void;
  #sweptTo = firstEndpoint;
  #isStopping = false;
  #wakeWhenIdle: Array<() => void> = [];

  constructor(options: DelivererOptions) {
    const { pool, notices, clock, log, secretKey, guard, userAgent, timeoutMs = 10_000 } = options;
    const limits = { ...defaultLimits, ...options.limits };
    this.#pool = pool;
    this.#clock = clock;
    this.#log = log;
    this.#userAgent = userAgent;
    this.#timeoutMs = timeoutMs;
    this.#onAttempt = options.onAttempt;
    this.#lanes = new Lanes(limits);
    this.#recorder = new Recorder({ pool, clock, log });
    this.#connector = new Connector(guard, timeoutMs);
    this.#receivers = createReceivers({
      db: pool,
      secretKey,
      connector: this.#connector.connect,
      connectionsMax: limits.runningPerLaneMax,
      log,
    });
    this.#unsubscribe = notices.subscribe('endpoint', (name) => this.#receivers.drop(name));
  }

  /** Deliveries in memory: those whose turn is still to come, and those being attempted. */
  get load(): { waiting: number; running: number } {
    return { waiting: this.#lanes.waiting, running: this.#lanes.running };
  }

  /** Takes deliveries whose lease this process holds; returns at once. */
  offer(deliveries: readonly FreshDelivery[]): void {
    if (this.#isStopping) return;
    for (const fresh of deliveries) this.#lanes.push(fresh.delivery.endpointId, fresh);
    this.#takeTurns();
  }

  /** Takes what is due, as far as there is room for it. A worker calls this every second. Returns how many it took. */
  async sweepDue(): Promise<number> {
    const nowMs = this.#clock.now();
    let taken = 0;
    for (let page = 0; page < sweep.pagesMax && !this.#isStopping; page += 1) {
      const due = await findDue(this.#pool, {
        now: new Date(nowMs),
        after: this.#sweptTo,
        perEndpoint: sweep.perEndpoint,
        limit: sweep.pageSize,
      });
      taken += await this.#take(due, nowMs);
      const last = due.at(-1);
      const isLastPage = last === undefined || due.length < sweep.pageSize;
      this.#sweptTo = isLastPage ? firstEndpoint : last;
      if (isLastPage) break;
    }
    return taken;
  }

  /** Skips, in the background, what waits for an endpoint that was deleted. */
  skipWaiting(key: EndpointKey): void {
    this.#recorder.skip(key);
  }

  /** Skips what waits for endpoints that no sweep comes by any more. Walks the queue: for a worker that runs hourly or so. */
  async skipOrphaned(): Promise<void> {
    for (const key of await findOrphaned(this.#pool, 1_000)) this.#recorder.skip(key);
  }

  /** Resolves when nothing is left in memory and every result is written. */
  async idle(): Promise<void> {
    await this.#turnsEnded();
    await this.#recorder.idle();
  }

  /** Starts nothing more, lets running attempts end (each within its time-out), and writes their results. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe();
    await this.#turnsEnded();
    await this.#recorder.stop();
    this.#connector.close();
  }

  async #take(due: readonly DueDelivery[], nowMs: number): Promise<number> {
    const taking = new Map<string, number>();
    const wanted = due.filter(({ endpointId }) => {
      const count = (taking.get(endpointId) ?? 0) + 1;
      taking.set(endpointId, count);
      return count <= this.#lanes.room(endpointId);
    });
    if (wanted.length === 0) return 0;
    const leasedUntil = new Date(nowMs + deliveryLeaseMs);
    const claimed = await claimDue(this.#pool, wanted, leasedUntil);
    const messages = await readMessages(this.#pool, claimed);
    const fresh: FreshDelivery[] = [];
    for (const delivery of claimed) {
      const message = messages.get(delivery.messageId);
      if (message === undefined) this.#skip(delivery);
      else fresh.push({ delivery, message });
    }
    this.offer(fresh);
    return claimed.length;
  }

  #takeTurns(): void {
    while (!this.#isStopping && this.#recorder.waiting < unrecordedMax) {
      const turn = this.#lanes.next();
      if (turn === undefined) return;
      void this.#turn(turn.key, turn.item);
    }
  }

  async #turn(key: string, fresh: FreshDelivery): Promise<void> {
    let end: TurnEnd = 'dropped';
    try {
      end = await this.#deliver(fresh);
    } catch (error) {
      this.#log.debug({ err: error }, 'a webhook delivery is left to its lease');
    }
    this.#lanes.end(key, end);
    this.#takeTurns();
    if (this.#isIdle()) for (const wake of this.#wakeWhenIdle.splice(0)) wake();
  }

  async #deliver({ delivery, message }: FreshDelivery): Promise<TurnEnd> {
    const receiver = await this.#receivers.get(endpointName(delivery));
    if (receiver === undefined) {
      this.#skip(delivery);
      return 'dropped';
    }
    const startedAtMs = this.#clock.now();
    if (delivery.leasedUntilMs < startedAtMs + this.#timeoutMs + recordingMs) return 'dropped';
    const event = showEvent(delivery.eventId, delivery.status, message);
    const outcome = await this.#post(receiver, event.id, Buffer.from(JSON.stringify(event)), startedAtMs);
    return this.#record(delivery, outcome, startedAtMs);
  }

  #post({ path, keys, connections }: Receiver, eventId: string, body: Buffer, nowMs: number): Promise<PostOutcome> {
    const headers = {
      'content-type': 'application/json',
      'user-agent': this.#userAgent,
      ...signatureHeaders(keys, eventId, Math.floor(nowMs / 1_000), body),
    };
    return post(connections, { path, headers, body, timeoutMs: this.#timeoutMs });
  }

  #record(delivery: QueuedDelivery, outcome: PostOutcome, startedAtMs: number): TurnEnd {
    const endedAtMs = this.#clock.now();
    const succeeded = 'status' in outcome && outcome.status >= 200 && outcome.status <= 299;
    const attempt: AttemptRecord = {
      at: formatTime(startedAtMs),
      status: 'status' in outcome ? outcome.status : null,
      latency_ms: endedAtMs - startedAtMs,
      error: 'error' in outcome ? outcome.error : null,
      answer: 'answer' in outcome ? outcome.answer : null,
    };
    const settlement = settle(delivery.attemptsMade + 1, succeeded, endedAtMs);
    void this.#recorder.add({ delivery, attempt, endedAtMs, settlement }).then(() => this.#takeTurns());
    const result = succeeded ? 'succeeded' : 'failed';
    this.#onAttempt?.(result);
    return result;
  }

  #skip(delivery: QueuedDelivery): void {
    const settlement = { status: 'skipped', dueAtMs: null } as const;
    void this.#recorder.add({ delivery, attempt: null, endedAtMs: this.#clock.now(), settlement });
  }

  async #turnsEnded(): Promise<void> {
    if (!this.#isIdle()) await new Promise<void>((resolve) => this.#wakeWhenIdle.push(resolve));
  }

  #isIdle(): boolean {
    return this.#lanes.running === 0 && (this.#isStopping || this.#lanes.waiting === 0);
  }
}
