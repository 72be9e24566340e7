import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { print } from './report.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));

export type Child = {
  process: ChildProcess;
  pid: number;
  /** Rejects when it ends without having been asked to. */
  lost: Promise<never>;
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
};

/** The service promises 15 s. */
const stopMsMax = 20_000;

const running = new Set<ChildProcess>();

/** Ends every child, so that whoever waits for one of them gives up and cleans up. */
export function endChildren(): void {
  for (const child of running) child.kill('SIGTERM');
}

/** Starts a Node process from the checkout's root; `env` is all of its environment. */
export function startNode(args: readonly string[], env: Record<string, string>, stdio: StdioOptions): Child {
  const child = spawn(process.execPath, args, { cwd: checkout, env, stdio });
  running.add(child);
  let isStopping = false;
  const { promise: lost, reject } = Promise.withResolvers<never>();
  lost.catch(() => undefined);
  child.once('error', reject);
  child.once('exit', (code, signal) => {
    running.delete(child);
    if (!isStopping) reject(new Error(`${args.join(' ')} ended with ${signal ?? code}`));
  });
  endWithUs(child);
  return {
    process: child,
    pid: child.pid ?? 0,
    lost,
    async stop() {
      isStopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const overdue = setTimeout(() => {
        print(`  ${args.join(' ')} did not stop within ${stopMsMax / 1_000} s, and was killed.`);
        child.kill('SIGKILL');
      }, stopMsMax);
      await exited;
      clearTimeout(overdue);
    },
  };
}

/** Sees to it that a child does not outlive us, however we end: the shell waits on a pipe that only we hold open. */
function endWithUs(child: ChildProcess): void {
  const guard = spawn('/bin/sh', ['-c', 'read -r _; kill -TERM "$1"', 'sh', String(child.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  child.once('exit', () => guard.kill('SIGKILL'));
}

/** The first line a child prints. */
export async function firstLineOf(child: Child): Promise<string> {
  const { stdout } = child.process;
  if (stdout === null) throw new Error('the standard output of this child is not piped');
  const [chunk] = (await Promise.race([once(stdout, 'data'), child.lost])) as [Buffer];
  stdout.resume();
  return chunk.toString().split('\n', 1)[0] ?? '';
}
