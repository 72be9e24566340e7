import pLimit, { type LimitFunction } from 'p-limit';
import { isConnectionFault, type Pool } from '../db/pool.ts';
import type { MessageRow } from '../events/message-view.ts';
import { Batcher } from '../lib/batcher.ts';
import { toPublicId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { ProviderName } from '../providers/provider.ts';
import { Awaited } from './awaited.ts';
import { createBreaker, type Breaker } from './breaker.ts';
import { neverWalked, type DispatchJob } from './job.ts';
import { leaseMarginMs } from './lease.ts';
import type { Outcome } from './outcome.ts';
import { Pace, type PaceSettings } from './pace.ts';
import { handBack, markStarted, type HandBack, type StartedAttempt } from './queries.ts';
import { Chain, type ChainDeps } from './send.ts';

export type LaneName = 'single' | 'bulk';

export type DispatcherDeps = Omit<ChainDeps, 'breakers' | 'paces' | 'started' | 'isStopping'> & {
  pool: Pool;
  log: Log;
  outcomes: Batcher<Outcome, MessageRow | undefined>;
  concurrency: Record<LaneName, number>;
  paceOf: (provider: ProviderName) => PaceSettings;
};

/** Jobs that wait in a lane beyond this are left to the sweeper. */
const waitingMax = 20_000;
/** A message that found no room, here or at its providers, is taken up again after so long. */
const turnEveryMs = 5_000;

/** Calls providers: a chain per message, bounded lanes so that a bulk never starves single sends. */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #lanes: Record<LaneName, LimitFunction>;
  readonly #chainDeps: ChainDeps;
  readonly #handBacks: Batcher<HandBack, void>;
  readonly #awaited: Awaited;
  /** Jobs in a lane, those that wait in it included. */
  readonly #running = new Set<Promise<MessageRow>>();
  #stopping = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#awaited = new Awaited(deps.pool);
    const names = [...deps.providers.keys()];
    // Attempts without an answer keep their places for a whole time-out: the lane holds all that providers can have, and its own besides.
    const places = names.reduce((sum, name) => sum + deps.paceOf(name).concurrencyMax, 0);
    this.#lanes = { single: pLimit(deps.concurrency.single + places), bulk: pLimit(deps.concurrency.bulk) };
    const breakers = new Map(names.map((name) => [name, createBreaker(deps.clock)]));
    const paces = new Map(names.map((name) => [name, new Pace(deps.paceOf(name), deps.clock)]));
    const limits = { maxWeight: 256, maxWaiting: 50_000, isSharedFault: isConnectionFault };
    const started = new Batcher<StartedAttempt, boolean>({
      ...limits,
      run: async (attempts) => {
        const ours = await markStarted(deps.pool, attempts);
        return attempts.map(({ messageId }) => ours.has(messageId));
      },
    });
    this.#handBacks = new Batcher<HandBack, void>({
      ...limits,
      run: async (messages) => {
        await handBack(deps.pool, messages);
        return messages.map(() => undefined);
      },
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
    const running = this.room(lane) > 0 ? this.#lanes[lane](() => this.#run(job, lane)) : this.#leave(job);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** As `dispatch`, for somebody who waits: a message that is left to a later turn is waited for no longer than `withinMs`. */
  async settle(job: DispatchJob, lane: LaneName, withinMs: number): Promise<MessageRow> {
    const giveUpMs = this.#deps.clock.now() + withinMs;
    const message = await this.dispatch(job, lane);
    if (message.status !== 'pending' || this.#stopping) return message;
    return this.#awaited.wait(message, giveUpMs - this.#deps.clock.now());
  }

  /** Tells those who wait what other processes settled. A worker calls this every second. */
  lookAtAwaited(): Promise<void> {
    return this.#awaited.look();
  }

  /** Starts nothing new, and keeps nobody waiting; resolves when what was running is committed. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#awaited.release();
    await Promise.all(this.#running);
    await this.#deps.outcomes.idle();
  }

  async #run(job: DispatchJob, lane: LaneName): Promise<MessageRow> {
    const { clock, outcomes, log, attemptTimeoutMs } = this.#deps;
    const isLeaseShort = clock.now() + attemptTimeoutMs + leaseMarginMs > job.leasedUntilMs;
    if (this.#stopping || isLeaseShort) return this.#leave(job);
    try {
      const end = await new Chain(job, this.#chainDeps, lane === 'bulk').walk();
      if (end.kind === 'gone') return job.message;
      if (end.kind === 'waits') return await this.#leave(job, end);
      const settled = (await outcomes.add(end)) ?? job.message;
      this.#awaited.tell(settled);
      return settled;
    } catch (error) {
      // The lease runs out and the sweeper decides.
      log.error(
        { err: error, message_id: toPublicId('msg', job.message.id) },
        'dispatch failed; the message is left to the sweeper',
      );
      return job.message;
    }
  }

  /** Leaves a message to the sweeper: to this process's after a while, to another one's at once when this one stops. */
  async #leave(
    job: DispatchJob,
    { tried, started, heldUntilMs, turnInMs = turnEveryMs } = neverWalked(job),
  ): Promise<MessageRow> {
    const { clock, log } = this.#deps;
    const { account_id: accountId, id: messageId } = job.message;
    const dueAtMs = clock.now() + (this.#stopping ? 0 : turnInMs);
    try {
      await this.#handBacks.add({ accountId, messageId, tried, started, dueAtMs, heldUntilMs });
    } catch (error) {
      log.warn(
        { err: error, message_id: toPublicId('msg', messageId) },
        'a message was not handed back; the sweeper takes it when its lease runs out',
      );
    }
    return job.message;
  }
}
