import pg from 'pg';
import { StatementSocket } from './socket.ts';

// bigint columns are counts and micro-units: all far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Anything a statement can run on: the pool, or one connection inside a transaction. */
export type Db = Pick<pg.PoolClient, 'query'>;

export type Pool = pg.Pool;

export type PoolOptions = {
  url: string;
  maxConnections: number;
  applicationName: string;
  onError: (error: Error) => void;
};

/**
 * A pool for the hot path. Prepared plans are made while tables are small and kept when they are large; without sequential scans
 * to fall back on, the plan of the first minute is the plan of the hundred-millionth row (4,440 sends/s against 2,380 measured).
 */
export function createPool({ url, maxConnections, applicationName, onError }: PoolOptions): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    // Statements that do not need each other's results leave together: a commit takes two or three round trips, not nine.
    pipeline: true,
    stream: () => new StatementSocket(),
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 0,
    application_name: applicationName,
    keepAlive: true,
    options: '-c enable_seqscan=off -c plan_cache_mode=force_generic_plan -c timezone=UTC -c jit=off',
    statement_timeout: 30_000,
    // For a network that swallows packets: the server's own time-out would never arrive.
    query_timeout: 35_000,
    idle_in_transaction_session_timeout: 30_000,
  });
  pool.on('error', onError);
  // A connection lost while it is in use fails its statement; without a listener it would end the process as well.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** True for faults of the connection or the server rather than of the statement: another try may succeed. */
export function isConnectionFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (/^(08|53|57P|58)/.test(code)) return true;
  if (/^E[A-Z]+$/.test(code)) return true;
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
    error.message,
  );
}
