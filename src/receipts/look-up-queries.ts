import type { Db } from '../db/pool.ts';
import { redacted } from '../events/redacted.ts';
import type { HourInRound, Places } from './look-up-rounds.ts';

/** An account's messages of one hour, in one round; `places` is null where that round has not begun. */
export type LookUpUnit = HourInRound & { accountId: string; places: Places | null };

/**
 * The next accounts after `afterAccountId` with messages that may have lost their receipt, each with the hour of its that was asked about the
 * least. `usage_hourly` tells which hours hold `sent` messages at all: for each account one look at its last days, in this order whatever
 * the planner knows of the tables (`OFFSET 0`). Of the rounds that have begun, only those that one of `providers` still takes part in.
 */
export async function findLookUpUnits(
  db: Db,
  hours: readonly HourInRound[],
  providers: readonly string[],
  afterAccountId: string,
  limit: number,
): Promise<LookUpUnit[]> {
  const starts = hours.map((hour) => hour.hourMs);
  const { rows } = await db.query<LookUpUnit>({
    name: 'find_look_up_units',
    text: `SELECT a.account_id AS "accountId", u.hour_ms AS "hourMs", u.round, u.places
           FROM accounts a
           CROSS JOIN LATERAL (
             SELECT x.hour_ms, x.round, CASE WHEN l.round = x.round THEN l.places END AS places
             FROM (SELECT hour FROM usage_hourly
                   WHERE account_id = a.account_id AND hour >= to_timestamp($6::float8 / 1000) AND hour <= to_timestamp($7::float8 / 1000)
                     AND status = 'sent' AND messages > 0 OFFSET 0) s
             JOIN unnest($1::float8[], $2::smallint[]) x(hour_ms, round) ON to_timestamp(x.hour_ms / 1000) = s.hour
             LEFT JOIN LATERAL (SELECT round, places FROM look_ups WHERE account_id = a.account_id AND hour = s.hour OFFSET 0) l ON true
             WHERE l.round IS NULL OR l.round < x.round OR l.round = x.round AND l.places ?| $3::text[]
             ORDER BY x.round, x.hour_ms LIMIT 1
           ) u
           WHERE a.account_id > $4
           ORDER BY a.account_id LIMIT $5`,
    values: [
      starts,
      hours.map(({ round }) => round),
      providers,
      afterAccountId,
      limit,
      Math.min(...starts),
      Math.max(...starts),
    ],
  });
  return rows;
}

/** A message that an upstream accepted and nothing final was reported of. */
export type UnreportedMessage = {
  id: string;
  recipient: string;
  provider: string;
  providerMessageId: string;
  attemptCount: number;
};

/** An account's messages up to `untilId` without a final receipt, each behind its provider's place, in the order of their ids. */
export async function findUnreported(
  db: Db,
  accountId: string,
  places: Places,
  untilId: string,
  limit: number,
): Promise<UnreportedMessage[]> {
  const [afterId] = Object.values(places).sort();
  if (afterId === undefined) return [];
  const { rows } = await db.query<UnreportedMessage>({
    name: 'find_unreported',
    text: `SELECT m.id, m.recipient, m.provider, m.provider_message_id AS "providerMessageId", m.attempt_count AS "attemptCount"
           FROM messages m
           JOIN unnest($4::text[], $5::uuid[]) p(provider, after_id) ON p.provider = m.provider AND p.after_id < m.id
           WHERE m.account_id = $1 AND m.id > $2 AND m.id < $3 AND m.status = 'sent' AND m.recipient <> '${redacted}'
           ORDER BY m.id LIMIT $6`,
    values: [accountId, afterId, untilId, Object.keys(places), Object.values(places), limit],
  });
  return rows;
}

export async function savePlaces(db: Db, { accountId, hourMs, round }: LookUpUnit, places: Places): Promise<void> {
  await db.query({
    name: 'save_look_up_places',
    text: `INSERT INTO look_ups (account_id, hour, round, places) VALUES ($1, to_timestamp($2::float8 / 1000), $3, $4)
           ON CONFLICT (account_id, hour) DO UPDATE SET round = excluded.round, places = excluded.places`,
    values: [accountId, hourMs, round, JSON.stringify(places)],
  });
}

/** Forgets hours that nobody asks about any more, at most `limit` at once. Returns how many. */
export async function deleteOldLookUps(db: Db, beforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM look_ups WHERE ctid = ANY (ARRAY(SELECT ctid FROM look_ups WHERE hour < to_timestamp($1::float8 / 1000) LIMIT $2))`,
    [beforeMs, limit],
  );
  return rowCount ?? 0;
}
