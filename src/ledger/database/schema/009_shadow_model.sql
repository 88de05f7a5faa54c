-- Who answered in the shadow. NULL in a row of before: the tier's attempts tell its place.
ALTER TABLE shadow ADD COLUMN place TEXT;
ALTER TABLE shadow ADD COLUMN model TEXT;
