import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

/** The implementation under test, as far as the specification leaves it open. */
export type Target = {
  /** Ends with the version prefix `/api/v1`. */
  baseUrl: string;
  /** Holds every scope. */
  apiKey: string;
  /** Where the OpenAPI document of the implementation is. */
  openApiUrl: string;
  /** Approved senders of the account: one with letters, one of digits. */
  sender: string;
  numericSender: string;
  /** A route that may be forced. */
  routeId: number;
  /** The address these tests call from, as the implementation sees it. */
  callerAddress: string;
  /** Recipients that begin with it and go on with three digits make the carrier fail on demand; null where nobody plays the carrier. */
  magicPrefix: string | null;
  /** A key of an account that cannot pay for a message; null where there is none. */
  pennilessKey: string | null;
};

declare module 'vitest' {
  interface ProvidedContext {
    target: Target;
  }
}

/** Before the contract tests: finds the implementation that the environment names, or starts the program. One for the whole run. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = givenTarget(process.env);
  if (given !== undefined) {
    project.provide('target', given);
    return undefined;
  }
  const program = await startProgram();
  project.provide('target', program.target);
  return program.stop;
}

function givenTarget(env: NodeJS.ProcessEnv): Target | undefined {
  const { CONTRACT_BASE_URL: baseUrl, CONTRACT_API_KEY: apiKey, CONTRACT_SENDER: sender } = env;
  if (!baseUrl) return undefined;
  if (!apiKey || !sender) throw new Error('With CONTRACT_BASE_URL, set CONTRACT_API_KEY and CONTRACT_SENDER too.');
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKey,
    openApiUrl: env['CONTRACT_OPENAPI_URL'] || new URL('/openapi.json', baseUrl).href,
    sender,
    numericSender: env['CONTRACT_NUMERIC_SENDER'] || sender,
    routeId: Number(env['CONTRACT_ROUTE_ID'] || 1),
    callerAddress: env['CONTRACT_CALLER_ADDRESS'] || '127.0.0.1',
    magicPrefix: env['CONTRACT_MAGIC_PREFIX'] || null,
    pennilessKey: env['CONTRACT_PENNILESS_KEY'] || null,
  };
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const startMsMax = 60_000;
const stopMsMax = 20_000;

/** The program as `npm start` runs it without configuration, on free ports and in a folder that goes with it. */
async function startProgram(): Promise<{ target: Target; stop: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'heliograph-contract-'));
  // Run by root, PostgreSQL gets another account, which has to pass through.
  await chmod(folder, 0o711);
  const dataDir = path.join(folder, 'data');
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    env: { PATH, HOME, HOST: '127.0.0.1', PORT: '0', SIMULATOR_PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const stop = async () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMsMax);
    child.kill('SIGTERM');
    const [code] = await exited;
    clearTimeout(timer);
    await rm(folder, { recursive: true, force: true });
    if (code !== 0) throw new Error(`the program ended with ${code ?? 'a signal'}`);
  };
  try {
    await ready(child, exited);
    return { target: await readTarget(path.join(dataDir, 'quickstart.json')), stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}

/** Resolves once the program says so; rejects with what it printed when it does not. */
async function ready(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  let printed = '';
  const said = new Promise<true>((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      printed = (printed + chunk.toString()).slice(-10_000);
      if (printed.includes('Heliograph is ready')) resolve(true);
    });
  });
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), startMsMax);
  });
  const isReady = await Promise.race([said, over, exited.then(() => false)]);
  clearTimeout(timer);
  if (!isReady) throw new Error(`the program did not start within ${startMsMax} ms; it printed:\n${printed}`);
}

async function readTarget(quickstartFile: string): Promise<Target> {
  const quickstart = JSON.parse(await readFile(quickstartFile, 'utf8')) as Record<string, string>;
  const { base_url: baseUrl = '', api_key: apiKey = '', sender = '' } = quickstart;
  return {
    baseUrl,
    apiKey,
    openApiUrl: new URL('/openapi.json', baseUrl).href,
    sender,
    numericSender: '+15005550006',
    routeId: 1,
    callerAddress: '127.0.0.1',
    magicPrefix: '+99901',
    pennilessKey: null,
  };
}
