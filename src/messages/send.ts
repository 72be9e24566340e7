import { limitExceeded } from '../accounts/key-usage.ts';
import type { Pool } from '../db/pool.ts';
import { showMessage, type MessageRow } from '../events/message-view.ts';
import { readMessages } from '../events/read.ts';
import type { Batcher } from '../lib/batcher.ts';
import { ApiError, type ErrorCode, type ErrorType } from '../lib/errors.ts';
import { toPublicId } from '../lib/ids.ts';
import type { ProviderName } from '../providers/provider.ts';
import type { Acceptance, AcceptedMessage } from './accept.ts';
import type { Answer } from './answers.ts';
import type { AcceptRequest } from './draft.ts';

/** What is handed to the dispatcher: the message as accepted, and what is known of its lease. */
export type Job = {
  message: MessageRow;
  segments: number;
  providers: readonly ProviderName[];
  started: readonly ProviderName[];
  ownsLastStarted: boolean;
  leasedUntilMs: number;
};

/** Resolves to the message once its outcome is committed; to the message as it was when that is not so within `withinMs`. */
export type Dispatch = (job: Job, lane: 'single' | 'bulk', withinMs: number) => Promise<MessageRow>;

export type SendDeps = {
  pool: Pool;
  /** Two lanes from the start: a bulk's large transaction does not hold up single sends. */
  accept: Record<'single' | 'bulk', Batcher<AcceptRequest, Acceptance>>;
  dispatch: Dispatch;
  /** How long a caller waits for the outcome before the answer is `pending`. */
  answerWithinMs: number;
};

export type Call = Omit<AcceptRequest, 'startsAtOnce'>;

/** The error of a call that was refused as a whole. */
function refusalOf(acceptance: Extract<Acceptance, { kind: 'not_covered' | 'over_limit' }>): ApiError {
  if (acceptance.kind === 'over_limit') return limitExceeded(acceptance.overrun);
  return new ApiError('insufficient_balance', 'The balance does not cover this message. Top up the account.');
}

/** Accepts and dispatches one message, and answers when its outcome is committed or the wait is over. */
export async function sendOne(call: Call, deps: SendDeps): Promise<Answer | 'repeated'> {
  const acceptance = await deps.accept.single.add({ ...call, startsAtOnce: true });
  if (acceptance.kind === 'repeated') return 'repeated';
  if (acceptance.kind !== 'accepted') throw refusalOf(acceptance);
  const rows = await dispatchAll(acceptance, 'single', deps);
  return tellOne(rows[0]);
}

/** Accepts a bulk as a whole and dispatches its messages; what is unresolved when the wait is over is `pending` in the answer. */
export async function sendBulk(call: Call, deps: SendDeps): Promise<Answer | 'repeated'> {
  const acceptance = await deps.accept.bulk.add({ ...call, startsAtOnce: false });
  if (acceptance.kind === 'repeated') return 'repeated';
  if (acceptance.kind !== 'accepted') throw refusalOf(acceptance);
  return tellBulk(await dispatchAll(acceptance, 'bulk', deps));
}

async function dispatchAll(
  { messages, leasedUntilMs }: Extract<Acceptance, { kind: 'accepted' }>,
  lane: 'single' | 'bulk',
  { dispatch, answerWithinMs }: SendDeps,
): Promise<MessageRow[]> {
  const rows = messages.map(({ message }) => message);
  const running = messages.map(async (accepted, index) => {
    if (accepted.message.status !== 'pending') return;
    rows[index] = await dispatch(toJob(accepted, lane, leasedUntilMs), lane, answerWithinMs);
  });
  await settledWithin(answerWithinMs, Promise.all(running));
  return [...rows];
}

function toJob({ message, segments, providers }: AcceptedMessage, lane: 'single' | 'bulk', leasedUntilMs: number): Job {
  const started = lane === 'single' ? providers.slice(0, 1) : [];
  return { message, segments, providers, started, ownsLastStarted: started.length > 0, leasedUntilMs };
}

/** Waits for `work`, but no longer than `ms`. */
async function settledWithin(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}

const upstreamRefusals = new Set<string>([
  'invalid_recipient',
  'invalid_sender',
  'content_rejected',
  'recipient_blocked',
]);

/** The answer of a single send: 201 with the message, or the error it failed with. A failed message is stored all the same. */
export function tellOne(row: MessageRow | undefined): Answer {
  if (row === undefined) throw new ApiError('not_found', 'The message of this request is not kept any more.');
  if (row.status !== 'failed' || row.sent_at !== null) {
    return { status: 201, body: { success: true, data: showMessage(row) } };
  }
  const code = (row.error_code ?? 'internal_error') as ErrorCode;
  const type: { type?: ErrorType } =
    row.provider !== null && upstreamRefusals.has(code) ? { type: 'provider_error' } : {};
  const error = new ApiError(code, row.error_message ?? 'The message could not be sent.', {
    ...type,
    ...(code === 'invalid_recipient' || code === 'recipient_blocked' ? { param: 'to' } : {}),
    ...(code === 'invalid_sender' ? { param: 'from' } : {}),
    ...(code === 'content_rejected' ? { param: 'body' } : {}),
    details: { message_id: toPublicId('msg', row.id) },
  });
  const { message, param, details } = error;
  return { status: error.status, body: { success: false, error: { type: error.type, code, message, param, details } } };
}

/** The answer of a bulk, items in the order of the request (spec: Bulk result). */
export function tellBulk(rows: readonly MessageRow[]): Answer {
  const count = (...statuses: string[]): number => rows.filter(({ status }) => statuses.includes(status)).length;
  const data = {
    object: 'bulk_result' as const,
    total: rows.length,
    sent: count('sent', 'delivered'),
    failed: count('failed', 'undelivered'),
    messages: rows.map((row) => showMessage(row)),
  };
  return { status: 201, body: { success: true, data } };
}

/** Messages by id in the order asked for, as far as they are still kept. */
export async function readInOrder(pool: Pool, accountId: string, messageIds: readonly string[]): Promise<MessageRow[]> {
  const rows = await readMessages(
    pool,
    messageIds.map((messageId) => ({ accountId, messageId })),
  );
  return messageIds.flatMap((id) => rows.get(id) ?? []);
}
