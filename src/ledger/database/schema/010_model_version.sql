-- What attempt.model_version and shadow.model_version stand for: all that makes a model here answer
-- as it does.
CREATE TABLE model_version (
    version TEXT PRIMARY KEY, -- 16 hex digits
    wall_ms INTEGER NOT NULL, -- when it was first in use
    text TEXT NOT NULL -- JSON
) STRICT;
-- Of a server's model: what the server says of itself, 16 hex digits that no row stands for. NULL:
-- nothing, or in a row of before.
ALTER TABLE attempt ADD COLUMN model_version TEXT;
ALTER TABLE shadow ADD COLUMN model_version TEXT;
