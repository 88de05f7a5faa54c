"""Printing figures, the same way everywhere."""
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def heading(text):
    print(f"\n== {text} ==", flush=True)


def row(what, value, goal="", ok=None):
    """One figure; ok marks whether the goal is met."""
    mark = "" if ok is None else ("  met" if ok else "  MISSED")
    print(f"{what:58} {value:>22}  {goal}{mark}", flush=True)


def program(name, title):
    """Runs a benchmark executable of the build and prints what it prints."""
    heading(title)
    found = [p for p in (ROOT / "build").rglob(name) if p.is_file()]
    if not found:
        print(f"{name} is not built")
        return
    subprocess.run([str(found[0])], check=True)
