import { randomInt } from 'node:crypto';
import type { KeyUses } from './accounts/key-uses.ts';
import { ensurePartitions } from './db/partitions.ts';
import type { Pool } from './db/pool.ts';
import type { Dispatcher } from './dispatch/dispatcher.ts';
import { sweep } from './dispatch/sweeper.ts';
import type { Clock } from './lib/clock.ts';
import type { Log } from './lib/log.ts';
import type { Metrics } from './lib/metrics.ts';
import { startWorker, type Worker } from './lib/worker.ts';
import type { Provider, ProviderName } from './providers/provider.ts';
import type { ReceiptDesk } from './receipts/desk.ts';
import { ReceiptPoller } from './receipts/poller.ts';
import type { RetentionDays } from './retention/retention-days.ts';
import { applyRetention } from './retention/retention.ts';
import type { Deliverer } from './webhooks/deliver.ts';

export type WorkerDeps = {
  pool: Pool;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  dispatcher: Dispatcher;
  attemptTimeoutMs: number;
  deliverer: Deliverer;
  providers: ReadonlyMap<ProviderName, Provider>;
  receiptDesk: ReceiptDesk;
  keyUses: KeyUses;
  retention: RetentionDays;
};

/** What the service does of its own accord, in one list. */
export function startWorkers(deps: WorkerDeps): Worker[] {
  const { pool, clock, log, metrics, dispatcher, attemptTimeoutMs, deliverer, receiptDesk, keyUses } = deps;
  const start = (name: string, everyMs: number, work: (signal: AbortSignal) => Promise<'more' | 'done'>): Worker =>
    startWorker({ name, everyMs, log, work, onRun: (result) => metrics.workerRun(name, result) });
  const receiptPoller = new ReceiptPoller(deps);
  return [
    start('dispatch sweeper', 1_000, () =>
      sweep({ pool, clock, dispatcher, attemptTimeoutMs, randomBelow: randomInt }),
    ),
    start('awaited messages', 1_000, async () => {
      await dispatcher.lookAtAwaited();
      return 'done';
    }),
    start('delivery sweep', 1_000, async () => ((await deliverer.sweepDue()) > 0 ? 'more' : 'done')),
    start('parked receipts', 1_000, () => receiptDesk.sweepParked()),
    start('lost receipts', 60_000, (signal) => receiptPoller.run(signal)),
    start('key uses', 10_000, async () => {
      await keyUses.flush();
      return 'done';
    }),
    start('housekeeping', 3_600_000, async () => {
      await ensurePartitions(pool, clock.now());
      await deliverer.skipOrphaned();
      return applyRetention({ pool, clock, log, days: deps.retention });
    }),
  ];
}
