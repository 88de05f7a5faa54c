-- What another tier answered in the shadow of an exchange, and whether it said the same.
CREATE TABLE shadow (
    seq INTEGER PRIMARY KEY,
    exchange INTEGER NOT NULL REFERENCES exchange (seq) ON DELETE CASCADE,
    wall_ms INTEGER NOT NULL,
    tier TEXT NOT NULL,
    agreement REAL CHECK (agreement >= 0 AND agreement <= 1), -- NULL: it gave no answer
    same INTEGER NOT NULL CHECK (same IN (0, 1)),
    kind TEXT NOT NULL, -- how they were compared: label, text, json
    completion_tokens INTEGER NOT NULL,
    total_ms REAL,
    cost_usd REAL,
    egress_bytes INTEGER NOT NULL
) STRICT;

CREATE INDEX shadow_by_exchange ON shadow (exchange);
