-- The schema that all migrations together make, for review; written by src/db/schema-dump.test.ts, never by hand.
-- The partitions of the months are left out.

CREATE TABLE accounts (
  account_id uuid NOT NULL,
  email text NOT NULL,
  name text NOT NULL,
  company_name text NOT NULL DEFAULT ''::text,
  country text NOT NULL DEFAULT ''::text,
  status text NOT NULL DEFAULT 'active'::text,
  kyc_verified boolean NOT NULL DEFAULT false,
  currency text NOT NULL,
  balance_micros bigint NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT accounts_pkey PRIMARY KEY (account_id),
  CONSTRAINT accounts_balance_micros_check CHECK ((balance_micros >= 0)),
  CONSTRAINT accounts_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  CONSTRAINT accounts_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text, 'closed'::text])))
) WITH (fillfactor=50);

CREATE TABLE api_key_hashes (
  hash bytea NOT NULL,
  account_id uuid NOT NULL,
  key_id uuid NOT NULL,
  CONSTRAINT api_key_hashes_pkey PRIMARY KEY (hash)
);

CREATE TABLE api_keys (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  hint text NOT NULL,
  permissions text[] NOT NULL,
  rate_limit integer NOT NULL,
  daily_limit integer,
  monthly_limit integer,
  allowed_ips text[],
  is_active boolean NOT NULL DEFAULT true,
  last_used_at timestamp with time zone,
  expires_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT api_keys_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id),
  CONSTRAINT api_keys_daily_limit_check CHECK ((daily_limit >= 1)),
  CONSTRAINT api_keys_monthly_limit_check CHECK ((monthly_limit >= 1)),
  CONSTRAINT api_keys_rate_limit_check CHECK (((rate_limit >= 1) AND (rate_limit <= 6000)))
);

CREATE TABLE deliveries (
  account_id uuid NOT NULL,
  event_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  message_id uuid NOT NULL,
  status text NOT NULL,
  attempts jsonb NOT NULL,
  CONSTRAINT deliveries_pkey PRIMARY KEY (account_id, event_id, endpoint_id),
  CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'abandoned'::text, 'skipped'::text])))
) PARTITION BY RANGE (event_id);

CREATE INDEX deliveries_endpoint ON deliveries USING btree (endpoint_id, event_id);

CREATE INDEX deliveries_unsuccessful ON deliveries USING btree (endpoint_id, event_id) WHERE (status <> 'succeeded'::text);

CREATE TABLE delivery_queue (
  account_id uuid NOT NULL,
  event_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  message_id uuid NOT NULL,
  status text NOT NULL,
  attempts_made smallint NOT NULL DEFAULT 0,
  due_at timestamp with time zone NOT NULL,
  CONSTRAINT delivery_queue_pkey PRIMARY KEY (account_id, event_id, endpoint_id)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0);

CREATE INDEX delivery_queue_due ON delivery_queue USING btree (endpoint_id, due_at);

CREATE TABLE dispatch_queue (
  account_id uuid NOT NULL,
  message_id uuid NOT NULL,
  leased_until timestamp with time zone NOT NULL,
  started text[] NOT NULL,
  tried jsonb,
  CONSTRAINT dispatch_queue_pkey PRIMARY KEY (account_id, message_id)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0);

CREATE TABLE events (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  message_id uuid NOT NULL,
  status text NOT NULL,
  CONSTRAINT events_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT events_status_check CHECK ((status = ANY (ARRAY['sent'::text, 'delivered'::text, 'failed'::text, 'undelivered'::text])))
) PARTITION BY RANGE (id);

CREATE INDEX events_failed ON events USING btree (account_id, id) WHERE (status = ANY (ARRAY['failed'::text, 'undelivered'::text]));

CREATE TABLE events_hourly (
  account_id uuid NOT NULL,
  hour timestamp with time zone NOT NULL,
  type text NOT NULL,
  events bigint NOT NULL,
  CONSTRAINT events_hourly_pkey PRIMARY KEY (account_id, hour, type),
  CONSTRAINT events_hourly_type_check CHECK ((type = ANY (ARRAY['message.sent'::text, 'message.delivered'::text, 'message.failed'::text])))
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

CREATE TABLE idempotency_keys (
  account_id uuid NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  message_ids uuid[] NOT NULL,
  status smallint,
  answer text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id, key)
);

CREATE TABLE kept (
  table_name text NOT NULL,
  since timestamp with time zone NOT NULL,
  CONSTRAINT kept_pkey PRIMARY KEY (table_name)
);

CREATE TABLE key_usage (
  account_id uuid NOT NULL,
  key_id uuid NOT NULL,
  period text NOT NULL,
  starts_on date NOT NULL,
  messages bigint NOT NULL,
  CONSTRAINT key_usage_pkey PRIMARY KEY (account_id, key_id, period, starts_on),
  CONSTRAINT key_usage_messages_check CHECK ((messages >= 0)),
  CONSTRAINT key_usage_period_check CHECK ((period = ANY (ARRAY['day'::text, 'month'::text])))
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

CREATE TABLE ledger_entries (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  amount_micros bigint NOT NULL,
  note text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT ledger_entries_pkey PRIMARY KEY (account_id, id, kind),
  CONSTRAINT ledger_entries_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id),
  CONSTRAINT ledger_entries_check CHECK (((kind = 'adjustment'::text) OR ((kind = 'charge'::text) = (amount_micros < 0)) OR (amount_micros = 0))),
  CONSTRAINT ledger_entries_kind_check CHECK ((kind = ANY (ARRAY['top_up'::text, 'charge'::text, 'refund'::text, 'adjustment'::text])))
);

CREATE TABLE look_ups (
  account_id uuid NOT NULL,
  hour timestamp with time zone NOT NULL,
  round smallint NOT NULL,
  places jsonb NOT NULL,
  CONSTRAINT look_ups_pkey PRIMARY KEY (account_id, hour),
  CONSTRAINT look_ups_round_check CHECK ((round >= 1))
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

CREATE TABLE messages (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  recipient text NOT NULL,
  sender text NOT NULL,
  body text NOT NULL,
  reference text,
  segments smallint NOT NULL,
  cost_micros bigint NOT NULL,
  currency text NOT NULL,
  route_id integer,
  providers text[] NOT NULL,
  status text NOT NULL,
  provider text,
  provider_message_id text,
  attempt_count smallint NOT NULL DEFAULT 0,
  attempts jsonb,
  error_code text,
  error_message text,
  sent_at timestamp with time zone,
  delivered_at timestamp with time zone,
  undelivered_at timestamp with time zone,
  failed_at timestamp with time zone,
  CONSTRAINT messages_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT messages_check CHECK (((status <> 'sent'::text) OR (sent_at IS NOT NULL))),
  CONSTRAINT messages_check1 CHECK (((status = 'delivered'::text) = (delivered_at IS NOT NULL))),
  CONSTRAINT messages_check2 CHECK (((status = 'failed'::text) = (failed_at IS NOT NULL))),
  CONSTRAINT messages_check3 CHECK (((status <> 'undelivered'::text) OR (undelivered_at IS NOT NULL))),
  CONSTRAINT messages_check4 CHECK (((status <> ALL (ARRAY['failed'::text, 'undelivered'::text])) OR (error_code IS NOT NULL))),
  CONSTRAINT messages_cost_micros_check CHECK ((cost_micros >= 0)),
  CONSTRAINT messages_segments_check CHECK ((segments >= 0)),
  CONSTRAINT messages_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'sent'::text, 'delivered'::text, 'failed'::text, 'undelivered'::text])))
) PARTITION BY RANGE (id);

CREATE INDEX messages_failed ON messages USING btree (account_id, id) WHERE (failed_at IS NOT NULL);

CREATE INDEX messages_recipient ON messages USING btree (recipient, account_id, id);

CREATE INDEX messages_undelivered ON messages USING btree (account_id, id) WHERE (undelivered_at IS NOT NULL);

CREATE TABLE provider_refs (
  provider text NOT NULL,
  provider_message_id text NOT NULL,
  account_id uuid NOT NULL,
  message_id uuid NOT NULL,
  attempt smallint NOT NULL,
  recipient text NOT NULL,
  state text NOT NULL DEFAULT 'sent'::text,
  CONSTRAINT provider_refs_pkey PRIMARY KEY (provider, provider_message_id),
  CONSTRAINT provider_refs_state_check CHECK ((state = ANY (ARRAY['sent'::text, 'delivered'::text, 'undelivered'::text, 'failed'::text])))
);

CREATE INDEX provider_refs_message ON provider_refs USING btree (message_id);

CREATE TABLE receipts (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  message_id uuid NOT NULL,
  attempt smallint NOT NULL,
  provider text NOT NULL,
  provider_message_id text NOT NULL,
  state text NOT NULL,
  code text,
  raw text NOT NULL,
  CONSTRAINT receipts_pkey PRIMARY KEY (account_id, message_id, id),
  CONSTRAINT receipts_state_check CHECK ((state = ANY (ARRAY['sent'::text, 'delivered'::text, 'undelivered'::text, 'failed'::text])))
) PARTITION BY RANGE (id);

CREATE TABLE schema_migrations (
  version integer NOT NULL,
  name text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (version)
);

CREATE TABLE senders (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  sender_id text NOT NULL,
  type text NOT NULL,
  country_code text,
  status text NOT NULL DEFAULT 'pending'::text,
  approved_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT senders_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT senders_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id),
  CONSTRAINT senders_country_code_check CHECK ((length(country_code) = 2)),
  CONSTRAINT senders_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text, 'suspended'::text]))),
  CONSTRAINT senders_type_check CHECK ((type = ANY (ARRAY['alphanumeric'::text, 'numeric'::text, 'short_code'::text, 'long_code'::text])))
);

CREATE INDEX senders_id ON senders USING btree (id);

CREATE UNIQUE INDEX senders_in_use ON senders USING btree (account_id, sender_id) WHERE (status <> 'rejected'::text);

CREATE INDEX senders_pending ON senders USING btree (id) WHERE (status = 'pending'::text);

CREATE TABLE suppressions (
  account_id uuid NOT NULL,
  recipient text NOT NULL,
  source text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT suppressions_pkey PRIMARY KEY (account_id, recipient),
  CONSTRAINT suppressions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id)
);

CREATE TABLE unmatched_receipts (
  id uuid NOT NULL,
  provider text NOT NULL,
  provider_message_id text NOT NULL,
  reason text NOT NULL,
  raw text NOT NULL,
  received_at timestamp with time zone NOT NULL,
  receipt jsonb,
  tries smallint NOT NULL DEFAULT 0,
  next_try_at timestamp with time zone,
  CONSTRAINT unmatched_receipts_pkey PRIMARY KEY (id)
);

CREATE INDEX unmatched_receipts_next ON unmatched_receipts USING btree (next_try_at) WHERE (next_try_at IS NOT NULL);

CREATE TABLE usage_hourly (
  account_id uuid NOT NULL,
  hour timestamp with time zone NOT NULL,
  status text NOT NULL,
  messages bigint NOT NULL,
  cost_micros bigint NOT NULL,
  CONSTRAINT usage_hourly_pkey PRIMARY KEY (account_id, hour, status),
  CONSTRAINT usage_hourly_status_check CHECK ((status = ANY (ARRAY['accepted'::text, 'sent'::text, 'delivered'::text, 'failed'::text, 'undelivered'::text])))
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

CREATE INDEX usage_hourly_hour ON usage_hourly USING btree (hour) WHERE (status = 'accepted'::text);

CREATE TABLE webhook_endpoints (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  url text NOT NULL,
  description text,
  events text[] NOT NULL,
  sealed_secret bytea NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  failure_count integer NOT NULL DEFAULT 0,
  last_success_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  disabled_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT webhook_endpoints_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id),
  CONSTRAINT webhook_endpoints_check CHECK ((is_active = (disabled_at IS NULL)))
) WITH (fillfactor=50);

CREATE INDEX webhook_endpoints_id ON webhook_endpoints USING btree (id);
