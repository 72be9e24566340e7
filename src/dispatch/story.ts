import type { Db } from '../db/pool.ts';
import type { MessageKey } from '../messages/queries.ts';
import type { ProviderName } from '../providers/provider.ts';
import type { AttemptRecord } from './attempt.ts';

/** How a message was, or is being, handed to providers. */
export type DispatchStory = {
  segments: number;
  routeId: number | null;
  /** The chain: the first is tried first. */
  providers: ProviderName[];
  attempts: AttemptRecord[];
  /** While the message is pending: until when a process has it in hand, and the providers it may have been given to. */
  leasedUntil: Date | null;
  started: ProviderName[] | null;
};

export async function readDispatchStory(db: Db, { accountId, messageId }: MessageKey): Promise<DispatchStory> {
  const { rows } = await db.query<DispatchStory>({
    name: 'read_dispatch_story',
    text: `SELECT m.segments, m.route_id AS "routeId", m.providers, coalesce(m.attempts, '[]') AS attempts,
             q.leased_until AS "leasedUntil", q.started
           FROM messages m
           LEFT JOIN dispatch_queue q ON q.account_id = m.account_id AND q.message_id = m.id
           WHERE m.account_id = $1 AND m.id = $2`,
    values: [accountId, messageId],
  });
  const [story] = rows;
  if (story === undefined) throw new Error('the message is gone');
  return story;
}
