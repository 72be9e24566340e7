import type { FastifyReply, FastifyRequest } from 'fastify';
import { limitsOf } from '../accounts/key-usage.ts';
import type { Message } from '../events/message-view.ts';
import { messageSchema } from '../events/schema.ts';
import type { App } from '../http/app.ts';
import { envelopeSchema, metaOf } from '../http/envelope.ts';
import { tell } from '../http/told.ts';
import { ApiError } from '../lib/errors.ts';
import type { Answer, IdempotentAnswers } from './answers.ts';
import { compose, type ComposeDeps, type Content } from './compose.ts';
import { fingerprintOf } from './idempotency.ts';
import {
  bulkBodySchema,
  bulkResultSchema,
  sendBodySchema,
  sendHeadersSchema,
  type BulkBody,
  type SendBody,
} from './schema.ts';
import { readInOrder, sendBulk, sendOne, tellBulk, tellOne, type Call, type SendDeps } from './send.ts';

export type SendRouteDeps = ComposeDeps & SendDeps & { answers: IdempotentAnswers };

const refusalsOfAll = ['invalid_sender', 'sender_not_approved', 'idempotency_conflict'] as const;

/** What a single message fails with; in a bulk it is the item's error. */
const failures = [
  'invalid_recipient',
  'recipient_blocked',
  'content_rejected',
  'provider_unavailable',
  'provider_billing',
  'dispatch_expired',
] as const;

/** Sending (spec: Endpoints → Messages). */
export function sendRoutes(app: App, deps: SendRouteDeps): void {
  app.post(
    '/messages/send',
    {
      config: { anyScopeOf: ['sms:send'], sends: true, codes: [...refusalsOfAll, ...failures] },
      schema: {
        summary: 'Send a message',
        headers: sendHeadersSchema,
        body: sendBodySchema,
        response: { 201: envelopeSchema(messageSchema) },
      },
    },
    async (request, reply) => {
      const { to, reference = null } = request.body;
      const content = contentOf(request.body, reference);
      const answer = await answerOnce(request, reply, 'send', [to], content, deps, {
        send: async (call) => {
          const fault = call.drafts[0]?.fault;
          if (fault?.code === 'invalid_recipient')
            throw new ApiError('invalid_recipient', fault.message, { param: 'to' });
          return sendOne(call, deps);
        },
        retell: (rows) => tellOne(rows[0]),
      });
      return reply.status(answer.status as 201).send({ ...answer.body, meta: metaOf(request) } as never);
    },
  );

  app.post(
    '/messages/bulk',
    {
      config: { anyScopeOf: ['sms:bulk'], sends: true, codes: refusalsOfAll },
      schema: {
        summary: 'Send one body to many recipients',
        headers: sendHeadersSchema,
        body: bulkBodySchema,
        response: { 201: envelopeSchema(bulkResultSchema) },
      },
    },
    async (request, reply) => {
      const answer = await answerOnce(
        request,
        reply,
        'bulk',
        request.body.recipients,
        contentOf(request.body, null),
        deps,
        {
          send: (call) => sendBulk(call, deps),
          retell: tellBulk,
        },
      );
      return reply.status(answer.status as 201).send({ ...answer.body, meta: metaOf(request) } as never);
    },
  );
}

function contentOf(
  body: Pick<SendBody & BulkBody, 'from' | 'body' | 'route_id' | 'provider'>,
  reference: string | null,
): Content {
  return {
    from: body.from,
    body: body.body,
    routeId: body.route_id ?? null,
    provider: body.provider ?? null,
    reference,
  };
}

/** What the log says of a send: which message it became, or how many; the rest is in the message's story. */
function outcomeOf({ body }: Answer): Record<string, unknown> {
  const { data, error } = body as {
    data?: Partial<Message & { total: number; sent: number; failed: number }>;
    error?: { code: string; details?: { message_id?: string } };
  };
  if (error !== undefined) return { error: error.code, message_id: error.details?.message_id };
  if (data?.object === 'message') {
    const { id, status, provider, attempts } = data;
    return { message_id: id, message_status: status, provider, attempts };
  }
  return { messages: data?.total, sent: data?.sent, failed: data?.failed };
}

/** Composes and sends, or replays what the request's idempotency key stands for. */
async function answerOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: 'send' | 'bulk',
  recipients: readonly string[],
  content: Content,
  deps: SendRouteDeps,
  {
    send,
    retell,
  }: {
    send: (call: Call) => Promise<Answer | 'repeated'>;
    retell: (rows: Awaited<ReturnType<typeof readInOrder>>) => Answer;
  },
): Promise<Answer> {
  const { accountId, currency } = request.caller;
  const limits = limitsOf(request.caller);
  const key = request.headers['idempotency-key'];
  const run = async (idempotency: Call['idempotency']) =>
    send({ accountId, currency, limits, drafts: await compose(accountId, recipients, content, deps), idempotency });
  if (typeof key !== 'string') {
    const answer = (await run(null)) as Answer;
    tell(request, outcomeOf(answer));
    return answer;
  }

  const { from, body, routeId, provider, reference } = content;
  const fingerprint = fingerprintOf(operation, [recipients, from, body, routeId, provider, reference]);
  const { answer, isReplay } = await deps.answers.answer(
    { accountId, key, fingerprint },
    () => run({ key, fingerprint }),
    async (messageIds) => retell(await readInOrder(deps.pool, accountId, messageIds)),
  );
  if (isReplay) reply.header('idempotent-replayed', 'true');
  tell(request, { ...outcomeOf(answer), ...(isReplay ? { replayed: true } : {}) });
  return answer;
}
