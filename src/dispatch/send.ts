import type { MessageRow } from '../events/message-view.ts';
import type { Batcher } from '../lib/batcher.ts';
import { formatTime, type Clock } from '../lib/clock.ts';
import { timeOfId } from '../lib/ids.ts';
import { segment } from '../messages/segments.ts';
import type { Provider, ProviderName, SendResult } from '../providers/provider.ts';
import type { AttemptRecord } from './attempt.ts';
import type { Breaker } from './breaker.ts';
import { expired, failureOf, unavailable, type Failure } from './failure.ts';
import type { DispatchJob, Waiting } from './job.ts';
import { leaseMarginMs, leaseMsFor } from './lease.ts';
import type { Outcome, SentOutcome } from './outcome.ts';
import type { Pace, TurnedAway } from './pace.ts';
import type { StartedAttempt } from './queries.ts';

export type ChainDeps = {
  clock: Clock;
  providers: ReadonlyMap<ProviderName, Provider>;
  breakers: ReadonlyMap<ProviderName, Breaker>;
  paces: ReadonlyMap<ProviderName, Pace>;
  started: Batcher<StartedAttempt, boolean>;
  isStopping: () => boolean;
  /** The longest an attempt may take, of all providers. */
  attemptTimeoutMs: number;
  /** After a request that was written and got no answer: on to the next provider, or fail the message. */
  onTimeout: 'next' | 'stop';
  refOf: (provider: ProviderName, message: MessageRow, attempt: number) => string;
  callbackUrlOf: (provider: ProviderName, ref: string) => string;
  onAttempt?: (provider: ProviderName, result: SendResult['outcome'], latencyMs: number) => void;
};

/** Where a walk ends without an outcome; `gone`: the message was resolved or taken by another process meanwhile. */
type Unresolved = Waiting | { kind: 'gone' };

type Acceptance = Pick<Extract<SendResult, { outcome: 'accepted' }>, 'providerMessageId' | 'partIds'>;

/** Why a provider was passed over, as the message's story has it. */
const skipCodes = { skipped: 'breaker_open', too_fast: 'rate_reached', full: 'concurrency_reached' };

/** A message older than this is not sent any more: a one-time code of ten minutes ago helps nobody. */
const messageAgeMsMax = 10 * 60_000;

/** One message's walk along its providers. */
export class Chain {
  readonly #job: DispatchJob;
  readonly #deps: ChainDeps;
  readonly #records: AttemptRecord[];
  #attempts: number;
  #leasedUntilMs: number;
  #lastProvider: ProviderName | null;
  #skipped = 0;
  #isBusy = false;
  readonly #reached: Pace[] = [];
  readonly #givesWay: boolean;

  /** `givesWay`: lets messages that were sent one by one pass at providers that are busy. */
  constructor(job: DispatchJob, deps: ChainDeps, givesWay = false) {
    this.#job = job;
    this.#deps = deps;
    this.#givesWay = givesWay;
    this.#records = [...(job.tried ?? [])];
    this.#lastProvider = this.#records.at(-1)?.provider ?? null;
    this.#attempts = this.#records.length + job.started.length - (job.ownsLastStarted ? 1 : 0);
    this.#leasedUntilMs = job.leasedUntilMs;
  }

  /** The outcome to commit, where there is one. */
  async walk(): Promise<Outcome | Unresolved> {
    const { providers, started, ownsLastStarted } = this.#job;
    const known = await this.#askAboutLost(ownsLastStarted ? [] : started);
    if (known !== 'next') return known;

    const tried = new Set(this.#records.map(({ provider }) => provider));
    const candidates = providers.filter((provider) => !tried.has(provider) && this.#deps.providers.has(provider));
    let outcome = await this.#tryEach(candidates, false);
    // Every breaker is open: better to try than to fail without trying.
    if (outcome === 'next' && this.#skipped === candidates.length) outcome = await this.#tryEach(candidates, true);
    if (outcome !== 'next') return outcome;
    if (this.#isExpired()) return this.#failed(expired);
    return this.#isBusy ? this.#waits() : this.#failed(unavailable);
  }

  /**
   * What became of attempts whose process was lost: the upstream's own word where it can be asked by our reference, else the time-out
   * policy's. That it knows of none does not say that it will not: its log may be behind.
   */
  async #askAboutLost(lost: readonly ProviderName[]): Promise<Outcome | 'next'> {
    let taken: Outcome | undefined;
    let isUnknown = false;
    for (const provider of lost) {
      const attempt = this.#records.length;
      const ref = this.#deps.refOf(provider, this.#job.message, attempt);
      const found = await this.#deps.providers.get(provider)?.lookUpRef?.(ref);
      if (found?.outcome !== 'found') {
        isUnknown = true;
        this.#note({ provider, result: 'unknown', code: 'process_lost' });
        continue;
      }
      const { providerMessageId, state, code } = found.receipt;
      const isTaken = state === 'sent' || state === 'delivered';
      this.#note({
        provider,
        result: isTaken ? 'accepted' : 'retryable',
        detail: 'asked, because its process was lost',
        ...(isTaken ? { provider_message_id: providerMessageId } : { code }),
      });
      if (isTaken) taken ??= { ...this.#sent(provider, { providerMessageId }), attemptCount: attempt + 1 };
    }
    if (taken !== undefined) return taken;
    return isUnknown && this.#deps.onTimeout === 'stop' ? this.#failed(unavailable) : 'next';
  }

  async #tryEach(candidates: readonly ProviderName[], pastBreaker: boolean): Promise<Outcome | Unresolved | 'next'> {
    for (const provider of candidates) {
      if (this.#isExpired()) return this.#failed(expired);
      const result = await this.#tryInTurn(provider, provider === candidates.at(-1), pastBreaker);
      if (result === 'stopping') return this.#waits();
      if (result === 'skipped' || result === 'too_fast' || result === 'full') {
        if (result === 'skipped') this.#skipped += 1;
        else this.#isBusy = true;
        this.#note({ provider, result: 'skipped', code: skipCodes[result] });
        continue;
      }
      const outcome = this.#conclude(provider, result);
      if (outcome !== 'next') return outcome;
    }
    return 'next';
  }

  /**
   * At the provider's pace, and by its breaker unless told past it. The breaker is asked first, so that nobody waits for a turn at a provider
   * that is down; and only the last of the chain is waited for as long as the lease allows.
   */
  async #tryInTurn(
    provider: ProviderName,
    isLast: boolean,
    pastBreaker: boolean,
  ): Promise<SendResult | undefined | 'skipped' | 'stopping' | TurnedAway> {
    const { clock, isStopping, attemptTimeoutMs } = this.#deps;
    const breaker = this.#deps.breakers.get(provider);
    const pace = this.#deps.paces.get(provider);
    if (breaker === undefined || pace === undefined) throw new Error(`${provider} is not configured`);
    if (breaker.isBlocking && !pastBreaker) return 'skipped';
    const patienceMs = isLast ? this.#leasedUntilMs - clock.now() - attemptTimeoutMs - leaseMarginMs : 0;
    const attempt = () => this.#attempt(provider);
    const result = await pace.run(
      // A stopping process begins no further attempt; the next one goes on with the chain.
      async () => (isStopping() ? 'stopping' : pastBreaker ? attempt() : breaker.attempt(attempt)),
      { patienceMs: Math.max(0, patienceMs), givesWay: this.#givesWay },
    );
    if (result === 'too_fast') this.#reached.push(pace);
    return result;
  }

  #isExpired(): boolean {
    return this.#deps.clock.now() - timeOfId(this.#job.message.id) > messageAgeMsMax;
  }

  /** Undefined when the message was resolved or taken by another process while we came to this attempt. */
  async #attempt(provider: ProviderName): Promise<SendResult | undefined> {
    if (!(await this.#start(provider))) return undefined;
    const { clock, refOf, callbackUrlOf, onAttempt } = this.#deps;
    const { message, segments } = this.#job;
    const attempt = this.#attempts;
    this.#attempts += 1;
    this.#lastProvider = provider;
    const ref = refOf(provider, message, attempt);
    const startedMs = clock.now();
    const adapter = this.#deps.providers.get(provider);
    if (adapter === undefined) throw new Error(`no adapter for ${provider}`);
    const result = await adapter.send({
      to: message.recipient,
      from: message.sender,
      body: message.body,
      encoding: segment(message.body).encoding,
      segments,
      callbackUrl: callbackUrlOf(provider, ref),
      ref,
    });
    const latencyMs = clock.now() - startedMs;
    onAttempt?.(provider, result.outcome, latencyMs);
    this.#note({
      provider,
      result: result.outcome,
      latency_ms: latencyMs,
      ...(result.outcome === 'accepted'
        ? { provider_message_id: result.providerMessageId }
        : { code: result.code, detail: result.message }),
    });
    return result;
  }

  /** Durable before anything leaves: the attempt is noted before it is written, and the lease renewed for it. */
  async #start(provider: ProviderName): Promise<boolean> {
    const { started, ownsLastStarted, message } = this.#job;
    if (ownsLastStarted && this.#records.length === 0 && started.at(-1) === provider) return true;
    const heldUntilMs = this.#leasedUntilMs;
    this.#leasedUntilMs = this.#deps.clock.now() + leaseMsFor(this.#deps.attemptTimeoutMs);
    return this.#deps.started.add({
      accountId: message.account_id,
      messageId: message.id,
      provider,
      heldUntilMs,
      leasedUntilMs: this.#leasedUntilMs,
    });
  }

  #waits(): Waiting {
    const tried = this.#records.filter(({ result }) => result !== 'skipped');
    const [soonest] = this.#reached.sort((one, other) => one.nextTurnAtMs - other.nextTurnAtMs);
    return { kind: 'waits', heldUntilMs: this.#leasedUntilMs, tried, started: [], turnInMs: soonest?.takeTurn() };
  }

  #conclude(provider: ProviderName, result: SendResult | undefined): Outcome | Unresolved | 'next' {
    if (result === undefined) return { kind: 'gone' };
    switch (result.outcome) {
      case 'accepted':
        return this.#sent(provider, result);
      case 'rejected':
        return this.#failed(failureOf(result.class), result.optOut === true ? this.#job.message : undefined);
      case 'unknown':
        return this.#deps.onTimeout === 'stop' ? this.#failed(unavailable) : 'next';
      case 'retryable':
        return 'next';
    }
  }

  #sent(provider: ProviderName, { providerMessageId, partIds }: Acceptance): SentOutcome {
    const adapter = this.#deps.providers.get(provider);
    const isByMessageId = adapter?.receiptsByMessageId === true || adapter?.reports !== undefined;
    return {
      ...this.#common(),
      kind: 'sent',
      provider,
      providerMessageId,
      recipient: this.#job.message.recipient,
      refs: isByMessageId ? (partIds ?? [providerMessageId]) : [],
    };
  }

  #note(record: Omit<AttemptRecord, 'at'>): void {
    this.#records.push({ ...record, at: formatTime(this.#deps.clock.now()) });
  }

  #common() {
    const { message } = this.#job;
    return {
      accountId: message.account_id,
      messageId: message.id,
      atMs: this.#deps.clock.now(),
      attemptCount: this.#attempts,
      attempts: this.#records,
    };
  }

  #failed({ code, message }: Failure, optedOut?: MessageRow): Outcome {
    return {
      ...this.#common(),
      kind: 'failed',
      provider: this.#lastProvider,
      errorCode: code,
      errorMessage: message,
      optOutRecipient: optedOut?.recipient ?? null,
    };
  }
}
