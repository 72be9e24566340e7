import { Type, type Static } from 'typebox';
import {
  changeAccount,
  createAccount,
  findAccount,
  listAccounts,
  type AccountChange,
  type NewAccount,
} from '../accounts/administer.ts';
import { accountSchema, showAccount } from '../accounts/schema.ts';
import type { Notices } from '../db/notices.ts';
import type { Pool } from '../db/pool.ts';
import type { App } from '../http/app.ts';
import { envelope, envelopeSchema, listEnvelope, listEnvelopeSchema } from '../http/envelope.ts';
import { offsetOf, pageQuery, paginationOf } from '../http/pagination.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { fromPublicId, toPublicId, type IdSource } from '../lib/ids.ts';
import { idParams, text, words } from './fields.ts';

export type AccountRouteDeps = { pool: Pool; clock: Clock; ids: IdSource; notices: Notices };

const createBodySchema = Type.Object(
  {
    email: text({ minLength: 3, maxLength: 254 }),
    name: text({ minLength: 1, maxLength: 255 }),
    company_name: Type.Optional(text({ maxLength: 255 })),
    country: Type.Optional(text({ maxLength: 2, description: 'ISO 3166-1 alpha-2.' })),
    currency: Type.Optional(
      text({ maxLength: 3, description: 'ISO 4217 code; it cannot be changed. Defaults to USD.' }),
    ),
    kyc_verified: Type.Optional(Type.Boolean({ description: 'Defaults to false.' })),
  },
  {
    examples: [
      { email: 'ana@example.com', name: 'Ana Silva', company_name: 'Example', country: 'PT', currency: 'EUR' },
    ],
  },
);

const listQuerySchema = Type.Object({
  status: Type.Optional(words(['active', 'suspended', 'closed'] as const)),
  search: Type.Optional(text({ maxLength: 255, description: 'A part of the email, the name or the company name.' })),
  ...pageQuery,
});

/** Accounts and their status. */
export function operatorAccountRoutes(app: App, deps: AccountRouteDeps): void {
  const { pool } = deps;

  app.post(
    '/accounts',
    {
      schema: {
        summary: 'Create an account',
        body: createBodySchema,
        response: { 201: envelopeSchema(accountSchema) },
      },
    },
    async (request, reply) => {
      const account = await createAccount(readNewAccount(request.body), deps);
      request.log.info({ account_id: toPublicId('acc', account.account_id) }, 'operator: account created');
      return reply.status(201).send(envelope(request, showAccount(account)));
    },
  );

  app.get(
    '/accounts',
    {
      schema: {
        summary: 'List accounts, newest first',
        querystring: listQuerySchema,
        response: { 200: listEnvelopeSchema(accountSchema) },
      },
    },
    async (request) => {
      const { status = null, search = null, page, limit } = request.query;
      const { rows, total } = await listAccounts(pool, { status, search }, { offset: offsetOf(page, limit), limit });
      return listEnvelope(request, rows.map(showAccount), paginationOf(page, limit, total));
    },
  );

  app.get(
    '/accounts/:id',
    {
      schema: {
        summary: 'Retrieve an account',
        params: idParams('acc'),
        response: { 200: envelopeSchema(accountSchema) },
      },
    },
    async (request) => {
      const account = await findAccount(pool, fromPublicId('acc', request.params.id));
      return envelope(request, showAccount(account));
    },
  );

  changeRoutes(app, deps);
}

function changeRoutes(app: App, { pool, notices }: AccountRouteDeps): void {
  const summaries: Record<AccountChange, string> = {
    suspend: 'Suspend an account: it reads, but does not send',
    resume: 'Resume a suspended account',
    close: 'Close an account for good: its keys are no longer accepted',
  };
  for (const [change, summary] of Object.entries(summaries) as Array<[AccountChange, string]>) {
    app.post(
      `/accounts/:id/${change}`,
      { schema: { summary, params: idParams('acc'), response: { 200: envelopeSchema(accountSchema) } } },
      async (request) => {
        const accountId = fromPublicId('acc', request.params.id);
        if (accountId === undefined) throw unknownAccount();
        const account = await changeAccount(pool, accountId, change);
        notices.tell('account', accountId);
        request.log.info({ account_id: request.params.id, status: account.status }, 'operator: account changed');
        return envelope(request, showAccount(account));
      },
    );
  }
}

function unknownAccount(): ApiError {
  return new ApiError('not_found', 'There is no such account.', { param: 'id' });
}

function readNewAccount(body: Static<typeof createBodySchema>): NewAccount {
  const { email, name, company_name = '', country = '', currency = 'USD', kyc_verified = false } = body;
  if (!/^[^@\s]+@[^@\s]+$/.test(email)) throw invalid('email', 'The email must be an address such as ops@example.com.');
  if (!/^([A-Za-z]{2})?$/.test(country)) throw invalid('country', 'The country must be two letters, such as GB.');
  if (!/^[A-Z]{3}$/.test(currency)) throw invalid('currency', 'The currency must be three capitals, such as USD.');
  return { email, name, company_name, country: country.toUpperCase(), currency, kyc_verified };
}

function invalid(param: string, message: string): ApiError {
  return new ApiError('invalid_request', message, { param });
}
