import type { Pool } from '../db/pool.ts';
import type { App } from '../http/app.ts';
import { listEnvelope, listEnvelopeSchema } from '../http/envelope.ts';
import { paginationOf } from '../http/pagination.ts';
import type { Clock } from '../lib/clock.ts';
import { showEvent } from './event.ts';
import { listEvents } from './list.ts';
import { eventSchema, listEventsQuerySchema } from './schema.ts';

/** Past events (spec: Endpoints → Webhook endpoints and events). */
export function eventRoutes(app: App, { pool, clock }: { pool: Pool; clock: Clock }): void {
  app.get(
    '/events',
    {
      config: { anyScopeOf: ['dlr:read', 'sms:read'] },
      schema: {
        summary: 'List events of the last 30 days, newest first',
        querystring: listEventsQuerySchema,
        response: { 200: listEnvelopeSchema(eventSchema) },
      },
    },
    async (request) => {
      const { type = null, page, limit } = request.query;
      const { accountId } = request.caller;
      const { rows, total } = await listEvents(pool, { accountId, type, page, limit, nowMs: clock.now() });
      const events = rows.map((row) => showEvent(row.event_id, row.event_status, row));
      return listEnvelope(request, events, paginationOf(page, limit, total));
    },
  );
}
