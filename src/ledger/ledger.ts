import type { Db } from '../db/pool.ts';

export type Amount = { accountId: string; amountMicros: number };

/**
 * Takes each account's amount if its balance covers all of it; gives back the accounts that paid. Amounts must be in the order of the
 * account ids, one per account.
 */
export async function takeFromBalances(db: Db, amounts: readonly Amount[]): Promise<Set<string>> {
  const { rows } = await db.query<{ account_id: string }>({
    name: 'take_from_balances',
    text: `UPDATE accounts a SET balance_micros = a.balance_micros - x.amount
           FROM unnest($1::uuid[], $2::bigint[]) x(account_id, amount)
           WHERE a.account_id = x.account_id AND a.balance_micros >= x.amount
           RETURNING a.account_id`,
    values: [amounts.map(({ accountId }) => accountId), amounts.map(({ amountMicros }) => amountMicros)],
  });
  return new Set(rows.map((row) => row.account_id));
}

/** The balance of one account, locked until the transaction ends. */
export async function lockBalance(db: Db, accountId: string): Promise<number> {
  const { rows } = await db.query<{ balance_micros: number }>({
    name: 'lock_balance',
    text: 'SELECT balance_micros FROM accounts WHERE account_id = $1 FOR UPDATE',
    values: [accountId],
  });
  return rows[0]?.balance_micros ?? 0;
}

/** Adds to balances, one amount per account, in the order of the account ids. */
export async function addToBalances(db: Db, amounts: readonly Amount[]): Promise<void> {
  await db.query({
    name: 'add_to_balances',
    text: `UPDATE accounts a SET balance_micros = a.balance_micros + x.amount
           FROM unnest($1::uuid[], $2::bigint[]) x(account_id, amount)
           WHERE a.account_id = x.account_id`,
    values: [amounts.map(({ accountId }) => accountId), amounts.map(({ amountMicros }) => amountMicros)],
  });
}

export type Charge = { accountId: string; messageId: string; costMicros: number };

/** Writes the charge of each message. Its key is the message's id, so a message is charged once. */
export async function recordCharges(db: Db, charges: readonly Charge[], atMs: number): Promise<void> {
  await db.query({
    name: 'record_charges',
    text: `INSERT INTO ledger_entries (account_id, id, kind, amount_micros, created_at)
           SELECT x.account_id, x.id, 'charge', -x.cost, to_timestamp($4::float8 / 1000)
           FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) x(account_id, id, cost)`,
    values: [
      charges.map(({ accountId }) => accountId),
      charges.map(({ messageId }) => messageId),
      charges.map(({ costMicros }) => costMicros),
      atMs,
    ],
  });
}

/**
 * Gives back what was charged for these messages: the refund mirrors the charge, and its key allows one per message. Returns the refunded
 * amounts by message id; the balances are still to be raised by them. The charge's key is compared as a row: with equalities, a plan made
 * while the ledger was empty goes through every charge there is (0.5 s a batch at 1.5 million).
 */
export async function recordRefunds(
  db: Db,
  messages: ReadonlyArray<{ accountId: string; messageId: string }>,
  atMs: number,
): Promise<Array<{ accountId: string; messageId: string; amountMicros: number }>> {
  const { rows } = await db.query<{ accountId: string; messageId: string; amountMicros: number }>({
    name: 'record_refunds',
    text: `INSERT INTO ledger_entries AS l (account_id, id, kind, amount_micros, created_at)
           SELECT c.account_id, c.id, 'refund', -c.amount_micros, to_timestamp($3::float8 / 1000)
           FROM unnest($1::uuid[], $2::uuid[]) x(account_id, id)
           JOIN ledger_entries c ON (c.account_id, c.id, c.kind) BETWEEN (x.account_id, x.id, 'charge') AND (x.account_id, x.id, 'charge')
           RETURNING l.account_id AS "accountId", l.id AS "messageId", l.amount_micros AS "amountMicros"`,
    values: [messages.map(({ accountId }) => accountId), messages.map(({ messageId }) => messageId), atMs],
  });
  return rows;
}

/** The largest balance whose micro-units are exact in a JSON number. */
const balanceMicrosMax = Number.MAX_SAFE_INTEGER;

/**
 * A top-up or an adjustment by the operator; the balance moves in the same statement. Returns the balance after it; undefined where there is
 * no such account, or its balance would fall below zero or grow beyond what can be told.
 */
export async function recordTransfer(
  db: Db,
  entry: {
    accountId: string;
    id: string;
    kind: 'top_up' | 'adjustment';
    amountMicros: number;
    note: string;
    atMs: number;
  },
): Promise<number | undefined> {
  const { rows } = await db.query<{ balance_micros: number }>({
    name: 'record_transfer',
    text: `WITH moved AS (
             UPDATE accounts SET balance_micros = balance_micros + $4
             WHERE account_id = $1 AND balance_micros + $4 BETWEEN 0 AND $7::bigint
             RETURNING account_id, balance_micros
           ), recorded AS (
             INSERT INTO ledger_entries (account_id, id, kind, amount_micros, note, created_at)
             SELECT account_id, $2, $3, $4, $5, to_timestamp($6::float8 / 1000) FROM moved
           )
           SELECT balance_micros FROM moved`,
    values: [entry.accountId, entry.id, entry.kind, entry.amountMicros, entry.note, entry.atMs, balanceMicrosMax],
  });
  return rows[0]?.balance_micros;
}

export type LedgerEntry = {
  kind: 'top_up' | 'charge' | 'refund' | 'adjustment';
  amountMicros: number;
  note: string | null;
  createdAt: Date;
};

/** What a message was charged and given back. */
export async function readMessageEntries(db: Db, accountId: string, messageId: string): Promise<LedgerEntry[]> {
  const { rows } = await db.query<LedgerEntry>({
    name: 'read_message_entries',
    text: `SELECT kind, amount_micros AS "amountMicros", note, created_at AS "createdAt"
           FROM ledger_entries WHERE account_id = $1 AND id = $2 ORDER BY kind`,
    values: [accountId, messageId],
  });
  return rows;
}

/** Sums amounts by account, in the order of the account ids, as the balance statements want them. */
export function sumByAccount(amounts: Iterable<Amount>): Amount[] {
  const sums = new Map<string, number>();
  for (const { accountId, amountMicros } of amounts) {
    if (amountMicros !== 0) sums.set(accountId, (sums.get(accountId) ?? 0) + amountMicros);
  }
  return [...sums.keys()].sort().map((accountId) => ({ accountId, amountMicros: sums.get(accountId) ?? 0 }));
}
