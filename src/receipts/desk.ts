import type { KeyObject } from 'node:crypto';
import { isConnectionFault, type Pool } from '../db/pool.ts';
import type { Outcome } from '../dispatch/outcome.ts';
import { insertSuppressions } from '../dispatch/receipt-queries.ts';
import type { MessageRow } from '../events/message-view.ts';
import type { Batcher } from '../lib/batcher.ts';
import type { Clock } from '../lib/clock.ts';
import type { IdSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type {
  AsyncOptOut,
  AsyncReceipt,
  LateAcceptance,
  Provider,
  ProviderName,
  Receipt,
} from '../providers/provider.ts';
import { foldParts } from '../providers/smpp/fold-parts.ts';
import {
  deleteUnmatchedReceipt,
  findAccountsOfSender,
  findParkedReceipts,
  findProviderRefs,
  insertUnmatchedReceipt,
  notePartState,
  rescheduleParkedReceipt,
  type ProviderRef,
} from './queries.ts';
import { decodeRef, type Ref } from './ref.ts';

export type ReceiptDeskDeps = {
  pool: Pool;
  clock: Clock;
  ids: IdSource;
  log: Log;
  outcomes: Batcher<Outcome, MessageRow | undefined>;
  refKey: KeyObject;
  metrics: Metrics;
};

/** A receipt may overtake the commit of its send; after these delays together it waits for the operator. */
const retryDelaysMs = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
const parkedMax = 200;

/** Where verified receipts become outcomes: by the ref they carry, or by the upstream's own id where they carry nothing of ours. */
export class ReceiptDesk {
  readonly #deps: ReceiptDeskDeps;

  constructor(deps: ReceiptDeskDeps) {
    this.#deps = deps;
  }

  /** Resolves once the receipt is committed or parked. */
  async settleByRef(provider: ProviderName, receipt: Receipt, urlRef: Ref | undefined, raw: string): Promise<void> {
    this.#deps.metrics.receipt(provider, receipt.state);
    const ref = receipt.ref === undefined ? urlRef : decodeRef(receipt.ref, provider, this.#deps.refKey);
    const isKnown = ref !== undefined && (await this.#settle(provider, receipt, ref, raw)) !== undefined;
    if (isKnown) return;
    await this.#park(
      provider,
      receipt,
      ref === undefined ? 'its reference is not ours' : 'its message is not known',
      raw,
    );
  }

  /** Resolves once the receipt is committed, or parked to be tried again: it may have overtaken the answer to its send. */
  async settleById(provider: ProviderName, receipt: AsyncReceipt): Promise<void> {
    this.#deps.metrics.receipt(provider, receipt.state);
    if (await this.#trySettleById(provider, receipt)) return;
    await this.#park(provider, receipt, 'its id is not known', receipt.raw, receipt);
  }

  /** Listens to an upstream that reports over a connection of ours. */
  listenTo(provider: Provider): void {
    const { reports, name } = provider;
    if (reports === undefined) return;
    reports.onReceipt((receipt) => this.settleById(name, receipt));
    reports.onOptOut((optOut) => this.#recordOptOut(name, optOut));
    reports.onLateAcceptance((acceptance) => void this.#acceptLate(name, acceptance));
  }

  /** Tries parked receipts again whose time has come. */
  async sweepParked(): Promise<'more' | 'done'> {
    const { pool, clock } = this.#deps;
    const parked = await findParkedReceipts(pool, clock.now(), parkedMax);
    for (const { id, provider, receipt, tries } of parked) {
      if (await this.#trySettleById(provider as ProviderName, receipt)) await deleteUnmatchedReceipt(pool, id);
      else {
        const delayMs = retryDelaysMs[tries + 1];
        await rescheduleParkedReceipt(pool, id, delayMs === undefined ? null : clock.now() + delayMs);
      }
    }
    return parked.length === parkedMax ? 'more' : 'done';
  }

  async #trySettleById(provider: ProviderName, receipt: AsyncReceipt): Promise<boolean> {
    const { pool } = this.#deps;
    const known = await findProviderRefs(
      pool,
      provider,
      receipt.candidates.map(({ id }) => id),
    );
    const ref = chooseRef(known, receipt);
    if (ref === undefined) return false;
    const states = await notePartState(pool, provider, ref, receipt.state);
    const whole = { ...receipt, state: states.length > 1 ? foldParts(states) : receipt.state };
    return (await this.#settle(provider, whole, ref, receipt.raw)) !== undefined;
  }

  #settle(provider: ProviderName, receipt: Receipt, ref: Ref, raw: string): Promise<MessageRow | undefined> {
    return this.#deps.outcomes.add({
      kind: 'receipt',
      accountId: ref.accountId,
      messageId: ref.messageId,
      attempt: ref.attempt,
      atMs: this.#deps.clock.now(),
      provider,
      providerMessageId: receipt.providerMessageId,
      refs: [],
      state: receipt.state,
      code: receipt.code ?? null,
      optOut: receipt.optOut ?? false,
      raw,
    });
  }

  async #park(
    provider: ProviderName,
    receipt: Receipt,
    reason: string,
    raw: string,
    retry?: AsyncReceipt,
  ): Promise<void> {
    const { pool, clock, ids } = this.#deps;
    const nowMs = clock.now();
    await insertUnmatchedReceipt(pool, {
      id: ids.next(),
      provider,
      providerMessageId: receipt.providerMessageId,
      reason,
      raw,
      receivedAtMs: nowMs,
      receipt: retry ?? null,
      nextTryAtMs: retry === undefined ? null : nowMs + (retryDelaysMs[0] ?? 0),
    });
  }

  async #recordOptOut(provider: ProviderName, { recipient, sender }: AsyncOptOut): Promise<void> {
    const { pool, clock } = this.#deps;
    const accounts = await findAccountsOfSender(pool, sender, 1_000);
    const optOuts = accounts.map((accountId) => ({ accountId, recipient, source: provider }));
    if (optOuts.length > 0) await insertSuppressions(pool, optOuts, clock.now());
  }

  /** The answer to a send that had been given up: the upstream has the message after all. */
  async #acceptLate(provider: ProviderName, { ref: text, providerMessageId, partIds }: LateAcceptance): Promise<void> {
    const { outcomes, clock, log, refKey } = this.#deps;
    const ref = decodeRef(text, provider, refKey);
    if (ref === undefined) return;
    try {
      await outcomes.add({
        kind: 'receipt',
        ...ref,
        atMs: clock.now(),
        provider,
        providerMessageId,
        refs: partIds ?? [providerMessageId],
        state: 'sent',
        code: null,
        optOut: false,
        raw: 'accepted after the attempt had been given up',
      });
    } catch (error) {
      log.error({ err: error, provider, lost: isConnectionFault(error) }, 'a late acceptance could not be recorded');
    }
  }
}

/** A spelling that is not certain counts only when it alone is known and its message went to the receipt's recipient. */
function chooseRef(known: readonly ProviderRef[], { candidates, recipient }: AsyncReceipt): ProviderRef | undefined {
  for (const { id, certain } of candidates) {
    const ref = known.find(({ providerMessageId }) => providerMessageId === id);
    if (ref === undefined) continue;
    if (certain || (known.length === 1 && ref.recipient === recipient)) return ref;
  }
  return undefined;
}
