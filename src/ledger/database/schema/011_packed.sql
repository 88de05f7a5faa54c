-- Signals and reasons of a row, packed (db_sqlite_texts.h); both columns are NULL then. Readers see
-- them unpacked, through a view of the same name.
ALTER TABLE exchange ADD COLUMN packed BLOB;
