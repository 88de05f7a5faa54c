-- Files of clients and batches. Statements are those of src/ledger/store/file_store.c and batch_store.c.
CREATE TABLE file (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    owner TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    purpose TEXT COLLATE "C" NOT NULL,
    type TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    created_s BIGINT NOT NULL,
    expires_s BIGINT NOT NULL
);
CREATE INDEX file_owner ON file (owner, seq);

-- Contents, in sealed parts (src/ledger/store/file_parts.c). They come before the row of their file, and
-- those whose row never came are removed later.
CREATE TABLE file_part (
    file TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    made_s BIGINT NOT NULL,
    sealed BYTEA NOT NULL,
    PRIMARY KEY (file, number)
);
CREATE INDEX file_part_by_time ON file_part (made_s);
-- They are random bytes.
ALTER TABLE file_part ALTER COLUMN sealed SET STORAGE EXTERNAL;

-- holder: the node that runs the batch, which says so again before held_until_s, by this clock.
CREATE TABLE batch (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    owner TEXT COLLATE "C" NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    endpoint TEXT NOT NULL,
    "window" TEXT NOT NULL,
    input TEXT COLLATE "C" NOT NULL,
    output TEXT COLLATE "C" NOT NULL,
    errors TEXT COLLATE "C" NOT NULL,
    metadata TEXT NOT NULL,
    faults TEXT NOT NULL,
    state BIGINT NOT NULL,
    created_s BIGINT NOT NULL,
    expires_s BIGINT NOT NULL,
    total BIGINT NOT NULL,
    completed BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    t0 BIGINT NOT NULL DEFAULT 0, t1 BIGINT NOT NULL DEFAULT 0,
    t2 BIGINT NOT NULL DEFAULT 0, t3 BIGINT NOT NULL DEFAULT 0,
    t4 BIGINT NOT NULL DEFAULT 0, t5 BIGINT NOT NULL DEFAULT 0,
    t6 BIGINT NOT NULL DEFAULT 0, t7 BIGINT NOT NULL DEFAULT 0,
    holder TEXT COLLATE "C" NOT NULL DEFAULT '',
    held_until_s BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX batch_owner ON batch (owner, seq);
CREATE INDEX batch_state ON batch (state);
CREATE INDEX batch_input ON batch (input);
CREATE TABLE line (
    batch TEXT COLLATE "C" NOT NULL REFERENCES batch (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    ok BIGINT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (batch, number)
);
