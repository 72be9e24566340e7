// A carrier bind over SMPP 3.4. Unlike the other upstreams it is a connection that stays: messages go out and receipts come in over it.
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../lib/clock.ts';
import { ownMessageId } from '../own-message-id.ts';
import type { AsyncReports, Provider, ReceiptReading, SendRequest, SendResult } from '../provider.ts';
import { Bind, type BindNotice } from './bind.ts';
import { within } from './deadline.ts';
import type { Reply } from './link.ts';
import { PartReferences } from './part-reference.ts';
import { Reports } from './reports.ts';
import type { SmppSettings } from './settings.ts';
import { readOverrides, resultOfStatus, status, type StatusOverrides } from './status.ts';
import { composeSubmits, type Submit } from './submit.ts';
import { smppTiming, type SmppTiming } from './timing.ts';

export type SmppDependencies = {
  clock: Clock;
  /** Numbers from 0 up to, not including, 1. */
  random: () => number;
  /** Told of every bind that stands and every one that failed. */
  onNotice?: (notice: BindNotice) => void;
  timing?: Partial<SmppTiming>;
};

export type SmppProvider = Provider & { readonly reports: AsyncReports };

/** The `smpp` upstream. It binds with the first message, or when `reports.onReceipt` says that somebody stores receipts. */
export function createSmppProvider(settings: SmppSettings, dependencies: SmppDependencies): SmppProvider {
  return new SmppAdapter(settings, dependencies);
}

/** What became of one part; like the result of a send, but for one id. */
type PartResult = Exclude<SendResult, { outcome: 'accepted' }> | { outcome: 'accepted'; messageId: string };

class SmppAdapter implements SmppProvider {
  readonly name = 'smpp';
  readonly reports: Reports;
  readonly #settings: SmppSettings;
  readonly #timing: SmppTiming;
  readonly #clock: Clock;
  readonly #overrides: StatusOverrides;
  readonly #references: PartReferences;
  readonly #bind: Bind;
  readonly #sending = new Set<Promise<SendResult>>();
  #closed: Promise<void> | undefined;

  constructor(settings: SmppSettings, { clock, random, onNotice, timing }: SmppDependencies) {
    this.#settings = settings;
    this.#timing = { ...smppTiming, ...timing };
    this.#clock = clock;
    this.#overrides = readOverrides(settings.statusClasses);
    this.#references = new PartReferences(random);
    this.reports = new Reports(settings, this.#timing.storeTimeoutMs, () => this.#bind.open());
    this.#bind = new Bind({
      settings,
      timing: this.#timing,
      overrides: this.#overrides,
      clock,
      random,
      onDelivery: (pdu) => this.reports.deliver(pdu),
      onNotice,
    });
  }

  async send(request: SendRequest): Promise<SendResult> {
    if (this.#closed !== undefined) return closed;
    const submits = composeSubmits(request, this.#references.next(request.to), this.#settings);
    if (submits === undefined) return tooLong;
    this.#bind.open();
    const sending = this.#sendAll(submits, request.ref);
    this.#sending.add(sending);
    try {
      return await sending;
    } finally {
      this.#sending.delete(sending);
    }
  }

  readReceipts(): ReceiptReading {
    return { ok: false, problem: 'forged', reason: 'receipts of this upstream come over its bind, never by HTTP' };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { drainTimeoutMs } = this.#timing;
    const endsAtMs = this.#clock.now() + drainTimeoutMs;
    await within(Promise.allSettled(this.#sending), drainTimeoutMs);
    await this.#bind.close(Math.max(0, endsAtMs - this.#clock.now()));
  }

  /** Part after part, so that a refused recipient costs one of them. Once one was accepted, the message is no longer retryable. */
  async #sendAll(submits: readonly Submit[], ref: string): Promise<SendResult> {
    const deadlineMs = this.#clock.now() + this.#settings.timeoutMs;
    const messageIds: string[] = [];
    for (const [index, submit] of submits.entries()) {
      const isLast = index === submits.length - 1;
      const onLate = (messageId: string): void => {
        if (isLast) this.reports.acceptedLate({ ref, ...idsOf([...messageIds, messageId], ref) });
      };
      const result = await this.#sendPart(submit, deadlineMs, index > 0, onLate);
      if (result.outcome !== 'accepted') return index === 0 ? result : partlySent(result, index, submits.length);
      messageIds.push(result.messageId);
    }
    return { outcome: 'accepted', ...idsOf(messageIds, ref) };
  }

  /** `persists`: what would be retryable is tried again here until the deadline, because earlier parts are out already. */
  async #sendPart(
    submit: Submit,
    deadlineMs: number,
    persists: boolean,
    onLate: (messageId: string) => void,
  ): Promise<PartResult> {
    for (;;) {
      const result = await this.#tryPart(submit, deadlineMs, onLate);
      if (result.outcome !== 'retryable' || !persists) return result;
      const retryMs = Math.max(this.#timing.partRetryMs, result.retryAfterMs ?? 0);
      if (this.#clock.now() + retryMs >= deadlineMs) return result;
      await delay(retryMs);
    }
  }

  async #tryPart(submit: Submit, deadlineMs: number, onLate: (messageId: string) => void): Promise<PartResult> {
    const { timeoutMs, waitTimeoutMs } = this.#settings;
    const leftMs = (): number => Math.max(1, deadlineMs - this.#clock.now());
    const submission = await this.#bind.submit(submit, Math.min(leftMs(), waitTimeoutMs));
    if (!submission.written) return submission.refusal;
    const reply = await within(submission.answer, leftMs());
    if (reply !== 'late') return this.#read(reply);
    void this.#awaitLate(submission.answer, onLate);
    return { outcome: 'unknown', code: 'deadline', message: `no answer within ${timeoutMs} ms` };
  }

  async #awaitLate(answer: Promise<Reply>, onLate: (messageId: string) => void): Promise<void> {
    const result = this.#read(await answer);
    if (result.outcome === 'accepted') onLate(result.messageId);
  }

  #read(reply: Reply): PartResult {
    if (reply.kind === 'no_answer') return { outcome: 'unknown', code: reply.code, message: reply.message };
    const { pdu } = reply;
    return pdu.command === 'submit_sm_resp' && pdu.status === status.ok
      ? { outcome: 'accepted', messageId: pdu.messageId }
      : resultOfStatus(pdu.status, this.#overrides);
  }
}

const closed: SendResult = {
  outcome: 'retryable',
  reason: 'unavailable',
  code: 'closed',
  message: 'the bind is closed',
};

const tooLong: SendResult = {
  outcome: 'retryable',
  reason: 'unsupported',
  code: 'too_long',
  message: 'the text is longer than SMPP can say',
};

const messageIdLengthMax = 255;

/** A part whose answer names no id is accepted all the same; there will be no receipt to match. */
function idsOf(messageIds: readonly string[], ref: string): { providerMessageId: string; partIds?: string[] } {
  const named = messageIds.filter((messageId) => messageId !== '' && messageId.length <= messageIdLengthMax);
  const [first = ownMessageId(ref)] = named;
  return { providerMessageId: first, ...(named.length > 1 ? { partIds: named } : {}) };
}

/** A message of which some parts are out: refused for good, or unknown like one that may have arrived. */
function partlySent(result: Exclude<PartResult, { outcome: 'accepted' }>, accepted: number, total: number): SendResult {
  const { code } = result;
  const message = `${accepted} of ${total} parts were accepted, then: ${result.message}`;
  return result.outcome === 'rejected' ? { ...result, message } : { outcome: 'unknown', code, message };
}
