import { Type } from 'typebox';
import type { Pool } from '../db/pool.ts';
import type { App } from '../http/app.ts';
import { deletedSchema, envelope, envelopeSchema, wrappedList, wrappedListSchema } from '../http/envelope.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { fromPublicId, toPublicId, type IdSource } from '../lib/ids.ts';
import type { Callers } from './callers.ts';
import { grantKey } from './key-grant.ts';
import { listKeys } from './key-queries.ts';
import { createdKeySchema, createKeyBodySchema, keySchema, showKey } from './key-schema.ts';
import type { KeyUses } from './key-uses.ts';
import { createKeyFor, listedKeysMax, revokeKey } from './keys.ts';

export type KeyRouteDeps = { pool: Pool; clock: Clock; ids: IdSource; callers: Callers; keyUses: KeyUses };

/** API keys of the caller's account (spec: Endpoints → API keys). */
export function keyRoutes(app: App, deps: KeyRouteDeps): void {
  const { pool, clock, callers, keyUses } = deps;

  app.get(
    '/api-keys',
    {
      schema: {
        summary: 'List API keys, newest first; revoked ones too, as inactive',
        response: { 200: envelopeSchema(wrappedListSchema(keySchema)) },
      },
    },
    async (request) => {
      // So that `last_used_at` knows of the requests before this one.
      await keyUses.flush();
      const rows = await listKeys(pool, request.caller.accountId, new Date(clock.now()), listedKeysMax);
      return envelope(request, wrappedList(rows.map(showKey)));
    },
  );

  app.post(
    '/api-keys/create',
    {
      schema: {
        summary: 'Create an API key, at most as powerful as the one that creates it',
        body: createKeyBodySchema,
        response: { 201: envelopeSchema(createdKeySchema) },
      },
    },
    async (request, reply) => {
      const settings = grantKey(request.body, request.caller, clock.now());
      const { key, plainKey } = await createKeyFor(request.caller, settings, deps);
      return reply.status(201).send(
        envelope(request, {
          ...showKey(key),
          plain_key: plainKey,
          plain_key_notice: 'Store this key safely now. It is not shown again.',
        }),
      );
    },
  );

  app.delete(
    '/api-keys/:id',
    {
      schema: {
        summary: 'Revoke an API key',
        params: Type.Object({ id: Type.String({ examples: ['key_01kagp2m7rfh0sx4c8v6b3n5dz'] }) }),
        response: { 200: envelopeSchema(deletedSchema('api_key', 'key_01kagp2m7rfh0sx4c8v6b3n5dz')) },
      },
    },
    async (request) => {
      const keyId = fromPublicId('key', request.params.id);
      if (keyId === undefined) throw new ApiError('not_found', 'There is no such API key.', { param: 'id' });
      await revokeKey(request.caller, keyId, pool);
      // The notice reaches this process too, but perhaps after the caller has its answer.
      callers.forget(keyId);
      return envelope(request, { id: toPublicId('key', keyId), object: 'api_key', deleted: true as const });
    },
  );
}
