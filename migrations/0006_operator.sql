-- What the operator looks up across accounts, by ids that come without their account.

CREATE INDEX senders_id ON senders (id);
CREATE INDEX senders_pending ON senders (id) WHERE status = 'pending';
CREATE INDEX webhook_endpoints_id ON webhook_endpoints (id);

-- The accounts that sent anything in an hour: a message's id tells its hour, and so whose it can be.
CREATE INDEX usage_hourly_hour ON usage_hourly (hour) WHERE status = 'accepted';

-- One endpoint's deliveries (1.6 µs of the database's time for each), and apart from them the few that did not succeed. A delivery that
-- succeeds at once is never updated; one that is tried again may pay for its place in the second index.
CREATE INDEX deliveries_endpoint ON deliveries (endpoint_id, event_id);
CREATE INDEX deliveries_unsuccessful ON deliveries (endpoint_id, event_id) WHERE status <> 'succeeded';
