import pg from 'pg';
import { firstIdAt } from '../lib/ids.ts';
import type { Db, Pool } from './pool.ts';
import { transaction } from './tx.ts';

/** Tables split by the month of their UUIDv7, with what each partition needs of its own. */
const storageOf = {
  // Half-filled pages: a batch rewrites a whole page at once and finds room on it (81 % of updates heap-only, 41 % at 80).
  messages: 'WITH (fillfactor = 50)',
  events: '',
  receipts: '',
  deliveries: '',
} as const;

export type PartitionedTable = keyof typeof storageOf;

const tables = Object.keys(storageOf) as PartitionedTable[];

/** Any number; the same in every version of Heliograph, so that racing processes change partitions one after the other. */
const advisoryLockId = 4_736_210_712;

/** Everything that uses the table waits for as long behind a change that cannot begin, because a long transaction uses it too. */
const lockTimeoutMs = 250;
/** A missing month is needed; one that is past its time can wait for a better moment. */
const triesMax = { create: 10, drop: 2 } as const;

function startOfMonth(timeMs: number, offset: number): number {
  const date = new Date(timeMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1);
}

function partitionName(table: PartitionedTable, monthMs: number): string {
  return `${table}_${new Date(monthMs).toISOString().slice(0, 7).replace('-', '_')}`;
}

/** The month a partition holds, from its name: `messages_2026_11`. */
function monthOf(name: string): number {
  const [, year, month] = /_(\d{4})_(\d{2})$/.exec(name) ?? [];
  return Date.UTC(Number(year), Number(month) - 1, 1);
}

async function listPartitions(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = ANY ($1::regclass[]::oid[]) ORDER BY c.relname`,
    [tables],
  );
  return rows.map(({ name }) => name);
}

/**
 * Makes the partitions of the month of `nowMs`, the one before it and the two after it, where they are missing. Run at start and hourly, so
 * a month's partition stands weeks before its first row.
 */
export async function ensurePartitions(pool: Pool, nowMs: number): Promise<void> {
  const standing = new Set(await listPartitions(pool));
  for (const offset of [-1, 0, 1, 2]) {
    const fromMs = startOfMonth(nowMs, offset);
    const untilMs = startOfMonth(nowMs, offset + 1);
    for (const table of tables) {
      const name = partitionName(table, fromMs);
      if (standing.has(name)) continue;
      // Names and bounds are ours, never input; DDL takes no bound values.
      await change(pool, 'create', (db) =>
        db.query(
          `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF ${table}
           FOR VALUES FROM ('${firstIdAt(fromMs)}') TO ('${firstIdAt(untilMs)}') ${storageOf[table]}`,
        ),
      );
    }
  }
}

/**
 * Drops the months of a table that were over by `beforeMs`, the oldest first, and notes in `kept` from when on the rest is. Those that
 * `ensurePartitions` makes stay in any case. Returns the names of what was dropped. Rejects with `isTableInUse` where it could not begin.
 */
export async function dropPartitions(
  pool: Pool,
  table: PartitionedTable,
  beforeMs: number,
  nowMs: number,
): Promise<string[]> {
  const endMs = Math.min(beforeMs, startOfMonth(nowMs, -1));
  const past = (await listPartitions(pool)).filter(
    (name) => name === partitionName(table, monthOf(name)) && startOfMonth(monthOf(name), 1) <= endMs,
  );
  for (const name of past) {
    await change(pool, 'drop', async (db) => {
      await db.query(
        `INSERT INTO kept AS k (table_name, since) VALUES ($1, $2)
         ON CONFLICT (table_name) DO UPDATE SET since = greatest(k.since, excluded.since)`,
        [table, new Date(startOfMonth(monthOf(name), 1))],
      );
      // Last: nobody reads or writes the table from here to the commit.
      await db.query(`DROP TABLE IF EXISTS ${name}`);
    });
  }
  return past;
}

/** True for the error of a change that found its table in use by a long transaction each time it tried. */
export function isTableInUse(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}

/** One change in a transaction of its own: none holds two tables at a time, which writers might take in another order. */
async function change(pool: Pool, kind: keyof typeof triesMax, ddl: (db: Db) => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await transaction(pool, async (db) => {
        await db.query('SELECT pg_advisory_xact_lock($1)', [advisoryLockId]);
        await db.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
        await ddl(db);
      });
      return;
    } catch (error) {
      if (!isTableInUse(error) || tries === triesMax[kind]) throw error;
    }
  }
}
