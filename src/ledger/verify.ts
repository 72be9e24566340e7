import type pg from 'pg';
import type { Pool } from '../db/pool.ts';
import { formatTime } from '../lib/clock.ts';
import { firstIdAt, timeOfId, toPublicId } from '../lib/ids.ts';
import {
  countEvents,
  countMessages,
  findMessageMismatches,
  findNextEntry,
  findOldestPartition,
  readAccountIds,
  readBalance,
  readHourlyCost,
  sumLedger,
  type IdSpan,
} from './verify-queries.ts';

/** A place where the books do not agree. Money is in micro-units, everything else is a number of messages or events. */
export type Difference = {
  /** Public id, as is a message's in `of`. */
  accountId: string;
  what: 'balance' | 'charge' | 'queued' | 'messages_counted' | 'money_counted' | 'events_counted';
  /** The message, or the hour and what of it was counted; null for the account as a whole. */
  of: string | null;
  expected: number;
  found: number;
};

/** Without the account, which is known where these are made. */
type Finding = Omit<Difference, 'accountId'>;

const hourMs = 3_600_000;
const accountsPerPage = 100;
const mismatchesPerPage = 1_000;
const nilId = '00000000-0000-0000-0000-000000000000';

/**
 * Recomputes what is kept twice and names every difference: the balance from the ledger, charges and refunds from the messages' cost,
 * the queue from the pending messages, the hourly counts from messages, ledger and events. Each account is read in one snapshot, hour
 * by hour, so it may run beside traffic and needs little memory; the snapshot is held until the account's last difference is taken.
 */
export async function* verifyLedger(pool: Pool, options: { accountId?: string } = {}): AsyncGenerator<Difference> {
  if (options.accountId !== undefined) {
    yield* verifyAccount(pool, options.accountId);
    return;
  }
  let after = nilId;
  for (;;) {
    const accountIds = await readAccountIds(pool, after, accountsPerPage);
    for (const accountId of accountIds) yield* verifyAccount(pool, accountId);
    const last = accountIds.at(-1);
    if (last === undefined || accountIds.length < accountsPerPage) return;
    after = last;
  }
}

async function* verifyAccount(pool: Pool, accountId: string): AsyncGenerator<Difference> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    for await (const finding of readBooks(client, accountId)) {
      yield { accountId: toPublicId('acc', accountId), ...finding };
    }
    await client.query('COMMIT');
    broken = false;
  } finally {
    // Also where the caller stops early: its transaction ends with the connection.
    client.release(broken);
  }
}

async function* readBooks(db: pg.PoolClient, accountId: string): AsyncGenerator<Finding> {
  const keptFromMs = {
    messages: startOf(await findOldestPartition(db, 'messages')),
    events: startOf(await findOldestPartition(db, 'events')),
  };
  let balance = 0;
  for await (const hour of busyHours(db, accountId)) {
    const span = { accountId, after: firstIdAt(hour), until: firstIdAt(hour + hourMs) };
    const ledger = await sumLedger(db, span);
    balance += ledger.total;
    yield* compareMoney(ledger, await readHourlyCost(db, accountId, new Date(hour)), hour);
    if (hour >= keptFromMs.messages) {
      yield* findMessages(db, span);
      yield* compareCounts('messages_counted', await countMessages(db, span, new Date(hour)), hour);
    }
    if (hour >= keptFromMs.events) {
      yield* compareCounts('events_counted', await countEvents(db, span, new Date(hour)), hour);
    }
  }
  const found = await readBalance(db, accountId);
  if (found !== undefined && found !== balance) yield { what: 'balance', of: null, expected: balance, found };
}

/** What was dropped with its month is not missing. */
function startOf(oldestId: string | null): number {
  return oldestId === null ? Number.POSITIVE_INFINITY : timeOfId(oldestId);
}

/** The hours of which any of the books has an entry, in order. */
async function* busyHours(db: pg.PoolClient, accountId: string): AsyncGenerator<number> {
  let fromMs = 0;
  for (;;) {
    const next = await findNextEntry(db, accountId, firstIdAt(fromMs), new Date(fromMs));
    const times = [next.id === null ? [] : timeOfId(next.id), next.hour === null ? [] : next.hour.getTime()].flat();
    if (times.length === 0) return;
    const earliest = Math.min(...times);
    const hour = earliest - (earliest % hourMs);
    yield hour;
    fromMs = hour + hourMs;
  }
}

async function* findMessages(db: pg.PoolClient, span: IdSpan): AsyncGenerator<Finding> {
  let after = span.after;
  for (;;) {
    const mismatches = await findMessageMismatches(db, { ...span, after }, mismatchesPerPage);
    for (const { id, cost, paid, isPending, isQueued } of mismatches) {
      const of = toPublicId('msg', id);
      if (cost !== paid) yield { what: 'charge', of, expected: cost, found: paid };
      if (isPending !== isQueued) yield { what: 'queued', of, expected: Number(isPending), found: Number(isQueued) };
    }
    const last = mismatches.at(-1);
    if (last === undefined || mismatches.length < mismatchesPerPage) return;
    after = last.id;
  }
}

type Money = { charged: number; refunded: number };

function* compareMoney(ledger: Money, hourly: Money, hour: number): Generator<Finding> {
  for (const name of ['charged', 'refunded'] as const) {
    if (ledger[name] === hourly[name]) continue;
    yield { what: 'money_counted', of: `${formatTime(hour)} ${name}`, expected: ledger[name], found: hourly[name] };
  }
}

function* compareCounts(
  what: Finding['what'],
  counts: ReadonlyArray<{ name: string; counted: number; recorded: number }>,
  hour: number,
): Generator<Finding> {
  for (const { name, counted, recorded } of counts) {
    if (counted !== recorded) {
      yield { what, of: `${formatTime(hour)} ${name}`, expected: counted, found: recorded };
    }
  }
}
