import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { checkout } from '../helpers/embedded.ts';
import { operatorToken, type TestService } from '../helpers/service.ts';

export type Ended = { code: number | null; stdout: string; stderr: string };

export type CliOptions = { env?: Record<string, string>; stdin?: string };

/** The command line as it is typed: a process of its own. */
export function startCli(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, [path.join(checkout, 'src/cli/main.ts'), ...args], {
    // Nothing of the environment the tests run in.
    env: { PATH: process.env['PATH'] ?? '', DATA_DIR: path.join(tmpdir(), 'no-such-folder'), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Runs a command to its end. */
export async function runCli(args: readonly string[], { env, stdin = '' }: CliOptions = {}): Promise<Ended> {
  const child = startCli(args, env);
  const { stdin: input, stdout, stderr } = child;
  if (input === null || stdout === null || stderr === null) throw new Error('the process has no pipes');
  // A command that fails at once does not read what it is given.
  input.on('error', () => undefined);
  input.end(stdin);
  const [out, err, [code]] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')]);
  return { code: code as number | null, stdout: out, stderr: err };
}

/** The command line of the operator of a test service. */
export class Cli {
  readonly env: Record<string, string>;

  constructor(service: TestService, env: Record<string, string> = {}) {
    this.env = { HELIOGRAPH_URL: service.app.url, HELIOGRAPH_TOKEN: operatorToken, ...env };
  }

  run(...args: string[]): Promise<Ended> {
    return runCli(args, { env: this.env });
  }

  /** The output of a command that must succeed. */
  async output(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    expect({ code, stderr }, args.join(' ')).toMatchObject({ code: 0 });
    return stdout;
  }

  /** What a command that must succeed says to a script. */
  async json<Data>(...args: string[]): Promise<Data> {
    return JSON.parse(await this.output(...args, '--json')) as Data;
  }
}

/** An empty folder of a test's own. */
export async function withFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'heliograph-cli-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
