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

export type NewProviderRef = {
  provider: string;
  providerMessageId: string;
  accountId: string;
  messageId: string;
  attempt: number;
  recipient: string;
};

/** Remembers what upstreams' ids mean. An id that an upstream has used before means its newest message. */
export async function insertProviderRefs(db: Db, refs: readonly NewProviderRef[]): Promise<void> {
  // The same id twice in one statement would fail it; the last one counts.
  const distinct = [...new Map(refs.map((ref) => [`${ref.provider} ${ref.providerMessageId}`, ref])).values()];
  await db.query({
    name: 'insert_provider_refs',
    text: `INSERT INTO provider_refs AS r (provider, provider_message_id, account_id, message_id, attempt, recipient)
           SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::uuid[], $5::smallint[], $6::text[])
           ON CONFLICT (provider, provider_message_id) DO UPDATE
           SET account_id = excluded.account_id, message_id = excluded.message_id, attempt = excluded.attempt,
             recipient = excluded.recipient, state = 'sent'
           WHERE r.message_id <> excluded.message_id OR r.attempt <> excluded.attempt`,
    values: [
      distinct.map(({ provider }) => provider),
      distinct.map(({ providerMessageId }) => providerMessageId),
      distinct.map(({ accountId }) => accountId),
      distinct.map(({ messageId }) => messageId),
      distinct.map(({ attempt }) => attempt),
      distinct.map(({ recipient }) => recipient),
    ],
  });
}
