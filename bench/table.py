"""Printing figures, the same way everywhere."""

import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def heading(text: str) -> None:
    print(f"\n== {text} ==", flush=True)


def row(what: str, value: str, goal: str = "", ok: Any = None) -> None:
    """One figure; ok marks whether the goal is met."""
    mark = "" if ok is None else ("  met" if ok else "  MISSED")
    print(f"{what:58} {value:>22}  {goal}{mark}", flush=True)


def program(name: str, title: str, *arguments: Any) -> None:
    """Builds and runs a benchmark program and prints what it prints."""
    heading(title)
    built = subprocess.run(
        ["ninja", "-C", str(ROOT / "build"), "--quiet", f"bench/{name}"],
        capture_output=True,
        text=True,
    )
    if built.returncode != 0:
        sys.exit(f"bench/{name} cannot be built:\n{built.stdout}{built.stderr}")
    subprocess.run([str(ROOT / "build" / "bench" / name), *map(str, arguments)], check=True)
