import { publishNotice } from '../db/notices.ts';
import type { Pool } from '../db/pool.ts';
import { transaction } from '../db/tx.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import {
  countSendersWhere,
  findAnySender,
  moveSender,
  pageSendersWhere,
  type SenderFilter,
  type SenderRow,
  type SenderStatus,
} from './queries.ts';

/** What the operator decides about a sender. A rejection is final; the account may apply again. */
export type SenderDecision = 'approve' | 'reject' | 'suspend';

const decisions: Record<SenderDecision, { from: SenderStatus[]; to: SenderStatus }> = {
  approve: { from: ['pending', 'suspended'], to: 'approved' },
  reject: { from: ['pending'], to: 'rejected' },
  suspend: { from: ['approved'], to: 'suspended' },
};

/** Senders of one account or of all, newest first, and how many there are of them. For the operator. */
export async function listSenders(
  pool: Pool,
  filter: SenderFilter,
  page: { offset: number; limit: number },
): Promise<{ rows: SenderRow[]; total: number }> {
  const total = await countSendersWhere(pool, filter);
  return { rows: page.offset < total ? await pageSendersWhere(pool, filter, page) : [], total };
}

/** Decides about a sender and tells every process. Throws `not_found`, or `invalid_request` where its status forbids it. */
export async function decideSender(
  id: string | undefined,
  decision: SenderDecision,
  { pool, clock }: { pool: Pool; clock: Clock },
): Promise<SenderRow> {
  const sender = id === undefined ? undefined : await findAnySender(pool, id);
  if (sender === undefined) throw new ApiError('not_found', 'There is no such sender.', { param: 'id' });
  const { from, to } = decisions[decision];
  const approvedAt = to === 'approved' ? new Date(clock.now()) : null;
  const moved = await transaction(pool, async (db) => {
    const key = { accountId: sender.account_id, id: sender.id };
    const row = await moveSender(db, key, from, { status: to, approvedAt });
    if (row !== undefined) await publishNotice(db, 'sender', sender.account_id);
    return row;
  });
  if (moved !== undefined) return moved;
  throw new ApiError(
    'invalid_request',
    `This sender is ${sender.status}. Only one that is ${from.join(' or ')} can be ${to}.`,
  );
}
