-- The way of a message. Ids are UUIDv7: a month is a range of ids, and a message's creation time is in its id.
-- No index stands on a column that changes, so updates stay heap-only; partitions are made with fillfactor 50 (src/db/partitions.ts).

CREATE TABLE messages (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  recipient text NOT NULL,
  sender text NOT NULL,
  body text NOT NULL,
  reference text,
  segments smallint NOT NULL CHECK (segments >= 0),
  cost_micros bigint NOT NULL CHECK (cost_micros >= 0),
  currency text NOT NULL,
  -- The chain decided at accept, in order: providers[1] is tried first.
  route_id integer,
  providers text[] NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'sent', 'delivered', 'failed', 'undelivered')),
  provider text,
  provider_message_id text,
  attempt_count smallint NOT NULL DEFAULT 0,
  -- One object per attempt: provider, result, code, latency; and why candidates were skipped.
  attempts jsonb,
  error_code text,
  error_message text,
  -- Each is written once, when the message enters that state.
  sent_at timestamptz,
  delivered_at timestamptz,
  undelivered_at timestamptz,
  failed_at timestamptz,
  PRIMARY KEY (account_id, id),
  CHECK (status <> 'sent' OR sent_at IS NOT NULL),
  CHECK ((status = 'delivered') = (delivered_at IS NOT NULL)),
  CHECK ((status = 'failed') = (failed_at IS NOT NULL)),
  CHECK (status <> 'undelivered' OR undelivered_at IS NOT NULL),
  CHECK (status NOT IN ('failed', 'undelivered') OR error_code IS NOT NULL)
) PARTITION BY RANGE (id);

-- Led by the recipient: with account_id first, a plan made on an empty partition looks messages up by this index instead of their key.
CREATE INDEX messages_recipient ON messages (recipient, account_id, id);

-- Exactly the pending messages. A row whose lease ran out has lost its process; the sweeper takes it.
CREATE TABLE dispatch_queue (
  account_id uuid NOT NULL,
  message_id uuid NOT NULL,
  leased_until timestamptz NOT NULL,
  -- Providers to which an attempt may have been written, in order.
  started text[] NOT NULL,
  PRIMARY KEY (account_id, message_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Append-only. A charge and a refund carry their message's id, so neither can happen twice.
CREATE TABLE ledger_entries (
  account_id uuid NOT NULL REFERENCES accounts,
  id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('top_up', 'charge', 'refund', 'adjustment')),
  amount_micros bigint NOT NULL,
  note text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id, kind),
  CHECK (kind = 'adjustment' OR (kind = 'charge') = (amount_micros < 0) OR amount_micros = 0)
);

-- Messages by the UTC hour of their creation. `accepted` counts all of them and only accept writes it; the other rows are kept by
-- outcome, so the two never wait for each other. Pending = accepted - the rest. Net cost = the sum over all rows.
CREATE TABLE usage_hourly (
  account_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  status text NOT NULL CHECK (status IN ('accepted', 'sent', 'delivered', 'failed', 'undelivered')),
  messages bigint NOT NULL,
  cost_micros bigint NOT NULL,
  PRIMARY KEY (account_id, hour, status)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE idempotency_keys (
  account_id uuid NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  -- The messages the first request became, in its order: the answer can be told again from them.
  message_ids uuid[] NOT NULL,
  -- The stored answer; null while the first request runs.
  status smallint,
  answer text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, key)
);

-- Receipts as they came, for the message's story.
CREATE TABLE receipts (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  message_id uuid NOT NULL,
  attempt smallint NOT NULL,
  provider text NOT NULL,
  provider_message_id text NOT NULL,
  state text NOT NULL CHECK (state IN ('sent', 'delivered', 'undelivered', 'failed')),
  code text,
  raw text NOT NULL,
  PRIMARY KEY (account_id, message_id, id)
) PARTITION BY RANGE (id);

-- Verified receipts whose message is not (yet) known.
CREATE TABLE unmatched_receipts (
  id uuid PRIMARY KEY,
  provider text NOT NULL,
  provider_message_id text NOT NULL,
  reason text NOT NULL,
  raw text NOT NULL,
  received_at timestamptz NOT NULL
);
