-- Messages by key and UTC period, for keys that have a daily or a monthly limit; other keys have no rows. Only accept writes them. A period
-- is one row, so whoever adds to it has locked the whole count, and no two calls can both take what is left.

CREATE TABLE key_usage (
  account_id uuid NOT NULL,
  key_id uuid NOT NULL,
  period text NOT NULL CHECK (period IN ('day', 'month')),
  starts_on date NOT NULL,
  messages bigint NOT NULL CHECK (messages >= 0),
  PRIMARY KEY (account_id, key_id, period, starts_on)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
