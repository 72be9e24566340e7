import type { Db } from '../db/pool.ts';

export type SenderType = 'alphanumeric' | 'numeric' | 'short_code' | 'long_code';
export type SenderStatus = 'pending' | 'approved' | 'rejected' | 'suspended';

export type SenderRow = {
  account_id: string;
  id: string;
  sender_id: string;
  type: SenderType;
  country_code: string | null;
  status: SenderStatus;
  approved_at: Date | null;
  created_at: Date;
};

/** The texts an account may send from. */
export async function readApprovedSenders(db: Db, accountId: string): Promise<Set<string>> {
  const { rows } = await db.query<{ sender_id: string }>({
    name: 'read_approved_senders',
    text: `SELECT sender_id FROM senders WHERE account_id = $1 AND status = 'approved'`,
    values: [accountId],
  });
  return new Set(rows.map((row) => row.sender_id));
}

export async function insertSender(db: Db, sender: SenderRow): Promise<void> {
  await db.query({
    name: 'insert_sender',
    text: `INSERT INTO senders (account_id, id, sender_id, type, country_code, status, approved_at, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: valuesOf(sender),
  });
}

/** Inserts a sender unless the account has one of this text that is not rejected; false if so. */
export async function insertNewSender(db: Db, sender: SenderRow): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'insert_new_sender',
    text: `INSERT INTO senders (account_id, id, sender_id, type, country_code, status, approved_at, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (account_id, sender_id) WHERE status <> 'rejected' DO NOTHING`,
    values: valuesOf(sender),
  });
  return rowCount === 1;
}

export async function countOpenSenders(db: Db, accountId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count_open_senders',
    text: `SELECT count(*) FROM senders WHERE account_id = $1 AND status <> 'rejected'`,
    values: [accountId],
  });
  return rows[0]?.count ?? 0;
}

export async function countSenders(db: Db, accountId: string, status: SenderStatus | null): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count_senders',
    text: 'SELECT count(*) FROM senders WHERE account_id = $1 AND ($2::text IS NULL OR status = $2)',
    values: [accountId, status],
  });
  return rows[0]?.count ?? 0;
}

/** Senders of an account, newest first. */
export async function pageSenders(
  db: Db,
  accountId: string,
  status: SenderStatus | null,
  { offset, limit }: { offset: number; limit: number },
): Promise<SenderRow[]> {
  const { rows } = await db.query<SenderRow>({
    name: 'page_senders',
    text: `SELECT * FROM senders WHERE account_id = $1 AND ($2::text IS NULL OR status = $2)
           ORDER BY id DESC OFFSET $3 LIMIT $4`,
    values: [accountId, status, offset, limit],
  });
  return rows;
}

export async function findSender(db: Db, accountId: string, id: string): Promise<SenderRow | undefined> {
  const { rows } = await db.query<SenderRow>({
    name: 'find_sender',
    text: 'SELECT * FROM senders WHERE account_id = $1 AND id = $2',
    values: [accountId, id],
  });
  return rows[0];
}

export type SenderFilter = { status: SenderStatus | null; accountId: string | null };

/** Literals, so that the planner knows the index of pending senders when it sees its condition. */
function conditionOf({ status, accountId }: SenderFilter): { kind: string; where: string } {
  return {
    kind: `${status ?? 'any'} ${accountId === null ? 'of all' : 'of one'}`,
    where: `${accountId === null ? '$1::uuid IS NULL' : 'account_id = $1'} AND ${status === null ? 'true' : `status = '${status}'`}`,
  };
}

/** Senders of one account or of all. */
export async function countSendersWhere(db: Db, filter: SenderFilter): Promise<number> {
  const { kind, where } = conditionOf(filter);
  const { rows } = await db.query<{ count: number }>({
    name: `count_senders ${kind}`,
    text: `SELECT count(*) FROM senders WHERE ${where}`,
    values: [filter.accountId],
  });
  return rows[0]?.count ?? 0;
}

/** Senders of one account or of all, newest first. */
export async function pageSendersWhere(
  db: Db,
  filter: SenderFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<SenderRow[]> {
  const { kind, where } = conditionOf(filter);
  const { rows } = await db.query<SenderRow>({
    name: `page_senders ${kind}`,
    text: `SELECT * FROM senders WHERE ${where} ORDER BY id DESC OFFSET $2 LIMIT $3`,
    values: [filter.accountId, offset, limit],
  });
  return rows;
}

/** The sender of this id, whosever it is. */
export async function findAnySender(db: Db, id: string): Promise<SenderRow | undefined> {
  const { rows } = await db.query<SenderRow>({
    name: 'find_any_sender',
    text: 'SELECT * FROM senders WHERE id = $1',
    values: [id],
  });
  return rows[0];
}

/** Undefined where the sender is in none of the states `from`. `approvedAt` null leaves the time of its approval as it is. */
export async function moveSender(
  db: Db,
  { accountId, id }: { accountId: string; id: string },
  from: readonly SenderStatus[],
  to: { status: SenderStatus; approvedAt: Date | null },
): Promise<SenderRow | undefined> {
  const { rows } = await db.query<SenderRow>({
    name: 'move_sender',
    text: `UPDATE senders SET status = $4, approved_at = coalesce($5, approved_at)
           WHERE account_id = $1 AND id = $2 AND status = ANY ($3) RETURNING *`,
    values: [accountId, id, from, to.status, to.approvedAt],
  });
  return rows[0];
}

function valuesOf(sender: SenderRow): unknown[] {
  return [
    sender.account_id,
    sender.id,
    sender.sender_id,
    sender.type,
    sender.country_code,
    sender.status,
    sender.approved_at,
    sender.created_at,
  ];
}
