import { Type } from 'typebox';
import type { Pool } from '../db/pool.ts';
import { showMessage } from '../events/message-view.ts';
import { readMessages } from '../events/read.ts';
import type { App } from '../http/app.ts';
import { envelope, envelopeSchema, listEnvelope, listEnvelopeSchema } from '../http/envelope.ts';
import { offsetOf, paginationOf } from '../http/pagination.ts';
import { parseTime } from '../http/time.ts';
import { ApiError } from '../lib/errors.ts';
import { fromPublicId } from '../lib/ids.ts';
import { listMessages } from './list.ts';
import { messageSchema } from '../events/schema.ts';
import { listQuerySchema } from './schema.ts';
import { sendRoutes, type SendRouteDeps } from './send-routes.ts';

export type MessageRouteDeps = SendRouteDeps & { pool: Pool };

/** Sending, retrieving and listing (spec: Endpoints → Messages). */
export function messageRoutes(app: App, deps: MessageRouteDeps): void {
  sendRoutes(app, deps);

  app.get(
    '/messages/:id',
    {
      config: { anyScopeOf: ['sms:read'] },
      schema: {
        summary: 'Retrieve a message',
        params: Type.Object({ id: Type.String({ examples: ['msg_01kagq3v5xf7r8t2m9n4c6w0ds'] }) }),
        response: { 200: envelopeSchema(messageSchema) },
      },
    },
    async (request) => {
      const messageId = fromPublicId('msg', request.params.id);
      const { accountId } = request.caller;
      const row =
        messageId === undefined
          ? undefined
          : (await readMessages(deps.pool, [{ accountId, messageId }])).get(messageId);
      if (row === undefined) throw new ApiError('not_found', 'There is no such message.', { param: 'id' });
      return envelope(request, showMessage(row));
    },
  );

  app.get(
    '/messages',
    {
      config: { anyScopeOf: ['sms:read'] },
      schema: {
        summary: 'List messages, newest first',
        querystring: listQuerySchema,
        response: { 200: listEnvelopeSchema(messageSchema) },
      },
    },
    async (request) => {
      const { page, limit, status, to, created_after: after, created_before: before } = request.query;
      const { rows, total } = await listMessages(deps.pool, {
        accountId: request.caller.accountId,
        status,
        // A plus sign that was not percent-encoded in the URL arrives as a space.
        recipient: to?.replace(/^ /, '+'),
        afterMs: after === undefined ? undefined : parseTime(after, 'created_after'),
        beforeMs: before === undefined ? undefined : parseTime(before, 'created_before'),
        offset: offsetOf(page, limit),
        limit,
      });
      return listEnvelope(
        request,
        rows.map((row) => showMessage(row)),
        paginationOf(page, limit, total),
      );
    },
  );
}
