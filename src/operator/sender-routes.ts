import { Type, type Static } from 'typebox';
import type { Notices } from '../db/notices.ts';
import type { Pool } from '../db/pool.ts';
import type { App } from '../http/app.ts';
import { envelope, envelopeSchema, listEnvelope, listEnvelopeSchema } from '../http/envelope.ts';
import { offsetOf, paginationOf } from '../http/pagination.ts';
import type { Clock } from '../lib/clock.ts';
import { fromPublicId, toPublicId } from '../lib/ids.ts';
import { decideSender, listSenders, type SenderDecision } from '../senders/decide.ts';
import type { SenderRow } from '../senders/queries.ts';
import { listSendersQuerySchema, senderSchema, showSender } from '../senders/schema.ts';
import { accountQuery, idParams, owned, readOptionalId } from './fields.ts';

export type OperatorSenderRouteDeps = { pool: Pool; clock: Clock; notices: Notices };

const ownedSenderSchema = owned(senderSchema, 'OwnedSender');

function showOwnedSender(row: SenderRow): Static<typeof ownedSenderSchema> {
  return { account_id: toPublicId('acc', row.account_id), ...showSender(row) };
}

const summaries: Record<SenderDecision, string> = {
  approve: 'Approve a pending or a suspended sender',
  reject: 'Reject a pending sender for good; its account may apply again',
  suspend: 'Suspend an approved sender: nothing can be sent from it until it is approved again',
};

/** Senders of all accounts, and the decisions they wait for. */
export function operatorSenderRoutes(app: App, deps: OperatorSenderRouteDeps): void {
  const { pool, notices } = deps;

  app.get(
    '/senders',
    {
      schema: {
        summary: 'List senders, newest first',
        querystring: Type.Object({ account: Type.Optional(accountQuery), ...listSendersQuerySchema.properties }),
        response: { 200: listEnvelopeSchema(ownedSenderSchema) },
      },
    },
    async (request) => {
      const { account, status = null, page, limit } = request.query;
      const filter = { status, accountId: readOptionalId('acc', account, 'account') };
      const { rows, total } = await listSenders(pool, filter, { offset: offsetOf(page, limit), limit });
      return listEnvelope(request, rows.map(showOwnedSender), paginationOf(page, limit, total));
    },
  );

  for (const [decision, summary] of Object.entries(summaries) as Array<[SenderDecision, string]>) {
    app.post(
      `/senders/:id/${decision}`,
      { schema: { summary, params: idParams('snd'), response: { 200: envelopeSchema(ownedSenderSchema) } } },
      async (request) => {
        const sender = await decideSender(fromPublicId('snd', request.params.id), decision, deps);
        notices.tell('sender', sender.account_id);
        request.log.info({ sender: request.params.id, status: sender.status }, 'operator: sender decided');
        return envelope(request, showOwnedSender(sender));
      },
    );
  }
}
