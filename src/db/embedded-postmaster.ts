import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLineOf, errorCode } from './embedded-process.ts';

const pollMs = 10;

/**
 * What a running postmaster writes about itself into its data directory: line 1 is its pid, line 8 its state.
 * https://github.com/postgres/postgres/blob/REL_18_STABLE/src/include/utils/pidfile.h
 */
export async function readPidFile(cluster: string): Promise<{ pid: number; ready: boolean } | undefined> {
  const lines = (await readFile(pidFile(cluster), 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 0 ? { pid, ready: lines[7]?.trim() === 'ready' } : undefined;
}

/**
 * Ends a postmaster that outlived its Heliograph, so that the cluster can be started anew. A pid file that names some other process,
 * which got the pid since, or a zombie, is removed: PostgreSQL would take that for a server of its own and not start.
 */
export async function stopLeftover(cluster: string, log: (line: string) => void): Promise<void> {
  const pid = (await readPidFile(cluster))?.pid;
  if (pid === undefined) {
    return;
  }
  if (!(await isPostmaster(pid, cluster))) {
    if (send(pid, 0)) {
      await rm(pidFile(cluster), { force: true });
    }
    return;
  }
  log(`stopping the PostgreSQL (process ${pid}) that an earlier run left behind`);
  for (const [signal, timeoutMs] of [
    ['SIGINT', 30_000],
    ['SIGQUIT', 10_000],
  ] as const) {
    send(pid, signal);
    if (await until(async () => !(await isPostmaster(pid, cluster)), timeoutMs)) {
      return;
    }
  }
  throw new Error(
    `process ${pid}, a PostgreSQL that an earlier run left on "${cluster}", does not stop: end it, then start again`,
  );
}

/** Waits for a condition, looking every 10 ms; false when the time is up. */
export async function until(condition: () => Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    if (await condition()) {
      return true;
    }
    await sleep(pollMs);
  }
  return false;
}

function pidFile(cluster: string): string {
  return path.join(cluster, 'postmaster.pid');
}

/** By what it was started as (`…/postgres -D <cluster> …`). A pid alone proves nothing: it may be anyone's by now. */
async function isPostmaster(pid: number, cluster: string): Promise<boolean> {
  const line = await commandLineOf(pid);
  const [program] = line.split(' -D ', 1);
  return program?.endsWith('/postgres') === true && line.startsWith(`${program} -D ${cluster} `);
}

/** False when no process has that pid; 0 only asks. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}
