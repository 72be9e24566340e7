import type { Db } from '../db/pool.ts';
import { messageColumns, type MessageRow } from '../events/message-view.ts';
import { redacted } from '../events/redacted.ts';

type MessageKey = { accountId: string; messageId: string };
export type EventKey = { accountId: string; eventId: string };

function keyColumns(keys: readonly MessageKey[]): [string[], string[]] {
  return [keys.map(({ accountId }) => accountId), keys.map(({ messageId }) => messageId)];
}

/** Messages to these recipients, whoever sent them, but for those that are still being sent: they need their number. */
export async function findMessagesTo(db: Db, recipients: readonly string[], limit: number): Promise<MessageRow[]> {
  const { rows } = await db.query<MessageRow>({
    name: 'find_messages_to_redact',
    text: `SELECT ${messageColumns} FROM messages m WHERE m.recipient = ANY ($1) AND m.status <> 'pending' LIMIT $2`,
    values: [recipients, limit],
  });
  return rows;
}

export async function countPendingTo(db: Db, recipients: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count_pending_to_redact',
    text: `SELECT count(*) FROM messages WHERE recipient = ANY ($1) AND status = 'pending'`,
    values: [recipients],
  });
  return rows[0]?.count ?? 0;
}

/** What upstreams wrote about attempts may quote the number. */
export async function redactMessages(db: Db, keys: readonly MessageKey[]): Promise<void> {
  await db.query({
    name: 'redact_messages',
    text: `UPDATE messages m
           SET recipient = '${redacted}', body = '${redacted}', reference = NULL,
             attempts = (SELECT jsonb_agg(a - 'detail' ORDER BY place) FROM jsonb_array_elements(m.attempts) WITH ORDINALITY e(a, place))
           FROM unnest($1::uuid[], $2::uuid[]) x(account_id, id)
           WHERE m.account_id = x.account_id AND m.id = x.id`,
    values: keyColumns(keys),
  });
}

/** Raw receipts of these messages. Returns how many there were. */
export async function redactReceipts(db: Db, keys: readonly MessageKey[]): Promise<number> {
  const { rowCount } = await db.query({
    name: 'redact_receipts',
    // No receipt is older than its message: earlier partitions are left out.
    text: `UPDATE receipts r SET raw = '${redacted}'
           FROM unnest($1::uuid[], $2::uuid[]) x(account_id, message_id)
           WHERE r.account_id = x.account_id AND r.message_id = x.message_id AND r.id >= x.message_id`,
    values: keyColumns(keys),
  });
  return rowCount ?? 0;
}

/** What receivers of webhooks answered may repeat the event. Returns how many deliveries had an answer. */
export async function redactDeliveries(db: Db, events: readonly EventKey[]): Promise<number> {
  const { rowCount } = await db.query({
    name: 'redact_deliveries',
    text: `UPDATE deliveries d
           SET attempts = (
             SELECT jsonb_agg(CASE WHEN a->>'answer' <> '' THEN a || '{"answer": "${redacted}"}' ELSE a END ORDER BY place)
             FROM jsonb_array_elements(d.attempts) WITH ORDINALITY e(a, place))
           FROM unnest($1::uuid[], $2::uuid[]) x(account_id, event_id)
           WHERE d.account_id = x.account_id AND d.event_id = x.event_id
             AND jsonb_path_exists(d.attempts, '$[*] ? (@.answer != "" && @.answer != null && @.answer != "${redacted}")')`,
    values: [events.map(({ accountId }) => accountId), events.map(({ eventId }) => eventId)],
  });
  return rowCount ?? 0;
}

export async function redactProviderRefs(db: Db, keys: readonly MessageKey[]): Promise<void> {
  await db.query({
    name: 'redact_provider_refs',
    text: `UPDATE provider_refs SET recipient = '${redacted}' WHERE message_id = ANY ($1)`,
    values: [keys.map(({ messageId }) => messageId)],
  });
}

export type StoredAnswer = { accountId: string; key: string; answer: string };

/** Answers kept for repeats of the requests that became these messages. Walks the keys of their accounts, which are a day's. */
export async function findAnswersWith(db: Db, keys: readonly MessageKey[]): Promise<StoredAnswer[]> {
  const [accountIds, messageIds] = keyColumns(keys);
  const { rows } = await db.query<StoredAnswer>({
    name: 'find_answers_to_redact',
    text: `SELECT account_id AS "accountId", key, answer FROM idempotency_keys
           WHERE account_id = ANY ($1) AND message_ids && $2::uuid[] AND answer IS NOT NULL`,
    values: [[...new Set(accountIds)], messageIds],
  });
  return rows;
}

/** Puts other texts in the place of stored answers that are still what they were. */
export async function replaceAnswers(
  db: Db,
  answers: ReadonlyArray<StoredAnswer & { replacement: string }>,
): Promise<void> {
  await db.query({
    name: 'replace_answers',
    text: `UPDATE idempotency_keys k SET answer = x.replacement
           FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) x(account_id, key, answer, replacement)
           WHERE k.account_id = x.account_id AND k.key = x.key AND k.answer = x.answer`,
    values: [
      answers.map(({ accountId }) => accountId),
      answers.map(({ key }) => key),
      answers.map(({ answer }) => answer),
      answers.map(({ replacement }) => replacement),
    ],
  });
}

/**
 * Redacts, of the next `limit` unmatched receipts after `afterId`, those that hold `pattern`; they are not tried again. `lastId` is where to
 * go on, null where there are no more.
 */
export async function redactUnmatchedReceipts(
  db: Db,
  pattern: string,
  afterId: string,
  limit: number,
): Promise<{ redacted: number; lastId: string | null }> {
  const { rows } = await db.query<{ redacted: number; lastId: string | null }>({
    name: 'redact_unmatched_receipts',
    text: `WITH page AS (
             SELECT id, raw ~ $1 OR receipt::text ~ $1 AS holds FROM unmatched_receipts WHERE id > $2 ORDER BY id LIMIT $3
           ), changed AS (
             UPDATE unmatched_receipts u SET raw = '${redacted}', receipt = NULL, next_try_at = NULL
             FROM page WHERE u.id = page.id AND page.holds RETURNING u.id
           )
           SELECT (SELECT count(*) FROM changed) AS redacted, (SELECT id FROM page ORDER BY id OFFSET $3 - 1) AS "lastId"`,
    values: [pattern, afterId, limit],
  });
  return rows[0] ?? { redacted: 0, lastId: null };
}
