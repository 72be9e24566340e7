import { createSecretKey, randomBytes } from 'node:crypto';
import { readProvidersSettings } from '../../src/config.ts';
import { createOutcomes } from '../../src/dispatch/outcome.ts';
import type { Pool } from '../../src/db/pool.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { Metrics } from '../../src/lib/metrics.ts';
import { createProviders } from '../../src/providers/registry.ts';
import { ReceiptDesk } from '../../src/receipts/desk.ts';
import { ReceiptPoller, type ReceiptPollerDeps } from '../../src/receipts/poller.ts';
import { simulatorCredentials } from '../../src/simulator/simulator.ts';
import type { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

/** A process of its own that looks for the lost receipts of a service, with Twilio at `twilioUrl`. */
export class TestPoller {
  readonly #poller: ReceiptPoller;
  readonly #pool: Pool;
  readonly #metrics = new Metrics();

  constructor(
    service: TestService,
    clock: Clock,
    twilioUrl: string,
    { pool = service.pool, limits }: Partial<Pick<ReceiptPollerDeps, 'pool' | 'limits'>> = {},
  ) {
    const { ids } = service.app;
    this.#pool = service.pool;
    const log = createLog({ level: 'silent' });
    const metrics = this.#metrics;
    const settings = readProvidersSettings({ twilio: { baseUrl: twilioUrl, ...simulatorCredentials.twilio } });
    const providers = createProviders(settings, { clock, random: () => 0.5 });
    const outcomes = createOutcomes({ pool, clock, ids, log, onDeliveries: () => undefined });
    const refKey = createSecretKey(randomBytes(32));
    const receiptDesk = new ReceiptDesk({ pool, clock, ids, log, outcomes, refKey, metrics });
    this.#poller = new ReceiptPoller({ pool, clock, log, metrics, providers, receiptDesk, limits });
  }

  /** One run, whether or not another process is at it. */
  runNow(): Promise<'more' | 'done'> {
    return this.#poller.run();
  }

  /** One run, once no other process is at it. */
  async run(): Promise<'more' | 'done'> {
    await until('no other process is at it', () => this.#isFree());
    return this.#poller.run();
  }

  /** Runs as long as there is something to ask. */
  async runToEnd(): Promise<void> {
    while ((await this.run()) === 'more');
  }

  /** The service itself looks once at its start. */
  async #isFree(): Promise<boolean> {
    if (this.#pool.waitingCount > 0) return false;
    const { rowCount } = await this.#pool.query(
      `SELECT FROM pg_locks JOIN pg_database d ON d.oid = database WHERE locktype = 'advisory' AND datname = current_database()`,
    );
    return rowCount === 0;
  }

  /** How often each thing was learnt. */
  async learnt(): Promise<Record<string, number>> {
    const metric = await this.#metrics.registry.getSingleMetric('heliograph_look_ups_total')?.get();
    return Object.fromEntries((metric?.values ?? []).map(({ labels, value }) => [labels['result'], value]));
  }
}
