import type { Pool } from '../../src/db/pool.ts';
import { systemClock } from '../../src/lib/clock.ts';

/** What was stored, as far as a list can ask for it. */
export type Stored = {
  messages: number;
  byStatus: { pending: number; sent: number; delivered: number; failed: number; undelivered: number };
  days: number;
  /** Half of them are older. */
  middleMs: number;
  rareRecipient: string;
  frequentRecipient: string;
  toFrequent: number;
};

const dayMs = 86_400_000;
/** Partitions stand for this month and the last: so many days back there is one. */
const days = 27;
const chunk = 100_000;

/** One message in a hundred goes to the same number; one in 50,000 failed, nearly all in the first tenth of the time. */
const statusOf = `CASE
    WHEN n >= $3 THEN 'pending'
    WHEN n % 50000 = 17 OR (n < $4 / 10 AND n % 1000 = 17) THEN 'failed'
    WHEN n % 100 = 7 THEN 'undelivered'
    WHEN n % 33 = 5 THEN 'sent'
    ELSE 'delivered' END`;

/** Stores messages evenly over the last days, with the roll-up and the queue that belong to them. */
export async function storeMessages(pool: Pool, accountId: string, messages: number): Promise<Stored> {
  const untilMs = systemClock.now() - 60_000;
  const fromMs = untilMs - days * dayMs;
  const pendingFrom = messages - 200;
  for (let first = 0; first < messages; first += chunk) {
    const last = Math.min(first + chunk, messages) - 1;
    await pool.query(insertMessages, [first, last, pendingFrom, messages, accountId, fromMs, untilMs - fromMs]);
  }
  await pool.query(insertQueueRows, [accountId]);
  await pool.query(insertUsage, [accountId]);
  await pool.query('VACUUM (ANALYZE) messages, usage_hourly, dispatch_queue');
  const { rows } = await pool.query<{ status: keyof Stored['byStatus']; messages: number }>(
    'SELECT status, count(*) AS messages FROM messages WHERE account_id = $1 GROUP BY status',
    [accountId],
  );
  const counts = Object.fromEntries(rows.map((row) => [row.status, row.messages]));
  return {
    messages,
    byStatus: { pending: 0, sent: 0, delivered: 0, failed: 0, undelivered: 0, ...counts },
    days,
    middleMs: Math.round((fromMs + untilMs) / 2),
    rareRecipient: '+14150000001',
    frequentRecipient: '+14155550100',
    toFrequent: Math.floor(messages / 100),
  };
}

/** An id is a UUIDv7 of the message's millisecond, with its number for the random part. */
const insertMessages = `
  INSERT INTO messages (account_id, id, recipient, sender, body, segments, cost_micros, currency, route_id, providers, status, provider,
    provider_message_id, attempt_count, attempts, error_code, error_message, sent_at, delivered_at, undelivered_at, failed_at)
  SELECT $5, (lpad(to_hex(ms), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
    CASE WHEN n % 100 = 0 THEN '+14155550100' ELSE '+1415' || lpad(n::text, 7, '0') END, 'HELIO',
    'Your Heliograph code is 482913. It is good for ten minutes.', 1, CASE status WHEN 'failed' THEN 0 ELSE 7900 END, 'USD', 1, '{twilio}',
    status, CASE WHEN status <> 'pending' THEN 'twilio' END, CASE WHEN status <> 'pending' THEN 'SM' || md5(n::text) END,
    CASE status WHEN 'pending' THEN 0 ELSE 1 END,
    CASE WHEN status <> 'pending' THEN '[{"provider":"twilio","result":"accepted","latency_ms":12}]'::jsonb END,
    CASE status WHEN 'failed' THEN 'provider_unavailable' WHEN 'undelivered' THEN 'delivery_expired' END, NULL,
    CASE WHEN status NOT IN ('pending', 'failed') THEN at END, CASE status WHEN 'delivered' THEN at END,
    CASE status WHEN 'undelivered' THEN at END, CASE status WHEN 'failed' THEN at END
  FROM (
    SELECT n, ms, to_timestamp(ms / 1000.0) AS at, ${statusOf} AS status
    FROM (SELECT n, $6::bigint + (n::float8 / $4::float8 * $7::float8)::bigint AS ms FROM generate_series($1::bigint, $2::bigint) n) numbered
  ) decided`;

/** Leased for long: the sweeper leaves them alone. */
const insertQueueRows = `
  INSERT INTO dispatch_queue (account_id, message_id, leased_until, started)
  SELECT account_id, id, now() + interval '1 day', '{}' FROM messages WHERE account_id = $1 AND status = 'pending'`;

const insertUsage = `
  WITH counted AS (
    SELECT date_trunc('hour', uuid_extract_timestamp(id), 'UTC') AS hour, status, count(*) AS messages, sum(cost_micros) AS cost_micros
    FROM messages WHERE account_id = $1 GROUP BY 1, 2
  )
  INSERT INTO usage_hourly (account_id, hour, status, messages, cost_micros)
  SELECT $1, hour, 'accepted', sum(messages), sum(cost_micros) FROM counted GROUP BY hour
  UNION ALL
  SELECT $1, hour, status, messages, 0 FROM counted WHERE status <> 'pending'`;
