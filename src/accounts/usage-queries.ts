import type { Db } from '../db/pool.ts';

/** What `usage_hourly` counts under: every message as `accepted`, and the state it has reached unless pending. */
export type UsageStatus = 'accepted' | 'sent' | 'delivered' | 'failed' | 'undelivered';

export type UsageChange = {
  accountId: string;
  hourMs: number;
  status: UsageStatus;
  messages: number;
  costMicros: number;
};

const hourMs = 3_600_000;

/** Sums changes that fall on the same row, in the order of the key: two transactions always lock rows in the same order. */
export class UsageChanges {
  readonly #byKey = new Map<string, UsageChange>();

  add(accountId: string, createdMs: number, status: UsageStatus, messages: number, costMicros: number): void {
    const hour = createdMs - (createdMs % hourMs);
    const key = `${accountId} ${hour} ${status}`;
    const change = this.#byKey.get(key);
    if (change === undefined) {
      this.#byKey.set(key, { accountId, hourMs: hour, status, messages, costMicros });
    } else {
      change.messages += messages;
      change.costMicros += costMicros;
    }
  }

  inOrder(): UsageChange[] {
    const keys = [...this.#byKey.keys()].sort();
    return keys.flatMap((key) => this.#byKey.get(key) ?? []);
  }
}

/** One upsert per account, hour and status. Part of the transaction that changes the messages counted. */
export async function addUsage(db: Db, changes: UsageChanges): Promise<void> {
  const rows = changes.inOrder();
  if (rows.length === 0) return;
  await db.query({
    name: 'add_usage',
    text: `INSERT INTO usage_hourly AS u (account_id, hour, status, messages, cost_micros)
           SELECT x.account_id, to_timestamp(x.hour_ms / 1000), x.status, x.messages, x.cost_micros
           FROM unnest($1::uuid[], $2::float8[], $3::text[], $4::bigint[], $5::bigint[])
             x(account_id, hour_ms, status, messages, cost_micros)
           ON CONFLICT (account_id, hour, status) DO UPDATE
           SET messages = u.messages + excluded.messages, cost_micros = u.cost_micros + excluded.cost_micros`,
    values: [
      rows.map((row) => row.accountId),
      rows.map((row) => row.hourMs),
      rows.map((row) => row.status),
      rows.map((row) => row.messages),
      rows.map((row) => row.costMicros),
    ],
  });
}

/** An account's messages and their cost in the hours from `fromMs` up to `untilMs`, by what they count under. */
export async function sumUsageByStatus(
  db: Db,
  accountId: string,
  fromMs: number,
  untilMs: number,
): Promise<Array<Pick<UsageChange, 'status' | 'messages' | 'costMicros'>>> {
  const { rows } = await db.query<Pick<UsageChange, 'status' | 'messages' | 'costMicros'>>({
    name: 'sum_usage_by_status',
    text: `SELECT status, sum(messages)::bigint AS messages, sum(cost_micros)::bigint AS "costMicros"
           FROM usage_hourly
           WHERE account_id = $1 AND hour >= to_timestamp($2::float8 / 1000) AND hour < to_timestamp($3::float8 / 1000)
           GROUP BY status`,
    values: [accountId, fromMs, untilMs],
  });
  return rows;
}
