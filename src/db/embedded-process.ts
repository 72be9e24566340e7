import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** The system account a child process runs under; `undefined` is our own. */
export type Account = { uid: number; gid: number } | undefined;

/**
 * How every child is started: with nothing of our environment, which holds secrets, and in a folder that any account can enter (ours may be
 * closed to `account`).
 */
export function childOptions(account: Account) {
  return { ...account, cwd: '/', env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } };
}

const execute = promisify(execFile);

/** Runs a short program to its end. `output` is what it printed, or why it could not be run. */
export async function run(
  program: string,
  args: string[],
  account: Account,
  timeoutMs: number,
): Promise<{ ok: boolean; output: string }> {
  try {
    const { stdout } = await execute(program, args, { ...childOptions(account), timeout: timeoutMs });
    return { ok: true, output: stdout.trim() };
  } catch (error) {
    const { message, stderr } = error as Error & { stderr?: string };
    return { ok: false, output: stderr?.trim() || message };
  }
}

/**
 * A mark that tells a process from every other one that has had or will have its pid, this boot or another. `undefined` when there is no
 * such process, or only its zombie (a container whose first process reaps nothing keeps those for ever).
 */
export async function birthOf(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') {
    const { ok, output } = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], undefined, 5_000);
    const [, state, startedAt] = /^(\S+)\s+(.+)$/.exec(output) ?? [];
    return ok && !state?.startsWith('Z') ? startedAt : undefined;
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // `4722 (a name (of any) kind) S 1 4722 …`: the third field is the state, the 22nd the clock ticks from boot to its start.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ticks] = [fields[0], fields[19]];
  if (ticks === undefined || state === 'Z' || state === 'X') {
    return undefined;
  }
  return `${(await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()}/${ticks}`;
}

/** Program and arguments of a running process, joined by blanks; empty when there is none. Not `ps`: small images have none. */
export async function commandLineOf(pid: number): Promise<string> {
  if (process.platform !== 'linux') {
    return (await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)], undefined, 5_000)).output;
  }
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ');
}

/** `code` of a system error, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
