import type { App } from '../http/app.ts';
import type { Metrics } from '../lib/metrics.ts';
import { createOperatorAuth } from './auth.ts';

export type HealthDeps = {
  metrics: Metrics;
  operatorToken: string;
  /** Lets Prometheus read without the operator's token. */
  metricsOpen: boolean;
  /** Resolves when the service can serve; rejects with what it lacks. */
  checkReady: () => Promise<void>;
};

/** For load balancers and Prometheus. `/readyz` says no more than yes or no: why not is in the log. */
export function healthRoutes(app: App, { metrics, operatorToken, metricsOpen, checkReady }: HealthDeps): void {
  app.get('/livez', async () => ({ status: 'ok' }));

  app.get('/readyz', async (request, reply) => {
    try {
      await checkReady();
      return { status: 'ready' };
    } catch (error) {
      request.log.warn({ err: error }, 'not ready');
      return reply.status(503).send({ status: 'not ready' });
    }
  });

  app.get('/metrics', metricsOpen ? {} : { onRequest: createOperatorAuth(operatorToken) }, async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
