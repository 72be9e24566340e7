import { startEmbeddedPostgres } from '../../src/db/embedded.ts';
import { createPool, type Pool } from '../../src/db/pool.ts';
import { parentOf } from './proc.ts';

/** The database of a bench: the embedded server, started as the service starts it, and connections of our own to it. */
export type Database = { url: string; pool: Pool; postmasterPid: number; stop(): Promise<void> };

/** With `countsStatements`, PostgreSQL keeps the number and the time of every statement: `readStatements` tells them. */
export async function startDatabase(dataDir: string, countsStatements: boolean): Promise<Database> {
  const start = () => startEmbeddedPostgres({ dataDir, log: () => undefined });
  let server = await start();
  if (countsStatements) {
    const pool = connect(server.url);
    await pool.query(`ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`);
    await pool.end();
    // A library is loaded at the start only.
    await server.stop();
    server = await start();
  }
  const pool = connect(server.url);
  if (countsStatements) await pool.query('CREATE EXTENSION pg_stat_statements');
  const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return {
    url: server.url,
    pool,
    postmasterPid: parentOf(rows[0]?.pid ?? 0),
    async stop() {
      await pool.end();
      await server.stop();
    },
  };
}

function connect(url: string): Pool {
  return createPool({ url, maxConnections: 2, applicationName: 'heliograph bench', onError: () => undefined });
}

/** How much of its journal the database has written so far. */
export async function journalBytes(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint AS bytes`,
  );
  return rows[0]?.bytes ?? 0;
}

/** Messages of an account by the state they have reached, from the roll-up that the service keeps. */
export async function countMessages(pool: Pool, accountId: string): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ status: string; messages: number }>(
    'SELECT status, sum(messages)::bigint AS messages FROM usage_hourly WHERE account_id = $1 GROUP BY status',
    [accountId],
  );
  return Object.fromEntries(rows.map(({ status, messages }) => [status, messages]));
}

/** What became of the messages that were accepted in a time, and how many attempts they took. */
export async function countAttempts(
  pool: Pool,
  accountId: string,
  fromMs: number,
  untilMs: number,
): Promise<{ messages: number; attempts: number; failed: number }> {
  const { rows } = await pool.query<{ messages: number; attempts: number; failed: number }>(
    `SELECT count(*)::bigint AS messages, sum(attempt_count)::bigint AS attempts, count(*) FILTER (WHERE status = 'failed')::bigint AS failed
     FROM messages
     WHERE account_id = $1 AND uuid_extract_timestamp(id) >= to_timestamp($2::float8 / 1000)
       AND uuid_extract_timestamp(id) < to_timestamp($3::float8 / 1000)`,
    [accountId, fromMs, untilMs],
  );
  return rows[0] ?? { messages: 0, attempts: 0, failed: 0 };
}

export type Statement = { text: string; calls: number; rows: number; totalMs: number };

export async function forgetStatements(pool: Pool): Promise<void> {
  await pool.query('SELECT pg_stat_statements_reset()');
}

/** What the service ran since `forgetStatements`, what took longest first. */
export async function readStatements(pool: Pool): Promise<Statement[]> {
  const { rows } = await pool.query<Statement>(
    `SELECT query AS text, calls, rows, total_exec_time AS "totalMs" FROM pg_stat_statements
     WHERE query NOT LIKE '%pg\\_%' ORDER BY total_exec_time DESC`,
  );
  return rows;
}
