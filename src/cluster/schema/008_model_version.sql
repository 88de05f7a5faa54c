CREATE TABLE model_version (
    version TEXT COLLATE "C" PRIMARY KEY,
    wall_ms BIGINT NOT NULL,
    text TEXT NOT NULL
);
ALTER TABLE attempt ADD COLUMN model_version TEXT COLLATE "C";
ALTER TABLE shadow ADD COLUMN model_version TEXT COLLATE "C";
