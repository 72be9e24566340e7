import { publishNotice } from '../db/notices.ts';
import type { Pool } from '../db/pool.ts';
import { transaction } from '../db/tx.ts';
import { eventTypes, type EventType } from '../events/event.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import type { IdSource } from '../lib/ids.ts';
import type { EndpointKey } from './delivery-queries.ts';
import { countEndpoints, deleteEndpoint, insertEndpoint, lockEndpoints, type EndpointRow } from './queries.ts';
import { endpointName } from './receivers.ts';
import type { CreateBody } from './schema.ts';
import { createSigningSecret, sealSecret } from './secret.ts';
import { checkTarget, type TargetGuard } from './target.ts';

/** So many endpoints an account may have. */
export const endpointsMax = 50;

export type EndpointDeps = {
  pool: Pool;
  clock: Clock;
  ids: IdSource;
  /** 32 bytes: what signing secrets are sealed under. */
  secretKey: Buffer;
  guard: TargetGuard;
};

/** `*` and nothing at all mean every type; the order is always the same. */
function typesOf(events: CreateBody['events'] = ['*']): EventType[] {
  return eventTypes.filter((type) => events.includes('*') || events.includes(type));
}

/** Makes an endpoint. Its secret is told now and never again. */
export async function createEndpoint(
  accountId: string,
  body: CreateBody,
  { pool, clock, ids, secretKey, guard }: EndpointDeps,
): Promise<{ endpoint: EndpointRow; secret: string }> {
  await checkTarget(body.url, guard);
  const endpointId = ids.next();
  const secret = createSigningSecret();
  const endpoint = await transaction(pool, async (db) => {
    await lockEndpoints(db, accountId);
    if ((await countEndpoints(db, accountId)) >= endpointsMax) {
      throw new ApiError(
        'invalid_request',
        `This account has ${endpointsMax} webhook endpoints, as many as it may have. Delete one first.`,
      );
    }
    return insertEndpoint(db, {
      accountId,
      endpointId,
      url: body.url,
      description: body.description ?? null,
      events: typesOf(body.events),
      sealedSecret: sealSecret(secretKey, { accountId, endpointId }, secret),
      createdAt: new Date(clock.now()),
    });
  });
  return { endpoint, secret };
}

/** Deletes an endpoint and tells every process to send it nothing more. False when there was none. */
export function removeEndpoint(pool: Pool, key: EndpointKey): Promise<boolean> {
  return transaction(pool, async (db) => {
    const found = await deleteEndpoint(db, key);
    if (found) await publishNotice(db, 'endpoint', endpointName(key));
    return found;
  });
}
