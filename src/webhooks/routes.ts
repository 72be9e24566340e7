import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../http/app.ts';
import { deletedSchema, envelope, envelopeSchema, wrappedList, wrappedListSchema } from '../http/envelope.ts';
import { ApiError } from '../lib/errors.ts';
import { fromPublicId, toPublicId } from '../lib/ids.ts';
import type { Deliverer } from './deliver.ts';
import type { EndpointKey } from './delivery-queries.ts';
import { createEndpoint, endpointsMax, removeEndpoint, type EndpointDeps } from './endpoints.ts';
import { findEndpoint, listEndpoints } from './queries.ts';
import { createBodySchema, createdEndpointSchema, endpointSchema, showEndpoint } from './schema.ts';

export type WebhookRouteDeps = EndpointDeps & { deliverer: Deliverer };

const config = { anyScopeOf: ['dlr:read', 'sms:read'] } as const;
const params = Type.Object({ id: Type.String({ examples: ['whe_01kagpa3c1f4dy8f2a6k0m5nsg'] }) });

function notFound(): ApiError {
  return new ApiError('not_found', 'There is no such webhook endpoint.', { param: 'id' });
}

function keyOf(request: FastifyRequest, id: string): EndpointKey {
  const endpointId = fromPublicId('whe', id);
  if (endpointId === undefined) throw notFound();
  return { accountId: request.caller.accountId, endpointId };
}

/** Webhook endpoints of the caller's account (spec: Endpoints → Webhook endpoints and events). */
export function webhookRoutes(app: App, deps: WebhookRouteDeps): void {
  const { pool, deliverer } = deps;

  app.get(
    '/webhooks',
    {
      config,
      schema: {
        summary: 'List webhook endpoints, newest first',
        response: { 200: envelopeSchema(wrappedListSchema(endpointSchema)) },
      },
    },
    async (request) => {
      const rows = await listEndpoints(pool, request.caller.accountId, endpointsMax);
      return envelope(request, wrappedList(rows.map(showEndpoint)));
    },
  );

  app.post(
    '/webhooks/create',
    {
      config,
      schema: {
        summary: 'Create a webhook endpoint',
        body: createBodySchema,
        response: { 201: envelopeSchema(createdEndpointSchema) },
      },
    },
    async (request, reply) => {
      const { endpoint, secret } = await createEndpoint(request.caller.accountId, request.body, deps);
      return reply.status(201).send(envelope(request, { ...showEndpoint(endpoint), signing_secret: secret }));
    },
  );

  app.get(
    '/webhooks/:id',
    {
      config,
      schema: { summary: 'Retrieve a webhook endpoint', params, response: { 200: envelopeSchema(endpointSchema) } },
    },
    async (request) => {
      const endpoint = await findEndpoint(pool, keyOf(request, request.params.id));
      if (endpoint === undefined) throw notFound();
      return envelope(request, showEndpoint(endpoint));
    },
  );

  app.delete(
    '/webhooks/:id',
    {
      config,
      schema: {
        summary: 'Delete a webhook endpoint',
        params,
        response: { 200: envelopeSchema(deletedSchema('webhook_endpoint', 'whe_01kagpa3c1f4dy8f2a6k0m5nsg')) },
      },
    },
    async (request) => {
      const key = keyOf(request, request.params.id);
      if (!(await removeEndpoint(pool, key))) throw notFound();
      deliverer.skipWaiting(key);
      const id = toPublicId('whe', key.endpointId);
      return envelope(request, { id, object: 'webhook_endpoint', deleted: true as const });
    },
  );
}
