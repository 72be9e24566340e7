import { Type } from 'typebox';
import type { Pool } from '../db/pool.ts';
import type { App } from '../http/app.ts';
import { envelope, envelopeSchema } from '../http/envelope.ts';
import { checkAccounts } from '../ledger/check.ts';
import { formatTime, formatTimeOrNull, type Clock } from '../lib/clock.ts';
import { fromPublicId, toPublicId } from '../lib/ids.ts';
import { listUnmatchedReceipts } from '../receipts/kept.ts';
import { cursorEnvelope, cursorEnvelopeSchema, cursorQuery, invalidCursor } from './cursor-list.ts';
import { idOf, nullableString, nullableTime, shown, shownNumber, time, words } from './fields.ts';

const firstId = '00000000-0000-0000-0000-000000000000';
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const checkWithinMs = 5_000;
const differencesMax = 1_000;

const unmatchedSchema = Type.Object(
  {
    object: Type.Literal('unmatched_receipt'),
    provider: shown('africastalking'),
    provider_message_id: shown('ATXid_4f0f9a6c3e1d8b7a5c42'),
    reason: shown('its id is not known', 'Why it could not be matched.'),
    raw: shown('POST \nid=ATXid_4f0f9a6c3e1d8b7a5c42&status=Success', 'The receipt as it came.'),
    received_at: time,
    tries: Type.Integer({
      examples: [3],
      description: 'How often it was tried again: its send may not have been recorded yet.',
    }),
    next_try_at: nullableTime('Null once it waits for nobody but the operator.'),
  },
  { title: 'UnmatchedReceipt' },
);

const checkSchema = Type.Object(
  {
    object: Type.Literal('ledger_check'),
    accounts: Type.Integer({ description: 'Accounts this call has checked.', examples: [100] }),
    differences: Type.Array(
      Type.Object({
        account_id: idOf('acc'),
        what: words(['balance', 'charge', 'queued', 'messages_counted', 'money_counted', 'events_counted'] as const),
        of: nullableString('The message, or the hour and what of it was counted; null for the account as a whole.'),
        expected: shownNumber(87_421_300, 'Money is in micro-units, all else is a number.'),
        found: shownNumber(87_413_400),
      }),
    ),
    is_cut: Type.Boolean({
      examples: [false],
      description: `There are more differences; only ${differencesMax} are named.`,
    }),
    next_cursor: nullableString('Null once all accounts are checked.'),
  },
  { title: 'LedgerCheck' },
);

/** What needs an eye now and then: receipts that fit no message, and whether the books agree. */
export function upkeepRoutes(app: App, { pool, clock }: { pool: Pool; clock: Clock }): void {
  app.get(
    '/receipts/unmatched',
    {
      schema: {
        summary: 'List verified receipts whose message is not known, newest first',
        querystring: Type.Object(cursorQuery),
        response: { 200: cursorEnvelopeSchema(unmatchedSchema) },
      },
    },
    async (request) => {
      const { cursor, limit } = request.query;
      if (cursor !== undefined && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(cursor)) throw invalidCursor();
      const rows = await listUnmatchedReceipts(pool, { before: cursor ?? lastId, limit: limit + 1 });
      return cursorEnvelope(request, rows, limit, {
        show: (row) => ({
          object: 'unmatched_receipt' as const,
          provider: row.provider,
          provider_message_id: row.providerMessageId,
          reason: row.reason,
          raw: row.raw,
          received_at: formatTime(row.receivedAt),
          tries: row.tries,
          next_try_at: formatTimeOrNull(row.nextTryAt),
        }),
        cursorOf: (row) => row.id,
      });
    },
  );

  ledgerRoutes(app, { pool, clock });
}

function ledgerRoutes(app: App, { pool, clock }: { pool: Pool; clock: Clock }): void {
  app.get(
    '/ledger/check',
    {
      schema: {
        summary: 'Check that balances, charges and counts agree, a number of accounts at a time',
        querystring: Type.Object({
          cursor: cursorQuery.cursor,
          limit: Type.Integer({
            minimum: 1,
            maximum: 1_000,
            default: 100,
            description: 'Accounts to check at most; fewer when they take long.',
          }),
        }),
        response: { 200: envelopeSchema(checkSchema) },
      },
    },
    async (request) => {
      const { cursor, limit } = request.query;
      const after = cursor === undefined ? firstId : fromPublicId('acc', cursor);
      if (after === undefined) throw invalidCursor();
      const part = await checkAccounts(pool, clock, {
        after,
        accountsMax: limit,
        differencesMax,
        withinMs: checkWithinMs,
      });
      return envelope(request, {
        object: 'ledger_check' as const,
        accounts: part.accounts,
        differences: part.differences.map(({ accountId, what, of, expected, found }) => ({
          account_id: accountId,
          what,
          of,
          expected,
          found,
        })),
        is_cut: part.isCut,
        next_cursor: part.lastAccountId === null ? null : toPublicId('acc', part.lastAccountId),
      });
    },
  );
}
