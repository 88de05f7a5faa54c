#!/usr/bin/env python3
"""Prints how large the engine library is when stripped; with --check fails above the limit."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LIMIT_BYTES = 950 * 1024
ROOT = Path(__file__).resolve().parent.parent


def stripped_bytes(library: Path) -> Any:
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["strip", "-o", out.name, str(library)], check=True)
        return Path(out.name).stat().st_size


def main() -> Any:
    size = stripped_bytes(ROOT / "build" / "src" / "libtandem.so")
    print(f"libtandem.so: {size / 1024:.0f} KiB stripped (at most {LIMIT_BYTES // 1024})")
    return 1 if "--check" in sys.argv and size > LIMIT_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
