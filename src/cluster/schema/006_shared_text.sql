-- Small states that are read and written whole (src/ledger/store/shared_text.c).
CREATE TABLE shared_text (
    name TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL,
    text TEXT NOT NULL
);
INSERT INTO shared_text VALUES ('consents', 1, '[]');
