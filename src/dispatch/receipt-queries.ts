import type { Db } from '../db/pool.ts';
import type { IdSource } from '../lib/ids.ts';
import type { ReceiptOutcome } from './outcome.ts';

/** Keeps receipts as they came, for the message's story. */
export async function insertReceipts(db: Db, receipts: readonly ReceiptOutcome[], ids: IdSource): Promise<void> {
  await db.query({
    name: 'insert_receipts',
    text: `INSERT INTO receipts (account_id, id, message_id, attempt, provider, provider_message_id, state, code, raw)
           SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])`,
    values: [
      receipts.map(({ accountId }) => accountId),
      receipts.map(() => ids.next()),
      receipts.map(({ messageId }) => messageId),
      receipts.map(({ attempt }) => attempt),
      receipts.map(({ provider }) => provider),
      receipts.map(({ providerMessageId }) => providerMessageId),
      receipts.map(({ state }) => state),
      receipts.map(({ code }) => code),
      receipts.map(({ raw }) => raw),
    ],
  });
}

/** Recipients who told an upstream that they want no more messages. */
export async function insertSuppressions(
  db: Db,
  optOuts: ReadonlyArray<{ accountId: string; recipient: string; source: string }>,
  atMs: number,
): Promise<void> {
  await db.query({
    name: 'insert_suppressions',
    text: `INSERT INTO suppressions (account_id, recipient, source, created_at)
           SELECT x.account_id, x.recipient, x.source, to_timestamp($4::float8 / 1000)
           FROM unnest($1::uuid[], $2::text[], $3::text[]) x(account_id, recipient, source)
           ON CONFLICT (account_id, recipient) DO NOTHING`,
    values: [
      optOuts.map(({ accountId }) => accountId),
      optOuts.map(({ recipient }) => recipient),
      optOuts.map(({ source }) => source),
      atMs,
    ],
  });
}
