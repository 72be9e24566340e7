import { Type } from 'typebox';
import type { Pool } from '../db/pool.ts';
import type { App } from '../http/app.ts';
import { envelope, envelopeSchema, listEnvelope, listEnvelopeSchema } from '../http/envelope.ts';
import { offsetOf, paginationOf } from '../http/pagination.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { fromPublicId, type IdSource } from '../lib/ids.ts';
import { createSender } from './create.ts';
import { countSenders, findSender, pageSenders } from './queries.ts';
import { createSenderBodySchema, listSendersQuerySchema, senderSchema, showSender } from './schema.ts';

export type SenderRouteDeps = { pool: Pool; clock: Clock; ids: IdSource };

/** Sender IDs of the caller's account (spec: Endpoints → Senders). */
export function senderRoutes(app: App, deps: SenderRouteDeps): void {
  const { pool } = deps;

  app.get(
    '/senders',
    {
      schema: {
        summary: 'List senders, newest first',
        querystring: listSendersQuerySchema,
        response: { 200: listEnvelopeSchema(senderSchema) },
      },
    },
    async (request) => {
      const { status = null, page, limit } = request.query;
      const { accountId } = request.caller;
      const total = await countSenders(pool, accountId, status);
      const offset = offsetOf(page, limit);
      const rows = offset < total ? await pageSenders(pool, accountId, status, { offset, limit }) : [];
      return listEnvelope(request, rows.map(showSender), paginationOf(page, limit, total));
    },
  );

  app.post(
    '/senders/create',
    {
      config: { codes: ['sender_exists'] },
      schema: {
        summary: 'Apply for a sender; the operator approves or rejects it',
        body: createSenderBodySchema,
        response: { 201: envelopeSchema(senderSchema) },
      },
    },
    async (request, reply) => {
      const sender = await createSender(request.caller.accountId, request.body, deps);
      return reply.status(201).send(envelope(request, showSender(sender)));
    },
  );

  app.get(
    '/senders/:id',
    {
      schema: {
        summary: 'Retrieve a sender',
        params: Type.Object({ id: Type.String({ examples: ['snd_01kagp5t9vf2bw6d0y4h8j3kqe'] }) }),
        response: { 200: envelopeSchema(senderSchema) },
      },
    },
    async (request) => {
      const id = fromPublicId('snd', request.params.id);
      const sender = id === undefined ? undefined : await findSender(pool, request.caller.accountId, id);
      if (sender === undefined) throw new ApiError('not_found', 'There is no such sender.', { param: 'id' });
      return envelope(request, showSender(sender));
    },
  );
}
