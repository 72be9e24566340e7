-- For upstreams whose receipts carry nothing of ours: which attempt (and which part of it) an upstream's id means. Distributed by the id.
CREATE TABLE provider_refs (
  provider text NOT NULL,
  provider_message_id text NOT NULL,
  account_id uuid NOT NULL,
  message_id uuid NOT NULL,
  attempt smallint NOT NULL,
  recipient text NOT NULL,
  -- What the part's receipts have told so far.
  state text NOT NULL DEFAULT 'sent' CHECK (state IN ('sent', 'delivered', 'undelivered', 'failed')),
  PRIMARY KEY (provider, provider_message_id)
);

-- The parts of one message; and, its first bytes being a time, what is past keeping.
CREATE INDEX provider_refs_message ON provider_refs (message_id);

-- Parked receipts are tried again until next_try_at is null: then they wait for the operator.
ALTER TABLE unmatched_receipts
  ADD COLUMN receipt jsonb,
  ADD COLUMN tries smallint NOT NULL DEFAULT 0,
  ADD COLUMN next_try_at timestamptz;

CREATE INDEX unmatched_receipts_next ON unmatched_receipts (next_try_at) WHERE next_try_at IS NOT NULL;
