import { Type } from 'typebox';
import { readAccount } from '../accounts/account-queries.ts';
import type { Pool } from '../db/pool.ts';
import type { App } from '../http/app.ts';
import { deletedSchema, envelope, envelopeSchema } from '../http/envelope.ts';
import { formatTime, type Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { toPublicId } from '../lib/ids.ts';
import { isRecipient } from '../messages/recipient.ts';
import { addSuppressions, listSuppressions, removeSuppression } from '../messages/suppression-queries.ts';
import { cursorEnvelope, cursorEnvelopeSchema, cursorQuery } from './cursor-list.ts';
import { idOf, readId, shown, time } from './fields.ts';

export type SuppressionRouteDeps = { pool: Pool; clock: Clock };

const addedMax = 1_000;

const suppressionSchema = Type.Object(
  {
    object: Type.Literal('suppression'),
    account_id: idOf('acc'),
    to: shown('+14155550123', 'The recipient who is sent nothing.'),
    source: shown('twilio', 'The upstream that reported the opt-out, or `operator`.'),
    created_at: time,
  },
  { title: 'Suppression' },
);

const addedSchema = Type.Object(
  {
    object: Type.Literal('suppressions_added'),
    account_id: idOf('acc'),
    added: Type.Integer({ examples: [2] }),
    already_suppressed: Type.Integer({ description: 'Were suppressed before, or named twice.' }),
  },
  { title: 'SuppressionsAdded' },
);

/** Recipients an account sends nothing to. Upstreams' opt-outs join them by themselves. */
export function suppressionRoutes(app: App, deps: SuppressionRouteDeps): void {
  const { pool } = deps;

  app.get(
    '/suppressions',
    {
      schema: {
        summary: "List an account's suppressions, by number",
        querystring: Type.Object({
          account: idOf('acc', 'An account, `acc_…`.'),
          to: Type.Optional(Type.String({ description: 'Only this recipient.' })),
          ...cursorQuery,
        }),
        response: { 200: cursorEnvelopeSchema(suppressionSchema) },
      },
    },
    async (request) => {
      const { account, to, cursor, limit } = request.query;
      const accountId = readId('acc', account, 'account');
      const recipient = to === undefined ? null : readRecipient(to, 'to');
      const rows = await listSuppressions(pool, { accountId, recipient, after: mendPlus(cursor ?? '') }, limit + 1);
      return cursorEnvelope(request, rows, limit, {
        show: (row) => ({
          object: 'suppression' as const,
          account_id: toPublicId('acc', row.account_id),
          to: row.recipient,
          source: row.source,
          created_at: formatTime(row.created_at),
        }),
        cursorOf: (row) => row.recipient,
      });
    },
  );

  changeRoutes(app, deps);
}

function changeRoutes(app: App, { pool, clock }: SuppressionRouteDeps): void {
  app.post(
    '/suppressions',
    {
      schema: {
        summary: 'Suppress recipients of an account; all of them or, where one is malformed, none',
        body: Type.Object(
          {
            account: idOf('acc', 'An account, `acc_…`.'),
            recipients: Type.Array(Type.String(), { minItems: 1, maxItems: addedMax, description: 'E.164 numbers.' }),
          },
          { examples: [{ account: 'acc_01kagnz8w2efkbd3m5x7y9t1qa', recipients: ['+14155550123', '+447700900123'] }] },
        ),
        response: { 201: envelopeSchema(addedSchema) },
      },
    },
    async (request, reply) => {
      const { account, recipients } = request.body;
      const accountId = readId('acc', account, 'account');
      if ((await readAccount(pool, accountId)) === undefined) {
        throw new ApiError('invalid_request', 'There is no such account.', { param: 'account' });
      }
      const wrong = recipients.findIndex((recipient) => !isRecipient(recipient));
      if (wrong >= 0) throw malformed(`recipients.${wrong}`);
      const at = new Date(clock.now());
      const added = await addSuppressions(pool, accountId, recipients.toSorted(), { source: 'operator', at });
      request.log.info({ account_id: account, added }, 'operator: recipients suppressed');
      const result = { object: 'suppressions_added' as const, account_id: account, added };
      return reply.status(201).send(envelope(request, { ...result, already_suppressed: recipients.length - added }));
    },
  );

  app.delete(
    '/suppressions',
    {
      schema: {
        summary: 'Let an account send to a recipient again',
        querystring: Type.Object({
          account: idOf('acc', 'An account, `acc_…`.'),
          to: shown('+14155550123', 'The recipient, E.164.'),
        }),
        response: { 200: envelopeSchema(deletedSchema('suppression', '+14155550123')) },
      },
    },
    async (request) => {
      const { account } = request.query;
      const to = readRecipient(request.query.to, 'to');
      if (!(await removeSuppression(pool, readId('acc', account, 'account'), to))) {
        throw new ApiError('not_found', 'This recipient is not suppressed for this account.', { param: 'to' });
      }
      request.log.info({ account_id: account }, 'operator: suppression removed');
      return envelope(request, { id: to, object: 'suppression', deleted: true as const });
    },
  );
}

function malformed(param: string): ApiError {
  return new ApiError(
    'invalid_request',
    `The parameter ${param} must be in E.164 form: a plus sign, the country code and the number.`,
    { param },
  );
}

/** A plus sign that was not percent-encoded in the URL arrives as a space. */
function mendPlus(number: string): string {
  return number.replace(/^ /, '+');
}

function readRecipient(text: string, param: string): string {
  const recipient = mendPlus(text);
  if (!isRecipient(recipient)) throw malformed(param);
  return recipient;
}
