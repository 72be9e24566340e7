import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findBinaries, type Binaries } from './embedded-binaries.ts';
import { openCluster, type Cluster } from './embedded-cluster.ts';
import { openHome, type Home } from './embedded-home.ts';
import { takeLock } from './embedded-lock.ts';
import { readPidFile, stopLeftover, until } from './embedded-postmaster.ts';
import { childOptions, errorCode, type Account } from './embedded-process.ts';
import { assertUnanswered, makeSocketDir, removeSocketDir, socketPort } from './embedded-socket.ts';

export type EmbeddedPostgres = {
  /** For `pg`: role, password, socket folder and database. A secret. */
  url: string;
  /** Resolves when the server has ended, asked to by `stop` or on its own; never rejects. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Ends all sessions and the server, then frees the data folder. May be called again. */
  stop: () => Promise<void>;
};

type Log = (line: string) => void;

type Server = Pick<EmbeddedPostgres, 'exited'> & { child: ChildProcess; hasExited: () => boolean };

const database = 'heliograph';

/** Replaying 2 GB of journal after a crash takes about a minute on a slow disk. */
const startTimeoutMs = 5 * 60_000;

/** A fast shutdown writes what is still in memory, at most `shared_buffers`; an immediate one ends within 5 s by itself. */
const fastStopTimeoutMs = 7_000;
const immediateStopTimeoutMs = 6_000;

/** For one small service on a machine of two cores. `fsync`, `synchronous_commit` and page checksums are on, as they are by default. */
const settings: Record<string, string> = {
  cluster_name: 'heliograph',
  listen_addresses: '',
  max_connections: '60',
  shared_buffers: '256MB',
  // A checkpoint makes the next change of each page write the whole page to the journal: few checkpoints, less journal.
  checkpoint_timeout: '15min',
  max_wal_size: '2GB',
  random_page_cost: '1.1',
  jit: 'off',
  // One query must not take both cores; nor the shared memory that it would need, of which containers have 64 MB.
  max_parallel_workers_per_gather: '0',
  autovacuum_naptime: '15s',
  autovacuum_vacuum_scale_factor: '0.05',
  autovacuum_vacuum_insert_scale_factor: '0.05',
  autovacuum_analyze_scale_factor: '0.02',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Errors of statements go to the caller. In the log they would quote phone numbers and texts, and have no bound.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/**
 * Starts PostgreSQL on the cluster of `dataDir`, which is made if it is not there, and resolves when the database answers. Its log is
 * `<dataDir>/postgres.log`.
 */
export async function startEmbeddedPostgres(options: { dataDir: string; log: Log }): Promise<EmbeddedPostgres> {
  const log: Log = (line) => options.log(`PostgreSQL: ${line}`);
  const home = await openHome(options.dataDir);
  const lock = await takeLock(
    home.dir,
    (pid) =>
      `the data folder "${home.dataDir}" is in use by another Heliograph (process ${pid}): stop that one, or choose another folder with DATA_DIR`,
  );
  try {
    await stopLeftover(path.join(home.dir, 'cluster'), log);
    await assertUnanswered(home);
    const binaries = await findBinaries(home);
    const cluster = await openCluster(home, binaries, log);
    const socketDir = await makeSocketDir(home);
    const server = await startServer(home, binaries, cluster, socketDir, log);
    const stop = async () => {
      await stopServer(server);
      await removeSocketDir(home);
      await lock.release();
    };
    try {
      await ensureDatabase(cluster, socketDir);
    } catch (error) {
      await stopServer(server);
      throw error;
    }
    let stopping: Promise<void> | undefined;
    return { url: urlOf(cluster, socketDir), exited: server.exited, stop: () => (stopping ??= stop()) };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function startServer(
  home: Home,
  binaries: Binaries,
  cluster: Cluster,
  socketDir: string,
  log: Log,
): Promise<Server> {
  const logFile = path.join(home.dataDir, 'postgres.log');
  await keepOneOlder(logFile);
  const args = Object.entries({ ...settings, unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"` }).flatMap(
    ([name, value]) => ['-c', `${name}=${value}`],
  );
  const deadline = performance.now() + 10_000;
  for (;;) {
    const server = await spawnServer(binaries.postgres, ['-D', cluster.dir, ...args], home.account, logFile);
    if (await becomesReady(server, cluster.dir, log)) {
      return server;
    }
    if (!server.hasExited()) {
      await stopServer(server);
      throw new Error(`PostgreSQL was not ready within ${startTimeoutMs / 1000} s; see ${logFile}`);
    }
    const lines = (await readFile(logFile, 'utf8')).trimEnd().split('\n');
    // Sessions of a postmaster that was killed end on their own, as soon as they notice.
    const sessionsLeft = lines.some((line) => line.includes('pre-existing shared memory block'));
    if (!sessionsLeft || performance.now() > deadline) {
      throw new Error(`PostgreSQL did not start. The end of ${logFile}:\n${lines.slice(-5).join('\n')}`);
    }
    await sleep(100);
  }
}

async function spawnServer(program: string, args: string[], account: Account, logFile: string): Promise<Server> {
  const output = await open(logFile, 'a', 0o600);
  try {
    // In a process group of its own: Ctrl-C reaches our whole group, and we still need the database to finish our work.
    const child = spawn(program, args, {
      ...childOptions(account),
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
    });
    let ended = false;
    const exited = new Promise<Awaited<Server['exited']>>((resolve) => {
      child.once('exit', (code, signal) => {
        ended = true;
        resolve({ code, signal });
      });
    });
    await once(child, 'spawn');
    stopWithUs(child, account);
    return { child, exited, hasExited: () => ended };
  } finally {
    await output.close();
  }
}

/**
 * Sees to it that the server does not outlive us, however we end: the shell waits on a pipe that only we hold open, and when we are gone
 * it asks the server to stop.
 */
function stopWithUs(child: ChildProcess, account: Account): void {
  const guard = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$1"', 'sh', String(child.pid)], {
    ...childOptions(account),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without it, the next start still finds the server and stops it.
  guard.on('error', () => undefined);
  guard.unref();
  child.once('exit', () => guard.kill('SIGKILL'));
}

/** False when the server exited, or the time is up. */
async function becomesReady(server: Server, clusterDir: string, log: Log): Promise<boolean> {
  const notice = setTimeout(() => log('still starting; after a crash it replays its journal first'), 3_000);
  let ready = false;
  await until(async () => {
    const file = await readPidFile(clusterDir);
    ready = file?.pid === server.child.pid && file?.ready === true;
    return ready || server.hasExited();
  }, startTimeoutMs);
  clearTimeout(notice);
  return ready;
}

async function stopServer({ child, exited, hasExited }: Server): Promise<void> {
  child.kill('SIGINT');
  await Promise.race([exited, sleep(fastStopTimeoutMs, undefined, { ref: false })]);
  if (!hasExited()) {
    child.kill('SIGQUIT');
    await Promise.race([exited, sleep(immediateStopTimeoutMs, undefined, { ref: false })]);
  }
}

/** Also the proof that a session can be had. A crash after making the cluster can have left it without the database. */
async function ensureDatabase(cluster: Cluster, socketDir: string): Promise<void> {
  const connect = async (name: string) => {
    const client = new pg.Client({
      connectionString: urlOf(cluster, socketDir, name),
      connectionTimeoutMillis: 10_000,
    });
    await client.connect();
    return client;
  };
  try {
    await (await connect(database)).end();
  } catch (error) {
    if (errorCode(error) !== '3D000') {
      throw error;
    }
    const client = await connect('postgres');
    try {
      await client.query(`CREATE DATABASE ${database}`);
    } finally {
      await client.end();
    }
  }
}

function urlOf({ user, password }: Cluster, socketDir: string, name = database): string {
  // Port and sslmode are named so that PGPORT or PGSSLMODE in the environment do not decide.
  return `postgres://${user}:${password}@${encodeURIComponent(socketDir)}:${socketPort}/${name}?sslmode=disable`;
}

/** Bounds the log: a server writes a few lines an hour, and each start begins a new file. */
async function keepOneOlder(file: string): Promise<void> {
  await rename(file, `${file}.1`).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') {
      throw error;
    }
  });
}
