#!/usr/bin/env python3
"""Every C file is formatted by .clang-format (the check of `make lint` as a test)."""

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import lint

if not shutil.which("clang-format"):
    print("SKIP format: clang-format is not installed\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)
found = list(lint.unformatted([path for path in lint.listed(None) if path.suffix in (".c", ".h")]))
for name in found:
    print("not formatted (make format):", name)
print("0 passed, 1 failed" if found else "1 passed, 0 failed")
sys.exit(bool(found))
