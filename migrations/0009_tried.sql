-- A message that goes on later keeps the story of the attempts made for it so far (null: none). `started` names only those of which nothing is known.
ALTER TABLE dispatch_queue ADD COLUMN tried jsonb;
