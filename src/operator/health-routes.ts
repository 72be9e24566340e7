import type { App } from '../http/app.ts';
import type { Metrics } from '../lib/metrics.ts';
import { createOperatorAuth } from './auth.ts';
import type { Readiness } from './readiness.ts';

export type HealthDeps = {
  metrics: Metrics;
  operatorToken: string;
  /** Lets Prometheus read without the operator's token. */
  metricsOpen: boolean;
  readReadiness: () => Promise<Readiness>;
};

/** For load balancers and Prometheus. `/readyz` says no more than which part is failing: why is in the log. */
export function healthRoutes(app: App, { metrics, operatorToken, metricsOpen, readReadiness }: HealthDeps): void {
  app.get('/livez', async () => ({ status: 'ok' }));

  app.get('/readyz', async (request, reply) => {
    const faults = Object.entries(await readReadiness());
    for (const [part, error] of faults) if (error !== undefined) request.log.warn({ err: error, part }, 'not ready');
    const isReady = faults.every(([, error]) => error === undefined);
    const checks = Object.fromEntries(faults.map(([part, error]) => [part, error === undefined ? 'ok' : 'failing']));
    return reply.status(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'not ready', checks });
  });

  app.get('/metrics', metricsOpen ? {} : { onRequest: createOperatorAuth(operatorToken) }, async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
