import type { Db } from '../db/pool.ts';
import type { Caller } from '../http/caller.ts';
import { formatTime } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { addKeyUsage, subtractKeyUsage, usageName, type KeyUsage } from './key-usage-queries.ts';
import { utcPeriodOf } from './utc-period.ts';

/** How many messages a key may send in a UTC day and month. */
export type KeyLimits = { keyId: string; day: number | null; month: number | null };

/** A call that is about to become messages, all of them or none. */
type Call = { accountId: string; limits: KeyLimits | null; drafts: { readonly length: number } };

/** Why a call is refused: the key has fewer messages left in this period than the call has. */
export type Overrun = { period: 'day' | 'month'; limit: number; left: number; nowMs: number };

/** The month first: waiting for the next day does not help a key whose month is used up. */
const periods = ['month', 'day'] as const;

/** Null for a key without limits, whose messages nobody counts. */
export function limitsOf({ keyId, dailyLimit, monthlyLimit }: Caller): KeyLimits | null {
  return dailyLimit === null && monthlyLimit === null ? null : { keyId, day: dailyLimit, month: monthlyLimit };
}

/**
 * Counts the messages of calls against the limits of their keys. Gives back the calls for which a limit has too little left; those are
 * not counted. Part of the accept transaction: until it ends, nobody else counts for these keys.
 */
export async function countCalls<Limited extends Call>(
  db: Db,
  calls: readonly Limited[],
  nowMs: number,
): Promise<Map<Limited, Overrun>> {
  const overruns = new Map<Limited, Overrun>();
  const added = sumUsage(calls, nowMs);
  if (added.length === 0) return overruns;
  const totals = await addKeyUsage(db, added);
  const used = new Map(added.map((row) => [usageName(row), (totals.get(usageName(row)) ?? 0) - row.messages]));
  for (const call of calls) {
    const own = usageOf(call, nowMs);
    const full = own.find((row) => row.messages > row.limit - (used.get(usageName(row)) ?? 0));
    if (full === undefined) {
      for (const row of own) used.set(usageName(row), (used.get(usageName(row)) ?? 0) + row.messages);
    } else {
      const { period, limit } = full;
      overruns.set(call, { period, limit, left: Math.max(0, limit - (used.get(usageName(full)) ?? 0)), nowMs });
    }
  }
  await uncountCalls(db, [...overruns.keys()], nowMs);
  return overruns;
}

/** Takes back the count of calls that are refused for another reason, in the transaction that counted them. */
export async function uncountCalls(db: Db, calls: readonly Call[], nowMs: number): Promise<void> {
  const counted = sumUsage(calls, nowMs);
  if (counted.length > 0) await subtractKeyUsage(db, counted);
}

/** What the caller of a refused call is told. */
export function limitExceeded({ period, limit, left, nowMs }: Overrun): ApiError {
  const { endMs } = utcPeriodOf(period, nowMs);
  return new ApiError(
    period === 'day' ? 'daily_limit_exceeded' : 'monthly_limit_exceeded',
    `This API key may send ${limit} messages in a UTC ${period} and has ${left} left until ${formatTime(endMs)}.`,
    {
      details: { limit, left, resets_at: formatTime(endMs) },
      retryAfterSeconds: Math.ceil((endMs - nowMs) / 1_000),
    },
  );
}

function usageOf({ accountId, limits, drafts }: Call, nowMs: number): Array<KeyUsage & { limit: number }> {
  if (limits === null) return [];
  return periods.flatMap((period) => {
    const limit = limits[period];
    if (limit === null) return [];
    const { startMs } = utcPeriodOf(period, nowMs);
    return [{ accountId, keyId: limits.keyId, period, startMs, messages: drafts.length, limit }];
  });
}

/** One row per key and period, in the order of their names: two transactions always lock rows in the same order. */
function sumUsage(calls: readonly Call[], nowMs: number): KeyUsage[] {
  const sums = new Map<string, KeyUsage>();
  for (const row of calls.flatMap((call) => usageOf(call, nowMs))) {
    const sum = sums.get(usageName(row));
    if (sum === undefined) sums.set(usageName(row), row);
    else sum.messages += row.messages;
  }
  return [...sums.keys()].sort().flatMap((name) => sums.get(name) ?? []);
}
