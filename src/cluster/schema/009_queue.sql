-- Durable queues. Statements are those of src/ledger/store/queue_store.c.
CREATE TABLE queued (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    queue TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    whose TEXT COLLATE "C" NOT NULL,
    about TEXT COLLATE "C" NOT NULL,
    class BIGINT NOT NULL,
    state BIGINT NOT NULL,
    created_s BIGINT NOT NULL,
    expires_s BIGINT NOT NULL,
    lease_s BIGINT NOT NULL,
    holder TEXT COLLATE "C" NOT NULL,
    takes BIGINT NOT NULL,
    ended_s BIGINT NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    body TEXT NOT NULL,
    result TEXT NOT NULL
);
CREATE INDEX queued_state ON queued (queue, state, seq);
CREATE INDEX queued_about ON queued (about);
CREATE INDEX queued_whose ON queued (whose);
CREATE TABLE queued_note (
    queued TEXT COLLATE "C" NOT NULL REFERENCES queued (id) ON DELETE CASCADE,
    at_s BIGINT NOT NULL,
    who TEXT COLLATE "C" NOT NULL,
    what TEXT COLLATE "C" NOT NULL
);
CREATE INDEX queued_note_of ON queued_note (queued);
