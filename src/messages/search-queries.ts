import type { Db } from '../db/pool.ts';
import { messageColumns, type MessageRow, type MessageStatus } from '../events/message-view.ts';
import { timeOfId } from '../lib/ids.ts';

const hourMs = 3_600_000;

/** Messages to a recipient, whoever sent them. */
export async function countToRecipientOfAll(db: Db, recipient: string, status: MessageStatus | null): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count_to_recipient_of_all',
    text: 'SELECT count(*) FROM messages WHERE recipient = $1 AND ($2::text IS NULL OR status = $2)',
    values: [recipient, status],
  });
  return rows[0]?.count ?? 0;
}

/** Messages to a recipient, whoever sent them, newest first. */
export async function pageToRecipientOfAll(
  db: Db,
  recipient: string,
  status: MessageStatus | null,
  { offset, limit }: { offset: number; limit: number },
): Promise<MessageRow[]> {
  const { rows } = await db.query<MessageRow>({
    name: 'page_to_recipient_of_all',
    text: `SELECT ${messageColumns} FROM messages m
           WHERE m.recipient = $1 AND ($2::text IS NULL OR m.status = $2)
           ORDER BY m.id DESC OFFSET $3 LIMIT $4`,
    values: [recipient, status, offset, limit],
  });
  return rows;
}

/**
 * Whose message this is. The roll-up of its hour names the accounts it can belong to, and each is one look-up in the key; `OFFSET 0` keeps
 * the planner from going through the partition instead.
 */
export async function findAccountOfMessage(db: Db, messageId: string): Promise<string | undefined> {
  const createdMs = timeOfId(messageId);
  const { rows } = await db.query<{ account_id: string }>({
    name: 'find_account_of_message',
    text: `SELECT m.account_id
           FROM usage_hourly u
           CROSS JOIN LATERAL (SELECT account_id FROM messages WHERE account_id = u.account_id AND id = $1 OFFSET 0) m
           WHERE u.status = 'accepted' AND u.hour = to_timestamp($2::float8 / 1000)
           LIMIT 1`,
    values: [messageId, createdMs - (createdMs % hourMs)],
  });
  return rows[0]?.account_id;
}
