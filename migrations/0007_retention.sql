-- What has been dropped for its age, and how far the search for lost receipts has come.

-- Written in the transaction that drops a month, so that no count ever includes messages that are gone: `usage_hourly` outlives them.
CREATE TABLE kept (
  table_name text PRIMARY KEY,
  since timestamptz NOT NULL
);

-- The messages of an account and hour that were asked about because no final receipt came. `round` says at which age (src/receipts/
-- look-up-rounds.ts); `places` up to which message each upstream still to be asked in that round was, and is empty when all have been.
CREATE TABLE look_ups (
  account_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  round smallint NOT NULL CHECK (round >= 1),
  places jsonb NOT NULL,
  PRIMARY KEY (account_id, hour)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
