"""What a file of the state folder holds, for tests that look for a word in it: a ledger's signals
and reasons are packed, so its plain bytes do not show them."""

import contextlib
import re
import sqlite3
import zlib
from pathlib import Path
from typing import Any

WORDS = Path(__file__).parents[2] / "src" / "ledger" / "database" / "schema" / "record_words.txt"


def unpacked(packed: bytes) -> tuple[str | None, str | None]:
    """Signals and reasons, by the table in src/ledger/database/db_sqlite_texts.h."""
    signals_len, reasons_len = (int.from_bytes(packed[at : at + 3], "little") for at in (1, 4))
    stream = zlib.decompressobj(-13, WORDS.read_bytes())
    text = stream.decompress(packed[7:]) + stream.flush()
    assert packed[0] & ~6 == 1 and len(text) == signals_len + reasons_len, packed[:7]
    return (
        None if packed[0] & 2 else text[:signals_len].decode(),
        None if packed[0] & 4 else text[signals_len:].decode(),
    )


def kept_bytes(path: Path) -> bytes:
    """The bytes of a file, and after them what is packed in it."""
    data = path.read_bytes()
    if not data.startswith(b"SQLite format 3\0"):
        return data
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(exchange)")]
        if "packed" in columns:
            packed = "SELECT packed FROM exchange WHERE packed IS NOT NULL"
            for (blob,) in database.execute(packed):
                data += "".join(filter(None, unpacked(blob))).encode()
    database.close()
    return data


def ledger_rows(path: Path, sql: str = "SELECT id FROM exchange ORDER BY seq") -> list[Any]:
    """What a ledger answers, which its server may be writing."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    with contextlib.closing(database):
        return database.execute(sql).fetchall()


def has_card(data: bytes | str) -> bool:
    """The number 4111 1111 1111 1111, however it is written. Four digits may be those of an id."""
    text = data.encode() if isinstance(data, str) else bytes(data)
    return re.search(rb"4111\W?1111", text) is not None
