-- The ledger on PostgreSQL: what src/ledger/database/schema/ has come to in SQLite (a test compares the
-- columns), and what only several nodes need. Flags are booleans. Ids compare as bytes.
CREATE TABLE exchange (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    node TEXT COLLATE "C" NOT NULL DEFAULT current_setting('tandem.node'), -- who answered
    wall_ms BIGINT NOT NULL,
    "user" TEXT COLLATE "C",
    route TEXT COLLATE "C",
    policy_version TEXT COLLATE "C",
    requested_model TEXT COLLATE "C",
    tier TEXT COLLATE "C",
    model TEXT COLLATE "C",
    place TEXT COLLATE "C",
    data_class TEXT COLLATE "C",
    status TEXT COLLATE "C",
    finish TEXT COLLATE "C",
    confidence DOUBLE PRECISION,
    prompt_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    ttft_ms DOUBLE PRECISION,
    total_ms DOUBLE PRECISION,
    cost_usd DOUBLE PRECISION,
    all_cloud_cost_usd DOUBLE PRECISION,
    degraded BOOLEAN NOT NULL,
    streamed BOOLEAN NOT NULL,
    disclosure TEXT,
    signals TEXT,
    reasons TEXT,
    prompt TEXT,
    answer TEXT,
    standing TEXT COLLATE "C",
    all_cloud_basis TEXT COLLATE "C",
    trace_id TEXT COLLATE "C",
    span_id TEXT COLLATE "C",
    parent_span_id TEXT COLLATE "C",
    request_id TEXT COLLATE "C",
    tenant TEXT COLLATE "C"
);
CREATE INDEX exchange_by_time ON exchange (wall_ms);
CREATE INDEX exchange_by_tier ON exchange (tier, wall_ms);
CREATE INDEX exchange_by_trace ON exchange (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX exchange_by_request ON exchange (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX exchange_by_tenant ON exchange (tenant, wall_ms) WHERE tenant IS NOT NULL;

CREATE TABLE attempt (
    exchange BIGINT NOT NULL REFERENCES exchange (seq) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    tier TEXT COLLATE "C",
    model TEXT COLLATE "C",
    place TEXT COLLATE "C",
    outcome TEXT COLLATE "C",
    error TEXT,
    confidence DOUBLE PRECISION,
    prompt_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    start_ms DOUBLE PRECISION,
    first_ms DOUBLE PRECISION,
    total_ms DOUBLE PRECISION,
    cost_usd DOUBLE PRECISION,
    egress_bytes BIGINT NOT NULL,
    estimated BOOLEAN,
    exact BOOLEAN,
    cached_tokens BIGINT,
    prompt_estimate BIGINT,
    answer_bytes BIGINT,
    span_id TEXT COLLATE "C",
    PRIMARY KEY (exchange, position)
);
