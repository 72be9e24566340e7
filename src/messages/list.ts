import type { Db } from '../db/pool.ts';
import type { MessageRow, MessageStatus } from '../events/message-view.ts';
import { firstIdAt } from '../lib/ids.ts';
import {
  countPending,
  countRange,
  countToRecipient,
  findHours,
  pagePending,
  pageRanges,
  pageToRecipient,
  type IdRange,
} from './list-queries.ts';

export type ListFilter = {
  accountId: string;
  status: MessageStatus | undefined;
  /** Exactly this recipient. */
  recipient: string | undefined;
  afterMs: number | undefined;
  beforeMs: number | undefined;
  offset: number;
  limit: number;
};

export type Page = { rows: MessageRow[]; total: number };

const hourMs = 3_600_000;
const timeMsMax = 0xffff_ffff_ffff;
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * A page of messages, newest first, and the exact total. Any page of any filter costs about the same: pending messages are read from the
 * dispatch queue, one recipient's from their index, and everything else by way of `usage_hourly`, which knows in which hours a page lies.
 */
export async function listMessages(db: Db, filter: ListFilter): Promise<Page> {
  const fromMs = filter.afterMs === undefined ? 0 : filter.afterMs + 1;
  const untilMs = Math.min(filter.beforeMs ?? timeMsMax, timeMsMax);
  // PostgreSQL's text has no NUL, so no recipient has one.
  if (fromMs >= untilMs || filter.recipient?.includes('\0')) return { rows: [], total: 0 };
  const range = { from: firstIdAt(fromMs), until: filter.beforeMs === undefined ? lastId : firstIdAt(untilMs) };
  if (filter.recipient !== undefined) return listToRecipient(db, filter, filter.recipient, range);
  const { status } = filter;
  if (status === 'pending') return listPending(db, filter, range);
  return listByHours(db, { ...filter, status }, fromMs, untilMs, range);
}

async function listToRecipient(db: Db, filter: ListFilter, recipient: string, range: IdRange): Promise<Page> {
  const { accountId, status, offset, limit } = filter;
  const total = await countToRecipient(db, accountId, recipient, status, range);
  const rows = offset < total ? await pageToRecipient(db, accountId, recipient, status, range, offset, limit) : [];
  return { rows, total };
}

async function listPending(db: Db, { accountId, offset, limit }: ListFilter, range: IdRange): Promise<Page> {
  const total = await countPending(db, accountId, range);
  const rows = offset < total ? await pagePending(db, accountId, range, offset, limit) : [];
  return { rows, total };
}

/** Whole hours are counted by the roll-up, the two edges by the key. */
async function listByHours(
  db: Db,
  filter: ListFilter & { status: Exclude<MessageStatus, 'pending'> | undefined },
  fromMs: number,
  untilMs: number,
  range: IdRange,
): Promise<Page> {
  const { accountId, status, offset, limit } = filter;
  const firstHourMs = Math.ceil(fromMs / hourMs) * hourMs;
  const endHourMs = Math.floor(untilMs / hourMs) * hourMs;
  if (firstHourMs >= endHourMs) {
    const total = await countRange(db, accountId, status, range);
    const rows = offset < total ? await pageRanges(db, accountId, status, [range], offset, limit) : [];
    return { rows, total };
  }
  const upper: IdRange = { from: firstIdAt(endHourMs), until: range.until };
  const lower: IdRange = { from: range.from, until: firstIdAt(firstHourMs) };
  const upperCount = filter.beforeMs === undefined ? 0 : await countRange(db, accountId, status, upper);
  const lowerCount = filter.afterMs === undefined ? 0 : await countRange(db, accountId, status, lower);
  const hours = await findHours(db, accountId, status ?? 'accepted', {
    fromMs: firstHourMs,
    untilMs: endHourMs,
    offset: offset - upperCount,
    limit,
  });
  const total = upperCount + hours.total + lowerCount;
  if (offset >= total) return { rows: [], total };

  const ranges: IdRange[] = hours.hours.map(({ hourMs: start }) => ({
    from: firstIdAt(start),
    until: firstIdAt(start + hourMs),
  }));
  let skipped = upperCount + hours.skipped;
  if (offset < upperCount) {
    ranges.unshift(upper);
    skipped = 0;
  }
  if (lowerCount > 0 && offset + limit > upperCount + hours.total) ranges.push(lower);
  return { rows: await pageRanges(db, accountId, status, ranges, offset - skipped, limit), total };
}
