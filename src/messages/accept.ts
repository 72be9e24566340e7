import { countCalls, uncountCalls, type Overrun } from '../accounts/key-usage.ts';
import { addUsage, UsageChanges } from '../accounts/usage-queries.ts';
import type { Db, Pool } from '../db/pool.ts';
import { isConnectionFault } from '../db/pool.ts';
import { transaction, type CommitWith } from '../db/tx.ts';
import type { MessageRow } from '../events/message-view.ts';
import { lockBalance, recordCharges, sumByAccount, takeFromBalances } from '../ledger/ledger.ts';
import { Batcher } from '../lib/batcher.ts';
import type { Clock } from '../lib/clock.ts';
import { timeOfId, type IdSource } from '../lib/ids.ts';
import { announce, type FreshDelivery } from '../webhooks/announce.ts';
import type { ProviderName } from '../providers/provider.ts';
import type { AcceptRequest, Draft, Fault } from './draft.ts';
import { claimKeys, releaseKey } from './idempotency.ts';
import { findSuppressed, insertMessages, insertQueueRows } from './queries.ts';

/** A message this process has just accepted and, unless it failed at once, must now dispatch. */
export type AcceptedMessage = { message: MessageRow; segments: number; providers: readonly ProviderName[] };

export type Acceptance =
  | { kind: 'accepted'; messages: AcceptedMessage[]; leasedUntilMs: number }
  /** The balance does not cover even one message; nothing was stored. */
  | { kind: 'not_covered' }
  /** The key's daily or monthly limit has too little left for all of it; nothing was stored. */
  | { kind: 'over_limit'; overrun: Overrun }
  /** The idempotency key has been used before; nothing was stored. */
  | { kind: 'repeated' };

export type AcceptDeps = {
  pool: Pool;
  clock: Clock;
  ids: IdSource;
  /** How long a message accepted here is ours to dispatch before any process's sweeper may take it. */
  dispatchLeaseMs: number;
  /** Called after the commit with the deliveries of messages that failed at once. */
  onDeliveries: (deliveries: FreshDelivery[]) => void;
  onBatch?: (size: number) => void;
};

/** A draft with its final verdict: what it costs, and why it fails at once if it does. */
type Verdict = { draft: Draft; costMicros: number; fault: Fault | null };

const blocked: Fault = {
  code: 'recipient_blocked',
  message: 'The recipient has opted out of messages from this account.',
};
const notCovered: Fault = {
  code: 'insufficient_balance',
  message: 'The balance does not cover this message. Top up the account.',
};

/**
 * Turns requests into stored messages: within the key's limits? → suppressed? → reserve money → persist with a dispatch lease, in one
 * transaction for all requests that arrive while the one before is being committed.
 */
export function createAccept(deps: AcceptDeps): Batcher<AcceptRequest, Acceptance> {
  return new Batcher<AcceptRequest, Acceptance>({
    run: async (requests) => {
      const { acceptances, deliveries } = await transaction(deps.pool, (db, commit) =>
        acceptAll(db, commit, requests, deps),
      );
      deps.onDeliveries(deliveries);
      return acceptances;
    },
    maxWeight: 1_024,
    weightOf: ({ drafts }) => drafts.length,
    maxWaiting: 4_096,
    isSharedFault: isConnectionFault,
    onBatch: deps.onBatch,
  });
}

async function acceptAll(
  db: Db,
  commitWith: CommitWith,
  requests: readonly AcceptRequest[],
  { clock, ids, dispatchLeaseMs }: AcceptDeps,
): Promise<{ acceptances: Acceptance[]; deliveries: FreshDelivery[] }> {
  const nowMs = clock.now();
  const leasedUntilMs = nowMs + dispatchLeaseMs;
  const repeated = await findRepeated(db, requests, nowMs);
  const fresh = requests.filter((request) => !repeated.has(request));
  const overruns = await countCalls(db, fresh, nowMs);
  const within = fresh.filter((request) => !overruns.has(request));
  const verdicts = await reserveMoney(db, await judgeRecipients(db, within));

  const acceptances: Acceptance[] = [];
  const uncovered: AcceptRequest[] = [];
  const accepted: Array<{ request: AcceptRequest; verdict: Verdict; message: MessageRow }> = [];
  for (const request of requests) {
    const own = verdicts.get(request);
    const overrun = overruns.get(request);
    if (overrun !== undefined) {
      acceptances.push({ kind: 'over_limit', overrun });
    } else if (own === undefined) {
      acceptances.push({ kind: 'repeated' });
    } else if (own.every(({ fault }) => fault !== null) && own.some(({ fault }) => fault === notCovered)) {
      uncovered.push(request);
      acceptances.push({ kind: 'not_covered' });
    } else {
      const rows = own.map((verdict) => ({ request, verdict, message: toRow(request, verdict, nowMs) }));
      accepted.push(...rows);
      acceptances.push({
        kind: 'accepted',
        leasedUntilMs,
        messages: rows.map(({ verdict, message }) => ({
          message,
          segments: verdict.draft.segments,
          providers: verdict.draft.providers,
        })),
      });
    }
  }
  await uncountCalls(db, uncovered, nowMs);
  for (const { accountId, idempotency } of [...overruns.keys(), ...uncovered]) {
    if (idempotency !== null) await releaseKey(db, accountId, idempotency.key);
  }
  if (accepted.length === 0) return { acceptances, deliveries: [] };
  const deliveries = await persist(db, commitWith, accepted, { ids, nowMs, leasedUntilMs });
  return { acceptances, deliveries };
}

async function findRepeated(db: Db, requests: readonly AcceptRequest[], nowMs: number): Promise<Set<AcceptRequest>> {
  const claims = requests.flatMap(({ accountId, idempotency, drafts }) =>
    idempotency === null ? [] : [{ accountId, ...idempotency, messageIds: drafts.map(({ id }) => id) }],
  );
  if (claims.length === 0) return new Set();
  const claimed = await claimKeys(db, claims, nowMs);
  return new Set(
    requests.filter(
      ({ accountId, idempotency }) => idempotency !== null && !claimed.has(`${accountId} ${idempotency.key}`),
    ),
  );
}

/** A suppressed recipient fails the message at no cost. */
async function judgeRecipients(db: Db, requests: readonly AcceptRequest[]): Promise<Map<AcceptRequest, Verdict[]>> {
  const recipients = requests.flatMap(({ accountId, drafts }) =>
    drafts.filter(({ fault }) => fault === null).map(({ recipient }) => ({ accountId, recipient })),
  );
  const suppressed = recipients.length === 0 ? new Set<string>() : await findSuppressed(db, recipients);
  return new Map(
    requests.map((request) => [
      request,
      request.drafts.map((draft) => {
        const fault = draft.fault ?? (suppressed.has(`${request.accountId} ${draft.recipient}`) ? blocked : null);
        return { draft, fault, costMicros: fault === null ? draft.costMicros : 0 };
      }),
    ]),
  );
}

/** Takes what the messages cost. Where a balance does not cover all, messages are paid for in order until it no longer covers one. */
async function reserveMoney(db: Db, verdicts: Map<AcceptRequest, Verdict[]>): Promise<Map<AcceptRequest, Verdict[]>> {
  const amounts = sumByAccount(
    [...verdicts].flatMap(([{ accountId }, own]) =>
      own.map(({ costMicros }) => ({ accountId, amountMicros: costMicros })),
    ),
  );
  if (amounts.length === 0) return verdicts;
  const paid = await takeFromBalances(db, amounts);
  for (const { accountId } of amounts) {
    if (paid.has(accountId)) continue;
    let balance = await lockBalance(db, accountId);
    let taken = 0;
    for (const [request, own] of verdicts) {
      if (request.accountId !== accountId) continue;
      const covered = own.map((verdict) => {
        if (verdict.costMicros > balance) return { ...verdict, costMicros: 0, fault: notCovered };
        balance -= verdict.costMicros;
        taken += verdict.costMicros;
        return verdict;
      });
      verdicts.set(request, covered);
    }
    if (taken > 0) await takeFromBalances(db, [{ accountId, amountMicros: taken }]);
  }
  return verdicts;
}

function toRow(request: AcceptRequest, { draft, costMicros, fault }: Verdict, nowMs: number): MessageRow {
  return {
    account_id: request.accountId,
    id: draft.id,
    recipient: draft.recipient,
    sender: draft.sender,
    body: draft.body,
    reference: draft.reference,
    cost_micros: costMicros,
    currency: request.currency,
    status: fault === null ? 'pending' : 'failed',
    provider: null,
    provider_message_id: null,
    attempt_count: 0,
    error_code: fault?.code ?? null,
    error_message: fault?.message ?? null,
    sent_at: null,
    delivered_at: null,
    undelivered_at: null,
    failed_at: fault === null ? null : new Date(nowMs),
  };
}

/** None of these statements needs another's result: they leave together, and the commit with them. */
async function persist(
  db: Db,
  commitWith: CommitWith,
  accepted: ReadonlyArray<{ request: AcceptRequest; verdict: Verdict; message: MessageRow }>,
  { ids, nowMs, leasedUntilMs }: { ids: IdSource; nowMs: number; leasedUntilMs: number },
): Promise<FreshDelivery[]> {
  const rows = accepted.map(({ verdict: { draft, costMicros, fault }, request }) => ({
    ...draft,
    accountId: request.accountId,
    currency: request.currency,
    costMicros,
    errorCode: fault?.code ?? null,
    errorMessage: fault?.message ?? null,
  }));
  const pending = accepted.filter(({ verdict }) => verdict.fault === null);
  const queued = pending.map(({ request, verdict: { draft } }) => ({
    accountId: request.accountId,
    messageId: draft.id,
    started: request.startsAtOnce ? (draft.providers[0] ?? null) : null,
  }));
  const charges = pending
    .filter(({ verdict }) => verdict.costMicros > 0)
    .map(({ request, verdict: { draft, costMicros } }) => ({
      accountId: request.accountId,
      messageId: draft.id,
      costMicros,
    }));
  const failed = accepted
    .filter(({ verdict }) => verdict.fault !== null)
    .map(({ message }) => ({ message, status: 'failed' as const }));
  const usage = new UsageChanges();
  for (const { message } of accepted) {
    const createdMs = timeOfId(message.id);
    usage.add(message.account_id, createdMs, 'accepted', 1, message.cost_micros);
    if (message.status === 'failed') usage.add(message.account_id, createdMs, 'failed', 1, 0);
  }
  const [deliveries] = await commitWith([
    announce(db, failed, ids, nowMs),
    insertMessages(db, rows, nowMs),
    queued.length === 0 ? undefined : insertQueueRows(db, queued, leasedUntilMs),
    charges.length === 0 ? undefined : recordCharges(db, charges, nowMs),
    addUsage(db, usage),
  ]);
  return deliveries;
}
