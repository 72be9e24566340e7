import path from 'node:path';
import type { TestProject } from 'vitest/node';
import type { Quickstart } from '../../src/quickstart.ts';
import { cleanUp, makeFolder } from '../helpers/embedded.ts';
import { endProcesses, ServiceProcess } from '../helpers/process.ts';
import { seed } from './seed.ts';

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
  /** Has 12 letters; best one that is approved as well, so that its length is all that is wrong with it. */
  tooLongSender: string;
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
    tooLongSender: env['CONTRACT_TOO_LONG_SENDER'] || 'TwelveLetter',
    routeId: Number(env['CONTRACT_ROUTE_ID'] || 1),
    callerAddress: env['CONTRACT_CALLER_ADDRESS'] || '127.0.0.1',
    magicPrefix: env['CONTRACT_MAGIC_PREFIX'] || null,
    pennilessKey: env['CONTRACT_PENNILESS_KEY'] || null,
  };
}

/** The program as `npm start` runs it without configuration, on free ports and in a folder that goes with it. */
async function startProgram(): Promise<{ target: Target; stop: () => Promise<void> }> {
  try {
    const dataDir = path.join(await makeFolder(undefined), 'data');
    const program = await ServiceProcess.start(dataDir, { env: { LOG_LEVEL: 'error' } });
    return { target: await targetOf(program.quickstart), stop: () => stopProgram(program) };
  } catch (error) {
    await endProcesses();
    await cleanUp();
    throw error;
  }
}

/** Fails where the program did not end in order, or found reason to log an error. */
async function stopProgram(program: ServiceProcess): Promise<void> {
  const { code } = await program.stop();
  await cleanUp();
  const errors = program.output.split('\n').filter((line) => line.startsWith('{'));
  if (code !== 0 || errors.length > 0) throw new Error(`the program ended with ${code}:\n${errors.join('\n')}`);
}

async function targetOf(quickstart: Quickstart): Promise<Target> {
  return {
    baseUrl: quickstart.base_url,
    apiKey: quickstart.api_key,
    openApiUrl: new URL('/openapi.json', quickstart.base_url).href,
    numericSender: '+15005550006',
    routeId: 1,
    callerAddress: '127.0.0.1',
    magicPrefix: '+99901',
    ...(await seed(quickstart)),
  };
}
