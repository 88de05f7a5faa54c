-- Responses and conversations that clients come back to. Statements are those of
-- src/api/history/history_store.c. Owners are hashes under the cluster's key, texts are sealed
-- under it. state: 0 done, 1 running, 2 cancelled. A node says of one that runs that it still
-- does before held_until_s. bytes: of all texts, before they were sealed.
CREATE TABLE kept (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    tenant TEXT COLLATE "C" NOT NULL,
    state BIGINT NOT NULL,
    background BIGINT NOT NULL,
    declared BIGINT NOT NULL,
    seen BIGINT NOT NULL,
    previous TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL,
    lists BIGINT NOT NULL,
    used_s BIGINT NOT NULL,
    held_until_s BIGINT NOT NULL,
    body BYTEA NOT NULL,
    UNIQUE (owner, id)
);
CREATE INDEX kept_by_use ON kept (used_s);

-- mark: what is told twice, because a commit was not answered, stands here once. version: another
-- after each change.
CREATE TABLE kept_list (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kept BIGINT NOT NULL REFERENCES kept (seq) ON DELETE CASCADE,
    mark TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL DEFAULT 0,
    items BYTEA NOT NULL,
    UNIQUE (kept, mark)
);
CREATE TABLE kept_user (
    kept BIGINT NOT NULL REFERENCES kept (seq) ON DELETE CASCADE,
    whom TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kept, whom)
);
CREATE INDEX kept_by_user ON kept_user (whom);
ALTER TABLE kept ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE kept_list ALTER COLUMN items SET STORAGE EXTERNAL;
