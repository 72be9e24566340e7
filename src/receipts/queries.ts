import type { Db } from '../db/pool.ts';

export type UnmatchedReceipt = {
  id: string;
  provider: string;
  providerMessageId: string;
  reason: string;
  raw: string;
  receivedAtMs: number;
};

/** Parks a verified receipt whose message is not known, for the operator. */
export async function insertUnmatchedReceipt(db: Db, receipt: UnmatchedReceipt): Promise<void> {
  await db.query({
    name: 'insert_unmatched_receipt',
    text: `INSERT INTO unmatched_receipts (id, provider, provider_message_id, reason, raw, received_at)
           VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000))`,
    values: [
      receipt.id,
      receipt.provider,
      receipt.providerMessageId,
      receipt.reason,
      receipt.raw,
      receipt.receivedAtMs,
    ],
  });
}
