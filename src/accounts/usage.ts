import type { Db } from '../db/pool.ts';
import type { AccountRow } from './account-queries.ts';
import type { UsagePeriod } from './schema.ts';
import { sumUsageByStatus } from './usage-queries.ts';
import { utcPeriodOf, type Span } from './utc-period.ts';

export type Usage = Span & {
  messages: number;
  costMicros: number;
  byStatus: Record<'pending' | 'sent' | 'delivered' | 'failed' | 'undelivered', number>;
};

const hourMs = 3_600_000;

/**
 * What an account has sent in a period, exact to the message: periods begin and end at whole hours, and the roll-up is kept in the
 * transactions that accept and settle messages.
 */
export async function readUsage(
  db: Db,
  { account_id: accountId, created_at: createdAt }: AccountRow,
  period: UsagePeriod,
  nowMs: number,
): Promise<Usage> {
  const span = period === 'all' ? { startMs: createdAt.getTime(), endMs: nowMs } : utcPeriodOf(period, nowMs);
  // "All" ends now: the current hour counts as far as it has come.
  const untilMs = period === 'all' ? nowMs + hourMs : span.endMs;
  const rows = await sumUsageByStatus(db, accountId, span.startMs - (span.startMs % hourMs), untilMs);
  const of = new Map(rows.map(({ status, messages }) => [status, messages]));
  const settled = {
    sent: of.get('sent') ?? 0,
    delivered: of.get('delivered') ?? 0,
    failed: of.get('failed') ?? 0,
    undelivered: of.get('undelivered') ?? 0,
  };
  const messages = of.get('accepted') ?? 0;
  const pending = messages - settled.sent - settled.delivered - settled.failed - settled.undelivered;
  return {
    ...span,
    messages,
    costMicros: rows.reduce((sum, row) => sum + row.costMicros, 0),
    byStatus: { pending, ...settled },
  };
}
