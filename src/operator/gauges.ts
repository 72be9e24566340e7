import type { Pool } from '../db/pool.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { Clock } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Deliverer } from '../webhooks/deliver.ts';
import { readDispatchQueue, readOverdueDeliveries } from './gauge-queries.ts';

const breakerLevels = { closed: 0, half_open: 1, open: 2 } as const;

/** Gauges that are read at the same time share one look. */
function shared<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | undefined;
  return () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

/** What Prometheus learns by looking rather than by counting. */
export function observeGauges(
  metrics: Metrics,
  { pool, clock, dispatcher, deliverer }: { pool: Pool; clock: Clock; dispatcher: Dispatcher; deliverer: Deliverer },
): void {
  const dispatchQueue = shared(() => readDispatchQueue(pool, clock.now()));
  const overdue = shared(() => readOverdueDeliveries(pool, clock.now()));
  metrics.observe(
    'dispatch_queue_depth',
    'Messages no provider has accepted yet',
    async () => (await dispatchQueue()).depth,
  );
  metrics.observe(
    'dispatch_queue_oldest_seconds',
    'Age of the oldest of them',
    async () => (await dispatchQueue()).oldestSeconds,
  );
  metrics.observe(
    'webhook_deliveries_overdue',
    'Webhook deliveries due for more than 5 s',
    async () => (await overdue()).count,
  );
  metrics.observe(
    'webhook_deliveries_overdue_oldest_seconds',
    'How long the oldest of them has been due',
    async () => (await overdue()).oldestSeconds,
  );
  metrics.observe(
    'webhook_deliveries_waiting',
    'Webhook deliveries waiting in this process',
    () => deliverer.load.waiting,
  );
  metrics.observe(
    'database_connections_used',
    'Connections of the pool in use',
    () => pool.totalCount - pool.idleCount,
  );
  metrics.observe('database_connections_max', 'Size of the pool', () => pool.options.max);
  metrics.observe('database_connections_waited_for', 'Requests waiting for a connection', () => pool.waitingCount);
  metrics.observeEach('provider_breaker', 'Circuit breaker: 0 closed, 1 half open, 2 open', 'provider', () =>
    [...dispatcher.breakers].map(([name, breaker]) => [name, breakerLevels[breaker.state]] as const),
  );
}
