#!/usr/bin/env python3
"""Runs the official clients for Python, Anthropic's, OpenAI's and Google's, and one over HTTP/2,
against the real program and a scripted cloud."""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from clients import Missing, install_python, interpreter

SCRIPTS = [
    "client_anthropic.py",
    "client_openai.py",
    "client_gemini.py",
    "client_http2.py",
    "client_otlp.py",
]


def run_script(name):
    done = subprocess.run(
        [str(interpreter("light")), str(HERE / name), *sys.argv[1:]],
        text=True,
        timeout=280,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    found = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", done.stdout, re.MULTILINE)
    print(re.sub(r"(?m)^\d+ passed, \d+ failed.*$\n?", "", done.stdout), end="")
    return tuple(map(int, found[-1])) if found else (0, 1, 0)


def main():
    try:
        install_python()
    except Missing as why:
        print(f"SKIP python clients: {why}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    passed, failed, skipped = (sum(column) for column in zip(*map(run_script, SCRIPTS)))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
