-- A node that was not told whether a commit came through writes the same rows again. What makes
-- them the same is unique, so that they stand there once.
CREATE TABLE feedback (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    exchange BIGINT NOT NULL REFERENCES exchange (seq) ON DELETE CASCADE,
    wall_ms BIGINT NOT NULL,
    score DOUBLE PRECISION NOT NULL CHECK (score >= 0 AND score <= 1),
    comment TEXT,
    UNIQUE (exchange, wall_ms, score)
);
CREATE INDEX feedback_by_exchange ON feedback (exchange, seq);

CREATE TABLE shadow (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    exchange BIGINT NOT NULL REFERENCES exchange (seq) ON DELETE CASCADE,
    wall_ms BIGINT NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    agreement DOUBLE PRECISION CHECK (agreement >= 0 AND agreement <= 1),
    same BOOLEAN NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    completion_tokens BIGINT NOT NULL,
    total_ms DOUBLE PRECISION,
    cost_usd DOUBLE PRECISION,
    egress_bytes BIGINT NOT NULL,
    place TEXT COLLATE "C",
    model TEXT COLLATE "C",
    UNIQUE (exchange, wall_ms, tier)
);
CREATE INDEX shadow_by_exchange ON shadow (exchange);

CREATE TABLE reaction (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    exchange BIGINT NOT NULL REFERENCES exchange (seq) ON DELETE CASCADE,
    wall_ms BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    UNIQUE (exchange, wall_ms, kind)
);
CREATE INDEX reaction_by_exchange ON reaction (exchange);

CREATE TABLE policy (
    version TEXT COLLATE "C" PRIMARY KEY,
    wall_ms BIGINT NOT NULL,
    text TEXT NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY -- SQLite has one of itself
);
