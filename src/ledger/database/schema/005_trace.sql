-- The trace that an exchange belongs to (W3C Trace Context), and the name that its request had.
ALTER TABLE exchange ADD COLUMN trace_id TEXT;
ALTER TABLE exchange ADD COLUMN span_id TEXT;
ALTER TABLE exchange ADD COLUMN parent_span_id TEXT; -- the caller's
ALTER TABLE exchange ADD COLUMN request_id TEXT;
ALTER TABLE attempt ADD COLUMN span_id TEXT;

CREATE INDEX exchange_by_trace ON exchange (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX exchange_by_request ON exchange (request_id) WHERE request_id IS NOT NULL;
