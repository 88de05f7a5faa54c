-- Whose exchange it was. NULL: of a server without keys, or of before; the operator's.
ALTER TABLE exchange ADD COLUMN tenant TEXT;

CREATE INDEX exchange_by_tenant ON exchange (tenant, wall_ms) WHERE tenant IS NOT NULL;
