#!/usr/bin/env python3
"""make lint: format, structure checks, and the ten longest functions and files."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = 100
WORDS = re.compile(r"\b(TODO|FIXME|XXX)\b")


def c_files():
    out = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=True,
    ).stdout
    return [ROOT / line for line in out.split() if (ROOT / line).exists()]


def functions(path):
    """(lines, name) of every function: a brace in the first column opens one, as .clang-format lays
    it out."""
    name, begin = None, 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            yield number - begin + 1, name
            begin = 0
        elif not begin and (found := re.match(r"^[A-Za-z].*?(\w+)\(", line)):
            name = found.group(1)


def main():
    files = c_files()
    failed = 0
    done = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", *map(str, files)], capture_output=True, text=True
    )
    if done.returncode:
        failed += 1
        bad = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "error:" in line})
        print(
            "not formatted (make format):",
            *[str(Path(b).relative_to(ROOT)) for b in bad],
            sep="\n  ",
        )
    unfinished = [
        f"{p.relative_to(ROOT)}:{n}"
        for p in files
        for n, line in enumerate(p.read_text().splitlines(), 1)
        if WORDS.search(line)
    ]
    if unfinished:
        failed += 1
        print("unfinished marks:", *unfinished, sep="\n  ")
    wide = [
        f"{p.relative_to(ROOT)}:{n}"
        for p in files
        for n, line in enumerate(p.read_text().splitlines(), 1)
        if len(line) > COLUMNS
    ]
    if wide:
        failed += 1
        print(f"lines of more than {COLUMNS} columns:", *wide, sep="\n  ")
    failed += (
        subprocess.run([sys.executable, str(ROOT / "tests/structure/test_structure.py")]).returncode
        != 0
    )
    product = [p for p in files if p.is_relative_to(ROOT / "src")]
    longest = sorted(
        ((n, name, p) for p in product for n, name in functions(p)),
        reverse=True,
        key=lambda f: f[0],
    )
    print("longest functions:")
    for lines, name, path in longest[:10]:
        print(f"  {lines:4} {name} ({path.relative_to(ROOT)})")
    print("longest files:")
    for lines, path in sorted(
        ((len(p.read_text().splitlines()), p) for p in product), reverse=True
    )[:10]:
        print(f"  {lines:4} {path.relative_to(ROOT)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
