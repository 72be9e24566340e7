import { Type } from 'typebox';
import type { Pool } from '../db/pool.ts';
import { microsToNumber } from '../events/message-view.ts';
import type { App } from '../http/app.ts';
import { envelope, envelopeSchema } from '../http/envelope.ts';
import { formatTime, type Clock } from '../lib/clock.ts';
import { readAccount } from './account-queries.ts';

const balanceSchema = Type.Object(
  {
    object: Type.Literal('balance'),
    balance: Type.Number({ description: 'What is left to spend.' }),
    currency: Type.String(),
    as_of: Type.String({ format: 'date-time' }),
  },
  { title: 'Balance' },
);

/** The caller's own account (spec: Account). */
export function accountRoutes(app: App, { pool, clock }: { pool: Pool; clock: Clock }): void {
  app.get(
    '/balance',
    {
      config: { anyScopeOf: ['balance:read'] },
      schema: { summary: 'Retrieve the balance', response: { 200: envelopeSchema(balanceSchema) } },
    },
    async (request) => {
      const account = await readAccount(pool, request.caller.accountId);
      return envelope(request, {
        object: 'balance' as const,
        balance: microsToNumber(account?.balance_micros ?? 0),
        currency: request.caller.currency,
        as_of: formatTime(clock.now()),
      });
    },
  );
}
