-- Questions that wait for a connection. Statements are those of src/ledger/store/deferred_store.c.
-- headers, body and answer are sealed, in hexadecimal. holder: the node that asks it, which says so
-- again before held_until_s, by this clock.
CREATE TABLE deferred (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    owner TEXT COLLATE "C" NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    "user" TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    reason TEXT NOT NULL,
    headers TEXT NOT NULL,
    body TEXT NOT NULL,
    answer TEXT NOT NULL,
    state BIGINT NOT NULL,
    created_s BIGINT NOT NULL,
    expires_age BIGINT NOT NULL,
    ended_s BIGINT NOT NULL,
    ended_age BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    code BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    holder TEXT COLLATE "C" NOT NULL DEFAULT '',
    held_until_s BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX deferred_due ON deferred (state, owner, seq);
CREATE INDEX deferred_owner ON deferred (owner, seq);
CREATE INDEX deferred_user ON deferred ("user");
CREATE INDEX deferred_expires ON deferred (state, expires_age);
CREATE INDEX deferred_ended ON deferred (ended_age) WHERE state > 1;
-- Of an owner one is asked at a time, so that its answers come in the order of its questions.
CREATE UNIQUE INDEX deferred_asked ON deferred (owner) WHERE state = 1;

-- What each owner has waiting. A row for all of them would make nodes wait for each other.
CREATE TABLE deferred_of (
    owner TEXT COLLATE "C" PRIMARY KEY,
    waiting BIGINT NOT NULL,
    bytes BIGINT NOT NULL
);
CREATE VIEW tally AS
    SELECT owner, waiting, bytes FROM deferred_of
    UNION ALL SELECT '*', coalesce(sum(waiting), 0)::BIGINT, coalesce(sum(bytes), 0)::BIGINT
    FROM deferred_of;
CREATE FUNCTION deferred_counted() RETURNS TRIGGER LANGUAGE plpgsql AS '
BEGIN
    IF TG_OP = ''INSERT'' THEN
        INSERT INTO tandem.deferred_of AS o VALUES (NEW.owner, 1, NEW.bytes)
            ON CONFLICT (owner) DO UPDATE
            SET waiting = o.waiting + 1, bytes = o.bytes + NEW.bytes;
    ELSIF TG_OP = ''UPDATE'' THEN
        UPDATE tandem.deferred_of SET bytes = bytes + NEW.bytes - OLD.bytes,
            waiting = waiting + (NEW.state < 2)::INTEGER - (OLD.state < 2)::INTEGER
            WHERE owner = NEW.owner;
    ELSE
        UPDATE tandem.deferred_of SET bytes = bytes - OLD.bytes,
            waiting = waiting - (OLD.state < 2)::INTEGER WHERE owner = OLD.owner;
        DELETE FROM tandem.deferred_of WHERE owner = OLD.owner AND waiting = 0 AND bytes = 0;
    END IF;
    RETURN NULL;
END';
CREATE TRIGGER deferred_counts AFTER INSERT OR DELETE OR UPDATE OF state, bytes ON deferred
    FOR EACH ROW EXECUTE FUNCTION deferred_counted();
