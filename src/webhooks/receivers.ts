import { Pool, type buildConnector } from 'undici';
import type { Db } from '../db/pool.ts';
import { toPublicId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { RowCache } from '../lib/row-cache.ts';
import type { EndpointKey } from './delivery-queries.ts';
import { findTarget } from './queries.ts';
import { openSecret } from './secret.ts';
import { signingKeysOf, type SigningKeys } from './signature.ts';

/** An active endpoint, ready to be sent to. */
export type Receiver = { path: string; keys: SigningKeys; connections: Pool };

export type ReceiverOptions = {
  db: Db;
  secretKey: Buffer;
  connector: buildConnector.connector;
  connectionsMax: number;
  log: Log;
};

/** Shorter than what servers keep idle connections for, so that an event hardly ever meets one that is just being closed. */
const idleConnectionMs = 1_000;

/** An endpoint's name in the cache and in notices. */
export function endpointName({ accountId, endpointId }: EndpointKey): string {
  return `${accountId}/${endpointId}`;
}

/** Active endpoints in memory, each with connections of its own: two that share a host do not wait for each other. */
export function createReceivers(options: ReceiverOptions): RowCache<Receiver> {
  return new RowCache({ max: 2_000, ttlMs: 300_000, read: (name) => readReceiver(name, options) });
}

async function readReceiver(name: string, options: ReceiverOptions): Promise<Receiver | undefined> {
  const { db, secretKey, connector, connectionsMax, log } = options;
  const [accountId = '', endpointId = ''] = name.split('/');
  try {
    const target = await findTarget(db, { accountId, endpointId });
    if (target === undefined) return undefined;
    const url = new URL(target.url);
    return {
      path: url.pathname + url.search,
      keys: signingKeysOf(openSecret(secretKey, { accountId, endpointId }, target.sealedSecret)),
      connections: new Pool(url.origin, {
        connect: connector,
        connections: connectionsMax,
        pipelining: 1,
        keepAliveTimeout: idleConnectionMs,
        keepAliveMaxTimeout: idleConnectionMs,
      }),
    };
  } catch (error) {
    log.warn({ err: error, endpoint: toPublicId('whe', endpointId) }, 'cannot read a webhook endpoint');
    throw error;
  }
}
