"""The process of the engine beside a running server (engine.isolated, and restricted requests)."""

from pathlib import Path

from tandem import Tandem


def engines(tandem: Tandem) -> list[int]:
    """The processes of the engine."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            status = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except (OSError, IndexError):
            continue
        if int(status[1]) == tandem.process.pid and b"confined" in words:
            found.append(int(entry.name))
    return found
