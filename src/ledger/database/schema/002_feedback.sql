-- What people say of answers. Several rows an exchange are a history: the newest one counts.
CREATE TABLE feedback (
    seq INTEGER PRIMARY KEY,
    exchange INTEGER NOT NULL REFERENCES exchange (seq) ON DELETE CASCADE,
    wall_ms INTEGER NOT NULL,
    score REAL NOT NULL CHECK (score >= 0 AND score <= 1), -- 1 = right
    comment TEXT
) STRICT;

CREATE INDEX feedback_by_exchange ON feedback (exchange, seq);
