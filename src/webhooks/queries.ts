import type { Db } from '../db/pool.ts';
import type { EventType } from '../events/event.ts';
import type { EndpointKey } from './delivery-queries.ts';

/** A row of `webhook_endpoints`, as far as the API shows it. */
export type EndpointRow = {
  id: string;
  url: string;
  description: string | null;
  events: EventType[];
  is_active: boolean;
  failure_count: number;
  last_success_at: Date | null;
  last_failure_at: Date | null;
  disabled_at: Date | null;
  created_at: Date;
};

export const endpointColumns =
  'id, url, description, events, is_active, failure_count, last_success_at, last_failure_at, disabled_at, created_at';

export type NewEndpoint = EndpointKey & {
  url: string;
  description: string | null;
  events: readonly EventType[];
  sealedSecret: Buffer;
  createdAt: Date;
};

/** Until the transaction ends, nobody else adds an endpoint to the account: its number can be counted first. */
export async function lockEndpoints(db: Db, accountId: string): Promise<void> {
  await db.query(`SELECT pg_advisory_xact_lock(hashtextextended('webhook_endpoints ' || $1, 0))`, [accountId]);
}

export async function countEndpoints(db: Db, accountId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>('SELECT count(*) FROM webhook_endpoints WHERE account_id = $1', [
    accountId,
  ]);
  return rows[0]?.count ?? 0;
}

export async function insertEndpoint(db: Db, endpoint: NewEndpoint): Promise<EndpointRow> {
  const { rows } = await db.query<EndpointRow>(
    `INSERT INTO webhook_endpoints (account_id, id, url, description, events, sealed_secret, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     RETURNING ${endpointColumns}`,
    [
      endpoint.accountId,
      endpoint.endpointId,
      endpoint.url,
      endpoint.description,
      endpoint.events,
      endpoint.sealedSecret,
      endpoint.createdAt,
    ],
  );
  return rows[0] as EndpointRow;
}

/** All endpoints of an account, newest first; `max` is what an account may have. */
export async function listEndpoints(db: Db, accountId: string, max: number): Promise<EndpointRow[]> {
  const { rows } = await db.query<EndpointRow>(
    `SELECT ${endpointColumns} FROM webhook_endpoints WHERE account_id = $1 ORDER BY id DESC LIMIT $2`,
    [accountId, max],
  );
  return rows;
}

export async function findEndpoint(db: Db, { accountId, endpointId }: EndpointKey): Promise<EndpointRow | undefined> {
  const { rows } = await db.query<EndpointRow>(
    `SELECT ${endpointColumns} FROM webhook_endpoints WHERE account_id = $1 AND id = $2`,
    [accountId, endpointId],
  );
  return rows[0];
}

/** False when there was none. */
export async function deleteEndpoint(db: Db, { accountId, endpointId }: EndpointKey): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM webhook_endpoints WHERE account_id = $1 AND id = $2', [
    accountId,
    endpointId,
  ]);
  return rowCount === 1;
}

export type EndpointTarget = { url: string; sealedSecret: Buffer };

/** Where to send and how to sign; undefined when the endpoint is inactive or gone. */
export async function findTarget(db: Db, { accountId, endpointId }: EndpointKey): Promise<EndpointTarget | undefined> {
  const { rows } = await db.query<EndpointTarget>({
    name: 'find_webhook_target',
    text: `SELECT url, sealed_secret AS "sealedSecret" FROM webhook_endpoints WHERE account_id = $1 AND id = $2 AND is_active`,
    values: [accountId, endpointId],
  });
  return rows[0];
}
