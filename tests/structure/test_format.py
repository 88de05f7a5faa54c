#!/usr/bin/env python3
"""Every C file is formatted by .clang-format (the check of `make lint` as a test)."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

if not shutil.which("clang-format"):
    print("SKIP format: clang-format is not installed\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)
files = [
    str(path)
    for folder in ("src", "include", "tests", "bench")
    for path in (ROOT / folder).rglob("*.[ch]")
    if "node_modules" not in path.parts
]
done = subprocess.run(
    ["clang-format", "--dry-run", "-Werror", *files], capture_output=True, text=True
)
for line in sorted({line.split(":")[0] for line in done.stderr.splitlines() if "error:" in line}):
    print("not formatted (make format):", Path(line).relative_to(ROOT))
print("0 passed, 1 failed" if done.returncode else "1 passed, 0 failed")
sys.exit(done.returncode != 0)
