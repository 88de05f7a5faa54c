-- What money rests on. NULL in a row of before: not known.
ALTER TABLE exchange ADD COLUMN standing TEXT;        -- none, degraded, full
ALTER TABLE exchange ADD COLUMN all_cloud_basis TEXT; -- none, cloud, ratio, prior
ALTER TABLE attempt ADD COLUMN estimated INTEGER CHECK (estimated IN (0, 1)); -- its cost
ALTER TABLE attempt ADD COLUMN exact INTEGER CHECK (exact IN (0, 1)); -- the tier told its tokens
ALTER TABLE attempt ADD COLUMN cached_tokens INTEGER; -- of prompt_tokens
ALTER TABLE attempt ADD COLUMN prompt_estimate INTEGER; -- tokens of what was sent, by its bytes
ALTER TABLE attempt ADD COLUMN answer_bytes INTEGER;    -- of what came
