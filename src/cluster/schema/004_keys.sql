-- API keys, terms of tenants and what both have spent. Statements are those of
-- src/ledger/store/key_store.c; the tables have the columns that they have in a file.
CREATE TABLE key (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    name TEXT COLLATE "C" NOT NULL,
    tenant TEXT COLLATE "C" NOT NULL,
    operates BIGINT NOT NULL,
    mark TEXT COLLATE "C" NOT NULL UNIQUE,
    mark_before TEXT COLLATE "C" NOT NULL,
    before_until_s BIGINT NOT NULL,
    created_s BIGINT NOT NULL,
    expires_s BIGINT NOT NULL,
    revoked_s BIGINT NOT NULL,
    used_s BIGINT NOT NULL,
    terms TEXT NOT NULL
);
CREATE UNIQUE INDEX key_name ON key (name) WHERE revoked_s = 0;
CREATE TABLE tenant (name TEXT COLLATE "C" PRIMARY KEY, terms TEXT NOT NULL);

-- A row for each node: a node knows what it has spent itself, and tells it again without harm.
CREATE TABLE spent (
    whom TEXT COLLATE "C" NOT NULL,
    period TEXT COLLATE "C" NOT NULL,
    node TEXT COLLATE "C" NOT NULL DEFAULT current_setting('tandem.node'),
    usd DOUBLE PRECISION NOT NULL,
    tokens BIGINT NOT NULL,
    changed_s BIGINT NOT NULL,
    PRIMARY KEY (whom, period, node)
);
CREATE INDEX spent_by_change ON spent (changed_s);

-- What all nodes look at some times a second. A sequence would show a change before its commit.
CREATE TABLE key_version (version BIGINT NOT NULL);
INSERT INTO key_version VALUES (1);
CREATE FUNCTION keys_changed() RETURNS TRIGGER LANGUAGE plpgsql AS '
BEGIN
    UPDATE tandem.key_version SET version = version + 1;
    RETURN NULL;
END';
CREATE TRIGGER key_changed AFTER INSERT OR DELETE OR UPDATE OF name, tenant, operates, mark,
    mark_before, before_until_s, expires_s, revoked_s, terms ON key
    FOR EACH STATEMENT EXECUTE FUNCTION keys_changed();
CREATE TRIGGER tenant_changed AFTER INSERT OR DELETE OR UPDATE ON tenant
    FOR EACH STATEMENT EXECUTE FUNCTION keys_changed();
