import { Type, type Static } from 'typebox';
import type { Notices } from '../db/notices.ts';
import type { Pool } from '../db/pool.ts';
import type { App } from '../http/app.ts';
import { envelope, envelopeSchema, listEnvelope, listEnvelopeSchema } from '../http/envelope.ts';
import { offsetOf, pageQuery, paginationOf } from '../http/pagination.ts';
import { parseTime } from '../http/time.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { firstIdAt, fromPublicId, toPublicId } from '../lib/ids.ts';
import {
  countEndpointsWhere,
  findAnyEndpoint,
  pageEndpointsWhere,
  type OwnedEndpointRow,
} from '../webhooks/endpoint-queries.ts';
import { endpointName } from '../webhooks/receivers.ts';
import { enableEndpoint, listDeliveries, replayEvent, replaySpan } from '../webhooks/replay.ts';
import { endpointSchema, showEndpoint } from '../webhooks/schema.ts';
import { cursorEnvelope, cursorEnvelopeSchema, cursorQuery, invalidCursor } from './cursor-list.ts';
import { accountQuery, idOf, idParams, nullableString, owned, readId, readOptionalId, words } from './fields.ts';
import { deliverySchema } from './story-schema.ts';
import { showDelivery } from './story.ts';

export type DeliveryRouteDeps = { pool: Pool; clock: Clock; notices: Notices };

/** A hundred thousand events: a few seconds' work. */
const replayChunksMax = 100;

const ownedEndpointSchema = owned(endpointSchema, 'OwnedWebhookEndpoint');

const replayBodySchema = Type.Object(
  {
    endpoint: idOf('whe', 'An active webhook endpoint, `whe_…`.'),
    event: Type.Optional(Type.String({ description: 'One event, `evt_…`: delivered again, acknowledged or not.' })),
    from: Type.Optional(
      Type.String({
        description: 'RFC 3339 date-time: all events from then on that the endpoint has not acknowledged.',
      }),
    ),
    until: Type.Optional(Type.String({ description: 'RFC 3339 date-time, exclusive. Defaults to now.' })),
    cursor: Type.Optional(Type.String({ description: 'The `next_cursor` of the answer before, in place of `from`.' })),
  },
  { examples: [{ endpoint: 'whe_01kagpa3c1f4dy8f2a6k0m5nsg', from: '2026-11-20T00:00:00+00:00' }] },
);

const replaySchema = Type.Object(
  {
    object: Type.Literal('replay'),
    endpoint_id: idOf('whe'),
    queued: Type.Integer({ description: 'Deliveries that begin within a second or so.', examples: [12] }),
    next_cursor: nullableString('Set where there are more events than one call goes through: call again with it.'),
  },
  { title: 'Replay' },
);

function showOwnedEndpoint(row: OwnedEndpointRow): Static<typeof ownedEndpointSchema> {
  return { account_id: toPublicId('acc', row.account_id), ...showEndpoint(row) };
}

/** The endpoint a list or a replay is of. Throws `invalid_request` where there is none. */
async function readEndpoint(pool: Pool, id: string): Promise<OwnedEndpointRow> {
  const endpoint = await findAnyEndpoint(pool, readId('whe', id, 'endpoint'));
  if (endpoint === undefined) throw invalid('endpoint', 'There is no such webhook endpoint.');
  return endpoint;
}

/** Webhook endpoints of all accounts, and what was delivered to them. */
export function deliveryRoutes(app: App, deps: DeliveryRouteDeps): void {
  endpointRoutes(app, deps);
  const { pool } = deps;

  app.get(
    '/deliveries',
    {
      schema: {
        summary: 'List the deliveries to an endpoint that have had an attempt, newest event first',
        querystring: Type.Object({
          endpoint: idOf('whe', 'A webhook endpoint, `whe_…`.'),
          status: Type.Optional(words(['pending', 'succeeded', 'abandoned', 'skipped'] as const)),
          ...cursorQuery,
        }),
        response: { 200: cursorEnvelopeSchema(deliverySchema) },
      },
    },
    async (request) => {
      const { endpoint, status, cursor, limit } = request.query;
      const owner = await readEndpoint(pool, endpoint);
      const beforeEventId = cursor === undefined ? undefined : fromPublicId('evt', cursor);
      if (cursor !== undefined && beforeEventId === undefined) throw invalidCursor();
      const key = { accountId: owner.account_id, endpointId: owner.id };
      const rows = await listDeliveries(pool, key, { status, beforeEventId, limit: limit + 1 });
      return cursorEnvelope(request, rows, limit, {
        show: showDelivery,
        cursorOf: (row) => toPublicId('evt', row.event_id),
      });
    },
  );

  app.post(
    '/deliveries/replay',
    {
      schema: {
        summary: 'Deliver one event again, or all of a time that an endpoint has not acknowledged',
        body: replayBodySchema,
        response: { 200: envelopeSchema(replaySchema) },
      },
    },
    async (request) => {
      const result = await replay(request.body, deps);
      request.log.info({ endpoint: request.body.endpoint, queued: result.queued }, 'operator: deliveries replayed');
      return envelope(request, result);
    },
  );
}

function endpointRoutes(app: App, { pool, notices }: DeliveryRouteDeps): void {
  app.get(
    '/webhooks',
    {
      schema: {
        summary: 'List webhook endpoints, newest first',
        querystring: Type.Object({
          account: Type.Optional(accountQuery),
          is_active: Type.Optional(Type.Boolean({ description: 'False lists those that were disabled.' })),
          ...pageQuery,
        }),
        response: { 200: listEnvelopeSchema(ownedEndpointSchema) },
      },
    },
    async (request) => {
      const { account, is_active: isActive = null, page, limit } = request.query;
      const filter = { accountId: readOptionalId('acc', account, 'account'), isActive };
      const total = await countEndpointsWhere(pool, filter);
      const offset = offsetOf(page, limit);
      const rows = offset < total ? await pageEndpointsWhere(pool, filter, { offset, limit }) : [];
      return listEnvelope(request, rows.map(showOwnedEndpoint), paginationOf(page, limit, total));
    },
  );

  app.post(
    '/webhooks/:id/enable',
    {
      schema: {
        summary: 'Make a disabled endpoint active again; what it missed can then be replayed',
        params: idParams('whe'),
        response: { 200: envelopeSchema(ownedEndpointSchema) },
      },
    },
    async (request) => {
      const endpointId = fromPublicId('whe', request.params.id);
      const endpoint = endpointId === undefined ? undefined : await findAnyEndpoint(pool, endpointId);
      if (endpoint === undefined) throw unknownEndpoint();
      const key = { accountId: endpoint.account_id, endpointId: endpoint.id };
      if (!(await enableEndpoint(pool, key))) throw unknownEndpoint();
      notices.tell('endpoint', endpointName(key));
      request.log.info({ endpoint: request.params.id }, 'operator: webhook endpoint enabled');
      const enabled = { ...endpoint, is_active: true, failure_count: 0, disabled_at: null };
      return envelope(request, showOwnedEndpoint(enabled));
    },
  );
}

function unknownEndpoint(): ApiError {
  return new ApiError('not_found', 'There is no such webhook endpoint.', { param: 'id' });
}

function invalid(param: string, message: string): ApiError {
  return new ApiError('invalid_request', message, { param });
}

async function replay(
  body: Static<typeof replayBodySchema>,
  { pool, clock }: DeliveryRouteDeps,
): Promise<Static<typeof replaySchema>> {
  const endpoint = await readEndpoint(pool, body.endpoint);
  if (!endpoint.is_active) {
    throw invalid('endpoint', 'This endpoint is disabled. Enable it first; then what it missed can be replayed.');
  }
  const key = { accountId: endpoint.account_id, endpointId: endpoint.id };
  const result = { object: 'replay' as const, endpoint_id: body.endpoint };
  if (body.event !== undefined) {
    if (body.from !== undefined || body.until !== undefined || body.cursor !== undefined) {
      throw invalid('event', 'Give either one event, or a time with from and until.');
    }
    const isQueued = await replayEvent(pool, clock, key, readId('evt', body.event, 'event'));
    return { ...result, queued: isQueued ? 1 : 0, next_cursor: null };
  }
  const { queued, nextEventId } = await replaySpan(pool, clock, key, readSpan(body, clock.now()), replayChunksMax);
  return { ...result, queued, next_cursor: nextEventId === null ? null : toPublicId('evt', nextEventId) };
}

function readSpan(
  { from, until, cursor }: Static<typeof replayBodySchema>,
  nowMs: number,
): { fromEventId: string; untilMs: number } {
  const untilMs = until === undefined ? nowMs : parseTime(until, 'until');
  if (cursor !== undefined) {
    const fromEventId = fromPublicId('evt', cursor);
    if (fromEventId === undefined) throw invalidCursor();
    return { fromEventId, untilMs };
  }
  if (from === undefined) throw invalid('from', 'Say what to replay: one event, or all from a time on.');
  const fromMs = parseTime(from, 'from');
  if (fromMs >= untilMs) throw invalid('until', 'The parameter until must be later than from.');
  return { fromEventId: firstIdAt(fromMs), untilMs };
}
