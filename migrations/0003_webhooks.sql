-- Events name their message; what they say is derived from it (src/events/event.ts). Deliveries carry the attempts of one event at
-- one endpoint. What is still to be delivered has a row in the small delivery_queue; a delivery's own row is written with its first result.

CREATE TABLE events (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  message_id uuid NOT NULL,
  -- The state the message entered; `failed` and `undelivered` are both told as message.failed.
  status text NOT NULL CHECK (status IN ('sent', 'delivered', 'failed', 'undelivered')),
  PRIMARY KEY (account_id, id)
) PARTITION BY RANGE (id);

-- Failures are rare: without this, a list of them would walk every other event of the account.
CREATE INDEX events_failed ON events (account_id, id) WHERE status IN ('failed', 'undelivered');

-- Events by the UTC hour of their own creation: exact totals for lists.
CREATE TABLE events_hourly (
  account_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  type text NOT NULL CHECK (type IN ('message.sent', 'message.delivered', 'message.failed')),
  events bigint NOT NULL,
  PRIMARY KEY (account_id, hour, type)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE webhook_endpoints (
  account_id uuid NOT NULL REFERENCES accounts,
  id uuid NOT NULL,
  url text NOT NULL,
  description text,
  events text[] NOT NULL,
  -- AES-256-GCM under SECRET_KEY: nonce, tag, ciphertext.
  sealed_secret bytea NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  -- Consecutive failed attempts over all events of the endpoint.
  failure_count integer NOT NULL DEFAULT 0,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  disabled_at timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id),
  CHECK (is_active = (disabled_at IS NULL))
) WITH (fillfactor = 50);

-- due_at is also the lease: whoever works on a row has pushed it into the future, and a lost process's rows come due again.
CREATE TABLE delivery_queue (
  account_id uuid NOT NULL,
  event_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  message_id uuid NOT NULL,
  status text NOT NULL,
  attempts_made smallint NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, event_id, endpoint_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- The sweep asks each endpoint for its own few due rows, so the million rows that one endpoint has waiting hide nobody else's.
CREATE INDEX delivery_queue_due ON delivery_queue (endpoint_id, due_at);

CREATE TABLE deliveries (
  account_id uuid NOT NULL,
  event_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  message_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'abandoned', 'skipped')),
  -- One object per attempt: at, status, latency_ms, error, answer (its first 1 KiB).
  attempts jsonb NOT NULL,
  PRIMARY KEY (account_id, event_id, endpoint_id)
) PARTITION BY RANGE (event_id);
