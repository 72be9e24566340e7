import { UsageChanges, addUsage } from '../accounts/usage-queries.ts';
import type { Db } from '../db/pool.ts';
import type { CommitWith } from '../db/tx.ts';
import type { MessageRow } from '../events/message-view.ts';
import { readMessages } from '../events/read.ts';
import { redacted } from '../events/redacted.ts';
import { addToBalances, recordRefunds, sumByAccount } from '../ledger/ledger.ts';
import { formatTime } from '../lib/clock.ts';
import type { MessageErrorCode } from '../lib/errors.ts';
import { timeOfId } from '../lib/ids.ts';
import type { MessageKey } from '../messages/queries.ts';
import { announce, type Change, type FreshDelivery } from '../webhooks/announce.ts';
import type { AttemptRecord } from './attempt.ts';
import type { FailedOutcome, Outcome, OutcomeDeps, ReceiptOutcome, SentOutcome } from './outcome.ts';
import { appendAttempts, deleteQueueRows, markFailed, markReceived, markSent } from './queries.ts';
import { insertProviderRefs, insertReceipts, insertSuppressions } from './receipt-queries.ts';

function keyOf({ accountId, messageId }: MessageKey): string {
  return `${accountId} ${messageId}`;
}

function rowKeyOf(row: MessageRow): string {
  return `${row.account_id} ${row.id}`;
}

function byMessage(first: MessageKey, second: MessageKey): number {
  return keyOf(first) < keyOf(second) ? -1 : 1;
}

export type SettlementDeps = Pick<OutcomeDeps, 'clock' | 'ids'>;

/** One batch on its way into the database. */
export class Settlement {
  readonly #db: Db;
  readonly #deps: SettlementDeps;
  readonly #nowMs: number;
  readonly #changes: Change[] = [];
  readonly #usage = new UsageChanges();
  readonly #current = new Map<string, MessageRow>();
  /** Messages that left `pending`. */
  readonly #resolved: MessageKey[] = [];

  constructor(db: Db, deps: SettlementDeps) {
    this.#db = db;
    this.#deps = deps;
    this.#nowMs = deps.clock.now();
  }

  async settle(
    outcomes: readonly Outcome[],
    commitWith: CommitWith,
  ): Promise<{ messages: Array<MessageRow | undefined>; deliveries: FreshDelivery[] }> {
    const sent = outcomes.filter((outcome) => outcome.kind === 'sent').sort(byMessage);
    const failed = outcomes.filter((outcome) => outcome.kind === 'failed').sort(byMessage);
    const receipts = outcomes.filter((outcome) => outcome.kind === 'receipt');
    if (sent.length > 0) await this.#applySent(sent);
    if (failed.length > 0) await this.#applyFailed(failed);
    await this.#appendLate([...sent, ...failed]);
    if (receipts.length > 0) await this.#applyReceipts(receipts);
    // None of these needs another's result: they leave together, and the commit with them. The counters come last, for other transactions
    // wait for them.
    const [deliveries] = await commitWith([
      announce(this.#db, this.#changes, this.#deps.ids, this.#nowMs),
      this.#resolved.length === 0 ? undefined : deleteQueueRows(this.#db, this.#resolved),
      this.#recordOptOuts(failed, receipts),
      this.#recordProviderRefs(sent, receipts),
      addUsage(this.#db, this.#usage),
    ]);
    return { messages: outcomes.map((outcome) => this.#current.get(keyOf(outcome))), deliveries };
  }

  async #applySent(sent: readonly SentOutcome[]): Promise<void> {
    const moved = await markSent(
      this.#db,
      sent.map((outcome) => ({ ...outcome, attemptsJson: JSON.stringify(outcome.attempts) })),
    );
    this.#noteSent(moved);
  }

  #noteSent(moved: readonly MessageRow[]): void {
    for (const message of moved) {
      this.#note(message, 'sent');
      this.#resolved.push({ accountId: message.account_id, messageId: message.id });
      this.#usage.add(message.account_id, timeOfId(message.id), 'sent', 1, 0);
    }
  }

  async #applyFailed(failed: readonly FailedOutcome[]): Promise<void> {
    const moved = await markFailed(
      this.#db,
      failed.map((outcome) => ({ ...outcome, attemptsJson: JSON.stringify(outcome.attempts) })),
    );
    if (moved.length === 0) return;
    const keys = moved.map((message) => ({ accountId: message.account_id, messageId: message.id }));
    const refunds = await recordRefunds(this.#db, keys, this.#nowMs);
    const amounts = sumByAccount(refunds);
    if (amounts.length > 0) await addToBalances(this.#db, amounts);
    const refundById = new Map(refunds.map(({ messageId, amountMicros }) => [messageId, amountMicros]));
    for (const message of moved) {
      this.#note(message, 'failed');
      this.#usage.add(message.account_id, timeOfId(message.id), 'failed', 1, -(refundById.get(message.id) ?? 0));
    }
    this.#resolved.push(...keys);
  }

  /** What an attempt reported about a message that was settled without it (by an early receipt, or by another process) joins its story. */
  async #appendLate(outcomes: ReadonlyArray<SentOutcome | FailedOutcome>): Promise<void> {
    const late = outcomes.filter((outcome) => !this.#current.has(keyOf(outcome)));
    if (late.length === 0) return;
    await this.#readCurrent(late);
    const additions = late.map((outcome) => {
      const settledId = this.#current.get(keyOf(outcome))?.provider_message_id;
      const attempts = outcome.attempts.map((attempt) =>
        attempt.result === 'accepted' && attempt.provider_message_id !== settledId
          ? { ...attempt, duplicate: true }
          : attempt,
      );
      const attemptsJson = JSON.stringify(attempts);
      const { accountId, messageId } = outcome;
      return { accountId, messageId, attemptsJson, unlessJson: attemptsJson, isOwnReport: true };
    });
    await appendAttempts(this.#db, additions);
  }

  /** Receipts of one message are applied one after the other, in the order they came. */
  async #applyReceipts(receipts: readonly ReceiptOutcome[]): Promise<void> {
    const rounds: ReceiptOutcome[][] = [];
    const seen = new Map<string, number>();
    for (const receipt of receipts) {
      const round = seen.get(keyOf(receipt)) ?? 0;
      seen.set(keyOf(receipt), round + 1);
      (rounds[round] ??= []).push(receipt);
    }
    for (const round of rounds) await this.#applyRound(round.sort(byMessage));
    await this.#readCurrent(receipts.filter((receipt) => !this.#current.has(keyOf(receipt))));
    const known = receipts.filter((receipt) => this.#current.has(keyOf(receipt)));
    // What was redacted stays so: the upstream names the recipient again.
    const kept = known.map((receipt) => (this.#isRedacted(receipt) ? { ...receipt, raw: redacted } : receipt));
    if (kept.length > 0) await insertReceipts(this.#db, kept, this.#deps.ids);
  }

  async #applyRound(round: readonly ReceiptOutcome[]): Promise<void> {
    const final = round.filter(({ state }) => state !== 'sent');
    const stuck = new Set(round.filter(({ state }) => state === 'sent'));
    const moved = await this.#receive(final);
    for (const receipt of final) if (!moved.has(keyOf(receipt))) stuck.add(receipt);
    if (stuck.size > 0) {
      // A receipt that comes before the answer to the send proves that the provider has the message.
      const accepted = await this.#acceptByReceipt([...stuck]);
      await this.#receive(final.filter((receipt) => stuck.has(receipt) && accepted.has(keyOf(receipt))));
    }
    await this.#flagDuplicates(round);
  }

  async #receive(receipts: readonly ReceiptOutcome[]): Promise<Set<string>> {
    if (receipts.length === 0) return new Set();
    const moved = await markReceived(
      this.#db,
      receipts.map((receipt) => ({
        ...receipt,
        state: receipt.state as Exclude<ReceiptOutcome['state'], 'sent'>,
        ...errorOf(receipt),
      })),
    );
    for (const message of moved) {
      const status = message.status as 'delivered' | 'undelivered' | 'failed';
      const before = status === 'delivered' && message.undelivered_at !== null ? 'undelivered' : 'sent';
      const createdMs = timeOfId(message.id);
      this.#note(message, status);
      this.#usage.add(message.account_id, createdMs, before, -1, 0);
      this.#usage.add(message.account_id, createdMs, status, 1, 0);
    }
    return new Set(moved.map(rowKeyOf));
  }

  async #acceptByReceipt(receipts: readonly ReceiptOutcome[]): Promise<Set<string>> {
    const moved = await markSent(
      this.#db,
      receipts.map((receipt) => ({
        ...receipt,
        attemptCount: receipt.attempt + 1,
        attemptsJson: JSON.stringify([
          {
            provider: receipt.provider,
            at: formatTime(receipt.atMs),
            result: 'accepted',
            detail: 'its receipt came before its answer',
            provider_message_id: receipt.providerMessageId,
            early: true,
          } satisfies AttemptRecord,
        ]),
      })),
    );
    this.#noteSent(moved);
    return new Set(moved.map(rowKeyOf));
  }

  /** A receipt of another attempt than the accepted one, its acceptance included: the recipient may have the message twice. */
  async #flagDuplicates(receipts: readonly ReceiptOutcome[]): Promise<void> {
    await this.#readCurrent(receipts.filter((receipt) => !this.#current.has(keyOf(receipt))));
    const duplicates = receipts.filter((receipt) => {
      const message = this.#current.get(keyOf(receipt));
      return message !== undefined && receipt.attempt !== message.attempt_count - 1;
    });
    if (duplicates.length === 0) return;
    const additions = duplicates.map(({ accountId, messageId, provider, providerMessageId, atMs, state }) => {
      const copy = { provider, result: 'accepted', provider_message_id: providerMessageId, duplicate: true } as const;
      const record: AttemptRecord = {
        ...copy,
        at: formatTime(atMs),
        detail: `a receipt of an earlier attempt says ${state}`,
      };
      // Told once, by the first of its receipts.
      const [attemptsJson, unlessJson] = [JSON.stringify([record]), JSON.stringify([copy])];
      return { accountId, messageId, attemptsJson, unlessJson, isOwnReport: false };
    });
    await appendAttempts(this.#db, additions);
  }

  async #recordOptOuts(failed: readonly FailedOutcome[], receipts: readonly ReceiptOutcome[]): Promise<void> {
    const refused = failed.flatMap(({ accountId, optOutRecipient, provider }) =>
      optOutRecipient === null ? [] : [{ accountId, recipient: optOutRecipient, source: provider ?? 'operator' }],
    );
    const reported = receipts.flatMap((receipt) => {
      const message = receipt.optOut ? this.#current.get(keyOf(receipt)) : undefined;
      return message === undefined || message.recipient === redacted
        ? []
        : [{ accountId: receipt.accountId, recipient: message.recipient, source: receipt.provider }];
    });
    const optOuts = [...refused, ...reported];
    if (optOuts.length > 0) await insertSuppressions(this.#db, optOuts, this.#nowMs);
  }

  async #recordProviderRefs(sent: readonly SentOutcome[], receipts: readonly ReceiptOutcome[]): Promise<void> {
    const ofSends = sent.flatMap(({ refs, attemptCount, ...outcome }) =>
      refs.map((providerMessageId) => ({ ...outcome, providerMessageId, attempt: attemptCount - 1 })),
    );
    const ofLate = receipts.flatMap(({ refs, ...receipt }) =>
      refs.map((providerMessageId) => ({
        ...receipt,
        providerMessageId,
        recipient: this.#current.get(keyOf(receipt))?.recipient ?? '',
      })),
    );
    if (ofSends.length + ofLate.length > 0) await insertProviderRefs(this.#db, [...ofSends, ...ofLate]);
  }

  #isRedacted(key: MessageKey): boolean {
    return this.#current.get(keyOf(key))?.recipient === redacted;
  }

  #note(message: MessageRow, status: Change['status']): void {
    this.#current.set(rowKeyOf(message), message);
    this.#changes.push({ message, status });
  }

  async #readCurrent(keys: readonly MessageKey[]): Promise<void> {
    if (keys.length === 0) return;
    const messages = await readMessages(this.#db, keys);
    for (const message of messages.values()) this.#current.set(rowKeyOf(message), message);
  }
}

function errorOf({ state, code }: ReceiptOutcome): { errorCode: MessageErrorCode | null; errorMessage: string | null } {
  const suffix = code === null ? '' : ` (upstream code ${code})`;
  if (state === 'failed') {
    return { errorCode: 'delivery_failed', errorMessage: `The carrier could not deliver the message${suffix}.` };
  }
  if (state === 'undelivered') {
    return {
      errorCode: 'delivery_expired',
      errorMessage: `The message expired before it could be delivered${suffix}.`,
    };
  }
  return { errorCode: null, errorMessage: null };
}
