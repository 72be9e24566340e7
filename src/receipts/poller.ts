import pLimit from 'p-limit';
import { withLock } from '../db/lock.ts';
import type { Pool } from '../db/pool.ts';
import { Pace } from '../dispatch/pace.ts';
import { formatTime, type Clock } from '../lib/clock.ts';
import { firstIdAt, toPublicId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { LookUpResult, Provider, ProviderName } from '../providers/provider.ts';
import type { ReceiptDesk } from './desk.ts';
import {
  findLookUpUnits,
  findUnreported,
  savePlaces,
  type LookUpUnit,
  type UnreportedMessage,
} from './look-up-queries.ts';
import { advancePlaces, hoursInRounds, nextHourMs, type Places } from './look-up-rounds.ts';

export type ReceiptPollerDeps = {
  pool: Pool;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  providers: ReadonlyMap<ProviderName, Provider>;
  receiptDesk: Pick<ReceiptDesk, 'settleByRef'>;
  limits?: Partial<typeof defaultLimits>;
};

const defaultLimits = {
  /** Of one run, over all accounts; they share it evenly. */
  messages: 500,
  accounts: 50,
  /** A run takes no longer, but for the look-ups under way. */
  runMs: 20_000,
};

const lookUpsAtOnce = 4;
/** Of each upstream, whose requests are for sending in the first place. */
const lookUpsPerSecond = 10;

/** An upstream that could not be asked so often in a row is left alone for a while; a single message it stumbles over stops nothing. */
const unavailableInRowMax = 5;
const pauseMs = 5 * 60_000;
const pauseMsMin = 1_000;

const hourMs = 3_600_000;
const nilId = firstIdAt(0);

/** An upstream that can be asked, and how it has answered lately. */
type Source = {
  lookUp: NonNullable<Provider['lookUp']>;
  pace: Pace;
  unavailableInRow: number;
  closedUntilMs: number;
};

/** As `Promise.all`, but nothing goes on once it has failed: the lock is given back then. */
async function allEnded<Result>(running: ReadonlyArray<Promise<Result>>): Promise<Result[]> {
  await Promise.allSettled(running);
  return Promise.all(running);
}

/**
 * The net under receipts that were lost on their way: asks upstreams about messages that have been `sent` for longer than receipts usually
 * take, at growing ages, and settles what it learns as the receipt would have been. What could not be asked keeps its place in `look_ups`.
 */
export class ReceiptPoller {
  readonly #deps: ReceiptPollerDeps;
  readonly #limits: typeof defaultLimits;
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #turns = pLimit(lookUpsAtOnce);
  #lastAccountId = nilId;
  #idleUntilMs = 0;

  constructor(deps: ReceiptPollerDeps) {
    this.#deps = deps;
    this.#limits = { ...defaultLimits, ...deps.limits };
    const pace = { ratePerSecond: lookUpsPerSecond, concurrencyMax: lookUpsAtOnce };
    this.#sources = new Map(
      [...deps.providers.values()].flatMap((provider) => {
        const lookUp = provider.lookUp?.bind(provider);
        if (lookUp === undefined) return [];
        return [[provider.name, { lookUp, pace: new Pace(pace, deps.clock), unavailableInRow: 0, closedUntilMs: 0 }]];
      }),
    );
  }

  /** One run, while no other process is at it. `more`: there is still something to ask now. */
  async run(signal?: AbortSignal): Promise<'more' | 'done'> {
    const { pool, clock } = this.#deps;
    const nowMs = clock.now();
    const open = [...this.#sources.keys()].filter((name) => this.#isOpen(name));
    if (open.length === 0 || nowMs < this.#idleUntilMs) return 'done';
    return (await withLock(pool, 'look_ups', () => this.#askAround(nowMs, open, signal))) ?? 'done';
  }

  async #askAround(nowMs: number, open: readonly string[], signal?: AbortSignal): Promise<'more' | 'done'> {
    const units = await this.#nextUnits(nowMs, open);
    if (units.length === 0) {
      if (open.length === this.#sources.size) this.#idleUntilMs = nextHourMs(nowMs);
      return 'done';
    }
    const isOver = (): boolean => signal?.aborted === true || this.#deps.clock.now() >= nowMs + this.#limits.runMs;
    const limit = Math.max(1, Math.floor(this.#limits.messages / units.length));
    const reading = pLimit(lookUpsAtOnce);
    const progress = await allEnded(units.map((unit) => reading(() => this.#askAbout(unit, limit, isOver))));
    return progress.includes(true) && signal?.aborted !== true ? 'more' : 'done';
  }

  /** The accounts whose turn it is: those after the last of the run before, and round again. */
  async #nextUnits(nowMs: number, open: readonly string[]): Promise<LookUpUnit[]> {
    const { accounts } = this.#limits;
    const hours = hoursInRounds(nowMs);
    const find = () => findLookUpUnits(this.#deps.pool, hours, open, this.#lastAccountId, accounts);
    let units = await find();
    if (units.length === 0 && this.#lastAccountId !== nilId) {
      this.#lastAccountId = nilId;
      units = await find();
    }
    this.#lastAccountId = units.length < accounts ? nilId : (units.at(-1)?.accountId ?? nilId);
    return units;
  }

  /** Asks about the next messages of a unit and notes how far that came. True where it came any further. */
  async #askAbout(unit: LookUpUnit, limit: number, isOver: () => boolean): Promise<boolean> {
    const { pool } = this.#deps;
    if (isOver()) return false;
    const started: Places =
      unit.places ?? Object.fromEntries([...this.#sources.keys()].map((name) => [name, firstIdAt(unit.hourMs)]));
    const [open, closed] = this.#divide(started);
    const messages = await findUnreported(pool, unit.accountId, open, firstIdAt(unit.hourMs + hourMs), limit);
    const asked = await allEnded(messages.map((message) => this.#turns(() => this.#ask(unit, message, isOver))));
    const advanced = advancePlaces(open, messages, asked, messages.length < limit);
    await savePlaces(pool, unit, { ...closed, ...advanced });
    return messages.length === 0 || asked.includes(true);
  }

  /** Places of upstreams to ask now and of those to ask later; one that is no longer configured is in neither. */
  #divide(places: Places): [open: Places, closed: Places] {
    const known = Object.entries(places).filter(([name]) => this.#sources.has(name));
    return [
      Object.fromEntries(known.filter(([name]) => this.#isOpen(name))),
      Object.fromEntries(known.filter(([name]) => !this.#isOpen(name))),
    ];
  }

  #isOpen(name: string): boolean {
    const source = this.#sources.get(name);
    return source !== undefined && source.closedUntilMs <= this.#deps.clock.now();
  }

  /** False where the message is still to be asked about in this round. */
  async #ask(unit: LookUpUnit, message: UnreportedMessage, isOver: () => boolean): Promise<boolean> {
    const source = this.#sources.get(message.provider);
    if (source === undefined || isOver() || !this.#isOpen(message.provider)) return false;
    const result = await source.pace.run(() => this.#lookUp(source, message));
    if (result === 'too_fast' || result === 'full') return false;
    this.#deps.metrics.lookUp(message.provider, result.outcome === 'found' ? result.receipt.state : result.outcome);
    if (result.outcome === 'unavailable') return this.#noteUnavailable(source, message, result);
    source.unavailableInRow = 0;
    if (result.outcome === 'found') await this.#settle(unit, message, result);
    return true;
  }

  async #lookUp(source: Source, { id, provider, providerMessageId, recipient }: UnreportedMessage) {
    try {
      return await source.lookUp(providerMessageId, recipient);
    } catch (error) {
      this.#deps.log.error({ err: error, provider, message_id: toPublicId('msg', id) }, 'a look-up failed');
      return { outcome: 'not_found' } as const;
    }
  }

  #noteUnavailable(
    source: Source,
    { provider }: UnreportedMessage,
    { code, retryAfterMs }: Extract<LookUpResult, { outcome: 'unavailable' }>,
  ): boolean {
    const { clock, log } = this.#deps;
    source.unavailableInRow += 1;
    if (retryAfterMs === undefined && source.unavailableInRow < unavailableInRowMax) return true;
    const closedMs = Math.max(retryAfterMs ?? pauseMs, pauseMsMin);
    source.closedUntilMs = clock.now() + closedMs;
    log.info({ provider, code, closed_ms: closedMs }, 'an upstream cannot be asked about messages now');
    return false;
  }

  async #settle(
    { accountId }: LookUpUnit,
    message: UnreportedMessage,
    { receipt }: Extract<LookUpResult, { outcome: 'found' }>,
  ): Promise<void> {
    if (receipt.state === 'sent') return;
    const { receiptDesk, clock } = this.#deps;
    const ref = { accountId, messageId: message.id, attempt: message.attemptCount - 1 };
    // What the message is known by here needs no ref of the upstream's telling.
    await receiptDesk.settleByRef(
      message.provider as ProviderName,
      { ...receipt, ref: undefined },
      ref,
      `looked up at ${formatTime(clock.now())}`,
    );
  }
}
