import { Type, type Static } from 'typebox';
import type { Pool } from '../db/pool.ts';
import { showMessage, type MessageRow, type MessageStatus } from '../events/message-view.ts';
import { messageSchema } from '../events/schema.ts';
import type { App } from '../http/app.ts';
import { envelope, envelopeSchema, listEnvelope, listEnvelopeSchema } from '../http/envelope.ts';
import { offsetOf, pageQuery, paginationOf } from '../http/pagination.ts';
import { ApiError } from '../lib/errors.ts';
import { fromPublicId, toPublicId } from '../lib/ids.ts';
import { listMessages, type Page } from '../messages/list.ts';
import { countToRecipientOfAll, pageToRecipientOfAll } from '../messages/search-queries.ts';
import { accountQuery, idParams, owned, readOptionalId, text, words } from './fields.ts';
import { readStory } from './story.ts';
import { storySchema } from './story-schema.ts';

const statuses: readonly MessageStatus[] = ['pending', 'sent', 'delivered', 'failed', 'undelivered'];

const ownedMessageSchema = owned(messageSchema, 'OwnedMessage');

const listQuerySchema = Type.Object({
  to: Type.Optional(text({ maxLength: 64, description: 'Exactly this recipient.' })),
  account: Type.Optional(accountQuery),
  status: Type.Optional(words(statuses)),
  ...pageQuery,
});

function showOwnedMessage(row: MessageRow): Static<typeof ownedMessageSchema> {
  return { account_id: toPublicId('acc', row.account_id), ...showMessage(row) };
}

/** Messages of all accounts. */
export function operatorMessageRoutes(app: App, { pool }: { pool: Pool }): void {
  app.get(
    '/messages',
    {
      schema: {
        summary: 'Find messages to a recipient, of an account, or both; newest first',
        description: 'One of `to` and `account` is required: a list of everything would cost more than it tells.',
        querystring: listQuerySchema,
        response: { 200: listEnvelopeSchema(ownedMessageSchema) },
      },
    },
    async (request) => {
      const { page, limit } = request.query;
      const { rows, total } = await find(pool, request.query);
      return listEnvelope(request, rows.map(showOwnedMessage), paginationOf(page, limit, total));
    },
  );

  app.get(
    '/messages/:id/story',
    {
      schema: {
        summary: 'Everything that is known of a message: candidates, attempts, receipts, events, deliveries, money',
        params: idParams('msg'),
        response: { 200: envelopeSchema(storySchema) },
      },
    },
    async (request) => {
      const messageId = fromPublicId('msg', request.params.id);
      const story = messageId === undefined ? undefined : await readStory(pool, messageId);
      if (story === undefined) throw new ApiError('not_found', 'There is no such message.', { param: 'id' });
      return envelope(request, story);
    },
  );
}

async function find(pool: Pool, query: Static<typeof listQuerySchema>): Promise<Page> {
  const { account, status, page, limit } = query;
  const accountId = readOptionalId('acc', account, 'account');
  // A plus sign that was not percent-encoded in the URL arrives as a space.
  const recipient = query.to?.replace(/^ /, '+');
  const offset = offsetOf(page, limit);
  if (accountId !== null) {
    return listMessages(pool, {
      accountId,
      status,
      recipient,
      afterMs: undefined,
      beforeMs: undefined,
      offset,
      limit,
    });
  }
  if (recipient === undefined) {
    throw new ApiError('invalid_request', 'Say whose messages to list: give to, account or both.', { param: 'to' });
  }
  const total = await countToRecipientOfAll(pool, recipient, status ?? null);
  const rows = offset < total ? await pageToRecipientOfAll(pool, recipient, status ?? null, { offset, limit }) : [];
  return { rows, total };
}
