import type { Db } from '../db/pool.ts';

/** Messages of one key in one UTC period, which begins at `startMs`. */
export type KeyUsage = { accountId: string; keyId: string; period: 'day' | 'month'; startMs: number; messages: number };

/** What `addKeyUsage` names a row's total by. */
export function usageName({ accountId, keyId, period }: Pick<KeyUsage, 'accountId' | 'keyId' | 'period'>): string {
  return `${accountId} ${keyId} ${period}`;
}

function columnsOf(rows: readonly KeyUsage[]): unknown[][] {
  return [
    rows.map((row) => row.accountId),
    rows.map((row) => row.keyId),
    rows.map((row) => row.period),
    rows.map((row) => row.startMs),
    rows.map((row) => row.messages),
  ];
}

/** Adds to the counts, locks them until the transaction ends, and gives back what each has come to. */
export async function addKeyUsage(db: Db, added: readonly KeyUsage[]): Promise<Map<string, number>> {
  const { rows } = await db.query<Pick<KeyUsage, 'accountId' | 'keyId' | 'period' | 'messages'>>({
    name: 'add_key_usage',
    text: `INSERT INTO key_usage AS u (account_id, key_id, period, starts_on, messages)
           SELECT x.account_id, x.key_id, x.period, (to_timestamp(x.start_ms / 1000) AT TIME ZONE 'UTC')::date, x.messages
           FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::float8[], $5::bigint[])
             x(account_id, key_id, period, start_ms, messages)
           ON CONFLICT (account_id, key_id, period, starts_on) DO UPDATE SET messages = u.messages + excluded.messages
           RETURNING u.account_id AS "accountId", u.key_id AS "keyId", u.period, u.messages`,
    values: columnsOf(added),
  });
  return new Map(rows.map((row) => [usageName(row), row.messages]));
}

/** Takes back what this transaction has added. */
export async function subtractKeyUsage(db: Db, subtracted: readonly KeyUsage[]): Promise<void> {
  await db.query({
    name: 'subtract_key_usage',
    text: `UPDATE key_usage u SET messages = u.messages - x.messages
           FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::float8[], $5::bigint[])
             x(account_id, key_id, period, start_ms, messages)
           WHERE u.account_id = x.account_id AND u.key_id = x.key_id AND u.period = x.period
             AND u.starts_on = (to_timestamp(x.start_ms / 1000) AT TIME ZONE 'UTC')::date`,
    values: columnsOf(subtracted),
  });
}

/** Drops counts of periods that are over: 32 days ago began neither this month nor this day. */
export async function deletePastKeyUsage(db: Db, nowMs: number): Promise<void> {
  await db.query(
    `DELETE FROM key_usage WHERE starts_on < (to_timestamp($1::float8 / 1000) AT TIME ZONE 'UTC')::date - 32`,
    [nowMs],
  );
}
