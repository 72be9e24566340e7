import type { Db } from '../db/pool.ts';
import { messageColumns, type MessageRow } from '../events/message-view.ts';
import type { MessageKey } from '../messages/queries.ts';
import type { AttemptRecord } from './attempt.ts';

export type SentChange = MessageKey & {
  provider: string;
  providerMessageId: string;
  attemptCount: number;
  atMs: number;
  attemptsJson: string;
};

/**
 * Equality on the whole key, written as a range. Right after a vacuum has found the queue empty, plain equality is planned as a walk over all of
 * the index for each row (10 ms a batch on a queue like this one); this form keeps to the key in every state.
 */
const queueKey = '(q.account_id, q.message_id) BETWEEN (x.account_id, x.message_id) AND (x.account_id, x.message_id)';

function keyColumns(keys: readonly MessageKey[]): [string[], string[]] {
  return [keys.map(({ accountId }) => accountId), keys.map(({ messageId }) => messageId)];
}

/** pending → sent. Returns the messages that moved. */
export async function markSent(db: Db, changes: readonly SentChange[]): Promise<MessageRow[]> {
  const { rows } = await db.query<MessageRow>({
    name: 'mark_sent',
    text: `UPDATE messages m
           SET status = 'sent', provider = x.provider, provider_message_id = x.provider_message_id, attempt_count = x.attempt_count,
             attempts = x.attempts::jsonb, sent_at = to_timestamp(x.at_ms / 1000)
           FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::smallint[], $6::float8[], $7::text[])
             x(account_id, id, provider, provider_message_id, attempt_count, at_ms, attempts)
           WHERE m.account_id = x.account_id AND m.id = x.id AND m.status = 'pending'
           RETURNING ${messageColumns}`,
    values: [
      ...keyColumns(changes),
      changes.map((change) => change.provider),
      changes.map((change) => change.providerMessageId),
      changes.map((change) => change.attemptCount),
      changes.map((change) => change.atMs),
      changes.map((change) => change.attemptsJson),
    ],
  });
  return rows;
}

export type FailedChange = MessageKey & {
  /** The provider that refused; null where none was asked. */
  provider: string | null;
  attemptCount: number;
  atMs: number;
  attemptsJson: string;
  errorCode: string;
  errorMessage: string;
};

/** pending → failed, at no cost. Returns the messages that moved; the refund is the caller's. */
export async function markFailed(db: Db, changes: readonly FailedChange[]): Promise<MessageRow[]> {
  const { rows } = await db.query<MessageRow>({
    name: 'mark_failed',
    text: `UPDATE messages m
           SET status = 'failed', cost_micros = 0, provider = x.provider, attempt_count = x.attempt_count, attempts = x.attempts::jsonb,
             failed_at = to_timestamp(x.at_ms / 1000), error_code = x.error_code, error_message = x.error_message
           FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::smallint[], $5::float8[], $6::text[], $7::text[], $8::text[])
             x(account_id, id, provider, attempt_count, at_ms, attempts, error_code, error_message)
           WHERE m.account_id = x.account_id AND m.id = x.id AND m.status = 'pending'
           RETURNING ${messageColumns}`,
    values: [
      ...keyColumns(changes),
      changes.map((change) => change.provider),
      changes.map((change) => change.attemptCount),
      changes.map((change) => change.atMs),
      changes.map((change) => change.attemptsJson),
      changes.map((change) => change.errorCode),
      changes.map((change) => change.errorMessage),
    ],
  });
  return rows;
}

export type ReceiptChange = MessageKey & {
  /** Which attempt the receipt speaks of, from 0. */
  attempt: number;
  state: 'delivered' | 'undelivered' | 'failed';
  atMs: number;
  errorCode: string | null;
  errorMessage: string | null;
};

/**
 * sent → delivered | undelivered | failed, and undelivered → delivered. Only the attempt that was accepted can make a message fail; a
 * delivery is true whichever attempt made it. Returns the messages that moved.
 */
export async function markReceived(db: Db, changes: readonly ReceiptChange[]): Promise<MessageRow[]> {
  const { rows } = await db.query<MessageRow>({
    name: 'mark_received',
    text: `UPDATE messages m
           SET status = x.state,
             delivered_at = CASE WHEN x.state = 'delivered' THEN to_timestamp(x.at_ms / 1000) END,
             undelivered_at = CASE WHEN x.state = 'undelivered' THEN to_timestamp(x.at_ms / 1000) ELSE m.undelivered_at END,
             failed_at = CASE WHEN x.state = 'failed' THEN to_timestamp(x.at_ms / 1000) END,
             error_code = coalesce(x.error_code, m.error_code), error_message = coalesce(x.error_message, m.error_message)
           FROM unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::text[], $5::float8[], $6::text[], $7::text[])
             x(account_id, id, attempt, state, at_ms, error_code, error_message)
           WHERE m.account_id = x.account_id AND m.id = x.id
             AND (m.status = 'sent' AND (x.state = 'delivered' OR x.attempt = m.attempt_count - 1)
               OR m.status = 'undelivered' AND x.state = 'delivered')
           RETURNING ${messageColumns}`,
    values: [
      ...keyColumns(changes),
      changes.map((change) => change.attempt),
      changes.map((change) => change.state),
      changes.map((change) => change.atMs),
      changes.map((change) => change.errorCode),
      changes.map((change) => change.errorMessage),
    ],
  });
  return rows;
}

export type StoryAddition = MessageKey & {
  attemptsJson: string;
  /** Nothing is added to a story that has this already: reports and receipts come again. */
  unlessJson: string;
  /** The report of the attempts themselves, which takes the place of what an early receipt let us guess. */
  isOwnReport: boolean;
};

/** Adds to the story of messages that are settled already: what a late attempt or receipt had to say. */
export async function appendAttempts(db: Db, additions: readonly StoryAddition[]): Promise<void> {
  await db.query({
    name: 'append_attempts',
    text: `UPDATE messages m
           SET attempts = CASE WHEN x.is_own THEN jsonb_path_query_array(coalesce(m.attempts, '[]'), '$[*] ? (!exists(@.early))')
             ELSE coalesce(m.attempts, '[]') END || x.attempts::jsonb
           FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::boolean[]) x(account_id, id, attempts, unless, is_own)
           WHERE m.account_id = x.account_id AND m.id = x.id AND NOT coalesce(m.attempts, '[]') @> x.unless::jsonb`,
    values: [
      ...keyColumns(additions),
      additions.map(({ attemptsJson }) => attemptsJson),
      additions.map(({ unlessJson }) => unlessJson),
      additions.map(({ isOwnReport }) => isOwnReport),
    ],
  });
}

/** Takes resolved messages off the queue. */
export async function deleteQueueRows(db: Db, keys: readonly MessageKey[]): Promise<void> {
  await db.query({
    name: 'delete_queue_rows',
    text: `DELETE FROM dispatch_queue q USING unnest($1::uuid[], $2::uuid[]) x(account_id, message_id)
           WHERE ${queueKey}`,
    values: keyColumns(keys),
  });
}

export type StartedAttempt = MessageKey & { provider: string; leasedUntilMs: number; heldUntilMs: number };

/**
 * Notes, before they are written to the wire, that attempts start, and renews their leases. Returns the ids of the messages that are still
 * ours to send: not those resolved meanwhile by an early receipt, or taken by a sweeper.
 */
export async function markStarted(db: Db, attempts: readonly StartedAttempt[]): Promise<Set<string>> {
  const { rows } = await db.query<{ message_id: string }>({
    name: 'mark_started',
    text: `UPDATE dispatch_queue q
           SET started = q.started || x.provider, leased_until = to_timestamp(x.leased_until_ms / 1000)
           FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::float8[], $5::float8[])
             x(account_id, message_id, provider, leased_until_ms, held_until_ms)
           WHERE ${queueKey} AND q.leased_until = to_timestamp(x.held_until_ms / 1000)
           RETURNING q.message_id`,
    values: [
      ...keyColumns(attempts),
      attempts.map(({ provider }) => provider),
      attempts.map(({ leasedUntilMs }) => leasedUntilMs),
      attempts.map(({ heldUntilMs }) => heldUntilMs),
    ],
  });
  return new Set(rows.map((row) => row.message_id));
}

export type HandBack = MessageKey & {
  tried: readonly AttemptRecord[];
  started: readonly string[];
  dueAtMs: number;
  heldUntilMs: number;
};

/** Leaves messages to any process's sweeper from `dueAtMs` on, with what is known and what is not of the attempts made so far. */
export async function handBack(db: Db, messages: readonly HandBack[]): Promise<void> {
  await db.query({
    name: 'hand_back',
    text: `UPDATE dispatch_queue q
           SET started = string_to_array(x.started, ','), tried = x.tried::jsonb, leased_until = to_timestamp(x.due_at_ms / 1000)
           FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::float8[], $6::float8[])
             x(account_id, message_id, started, tried, due_at_ms, held_until_ms)
           WHERE ${queueKey} AND q.leased_until = to_timestamp(x.held_until_ms / 1000)`,
    values: [
      ...keyColumns(messages),
      messages.map(({ started }) => started.join(',')),
      messages.map(({ tried }) => (tried.length === 0 ? null : JSON.stringify(tried))),
      messages.map(({ dueAtMs }) => dueAtMs),
      messages.map(({ heldUntilMs }) => heldUntilMs),
    ],
  });
}

export type OrphanKey = MessageKey & { leasedUntil: Date };

/** Pending messages whose lease ran out, in the order of their keys. */
export async function findOrphans(db: Db, nowMs: number, limit: number): Promise<OrphanKey[]> {
  const { rows } = await db.query<OrphanKey>({
    name: 'find_orphans',
    text: `SELECT account_id AS "accountId", message_id AS "messageId", leased_until AS "leasedUntil"
           FROM dispatch_queue
           WHERE leased_until < to_timestamp($1::float8 / 1000)
           ORDER BY account_id, message_id LIMIT $2`,
    values: [nowMs, limit],
  });
  return rows;
}

export type Orphan = {
  message: MessageRow;
  segments: number;
  providers: string[];
  tried: AttemptRecord[] | null;
  started: string[];
};

/** Takes the orphans that are still free, and gives back what dispatching them needs. */
export async function claimOrphans(db: Db, orphans: readonly OrphanKey[], leasedUntilMs: number): Promise<Orphan[]> {
  const { rows } = await db.query<MessageRow & Omit<Orphan, 'message'>>({
    name: 'claim_orphans',
    text: `WITH claimed AS (
             UPDATE dispatch_queue q SET leased_until = to_timestamp($4::float8 / 1000)
             FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) x(account_id, message_id, leased_until)
             WHERE ${queueKey} AND q.leased_until = x.leased_until
             RETURNING q.account_id, q.message_id, q.started, q.tried
           )
           SELECT ${messageColumns}, m.segments, m.providers, c.started, c.tried
           FROM claimed c JOIN messages m ON m.account_id = c.account_id AND m.id = c.message_id`,
    values: [...keyColumns(orphans), orphans.map(({ leasedUntil }) => leasedUntil), leasedUntilMs],
  });
  return rows.map(({ segments, providers, tried, started, ...message }) => ({
    message,
    segments,
    providers,
    tried,
    started,
  }));
}
