import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Quickstart } from '../../src/quickstart.ts';
import { ApiClient } from './client.ts';
import { checkout, isAlive, postmasterPid } from './embedded.ts';
import { until } from './until.ts';

/** A start takes a few seconds; on a busy machine, with a new database to make, it may take several times as long. */
const startMsMax = 60_000;

/** How a process ended, and how long that took from the signal on. */
export type End = { code: number | null; signal: NodeJS.Signals | null; tookMs: number };

/** The service as `npm start` runs it, in quickstart. */
export class ServiceProcess {
  readonly quickstart: Quickstart;
  readonly api: ApiClient;
  readonly child: ChildProcess;
  readonly #dataDir: string;
  readonly #output: string[];

  private constructor(parts: { quickstart: Quickstart; child: ChildProcess; dataDir: string; output: string[] }) {
    this.quickstart = parts.quickstart;
    this.api = new ApiClient(parts.quickstart.base_url, parts.quickstart.api_key, parts.quickstart.sender);
    this.child = parts.child;
    this.#dataDir = parts.dataDir;
    this.#output = parts.output;
  }

  /** Starts `command`, the program itself unless told otherwise, and resolves when it says that it is ready. */
  static async start(
    dataDir: string,
    { env = {}, command = [process.execPath, 'src/main.ts'] }: { env?: NodeJS.ProcessEnv; command?: string[] } = {},
  ): Promise<ServiceProcess> {
    const [program = '', ...args] = command;
    const child = spawn(program, args, {
      cwd: checkout,
      // In a group of its own, as a shell starts a command.
      detached: true,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PORT: '0',
        SIMULATOR_PORT: '0',
        DATA_DIR: dataDir,
        LOG_LEVEL: 'warn',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
    }
    try {
      await until(
        'the service is ready',
        () => {
          if (child.exitCode !== null || child.signalCode !== null)
            throw new Error('it ended instead of getting ready');
          return output.join('').includes('Heliograph is ready.');
        },
        startMsMax,
      );
    } catch (error) {
      throw new Error(`${String(error)}\n${output.join('')}`, { cause: error });
    }
    const quickstart = JSON.parse(await readFile(path.join(dataDir, 'quickstart.json'), 'utf8')) as Quickstart;
    return new ServiceProcess({ quickstart, child, dataDir, output });
  }

  /** Everything it printed and logged. */
  get output(): string {
    return this.#output.join('');
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<End> {
    const startedAt = performance.now();
    this.child.kill(signal);
    await ended(this.child);
    const { exitCode, signalCode } = this.child;
    return { code: exitCode, signal: signalCode, tookMs: performance.now() - startedAt };
  }

  /** The power goes out: the service and its database end in the same moment, in the middle of whatever they do. */
  async kill(): Promise<void> {
    const postmaster = await postmasterPid(this.#dataDir).catch(() => undefined);
    this.child.kill('SIGKILL');
    if (postmaster !== undefined) process.kill(postmaster, 'SIGKILL');
    await ended(this.child);
    await until('the database has ended', () => postmaster === undefined || !isAlive(postmaster));
  }
}

const running = new Set<ChildProcess>();

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  running.delete(child);
}

/** Ends what tests left running. */
export async function endProcesses(): Promise<void> {
  await Promise.all(
    [...running].map(async (child) => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGKILL');
      await ended(child);
    }),
  );
}
