import type { Db } from '../db/pool.ts';
import type { Receipt } from '../providers/provider.ts';

/** A receipt as it came. */
export type KeptReceipt = {
  id: string;
  attempt: number;
  provider: string;
  providerMessageId: string;
  state: Receipt['state'];
  code: string | null;
  raw: string;
};

/** What upstreams reported about a message, in the order it came. */
export async function readReceiptsOf(
  db: Db,
  key: { accountId: string; messageId: string },
  limit: number,
): Promise<KeptReceipt[]> {
  const { rows } = await db.query<KeptReceipt>({
    name: 'read_receipts_of_message',
    // No receipt is older than its message: earlier partitions are left out.
    text: `SELECT id, attempt, provider, provider_message_id AS "providerMessageId", state, code, raw
           FROM receipts WHERE account_id = $1 AND message_id = $2 AND id >= $2 ORDER BY id LIMIT $3`,
    values: [key.accountId, key.messageId, limit],
  });
  return rows;
}

export type UnmatchedReceiptRow = {
  id: string;
  provider: string;
  providerMessageId: string;
  reason: string;
  raw: string;
  receivedAt: Date;
  tries: number;
  nextTryAt: Date | null;
};

/** Receipts whose message is not known, newest first, from before one of them on. */
export async function listUnmatchedReceipts(
  db: Db,
  { before, limit }: { before: string; limit: number },
): Promise<UnmatchedReceiptRow[]> {
  const { rows } = await db.query<UnmatchedReceiptRow>({
    name: 'list_unmatched_receipts',
    text: `SELECT id, provider, provider_message_id AS "providerMessageId", reason, raw, received_at AS "receivedAt", tries,
             next_try_at AS "nextTryAt"
           FROM unmatched_receipts WHERE id < $1 ORDER BY id DESC LIMIT $2`,
    values: [before, limit],
  });
  return rows;
}
