import { keyRoutes, type KeyRouteDeps } from './accounts/key-routes.ts';
import { accountRoutes } from './accounts/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { authorize, createAuthenticate } from './http/auth.ts';
import type { App } from './http/app.ts';
import { handleNotFound } from './http/errors.ts';
import { createFastify, type FastifyDeps } from './http/fastify.ts';
import { registerOpenApi } from './http/openapi.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { registerReferencePage } from './http/reference-page.ts';
import type { RequestCounter } from './http/request-counter.ts';
import { messageRoutes, type MessageRouteDeps } from './messages/routes.ts';
import { healthRoutes, type HealthDeps } from './operator/health-routes.ts';
import { operatorRoutes, type OperatorDeps } from './operator/routes.ts';
import { receiptRoutes, type ReceiptDeps } from './receipts/routes.ts';
import { senderRoutes } from './senders/routes.ts';
import { version } from './version.ts';
import { eventWebhooks } from './webhooks/document.ts';
import { webhookRoutes, type WebhookRouteDeps } from './webhooks/routes.ts';

export type ServerDeps = FastifyDeps &
  HealthDeps &
  OperatorDeps &
  MessageRouteDeps &
  ReceiptDeps &
  KeyRouteDeps &
  WebhookRouteDeps & {
    requestCounter: RequestCounter;
  };

/** Every route of the service, in one list. */
export async function createServer(deps: ServerDeps): Promise<App> {
  const app = createFastify(deps);
  await registerOpenApi(app, {
    prefix: '/api/v1',
    title: 'Heliograph',
    description: 'Send SMS, follow each message to its final state, and be told of every change by signed webhooks.',
    version,
    bearer: {
      name: 'apiKey',
      description: 'An API key: `ds_live_…`.',
      request: 'a valid API key in the header "Authorization: Bearer <API_KEY>"',
    },
    path: '/openapi.json',
    decorator: 'publicApi',
    meanings: {
      400: 'The request is not valid; `error.param` names what to mend.',
      401: 'The key is missing, unknown, revoked or expired.',
      402: 'The balance does not cover the message.',
      403: 'The key lacks the permission, the address is not on its allow-list, or the account is suspended.',
      404: 'There is no such resource.',
      429: 'A limit of the key is exceeded; `Retry-After` tells when to come back.',
      500: 'No provider could take the message, or something went wrong on our side.',
    },
    webhooks: eventWebhooks,
  });
  await registerReferencePage(app, { path: '/docs', documentPath: '/openapi.json', title: 'Heliograph API' });

  healthRoutes(app, deps);
  receiptRoutes(app, deps);
  await operatorRoutes(app, deps);

  app.register(
    async (scope) => {
      const api = scope as unknown as App;
      api.addHook(
        'onRequest',
        createAuthenticate((keyHash) => deps.callers.find(keyHash), deps.clock),
      );
      api.addHook('onRequest', createRateLimit(deps.requestCounter, deps.clock));
      api.addHook('onRequest', async (request) => {
        deps.keyUses.note(request.caller);
        await authorize(request);
      });
      api.setNotFoundHandler(handleNotFound);
      messageRoutes(api, deps);
      accountRoutes(api, deps);
      senderRoutes(api, deps);
      keyRoutes(api, deps);
      webhookRoutes(api, deps);
      eventRoutes(api, deps);
    },
    { prefix: '/api/v1' },
  );
  return app;
}
