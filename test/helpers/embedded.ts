import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, readdir, readFile, realpath, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

export const isRoot = process.getuid?.() === 0;

/** An ordinary user that root can start processes as; `undefined`, ourselves, when we are one. */
export const ordinary = isRoot ? { uid: 65_534, gid: 65_534 } : undefined;

export type Account = typeof ordinary;

/** Whether an ordinary user can run this checkout: not where it lies under `/root`. */
export const ordinaryReachesCheckout =
  spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', checkout], { ...ordinary, cwd: '/' }).status === 0;

/** A process with an embedded server, as `npm start` is one. Closing its standard input asks it to stop in order. */
export type Heliograph = {
  url: string;
  log: string[];
  process: ChildProcess;
  /** Its exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
};

const script = `
  const { startEmbeddedPostgres } = await import(process.argv[1]);
  const print = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
  const server = await startEmbeddedPostgres({ dataDir: process.argv[2], log: (log) => print({ log }) }).catch((error) => {
    print({ error: error.message });
    process.exit(1);
  });
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    const { default: pg } = await import('pg');
    const client = new pg.Client(server.url);
    await client.connect();
    await client.end();
    await server.stop();
  };
  process.on('SIGINT', stop);
  process.stdin.on('end', stop).resume();
  print({ url: server.url });
`;

const started: ChildProcess[] = [];
const folders: string[] = [];

/** Starts a Heliograph; `log` sees each line as it comes. Rejects with what the embedded server's start rejected with. */
export async function startHeliograph(
  dataDir: string,
  options: { account?: Account; from?: string; onLog?: (line: string, child: ChildProcess) => void } = {},
): Promise<Heliograph> {
  const from = options.from ?? checkout;
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', script, path.join(from, 'src/db/embedded.ts'), dataDir],
    // In a process group of its own, as a shell starts a command. The folder is where the script finds `pg`.
    { ...options.account, cwd: from, detached: true, env: {}, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  started.push(child);
  const log: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as { url?: string; error?: string; log?: string };
    if (said.error !== undefined) {
      throw new Error(said.error);
    }
    if (said.log !== undefined) {
      log.push(said.log);
      options.onLog?.(said.log, child);
    }
    if (said.url !== undefined) {
      child.stdout.resume();
      const end = async () => {
        if (child.exitCode === null && child.signalCode === null) {
          await once(child, 'exit');
        }
        return child.exitCode;
      };
      const stop = () => {
        child.stdin.end();
        return end();
      };
      const kill = async () => {
        child.kill('SIGKILL');
        await end();
      };
      return { url: said.url, log, process: child, stop, kill };
    }
  }
  throw new Error('ended without a word');
}

/** A new empty folder of the account's own, in which others may pass. */
export async function makeFolder(account: Account): Promise<string> {
  const folder = await realpath(await mkdtemp('/tmp/hg-'));
  folders.push(folder);
  await chmod(folder, 0o711);
  if (account) {
    await chown(folder, account.uid, account.gid);
  }
  return folder;
}

/** Ends what `startHeliograph` started and removes what `makeFolder` made, sheltered homes included, except what holds `kept`. */
export async function cleanUp(kept?: string): Promise<void> {
  for (const child of started.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
  const unused = folders.filter((folder) => kept === undefined || !kept.startsWith(folder));
  for (const folder of unused) {
    folders.splice(folders.indexOf(folder), 1);
    const entries = await readdir(folder, { withFileTypes: true, recursive: true });
    for (const entry of entries.filter(({ name }) => name === 'postgres')) {
      const home = await realpath(path.join(entry.parentPath, entry.name)).catch(() => folder);
      if (entry.isSymbolicLink() && !home.startsWith(folder)) {
        await remove(home);
        await rmdir(path.dirname(home)).catch(() => undefined);
      }
    }
    await remove(folder);
  }
}

/** With retries: a server that was killed a moment ago may still be writing. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

export async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

export async function postmasterPid(dataDir: string): Promise<number> {
  const file = await readFile(path.join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8');
  return Number(file.split('\n')[0]);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie whose parent does not reap it is dead all the same.
    return !spawnSync('ps', ['-o', 'stat=', '-p', String(pid)])
      .stdout?.toString()
      .startsWith('Z');
  } catch {
    return false;
  }
}
