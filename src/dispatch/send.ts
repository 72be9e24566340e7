import type { MessageRow } from '../events/message-view.ts';
import type { Batcher } from '../lib/batcher.ts';
import { formatTime, type Clock } from '../lib/clock.ts';
import { timeOfId } from '../lib/ids.ts';
import { segment } from '../messages/segments.ts';
import type { Provider, ProviderName, SendResult } from '../providers/provider.ts';
import type { AttemptRecord } from './attempt.ts';
import type { Breaker } from './breaker.ts';
import { expired, failureOf, unavailable, type Failure } from './failure.ts';
import type { Outcome } from './outcome.ts';
import type { Pace } from './pace.ts';
import type { StartedAttempt } from './queries.ts';

/** A message to send, as far as its dispatch needs it. */
export type DispatchJob = {
  message: MessageRow;
  segments: number;
  providers: readonly ProviderName[];
  /** Attempts that may have been written already: one marked with the acceptance, or those of a process that was lost. */
  started: readonly ProviderName[];
  /** True when the last of `started` is about to be made by us; false when what became of it is unknown. */
  ownsLastStarted: boolean;
  /** The lease, as written in the queue row. */
  leasedUntilMs: number;
};

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
  refOf: (message: MessageRow, attempt: number) => string;
  callbackUrlOf: (provider: ProviderName, ref: string) => string;
  onAttempt?: (provider: ProviderName, result: SendResult['outcome'], latencyMs: number) => void;
};

/** A message older than this is not sent any more: a one-time code of ten minutes ago helps nobody. */
const messageAgeMsMax = 10 * 60_000;

/** Between the end of the longest attempt and the end of the lease: time to commit its outcome. */
export const leaseMarginMs = 5_000;

/** A lease covers the wait in a lane, one whole attempt, and the commit of its outcome. */
export function leaseMsFor(attemptTimeoutMs: number): number {
  return attemptTimeoutMs + 4 * leaseMarginMs;
}

/** One message's walk along its providers. */
export class Chain {
  readonly #job: DispatchJob;
  readonly #deps: ChainDeps;
  readonly #records: AttemptRecord[] = [];
  #attempts: number;
  #leasedUntilMs: number;
  #lastProvider: ProviderName | null = null;
  #isTooFast = false;

  constructor(job: DispatchJob, deps: ChainDeps) {
    this.#job = job;
    this.#deps = deps;
    this.#attempts = job.ownsLastStarted ? job.started.length - 1 : job.started.length;
    this.#leasedUntilMs = job.leasedUntilMs;
  }

  /** The outcome to commit; undefined when the message is no longer ours to send, or must wait for its turn. */
  async walk(): Promise<Outcome | undefined> {
    const { providers, started, ownsLastStarted } = this.#job;
    const lost = ownsLastStarted ? [] : started;
    for (const provider of lost) this.#note({ provider, result: 'unknown', code: 'process_lost' });
    if (lost.length > 0 && this.#deps.onTimeout === 'stop') return this.#failed(unavailable);

    const candidates = providers.filter((provider) => !lost.includes(provider) && this.#deps.providers.has(provider));
    const skipped: ProviderName[] = [];
    for (const provider of candidates) {
      if (this.#isExpired()) return this.#failed(expired);
      // A stopping process begins no further attempt; the next one goes on with the chain.
      if (this.#deps.isStopping() && this.#records.length > 0) return undefined;
      const result = await this.#tryInTurn(provider);
      if (result === 'skipped') {
        skipped.push(provider);
        this.#note({ provider, result: 'skipped', code: 'breaker_open' });
        continue;
      }
      if (result === 'too_fast') {
        this.#isTooFast = true;
        this.#note({ provider, result: 'skipped', code: 'rate_reached' });
        continue;
      }
      const outcome = this.#conclude(provider, result);
      if (outcome !== 'next') return outcome;
    }
    // Every breaker is open: better to try than to fail without trying.
    if (skipped.length === candidates.length) {
      for (const provider of skipped) {
        const outcome = this.#conclude(provider, await this.#attempt(provider));
        if (outcome !== 'next') return outcome;
      }
    }
    if (this.#isExpired()) return this.#failed(expired);
    // A provider is only busy: the message waits for its next turn, with the sweeper.
    return this.#isTooFast ? undefined : this.#failed(unavailable);
  }

  /** At the provider's pace and past its breaker. The breaker is asked first, so that nobody waits for a turn at a provider that is down. */
  async #tryInTurn(provider: ProviderName): Promise<SendResult | undefined | 'skipped' | 'too_fast'> {
    const breaker = this.#deps.breakers.get(provider);
    const pace = this.#deps.paces.get(provider);
    if (breaker === undefined || pace === undefined) throw new Error(`${provider} is not configured`);
    if (breaker.isBlocking) return 'skipped';
    return pace.run(() => breaker.attempt(() => this.#attempt(provider)));
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
    const ref = refOf(message, attempt);
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

  #conclude(provider: ProviderName, result: SendResult | undefined): Outcome | undefined | 'next' {
    if (result === undefined) return undefined;
    switch (result.outcome) {
      case 'accepted':
        return {
          ...this.#common(),
          kind: 'sent',
          provider,
          providerMessageId: result.providerMessageId,
          recipient: this.#job.message.recipient,
          refs: this.#refsOf(provider, result),
        };
      case 'rejected':
        return this.#failed(failureOf(result.class), result.optOut === true ? this.#job.message : undefined);
      case 'unknown':
        return this.#deps.onTimeout === 'stop' ? this.#failed(unavailable) : 'next';
      case 'retryable':
        return 'next';
    }
  }

  #refsOf(provider: ProviderName, result: Extract<SendResult, { outcome: 'accepted' }>): readonly string[] {
    const adapter = this.#deps.providers.get(provider);
    const isByMessageId = adapter?.receiptsByMessageId === true || adapter?.reports !== undefined;
    return isByMessageId ? (result.partIds ?? [result.providerMessageId]) : [];
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
