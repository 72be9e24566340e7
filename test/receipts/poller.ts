import { createSecretKey, randomBytes } from 'node:crypto';
import { readProvidersSettings } from '../../src/config.ts';
import { createOutcomes } from '../../src/dispatch/outcome.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { Metrics } from '../../src/lib/metrics.ts';
import { createProviders } from '../../src/providers/registry.ts';
import { ReceiptDesk } from '../../src/receipts/desk.ts';
import { ReceiptPoller, type ReceiptPollerDeps } from '../../src/receipts/poller.ts';
import { simulatorCredentials } from '../../src/simulator/simulator.ts';
import type { TestService } from '../helpers/service.ts';

/** A process of its own that looks for the lost receipts of a service, with Twilio at `twilioUrl`. */
export class TestPoller {
  readonly #poller: ReceiptPoller;
  readonly #metrics = new Metrics();

  constructor(
    service: TestService,
    clock: Clock,
    twilioUrl: string,
    { pool = service.pool, limits }: Partial<Pick<ReceiptPollerDeps, 'pool' | 'limits'>> = {},
  ) {
    const { ids } = service.app;
    const log = createLog({ level: 'silent' });
    const metrics = this.#metrics;
    const settings = readProvidersSettings({ twilio: { baseUrl: twilioUrl, ...simulatorCredentials.twilio } });
    const providers = createProviders(settings, { clock, random: () => 0.5 });
    const outcomes = createOutcomes({ pool, clock, ids, log, onDeliveries: () => undefined });
    const refKey = createSecretKey(randomBytes(32));
    const receiptDesk = new ReceiptDesk({ pool, clock, ids, log, outcomes, refKey, metrics });
    this.#poller = new ReceiptPoller({ pool, clock, log, metrics, providers, receiptDesk, limits });
  }

  run(): Promise<'more' | 'done'> {
    return this.#poller.run();
  }

  /** Runs as long as there is something to ask. */
  async runToEnd(): Promise<void> {
    while ((await this.#poller.run()) === 'more');
  }

  /** How often each thing was learnt. */
  async learnt(): Promise<Record<string, number>> {
    const metric = await this.#metrics.registry.getSingleMetric('heliograph_look_ups_total')?.get();
    return Object.fromEntries((metric?.values ?? []).map(({ labels, value }) => [labels['result'], value]));
  }
}
