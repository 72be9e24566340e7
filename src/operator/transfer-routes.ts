import { Type, type Static } from 'typebox';
import type { AccountRow } from '../accounts/account-queries.ts';
import { findAccount } from '../accounts/administer.ts';
import type { Db, Pool } from '../db/pool.ts';
import { transaction } from '../db/tx.ts';
import { microsToNumber } from '../events/message-view.ts';
import type { App } from '../http/app.ts';
import { envelope, envelopeSchema } from '../http/envelope.ts';
import { amountMax, transfer, type Transfer } from '../ledger/transfer.ts';
import { formatTime, type Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { fromPublicId, toPublicId, type IdSource } from '../lib/ids.ts';
import { claimKeys, fingerprintOf, readKey, storeAnswer } from '../messages/idempotency.ts';
import { idParams, text, time, words } from './fields.ts';

export type TransferRouteDeps = { pool: Pool; clock: Clock; ids: IdSource };

const amountSchema = Type.Number({
  minimum: -amountMax,
  maximum: amountMax,
  description: "In units of the account's currency, with at most 6 decimals.",
});
const noteSchema = text({ minLength: 1, maxLength: 255, description: 'Why, for whoever reads the ledger.' });

const headersSchema = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The same key and body within 24 hours move the money once, and get the first answer again.',
    }),
  ),
});

const transferSchema = Type.Object(
  {
    object: Type.Literal('transfer'),
    account_id: Type.String(),
    kind: words(['top_up', 'adjustment'] as const),
    amount: Type.Number(),
    currency: Type.String(),
    note: Type.String(),
    balance: Type.Number({ description: 'The balance after it.' }),
    created_at: time,
  },
  {
    title: 'Transfer',
    examples: [
      {
        object: 'transfer',
        account_id: 'acc_01kagnz8w2efkbd3m5x7y9t1qa',
        kind: 'top_up',
        amount: 50,
        currency: 'USD',
        note: 'invoice 2026-118',
        balance: 137.4213,
        created_at: '2026-11-20T03:04:05.678+00:00',
      },
    ],
  },
);

type TransferView = Static<typeof transferSchema>;

/** Money that the operator puts on accounts and takes off them. */
export function transferRoutes(app: App, deps: TransferRouteDeps): void {
  const { pool } = deps;

  app.post(
    '/accounts/:id/top-ups',
    {
      config: { codes: ['idempotency_conflict'] },
      schema: {
        summary: 'Put money on an account',
        params: idParams('acc'),
        headers: headersSchema,
        body: Type.Object(
          { amount: amountSchema, note: Type.Optional(noteSchema) },
          { examples: [{ amount: 50, note: 'invoice 2026-118' }] },
        ),
        response: { 201: envelopeSchema(transferSchema) },
      },
    },
    async (request, reply) => {
      const account = await findAccount(pool, fromPublicId('acc', request.params.id));
      if (account.status === 'closed') throw new ApiError('invalid_request', 'This account is closed.');
      const { amount, note = 'top-up' } = request.body;
      const key = request.headers['idempotency-key'];
      const done = await transferOnce(account, { kind: 'top_up', amount, note }, key, deps);
      request.log.info({ account_id: request.params.id, amount }, 'operator: account topped up');
      return reply.status(201).send(envelope(request, done));
    },
  );

  app.post(
    '/accounts/:id/adjustments',
    {
      config: { codes: ['idempotency_conflict'] },
      schema: {
        summary: 'Correct the balance of an account, up or down; it does not fall below zero',
        params: idParams('acc'),
        headers: headersSchema,
        body: Type.Object(
          { amount: amountSchema, note: noteSchema },
          { examples: [{ amount: -3.2, note: 'charged twice on 3 May' }] },
        ),
        response: { 201: envelopeSchema(transferSchema) },
      },
    },
    async (request, reply) => {
      const account = await findAccount(pool, fromPublicId('acc', request.params.id));
      const { amount, note } = request.body;
      const key = request.headers['idempotency-key'];
      const done = await transferOnce(account, { kind: 'adjustment', amount, note }, key, deps);
      request.log.info({ account_id: request.params.id, amount }, 'operator: balance adjusted');
      return reply.status(201).send(envelope(request, done));
    },
  );
}

async function move(db: Db, account: AccountRow, asked: Transfer, deps: TransferRouteDeps): Promise<TransferView> {
  const { balanceMicros } = await transfer(db, account.account_id, asked, deps);
  return {
    object: 'transfer',
    account_id: toPublicId('acc', account.account_id),
    ...asked,
    currency: account.currency,
    balance: microsToNumber(balanceMicros),
    created_at: formatTime(deps.clock.now()),
  };
}

/** Key, money and answer in one transaction: a repeat finds all of them or none. */
function transferOnce(
  account: AccountRow,
  asked: Transfer,
  askedKey: string | undefined,
  deps: TransferRouteDeps,
): Promise<TransferView> {
  const { pool, clock } = deps;
  if (askedKey === undefined) return move(pool, account, asked, deps);
  const { account_id: accountId } = account;
  // No key of the account's own can have a line break: both share one table.
  const key = `operator\n${askedKey}`;
  const fingerprint = fingerprintOf(asked.kind, [asked.amount, asked.note]);
  return transaction(pool, async (db) => {
    const claimed = await claimKeys(db, [{ accountId, key, fingerprint, messageIds: [] }], clock.now());
    if (claimed.size === 0) {
      const first = await readKey(db, accountId, key, clock.now());
      if (first !== undefined && typeof first.answer === 'string' && first.fingerprint.equals(fingerprint)) {
        return JSON.parse(first.answer) as TransferView;
      }
      throw new ApiError(
        'idempotency_conflict',
        'This Idempotency-Key was used with another transfer. Use a new key for a new transfer.',
      );
    }
    const done = await move(db, account, asked, deps);
    await storeAnswer(db, accountId, key, { status: 201, text: JSON.stringify(done) });
    return done;
  });
}
