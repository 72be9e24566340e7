import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadPlan, LoadResult } from '../load/plan.ts';
import { firstLineOf, startNode, type Child } from './child.ts';
import { configure, ratePerSecond, type Upstreams } from './configuration.ts';
import {
  countMessages,
  forgetStatements,
  journalBytes,
  readStatements,
  startDatabase,
  type Database,
} from './database.ts';
import { startMeter, type Metered, type Usage } from './meter.ts';
import { cpuSecondsOf, familyCpuSecondsOf, residentBytesOf } from './proc.ts';
import { readProfile } from './profile.ts';
import { printProfile } from './report.ts';
import { freePort, startService, type Service } from './service.ts';
import { createTenant, type Tenant } from './tenant.ts';

export type StageOptions = {
  /** Prints, at the end, where the service and the database spent their time. */
  profile: boolean;
  /** Loads that run at the same time. */
  loads?: number;
  /** The providers, in the order of their route. */
  upstreams?: Upstreams;
};

export type Measured = { loads: LoadResult[]; usage: Usage; journalBytes: number };

/** A plan without what the stage knows. */
export type StagePlan = Omit<LoadPlan, 'port' | 'keys' | 'sender'>;

const settledWithinMs = 120_000;

/** The service with everything around it, each a process of its own: database, simulator, loads. */
export class Stage {
  readonly database: Database;
  readonly service: Service;
  readonly tenant: Tenant;
  readonly operatorToken: string;
  readonly simulatorUrl: string;
  readonly #folder: string;
  readonly #loads: Child[];
  readonly #metered: Metered[];
  readonly #profile: boolean;
  /** Rejects when the service or the simulator ends while it is needed. */
  readonly #lost: Promise<never>;
  /** Messages of the warm-up. */
  #warmUpMessages = 0;
  /** Messages to numbers from which no receipt comes. */
  #silent = 0;

  constructor(parts: {
    database: Database;
    service: Service;
    tenant: Tenant;
    operatorToken: string;
    folder: string;
    simulator: Simulator;
    loads: Child[];
    profile: boolean;
  }) {
    const { database, service, tenant, operatorToken, folder, loads, profile } = parts;
    const { child: simulator, url } = parts.simulator;
    this.database = database;
    this.service = service;
    this.tenant = tenant;
    this.operatorToken = operatorToken;
    this.simulatorUrl = url;
    this.#folder = folder;
    this.#loads = loads;
    this.#profile = profile;
    this.#lost = Promise.race([service.child.lost, simulator.lost]);
    this.#lost.catch(() => undefined);
    this.#metered = [
      { name: 'service', cpuSeconds: () => cpuSecondsOf(service.child.pid) },
      { name: 'database', cpuSeconds: () => familyCpuSecondsOf(database.postmasterPid) },
      { name: 'simulator', cpuSeconds: () => cpuSecondsOf(simulator.pid) },
      { name: 'load', cpuSeconds: () => loads.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0) },
    ];
  }

  get warmUpMessages(): number {
    return this.#warmUpMessages;
  }

  get residentBytes(): { now: number; peak: number } {
    return residentBytesOf(this.service.child.pid);
  }

  /** Meters one more process from now on. */
  meter(name: string, child: Child): void {
    this.#metered.push({ name, cpuSeconds: () => cpuSecondsOf(child.pid) });
  }

  /** Runs the plans side by side, each in a process of its own. */
  async run(...plans: StagePlan[]): Promise<Measured> {
    const { pool } = this.database;
    const { keys, sender } = this.tenant;
    const journalBefore = await journalBytes(pool);
    const meter = startMeter(this.#metered, this.service.child.pid);
    let loads: LoadResult[];
    let usage: Usage;
    try {
      const running = plans.map((plan, index) => {
        const load = this.#loads[index];
        if (load === undefined) throw new Error(`${plans.length} plans for ${this.#loads.length} loads`);
        return runPlan(load, { ...plan, port: this.service.port, keys, sender });
      });
      loads = await Promise.race([Promise.all(running), this.#lost]);
    } finally {
      usage = meter.stop();
    }
    for (const [index, { work }] of plans.entries()) {
      if ('to' in work && work.to === '+99901010') this.#silent += loads[index]?.sent ?? 0;
    }
    return { loads, usage, journalBytes: (await journalBytes(pool)) - journalBefore };
  }

  /** As `run`, for nobody's figures: code gets compiled, connections are opened, the first pages written. */
  async warmUp(...plans: StagePlan[]): Promise<void> {
    await this.run(...plans);
    await this.settled();
    if (this.#profile) await forgetStatements(this.database.pool);
    this.#warmUpMessages = await this.#accepted();
  }

  /** Waits until every message has been sent, and its last receipt has come, or has failed. Resolves to how long that took, in milliseconds. */
  async settled(): Promise<number> {
    const askedMs = performance.now();
    for (;;) {
      const counts = await countMessages(this.database.pool, this.tenant.accountId);
      const { accepted = 0, sent = 0, delivered = 0, failed = 0 } = counts;
      if (sent === this.#silent && sent + delivered + failed === accepted) return performance.now() - askedMs;
      if (performance.now() - askedMs > settledWithinMs) {
        throw new Error(
          `messages are still under way after ${settledWithinMs / 1_000} s; ${this.#silent} of them get no receipt: ${JSON.stringify(counts)}`,
        );
      }
      await Promise.race([delay(50), this.#lost]);
    }
  }

  /** Stops the service in order, and tells where the time went, if that was asked for. */
  async close(): Promise<void> {
    const messages = this.#profile ? (await this.#accepted()) - this.#warmUpMessages : 0;
    const statements = this.#profile ? await readStatements(this.database.pool) : [];
    await this.service.child.stop();
    if (this.#profile) printProfile(await readProfile(this.#folder), statements, messages);
  }

  async #accepted(): Promise<number> {
    return (await countMessages(this.database.pool, this.tenant.accountId))['accepted'] ?? 0;
  }
}

/** Sets a stage, acts on it, and takes everything down again. */
export async function withStage<Result>(
  options: StageOptions,
  act: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  const folder = await makeFolder();
  const stops: Array<() => Promise<void>> = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })];
  try {
    const database = await startDatabase(folder, options.profile);
    stops.push(() => database.stop());
    const simulator = await startSimulator(stops);
    const port = await freePort();
    const operatorToken = randomBytes(24).toString('base64url');
    const { upstreams = { twilio: { ratePerSecond, concurrency: 512 } } } = options;
    const env = {
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      OPERATOR_TOKEN: operatorToken,
      ...(await configure({ folder, port, simulatorUrl: simulator.url, upstreams })),
    };
    const nodeOptions = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : [];
    const service = await startService({ folder, port, env, nodeOptions });
    stops.push(() => service.child.stop());
    const tenant = await createTenant(database.pool);
    const loads = Array.from({ length: options.loads ?? 1 }, (_, index) => startLoad(index));
    for (const load of loads) stops.push(() => load.stop());
    const { profile } = options;
    const stage = new Stage({ database, service, tenant, operatorToken, folder, simulator, loads, profile });
    const result = await act(stage);
    await stage.close();
    return result;
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** Open to others: PostgreSQL, which does not run as root, must get to its data in it. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'heliograph-bench-'));
  await chmod(folder, 0o711);
  return folder;
}

export type Simulator = { child: Child; url: string; smppPort: number };

/** The simulator as a process of its own, and its end among the `stops`. */
export async function startSimulator(stops: Array<() => Promise<void>>): Promise<Simulator> {
  const child = startNode(['src/simulator/main.ts'], {}, ['ignore', 'pipe', 'inherit']);
  stops.push(() => child.stop());
  return { child, ...(JSON.parse(await firstLineOf(child)) as Omit<Simulator, 'child'>) };
}

function startLoad(index: number): Child {
  return startNode(['bench/load/main.ts', String(index)], {}, ['ignore', 'inherit', 'inherit', 'ipc']);
}

async function runPlan(load: Child, plan: LoadPlan): Promise<LoadResult> {
  const { promise, resolve, reject } = Promise.withResolvers<LoadResult>();
  load.process.once('message', (message: { result: LoadResult } | { problem: string }) => {
    if ('result' in message) resolve(message.result);
    else reject(new Error(`a load gave up: ${message.problem}`));
  });
  load.process.send(plan);
  return Promise.race([promise, load.lost]);
}
