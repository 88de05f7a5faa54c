-- What exchange.policy_version stands for: everything that decides, in a normal form.
CREATE TABLE policy (
    version TEXT PRIMARY KEY, -- the first 16 hex digits of the text's SHA-256
    wall_ms INTEGER NOT NULL, -- when it first came into force
    text TEXT NOT NULL
) STRICT;
