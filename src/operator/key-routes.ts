import { Type } from 'typebox';
import { findAccount, operatorBounds } from '../accounts/administer.ts';
import { grantKey } from '../accounts/key-grant.ts';
import { listKeys } from '../accounts/key-queries.ts';
import { createdKeySchema, createKeyBodySchema, keySchema, showKey } from '../accounts/key-schema.ts';
import type { KeyUses } from '../accounts/key-uses.ts';
import { createKeyFor, listedKeysMax, revokeKey } from '../accounts/keys.ts';
import type { Notices } from '../db/notices.ts';
import type { Pool } from '../db/pool.ts';
import type { App } from '../http/app.ts';
import { deletedSchema, envelope, envelopeSchema, wrappedList, wrappedListSchema } from '../http/envelope.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { fromPublicId, toPublicId, type IdSource } from '../lib/ids.ts';
import { idOf, idParams } from './fields.ts';

export type OperatorKeyRouteDeps = { pool: Pool; clock: Clock; ids: IdSource; notices: Notices; keyUses: KeyUses };

/** API keys of an account. A key is shown in full when it is made, and never again. */
export function operatorKeyRoutes(app: App, deps: OperatorKeyRouteDeps): void {
  const { pool, clock, notices, keyUses } = deps;

  app.get(
    '/accounts/:id/api-keys',
    {
      schema: {
        summary: "List an account's API keys, newest first; revoked ones too, as inactive",
        params: idParams('acc'),
        response: { 200: envelopeSchema(wrappedListSchema(keySchema)) },
      },
    },
    async (request) => {
      const { account_id: accountId } = await findAccount(pool, fromPublicId('acc', request.params.id));
      await keyUses.flush();
      const rows = await listKeys(pool, accountId, new Date(clock.now()), listedKeysMax);
      return envelope(request, wrappedList(rows.map(showKey)));
    },
  );

  app.post(
    '/accounts/:id/api-keys',
    {
      schema: {
        summary: 'Create an API key of an account; omitted permissions are all of them',
        params: idParams('acc'),
        body: createKeyBodySchema,
        response: { 201: envelopeSchema(createdKeySchema) },
      },
    },
    async (request, reply) => {
      const account = await findAccount(pool, fromPublicId('acc', request.params.id));
      if (account.status === 'closed') throw new ApiError('invalid_request', 'This account is closed.');
      const settings = grantKey(request.body, operatorBounds, clock.now());
      const { key, plainKey } = await createKeyFor({ accountId: account.account_id, keyId: null }, settings, deps);
      const shown = showKey(key);
      request.log.info({ account_id: request.params.id, key_id: shown.id }, 'operator: key created');
      const notice = 'Hand this key over safely now. It is not shown again.';
      return reply.status(201).send(envelope(request, { ...shown, plain_key: plainKey, plain_key_notice: notice }));
    },
  );

  app.delete(
    '/accounts/:id/api-keys/:key',
    {
      schema: {
        summary: 'Revoke an API key of an account',
        params: Type.Object({ id: idOf('acc'), key: idOf('key') }),
        response: { 200: envelopeSchema(deletedSchema('api_key', 'key_01kagp2m7rfh0sx4c8v6b3n5dz')) },
      },
    },
    async (request) => {
      const { account_id: accountId } = await findAccount(pool, fromPublicId('acc', request.params.id));
      const keyId = fromPublicId('key', request.params.key);
      if (keyId === undefined) throw new ApiError('not_found', 'There is no such API key.', { param: 'key' });
      await revokeKey({ accountId, permissions: operatorBounds.permissions }, keyId, pool);
      notices.tell('key', keyId);
      request.log.info({ account_id: request.params.id, key_id: request.params.key }, 'operator: key revoked');
      return envelope(request, { id: toPublicId('key', keyId), object: 'api_key', deleted: true as const });
    },
  );
}
