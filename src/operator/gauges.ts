import type { Pool } from '../db/pool.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { Clock } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Deliverer } from '../webhooks/deliver.ts';
import { countOverdueDeliveries, readDispatchQueue } from './gauge-queries.ts';

const breakerLevels = { closed: 0, half_open: 1, open: 2 } as const;

/** What Prometheus learns by looking rather than by counting. */
export function observeGauges(
  metrics: Metrics,
  { pool, clock, dispatcher, deliverer }: { pool: Pool; clock: Clock; dispatcher: Dispatcher; deliverer: Deliverer },
): void {
  metrics.observe('dispatch_queue_depth', 'Messages no provider has accepted yet', async () => {
    const { depth } = await readDispatchQueue(pool, clock.now());
    return depth;
  });
  metrics.observe('dispatch_queue_oldest_seconds', 'Age of the oldest of them', async () => {
    const { oldestSeconds } = await readDispatchQueue(pool, clock.now());
    return oldestSeconds;
  });
  metrics.observe('webhook_deliveries_overdue', 'Webhook deliveries due for more than 5 s', () =>
    countOverdueDeliveries(pool, clock.now()),
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
  metrics.observe('database_connections_waited_for', 'Requests waiting for a connection', () => pool.waitingCount);
  metrics.observeEach('provider_breaker', 'Circuit breaker: 0 closed, 1 half open, 2 open', 'provider', () =>
    [...dispatcher.breakers].map(([name, breaker]) => [name, breakerLevels[breaker.state]] as const),
  );
}
