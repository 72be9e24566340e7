import type { Db } from '../db/pool.ts';
import { messageColumns, type MessageRow } from './message-view.ts';

/** The messages that events tell of, by their id, in one statement. A message that is gone is missing. */
export async function readMessages(
  db: Db,
  keys: ReadonlyArray<{ accountId: string; messageId: string }>,
): Promise<Map<string, MessageRow>> {
  const accountOf = new Map(keys.map(({ accountId, messageId }) => [messageId, accountId]));
  const { rows } = await db.query<MessageRow>({
    name: 'read_event_messages',
    text: `SELECT ${messageColumns}
           FROM unnest($1::uuid[], $2::uuid[]) x(account_id, id)
           JOIN messages m ON m.account_id = x.account_id AND m.id = x.id`,
    values: [[...accountOf.values()], [...accountOf.keys()]],
  });
  return new Map(rows.map((row) => [row.id, row]));
}
