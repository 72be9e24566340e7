import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What Prometheus reads at `/metrics`: every name begins with `heliograph_`, units are in the name. */
export class Metrics {
  readonly registry = new Registry();

  readonly #requests = new Histogram({
    name: 'heliograph_http_request_duration_seconds',
    help: 'Requests answered, by route pattern and status',
    labelNames: ['method', 'route', 'status'],
    buckets: latencyBuckets,
    registers: [this.registry],
  });
  readonly #attempts = new Counter({
    name: 'heliograph_provider_attempts_total',
    help: 'Attempts at upstream providers, by result: accepted, rejected, retryable, unknown',
    labelNames: ['provider', 'result'],
    registers: [this.registry],
  });
  readonly #attemptSeconds = new Histogram({
    name: 'heliograph_provider_attempt_duration_seconds',
    help: 'Time from the start of an attempt to its result',
    labelNames: ['provider'],
    buckets: latencyBuckets,
    registers: [this.registry],
  });
  readonly #receipts = new Counter({
    name: 'heliograph_receipts_total',
    help: 'Delivery receipts, by what they said; refused ones as forged or malformed',
    labelNames: ['provider', 'state'],
    registers: [this.registry],
  });
  readonly #lookUps = new Counter({
    name: 'heliograph_look_ups_total',
    help: 'Upstreams asked about messages without a final receipt, by what they said: a state, not_found or unavailable',
    labelNames: ['provider', 'result'],
    registers: [this.registry],
  });
  readonly #deliveries = new Counter({
    name: 'heliograph_webhook_attempts_total',
    help: 'Webhook attempts, by result: succeeded, failed',
    labelNames: ['result'],
    registers: [this.registry],
  });
  readonly #batches = new Histogram({
    name: 'heliograph_batch_items',
    help: 'Items that shared one transaction',
    labelNames: ['batcher'],
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
    registers: [this.registry],
  });

  readonly #workerRuns = new Counter({
    name: 'heliograph_worker_runs_total',
    help: 'Runs of what the service does of its own accord, by result: succeeded, failed',
    labelNames: ['worker', 'result'],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry, prefix: 'heliograph_' });
  }

  request(method: string, route: string, status: number, milliseconds: number): void {
    this.#requests.observe({ method, route, status }, milliseconds / 1_000);
  }

  attempt(provider: string, result: string, milliseconds: number): void {
    this.#attempts.inc({ provider, result });
    this.#attemptSeconds.observe({ provider }, milliseconds / 1_000);
  }

  receipt(provider: string, state: string): void {
    this.#receipts.inc({ provider, state });
  }

  lookUp(provider: string, result: string): void {
    this.#lookUps.inc({ provider, result });
  }

  webhookAttempt(result: 'succeeded' | 'failed'): void {
    this.#deliveries.inc({ result });
  }

  workerRun(worker: string, result: 'succeeded' | 'failed'): void {
    this.#workerRuns.inc({ worker, result });
  }

  /** Counts the batches of one batcher. */
  batchesOf(batcher: string): (size: number) => void {
    const histogram = this.#batches.labels(batcher);
    return (size) => histogram.observe(size);
  }

  /** A value that is looked up when Prometheus asks; one that cannot be had is left out of that answer. */
  observe(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge = new Gauge({
      name: `heliograph_${name}`,
      help,
      registers: [],
      async collect() {
        try {
          this.set(await read());
        } catch {
          // Not `reset`, which would say 0.
          this.remove();
        }
      },
    });
    this.registry.registerMetric(gauge);
  }

  /** The same for a value with one label. */
  observeEach(name: string, help: string, label: string, read: () => Iterable<readonly [string, number]>): void {
    const gauge = new Gauge({
      name: `heliograph_${name}`,
      help,
      labelNames: [label],
      registers: [],
      collect() {
        for (const [value, amount] of read()) this.set({ [label]: value }, amount);
      },
    });
    this.registry.registerMetric(gauge);
  }
}
