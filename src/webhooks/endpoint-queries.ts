import type { Db } from '../db/pool.ts';
import { endpointColumns, type EndpointRow } from './queries.ts';

/** An endpoint and whose it is. */
export type OwnedEndpointRow = EndpointRow & { account_id: string };

/** Of one account or of all; active or disabled ones or both. */
export type EndpointFilter = { accountId: string | null; isActive: boolean | null };

const matchesFilter = '($1::uuid IS NULL OR account_id = $1) AND ($2::boolean IS NULL OR is_active = $2)';

export async function countEndpointsWhere(db: Db, { accountId, isActive }: EndpointFilter): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count_endpoints_where',
    text: `SELECT count(*) FROM webhook_endpoints WHERE ${matchesFilter}`,
    values: [accountId, isActive],
  });
  return rows[0]?.count ?? 0;
}

/** Newest first. */
export async function pageEndpointsWhere(
  db: Db,
  { accountId, isActive }: EndpointFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<OwnedEndpointRow[]> {
  const { rows } = await db.query<OwnedEndpointRow>({
    name: 'page_endpoints_where',
    text: `SELECT account_id, ${endpointColumns} FROM webhook_endpoints WHERE ${matchesFilter} ORDER BY id DESC OFFSET $3 LIMIT $4`,
    values: [accountId, isActive, offset, limit],
  });
  return rows;
}

/** The endpoint of this id, whosever it is. */
export async function findAnyEndpoint(db: Db, endpointId: string): Promise<OwnedEndpointRow | undefined> {
  const { rows } = await db.query<OwnedEndpointRow>({
    name: 'find_any_endpoint',
    text: `SELECT account_id, ${endpointColumns} FROM webhook_endpoints WHERE id = $1`,
    values: [endpointId],
  });
  return rows[0];
}
