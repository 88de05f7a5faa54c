-- What people did after an answer, beside what they said of it (feedback).
CREATE TABLE reaction (
    seq INTEGER PRIMARY KEY,
    exchange INTEGER NOT NULL REFERENCES exchange (seq) ON DELETE CASCADE,
    wall_ms INTEGER NOT NULL,
    kind TEXT NOT NULL -- regenerated, edited, abandoned, continued
) STRICT;

CREATE INDEX reaction_by_exchange ON reaction (exchange);
