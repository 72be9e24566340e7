import type { Db } from '../db/pool.ts';
import type { AsyncReceipt } from '../providers/provider.ts';

export type UnmatchedReceipt = {
  id: string;
  provider: string;
  providerMessageId: string;
  reason: string;
  raw: string;
  receivedAtMs: number;
  /** Set where the receipt is to be tried again: its send may not have been recorded yet. */
  receipt: AsyncReceipt | null;
  nextTryAtMs: number | null;
};

/** Parks a verified receipt whose message is not known. */
export async function insertUnmatchedReceipt(db: Db, receipt: UnmatchedReceipt): Promise<void> {
  await db.query({
    name: 'insert_unmatched_receipt',
    text: `INSERT INTO unmatched_receipts (id, provider, provider_message_id, reason, raw, received_at, receipt, next_try_at)
           VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000), $7, to_timestamp($8::float8 / 1000))`,
    values: [
      receipt.id,
      receipt.provider,
      receipt.providerMessageId,
      receipt.reason,
      receipt.raw,
      receipt.receivedAtMs,
      receipt.receipt === null ? null : JSON.stringify(receipt.receipt),
      receipt.nextTryAtMs,
    ],
  });
}

export type ParkedReceipt = { id: string; provider: string; receipt: AsyncReceipt; tries: number };

/** Parked receipts whose next try has come. */
export async function findParkedReceipts(db: Db, nowMs: number, limit: number): Promise<ParkedReceipt[]> {
  const { rows } = await db.query<ParkedReceipt>({
    name: 'find_parked_receipts',
    text: `SELECT id, provider, receipt, tries FROM unmatched_receipts
           WHERE next_try_at <= to_timestamp($1::float8 / 1000) ORDER BY next_try_at LIMIT $2`,
    values: [nowMs, limit],
  });
  return rows;
}

export async function rescheduleParkedReceipt(db: Db, id: string, nextTryAtMs: number | null): Promise<void> {
  await db.query({
    name: 'reschedule_parked_receipt',
    text: `UPDATE unmatched_receipts SET tries = tries + 1, next_try_at = to_timestamp($2::float8 / 1000) WHERE id = $1`,
    values: [id, nextTryAtMs],
  });
}

export async function deleteUnmatchedReceipt(db: Db, id: string): Promise<void> {
  await db.query({
    name: 'delete_unmatched_receipt',
    text: 'DELETE FROM unmatched_receipts WHERE id = $1',
    values: [id],
  });
}

export type ProviderRef = {
  providerMessageId: string;
  accountId: string;
  messageId: string;
  attempt: number;
  recipient: string;
};

/** What these ids of an upstream mean, as far as they are known. */
export async function findProviderRefs(db: Db, provider: string, ids: readonly string[]): Promise<ProviderRef[]> {
  const { rows } = await db.query<ProviderRef>({
    name: 'find_provider_refs',
    text: `SELECT provider_message_id AS "providerMessageId", account_id AS "accountId", message_id AS "messageId", attempt, recipient
           FROM provider_refs WHERE provider = $1 AND provider_message_id = ANY ($2)`,
    values: [provider, ids],
  });
  return rows;
}

/**
 * Notes what a receipt says of one part, and gives back what is known of all parts of that attempt. A part's final state is not replaced by
 * an intermediate one.
 */
export async function notePartState(
  db: Db,
  provider: string,
  ref: ProviderRef,
  state: AsyncReceipt['state'],
): Promise<Array<AsyncReceipt['state']>> {
  await db.query({
    name: 'note_part_state',
    text: `UPDATE provider_refs SET state = $3 WHERE provider = $1 AND provider_message_id = $2 AND ($3 <> 'sent' OR state = 'sent')`,
    values: [provider, ref.providerMessageId, state],
  });
  const { rows } = await db.query<{ state: AsyncReceipt['state'] }>({
    name: 'read_part_states',
    text: 'SELECT state FROM provider_refs WHERE message_id = $1 AND provider = $2 AND attempt = $3',
    values: [ref.messageId, provider, ref.attempt],
  });
  return rows.map((row) => row.state);
}

/** Accounts that may send from this sender: an opt-out told to it counts for each. */
export async function findAccountsOfSender(db: Db, sender: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>({
    name: 'find_accounts_of_sender',
    text: `SELECT account_id FROM senders WHERE sender_id = ANY ($1) AND status = 'approved' LIMIT $2`,
    values: [[sender, sender.replace(/^\+/, ''), `+${sender.replace(/^\+/, '')}`], limit],
  });
  return rows.map((row) => row.account_id);
}

/** Forgets unmatched receipts older than that id, at most `limit` at once. Returns how many. */
export async function deleteOldUnmatchedReceipts(db: Db, beforeId: string, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    'DELETE FROM unmatched_receipts WHERE id = ANY (ARRAY(SELECT id FROM unmatched_receipts WHERE id < $1 LIMIT $2))',
    [beforeId, limit],
  );
  return rowCount ?? 0;
}

/** Forgets ids of messages older than the upstreams' receipts can be, at most `limit` at once. */
export async function deleteOldProviderRefs(db: Db, beforeMessageId: string, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM provider_refs WHERE ctid = ANY (ARRAY(SELECT ctid FROM provider_refs WHERE message_id < $1 LIMIT $2))`,
    [beforeMessageId, limit],
  );
  return rowCount ?? 0;
}
