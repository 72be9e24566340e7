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
    values: [
      sender.account_id,
      sender.id,
      sender.sender_id,
      sender.type,
      sender.country_code,
      sender.status,
      sender.approved_at,
      sender.created_at,
    ],
  });
}
