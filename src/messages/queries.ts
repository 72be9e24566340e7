import type { Db } from '../db/pool.ts';

export type MessageKey = { accountId: string; messageId: string };

/** Which of these recipients have opted out, as `accountId recipient`. */
export async function findSuppressed(
  db: Db,
  recipients: ReadonlyArray<{ accountId: string; recipient: string }>,
): Promise<Set<string>> {
  const { rows } = await db.query<{ account_id: string; recipient: string }>({
    name: 'find_suppressed',
    text: `SELECT s.account_id, s.recipient
           FROM unnest($1::uuid[], $2::text[]) x(account_id, recipient)
           JOIN suppressions s ON s.account_id = x.account_id AND s.recipient = x.recipient`,
    values: [recipients.map(({ accountId }) => accountId), recipients.map(({ recipient }) => recipient)],
  });
  return new Set(rows.map((row) => `${row.account_id} ${row.recipient}`));
}

export type NewMessage = {
  accountId: string;
  id: string;
  recipient: string;
  sender: string;
  body: string;
  reference: string | null;
  segments: number;
  costMicros: number;
  currency: string;
  routeId: number | null;
  providers: readonly string[];
  /** Set for a message that fails at once. */
  errorCode: string | null;
  errorMessage: string | null;
};

export async function insertMessages(db: Db, messages: readonly NewMessage[], atMs: number): Promise<void> {
  await db.query({
    name: 'insert_messages',
    text: `INSERT INTO messages (account_id, id, recipient, sender, body, reference, segments, cost_micros, currency, route_id, providers,
             status, error_code, error_message, failed_at)
           SELECT x.account_id, x.id, x.recipient, x.sender, x.body, x.reference, x.segments, x.cost, x.currency, x.route_id,
             string_to_array(x.providers, ','), CASE WHEN x.error_code IS NULL THEN 'pending' ELSE 'failed' END,
             x.error_code, x.error_message, CASE WHEN x.error_code IS NOT NULL THEN to_timestamp($14::float8 / 1000) END
           FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::smallint[], $8::bigint[], $9::text[],
             $10::integer[], $11::text[], $12::text[], $13::text[])
             x(account_id, id, recipient, sender, body, reference, segments, cost, currency, route_id, providers, error_code, error_message)`,
    values: [
      messages.map((message) => message.accountId),
      messages.map((message) => message.id),
      messages.map((message) => message.recipient),
      messages.map((message) => message.sender),
      messages.map((message) => message.body),
      messages.map((message) => message.reference),
      messages.map((message) => message.segments),
      messages.map((message) => message.costMicros),
      messages.map((message) => message.currency),
      messages.map((message) => message.routeId),
      messages.map((message) => message.providers.join(',')),
      messages.map((message) => message.errorCode),
      messages.map((message) => message.errorMessage),
      atMs,
    ],
  });
}

/** Puts pending messages on the dispatch queue, leased to this process. `started` names the provider about to be called, if any. */
export async function insertQueueRows(
  db: Db,
  rows: ReadonlyArray<{ accountId: string; messageId: string; started: string | null }>,
  leasedUntilMs: number,
): Promise<void> {
  await db.query({
    name: 'insert_queue_rows',
    text: `INSERT INTO dispatch_queue (account_id, message_id, leased_until, started)
           SELECT x.account_id, x.message_id, to_timestamp($4::float8 / 1000), array_remove(ARRAY[x.started], NULL)
           FROM unnest($1::uuid[], $2::uuid[], $3::text[]) x(account_id, message_id, started)`,
    values: [
      rows.map(({ accountId }) => accountId),
      rows.map(({ messageId }) => messageId),
      rows.map(({ started }) => started),
      leasedUntilMs,
    ],
  });
}
