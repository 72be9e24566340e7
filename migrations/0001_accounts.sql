-- Accounts, their keys, senders and suppressions. Every tenant table leads with account_id in its primary key.

CREATE TABLE accounts (
  account_id uuid PRIMARY KEY,
  email text NOT NULL,
  name text NOT NULL,
  company_name text NOT NULL DEFAULT '',
  country text NOT NULL DEFAULT '',
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'closed')),
  kyc_verified boolean NOT NULL DEFAULT false,
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  -- The sum of the account's ledger entries.
  balance_micros bigint NOT NULL DEFAULT 0 CHECK (balance_micros >= 0),
  created_at timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE api_keys (
  account_id uuid NOT NULL REFERENCES accounts,
  id uuid NOT NULL,
  name text NOT NULL,
  hint text NOT NULL,
  permissions text[] NOT NULL,
  rate_limit integer NOT NULL CHECK (rate_limit BETWEEN 1 AND 6000),
  daily_limit integer CHECK (daily_limit >= 1),
  monthly_limit integer CHECK (monthly_limit >= 1),
  allowed_ips text[],
  is_active boolean NOT NULL DEFAULT true,
  last_used_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);

-- Small, and not led by account_id: a key must be found before its account is known.
CREATE TABLE api_key_hashes (
  hash bytea PRIMARY KEY,
  account_id uuid NOT NULL,
  key_id uuid NOT NULL
);

CREATE TABLE senders (
  account_id uuid NOT NULL REFERENCES accounts,
  id uuid NOT NULL,
  sender_id text NOT NULL,
  type text NOT NULL CHECK (type IN ('alphanumeric', 'numeric', 'short_code', 'long_code')),
  country_code text CHECK (length(country_code) = 2),
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'rejected', 'suspended')),
  approved_at timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);

CREATE UNIQUE INDEX senders_in_use ON senders (account_id, sender_id) WHERE status <> 'rejected';

CREATE TABLE suppressions (
  account_id uuid NOT NULL REFERENCES accounts,
  recipient text NOT NULL,
  -- Where the opt-out came from: a provider's name or `operator`.
  source text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, recipient)
);
