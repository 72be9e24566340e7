import reference from '@scalar/fastify-api-reference';
import { accountRoutes } from './accounts/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { authorize, createAuthenticate, type FindCaller } from './http/auth.ts';
import type { App } from './http/app.ts';
import { createFastify, type FastifyDeps } from './http/fastify.ts';
import { registerOpenApi } from './http/openapi.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { messageRoutes, type MessageRouteDeps } from './messages/routes.ts';
import { receiptRoutes, type ReceiptDeps } from './receipts/routes.ts';
import type { Clock } from './lib/clock.ts';
import { version } from './version.ts';
import { webhookRoutes, type WebhookRouteDeps } from './webhooks/routes.ts';

export type ServerDeps = FastifyDeps &
  MessageRouteDeps &
  ReceiptDeps &
  WebhookRouteDeps & {
    clock: Clock;
    findCaller: FindCaller;
    /** Resolves when the service can serve; throws what it lacks. */
    checkReady: () => Promise<void>;
    /** Called with each caller that passed authentication, to note that its key was used. */
    noteUse: (caller: { accountId: string; keyId: string }) => void;
  };

/** Every route of the service, in one list. */
export async function createServer(deps: ServerDeps): Promise<App> {
  const app = createFastify(deps);
  await registerOpenApi(app, {
    prefix: '/api/v1',
    title: 'Heliograph',
    description: 'Send SMS, follow each message to its final state, and be told of every change by signed webhooks.',
    version,
    bearer: { name: 'apiKey', description: 'An API key: `ds_live_…`.' },
    path: '/openapi.json',
    decorator: 'publicApi',
  });
  await app.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json', telemetry: false } });

  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    try {
      await deps.checkReady();
      return { status: 'ready' };
    } catch {
      return reply.status(503).send({ status: 'not ready' });
    }
  });

  receiptRoutes(app, deps);

  app.register(
    async (scope) => {
      const api = scope as unknown as App;
      api.addHook('onRequest', createAuthenticate(deps.findCaller, deps.clock));
      api.addHook('onRequest', createRateLimit(deps.clock));
      api.addHook('onRequest', async (request) => {
        deps.noteUse(request.caller);
        await authorize(request);
      });
      messageRoutes(api, deps);
      accountRoutes(api, deps);
      webhookRoutes(api, deps);
      eventRoutes(api, deps);
    },
    { prefix: '/api/v1' },
  );
  return app;
}
