#!/usr/bin/env python3
"""Runs the official clients for Python, Anthropic's and OpenAI's, against the real program and a
scripted cloud."""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PINNED = HERE / "requirements.txt"
PLACE = HERE.parent.parent / "build-clients"
SCRIPTS = ["client_anthropic.py", "client_openai.py"]


def installed():
    """An environment with the pinned clients, made once for each state of the list."""
    digest = hashlib.sha256(PINNED.read_bytes()).hexdigest()
    mark = PLACE / "installed"
    if mark.exists() and mark.read_text() == digest:
        return True
    shutil.rmtree(PLACE, ignore_errors=True)
    for command in (
        [sys.executable, "-m", "venv", PLACE],
        [
            PLACE / "bin" / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--require-hashes",
            "-r",
            PINNED,
        ],
    ):
        if subprocess.run(list(map(str, command)), capture_output=True).returncode:
            return False
    mark.write_text(digest)
    return True


def run_script(name):
    done = subprocess.run(
        [str(PLACE / "bin" / "python"), str(HERE / name), *sys.argv[1:]],
        text=True,
        timeout=280,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    found = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", done.stdout, re.MULTILINE)
    print(re.sub(r"(?m)^\d+ passed, \d+ failed.*$\n?", "", done.stdout), end="")
    return tuple(map(int, found[-1])) if found else (0, 1, 0)


def main():
    if not installed():
        print(
            "SKIP python clients: no python3-venv, or the pinned clients are not installed and no"
            " registry answers"
        )
        print("0 passed, 0 failed, 1 skipped")
        return 0
    passed, failed, skipped = (sum(column) for column in zip(*map(run_script, SCRIPTS)))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
