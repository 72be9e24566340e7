import type { Pool } from '../db/pool.ts';
import { microsToNumber } from '../events/message-view.ts';
import type { App } from '../http/app.ts';
import { envelope, envelopeSchema } from '../http/envelope.ts';
import { formatTime, type Clock } from '../lib/clock.ts';
import { readOwnAccount } from './account-queries.ts';
import { accountSchema, balanceSchema, showAccount, usageQuerySchema, usageSchema } from './schema.ts';
import { readUsage } from './usage.ts';

/** The caller's own account (spec: Endpoints → Account). */
export function accountRoutes(app: App, { pool, clock }: { pool: Pool; clock: Clock }): void {
  const config = { anyScopeOf: ['balance:read'] } as const;

  app.get(
    '/account',
    { schema: { summary: 'Retrieve the account', response: { 200: envelopeSchema(accountSchema) } } },
    async (request) => envelope(request, showAccount(await readOwnAccount(pool, request.caller.accountId))),
  );

  app.get(
    '/balance',
    { config, schema: { summary: 'Retrieve the balance', response: { 200: envelopeSchema(balanceSchema) } } },
    async (request) => {
      const { balance_micros: balanceMicros, currency } = await readOwnAccount(pool, request.caller.accountId);
      return envelope(request, {
        object: 'balance' as const,
        balance: microsToNumber(balanceMicros),
        currency,
        as_of: formatTime(clock.now()),
      });
    },
  );

  app.get(
    '/usage',
    {
      config,
      schema: {
        summary: 'Count messages and their cost over a period',
        querystring: usageQuerySchema,
        response: { 200: envelopeSchema(usageSchema) },
      },
    },
    async (request) => {
      const { period } = request.query;
      const account = await readOwnAccount(pool, request.caller.accountId);
      const usage = await readUsage(pool, account, period, clock.now());
      return envelope(request, {
        object: 'usage' as const,
        period,
        starts_at: formatTime(usage.startMs),
        ends_at: formatTime(usage.endMs),
        currency: account.currency,
        totals: { messages: usage.messages, cost: microsToNumber(usage.costMicros) },
        by_status: usage.byStatus,
      });
    },
  );
}
