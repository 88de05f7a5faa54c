-- One row an exchange, one an attempt at a tier. Times in ms, money in US dollars, bytes as sent.
-- NULL is "none": a confidence that a tier does not give, a time that was never reached.
CREATE TABLE exchange (
    seq INTEGER PRIMARY KEY, -- order of commit
    id TEXT NOT NULL UNIQUE,
    wall_ms INTEGER NOT NULL, -- start, since the Unix epoch
    user TEXT,
    route TEXT,
    policy_version TEXT,
    requested_model TEXT,
    tier TEXT,
    model TEXT,
    place TEXT,
    data_class TEXT,
    status TEXT,
    finish TEXT,
    confidence REAL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    ttft_ms REAL,
    total_ms REAL,
    cost_usd REAL,
    all_cloud_cost_usd REAL,
    degraded INTEGER NOT NULL CHECK (degraded IN (0, 1)),
    streamed INTEGER NOT NULL CHECK (streamed IN (0, 1)),
    disclosure TEXT,
    signals TEXT, -- JSON
    reasons TEXT, -- JSON
    prompt TEXT,  -- only when the policy stores texts
    answer TEXT
) STRICT;

CREATE INDEX exchange_by_time ON exchange (wall_ms);
CREATE INDEX exchange_by_tier ON exchange (tier, wall_ms);

CREATE TABLE attempt (
    exchange INTEGER NOT NULL REFERENCES exchange (seq) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- 0 is the first
    tier TEXT,
    model TEXT,
    place TEXT,
    outcome TEXT,
    error TEXT,
    confidence REAL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    start_ms REAL, -- since the exchange began
    first_ms REAL,
    total_ms REAL,
    cost_usd REAL,
    egress_bytes INTEGER NOT NULL,
    PRIMARY KEY (exchange, position)
) STRICT, WITHOUT ROWID;
