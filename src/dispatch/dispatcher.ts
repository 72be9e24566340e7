import pLimit, { type LimitFunction } from 'p-limit';
import { isConnectionFault, type Pool } from '../db/pool.ts';
import type { MessageRow } from '../events/message-view.ts';
import { Batcher } from '../lib/batcher.ts';
import type { Log } from '../lib/log.ts';
import type { ProviderName } from '../providers/provider.ts';
import { createBreaker, type Breaker } from './breaker.ts';
import type { Outcome } from './outcome.ts';
import { Pace, type PaceSettings } from './pace.ts';
import { markStarted, type StartedAttempt } from './queries.ts';
import { Chain, leaseMarginMs, type ChainDeps, type DispatchJob } from './send.ts';

export type LaneName = 'single' | 'bulk';

export type DispatcherDeps = Omit<ChainDeps, 'breakers' | 'paces' | 'started' | 'isStopping'> & {
  pool: Pool;
  log: Log;
  outcomes: Batcher<Outcome, MessageRow | undefined>;
  concurrency: Record<LaneName, number>;
  paceOf: (provider: ProviderName) => PaceSettings;
};

/** Jobs that wait in a lane beyond this are left to the sweeper, which takes them when their lease runs out. */
const waitingMax = 20_000;

/** Calls providers: a chain per message, bounded lanes so that a bulk never starves single sends. */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #lanes: Record<LaneName, LimitFunction>;
  readonly #chainDeps: ChainDeps;
  /** Jobs in a lane, those that wait in it included. */
  readonly #running = new Set<Promise<MessageRow>>();
  #stopping = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#lanes = { single: pLimit(deps.concurrency.single), bulk: pLimit(deps.concurrency.bulk) };
    const names = [...deps.providers.keys()];
    const breakers = new Map(names.map((name) => [name, createBreaker(deps.clock)]));
    const paces = new Map(names.map((name) => [name, new Pace(deps.paceOf(name), deps.clock)]));
    const started = new Batcher<StartedAttempt, boolean>({
      run: async (attempts) => {
        const ours = await markStarted(deps.pool, attempts);
        return attempts.map(({ messageId }) => ours.has(messageId));
      },
      maxWeight: 256,
      maxWaiting: 50_000,
      isSharedFault: isConnectionFault,
    });
    this.#chainDeps = { ...deps, breakers, paces, started, isStopping: () => this.#stopping };
  }

  get breakers(): ReadonlyMap<ProviderName, Breaker> {
    return this.#chainDeps.breakers;
  }

  /** How many more jobs the lane takes before it leaves them to the sweeper. */
  room(lane: LaneName): number {
    return waitingMax - this.#lanes[lane].pendingCount;
  }

  /** Resolves to the message once its outcome is committed; to the message as it was when it must be left to the sweeper. */
  async dispatch(job: DispatchJob, lane: LaneName): Promise<MessageRow> {
    if (this.room(lane) <= 0) return job.message;
    const running = this.#lanes[lane](() => this.#run(job));
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Starts nothing new; resolves when what was running is committed. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#running);
    await this.#deps.outcomes.idle();
  }

  async #run(job: DispatchJob): Promise<MessageRow> {
    const { clock, outcomes, log } = this.#deps;
    const isLeaseShort = clock.now() + this.#deps.attemptTimeoutMs + leaseMarginMs > job.leasedUntilMs;
    if (this.#stopping || isLeaseShort) return job.message;
    try {
      const outcome = await new Chain(job, this.#chainDeps).walk();
      if (outcome === undefined) return job.message;
      return (await outcomes.add(outcome)) ?? job.message;
    } catch (error) {
      // The lease runs out and the sweeper decides.
      log.error({ err: error, message_id: job.message.id }, 'dispatch failed; the message is left to the sweeper');
      return job.message;
    }
  }
}
