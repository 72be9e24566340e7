import { openSync, closeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import packageJson from '../../package.json' with { type: 'json' };
import { startNode, type Child } from './child.ts';

/** What `npm start` gives to Node, so that the same program is measured. */
export const startFlags = packageJson.scripts.start.split(' ').filter((word) => word.startsWith('--'));

const readyWithinMs = 60_000;
/** Fine enough for the start bench, and nothing to the machine. */
const askEveryMs = 5;

export type Service = { child: Child; port: number };

/** A port that was free a moment ago: the service must be told its own address before it listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts `node src/main.ts`, its log in a file of the folder, and resolves when /readyz answers 200. */
export async function startService(options: {
  folder: string;
  port: number;
  env: Record<string, string>;
  nodeOptions?: readonly string[];
}): Promise<Service> {
  const { folder, port, env, nodeOptions = [] } = options;
  const logFile = path.join(folder, 'service.log');
  const log = openSync(logFile, 'a');
  const child = startNode([...startFlags, ...nodeOptions, 'src/main.ts'], { ...env, PORT: String(port) }, [
    'ignore',
    log,
    log,
  ]);
  closeSync(log);
  try {
    await Promise.race([untilReady(port), child.lost]);
  } catch (error) {
    await child.stop();
    const lines = (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-10);
    throw new Error(`the service did not start; its last words:\n${lines.join('\n')}`, { cause: error });
  }
  return { child, port };
}

async function untilReady(port: number): Promise<void> {
  const deadlineMs = performance.now() + readyWithinMs;
  while (performance.now() < deadlineMs) {
    const status = await request(`http://127.0.0.1:${port}/readyz`).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      },
      () => undefined,
    );
    if (status === 200) return;
    await delay(askEveryMs);
  }
  throw new Error(`/readyz did not answer 200 within ${readyWithinMs / 1_000} s`);
}
