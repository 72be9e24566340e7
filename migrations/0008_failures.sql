-- Failures are few, and searched for. These times are null until the one update that makes a message fail, so every other update stays HOT
-- (it changes no value that an index holds), which an index on `status` would end.
CREATE INDEX messages_failed ON messages (account_id, id) WHERE failed_at IS NOT NULL;
CREATE INDEX messages_undelivered ON messages (account_id, id) WHERE undelivered_at IS NOT NULL;
