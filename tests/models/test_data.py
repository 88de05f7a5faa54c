#!/usr/bin/env python3
"""The generators of the default model's training examples keep their promises
(models/nano/check_data.py): answers are right, copies stand in the text, held-out phrasings stay
out of training."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = Path(os.environ.get("TANDEM_SHARED", ROOT.parent / "shared"))


def skip(why):
    print(f"SKIP models/test_data: {why}")
    print("0 passed, 0 failed, 1 skipped")
    return 0


def main():
    if not (SHARED / "data" / "clinc150").exists():
        return skip(f"no datasets at {SHARED}")
    if importlib.util.find_spec("numpy") is None:
        return skip("python has no numpy")
    return subprocess.run(
        [sys.executable, "check_data.py", "--count", "300"], cwd=ROOT / "models" / "nano"
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
