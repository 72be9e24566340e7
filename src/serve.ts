import { startApp } from './app.ts';
import type { Config } from './config.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './db/embedded.ts';
import { systemClock } from './lib/clock.ts';
import { createLog } from './lib/log.ts';
import { seedQuickstart, startSimulatedUpstreams, type Quickstart } from './quickstart.ts';
import { loadSecrets } from './secrets.ts';

/**
 * The whole service, from the database up, until `stopping` aborts; then down again in reverse. Rejects when it cannot start, or when
 * the embedded database or the simulator ends on its own.
 */
export async function runService(config: Config, stopping: AbortSignal, print: (text: string) => void): Promise<void> {
  const log = createLog({ level: config.logLevel });
  const stops: Array<() => Promise<void>> = [];
  try {
    let databaseUrl = config.databaseUrl;
    const losses: Array<Promise<never>> = [];
    if (databaseUrl === undefined) {
      const database = await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) });
      stops.push(() => database.stop());
      databaseUrl = database.url;
      const lost = failWhenLost(database, stopping);
      // While the start fails, or everything stops, the database ends because we end it.
      lost.catch(() => undefined);
      losses.push(lost);
    }
    const needsSecrets = config.secretKey === undefined || config.operatorToken === undefined;
    const kept = needsSecrets ? await loadSecrets(config.dataDir) : undefined;
    const secretKey = config.secretKey ?? kept?.secretKey;
    const operatorToken = config.operatorToken ?? kept?.operatorToken;
    if (secretKey === undefined || operatorToken === undefined) throw new Error('no secrets were given or kept');

    let simulatorUrl = '';
    let effective = config;
    if (config.quickstart !== undefined) {
      const { simulator, upstreams } = await startSimulatedUpstreams(config.quickstart.simulatorPort);
      stops.push(() => simulator.stop());
      losses.push(simulator.lost);
      simulatorUrl = simulator.url;
      effective = { ...config, ...upstreams };
    }
    const app = await startApp({ config: effective, databaseUrl, secretKey, operatorToken, log, clock: systemClock });
    stops.push(() => app.stop());
    if (config.quickstart === undefined) print(`Heliograph listens on ${app.url}`);
    else {
      const deps = { dataDir: config.dataDir, clock: systemClock, operatorToken, simulatorUrl };
      print(welcome(await seedQuickstart(app, deps), config.dataDir));
    }
    await Promise.race([untilAborted(stopping), ...losses]);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function failWhenLost({ exited }: EmbeddedPostgres, stopping: AbortSignal): Promise<never> {
  const { code, signal } = await exited;
  if (stopping.aborted) return new Promise<never>(() => undefined);
  throw new Error(
    `the embedded PostgreSQL ended on its own (${signal ?? `code ${code}`}): see postgres.log in the data folder`,
  );
}

function welcome(quickstart: Quickstart, dataDir: string): string {
  return `
Heliograph is ready.

  API        ${quickstart.base_url}
  key        ${quickstart.api_key}
  reference  ${quickstart.docs_url}
  simulator  ${quickstart.simulator_url}
  kept in    ${dataDir}/quickstart.json

Send a message:

  curl -s ${quickstart.base_url}/messages/send \\
    -H 'Authorization: Bearer ${quickstart.api_key}' -H 'Content-Type: application/json' \\
    -d '{"to":"+14155550123","from":"${quickstart.sender}","body":"Hello from Heliograph"}'

Look after it: npx heliograph --help
Stop with Ctrl-C.
`;
}
