#!/usr/bin/env python3
"""make lint: what a reader stumbles over and the compiler does not say.

- C and headers are formatted as .clang-format says.
- No line of C, Python or shell has more than 100 columns, comments and strings included.
  A word table is exempt: in C it stands between `/* clang-format off */` and
  `/* clang-format on */`; the Python files that hold tables are named in pyproject.toml.
- No file has marks of unfinished work.
- Python passes ruff (format and rules) and mypy, of the versions in tools/lint-requirements.txt.
- The checks of tests/structure/test_structure.py pass.

`--changed` looks only at files that differ from the last commit, and `--staged` at those that the
next commit takes (as tools/pre-commit does); both leave out mypy, which needs every file.
`--format` mends the format. `--longest` prints the ten longest functions and files.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from unicodedata import east_asian_width

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = 100
UNFINISHED = re.compile(r"(#|/\*|^ \*|//).*\b(TO[D]O|FIX[M]E|XX[X])\b")  # in comments
TABLE_BEGIN, TABLE_END = "/* clang-format off */", "/* clang-format on */"
PINNED = ROOT / "tools" / "lint-requirements.txt"
PLACE = ROOT / "build-lint"
# Folders whose Python has types, each checked by itself, for scripts import from their own folder.
# Those of models/ live on numpy and torch: there only what is inferred must agree.
TYPED = ("tests/support", "tools", "bench")
INFERRED = ("models/calibration", "models/nano", "models/names", "models/router", "models/similar")


def git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, text=True, capture_output=True, check=True)
    return done.stdout.splitlines()


def listed(only: str | None) -> list[Path]:
    """The files of the repository, or of a change to it."""
    if only == "staged":
        names = git("diff", "--cached", "--name-only", "--diff-filter=d")
    elif only == "changed":
        names = git("diff", "HEAD", "--name-only", "--diff-filter=d")
        names += git("ls-files", "-o", "--exclude-standard")
    else:
        names = git("ls-files", "-co", "--exclude-standard")
    return sorted(path for path in (ROOT / name for name in names) if path.is_file())


def tools() -> Path | None:
    """The folder with ruff and mypy, installed once for each state of the list; None without."""
    digest = hashlib.sha256(PINNED.read_bytes()).hexdigest()
    mark = PLACE / "installed"
    if mark.exists() and mark.read_text() == digest:
        return PLACE / "bin"
    print("installing ruff and mypy into build-lint/")
    shutil.rmtree(PLACE, ignore_errors=True)
    pip = [str(PLACE / "bin" / "python"), "-m", "pip", "install", "--quiet", "--require-hashes"]
    for command in ([sys.executable, "-m", "venv", str(PLACE)], [*pip, "-r", str(PINNED)]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print((done.stdout + done.stderr)[-2000:])
            return None
    mark.write_text(digest)
    return PLACE / "bin"


def unformatted(files: list[Path]) -> Iterator[str]:
    """C files that clang-format would change."""
    if not files:
        return
    done = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", *map(str, files)], capture_output=True, text=True
    )
    found = {line.split(":")[0] for line in done.stderr.splitlines() if "error:" in line}
    yield from (str(Path(name).relative_to(ROOT)) for name in sorted(found))


def columns(line: str) -> int:
    """As clang-format and ruff count: none for a combining mark, two for a wide letter."""
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else 1 + (east_asian_width(c) in "WF")
        for c in line
    )


def wide_lines(files: list[Path]) -> Iterator[str]:
    """Lines of more than 100 columns outside of word tables."""
    for path in files:
        in_table = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if path.suffix in (".c", ".h") and line.strip() in (TABLE_BEGIN, TABLE_END):
                in_table = line.strip() == TABLE_BEGIN
            elif len(line) > COLUMNS // 2 and columns(line) > COLUMNS and not in_table:
                yield f"{os.path.relpath(path, ROOT)}:{number}: {columns(line)} columns"


def code_in_tables(files: list[Path]) -> Iterator[str]:
    """Functions in a region that is exempt as a table."""
    for path in files:
        in_table = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.strip() in (TABLE_BEGIN, TABLE_END):
                in_table = line.strip() == TABLE_BEGIN
            elif in_table and line == "{":
                yield f"{os.path.relpath(path, ROOT)}:{number}: a function in a table"


def unfinished(files: list[Path]) -> Iterator[str]:
    for path in files:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if UNFINISHED.search(line) and "UNFINISHED" not in line:
                yield f"{path.relative_to(ROOT)}:{number}"


def said_by(command: list[str], folder: Path = ROOT) -> Iterator[str]:
    """What a checker prints when it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "MYPY_CACHE_DIR": str(PLACE / "mypy" / folder.name)},
    )
    if done.returncode:
        yield from done.stdout.splitlines() or [f"{command[0]}: status {done.returncode}"]


def python_problems(files: list[Path], with_types: bool) -> Iterator[str]:
    if not files:
        return
    place = tools()
    if not place:
        yield "ruff and mypy are not installed and no registry answers"
        return
    names = list(map(str, files))
    format_check = [str(place / "ruff"), "format", "--check", "--output-format=concise", *names]
    yield from (line for line in said_by(format_check) if "already formatted" not in line)
    yield from said_by([str(place / "ruff"), "check", "--quiet", "--output-format=concise", *names])
    if with_types:
        yield from type_problems(place)


def type_problems(place: Path) -> Iterator[str]:
    command = [
        str(place / "mypy"),
        "--no-error-summary",
        f"--config-file={ROOT / 'pyproject.toml'}",
    ]
    lax = ["--allow-untyped-defs", "--allow-incomplete-defs"]
    for folder in TYPED + INFERRED:
        options = lax if folder in INFERRED else []
        for line in said_by([*command, *options, "."], ROOT / folder):
            yield f"{folder}/{line}"


def reformat(c_files: list[Path], python: list[Path]) -> int:
    place = tools()
    code = subprocess.run(["clang-format", "-i", *map(str, c_files)]).returncode
    if place:
        for command in ("check", "--fix", "--quiet"), ("format", "--quiet"):
            subprocess.run([str(place / "ruff"), *command, *map(str, python)])
    return code if place else 1


def functions(path: Path) -> Iterator[tuple[int, str]]:
    """(lines, name) of every function: a brace in the first column opens one."""
    name, begin = "", 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            yield number - begin + 1, name
            begin = 0
        elif not begin and (found := re.match(r"^[A-Za-z].*?(\w+)\(", line)):
            name = found.group(1)


def print_longest(files: list[Path]) -> None:
    product = [path for path in files if path.is_relative_to(ROOT / "src")]
    longest = sorted(((n, name, path) for path in product for n, name in functions(path)))[::-1]
    print("longest functions:")
    for lines, name, path in longest[:10]:
        print(f"  {lines:4} {name} ({path.relative_to(ROOT)})")
    print("longest files:")
    sizes = sorted((len(path.read_text().splitlines()), path) for path in product)[::-1]
    for lines, path in sizes[:10]:
        print(f"  {lines:4} {path.relative_to(ROOT)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--changed", dest="only", action="store_const", const="changed")
    group.add_argument("--staged", dest="only", action="store_const", const="staged")
    parser.add_argument("--longest", action="store_true")
    parser.add_argument("--format", action="store_true", help="format the files, check nothing")
    arguments = parser.parse_args()
    files = listed(arguments.only)
    c_files = [path for path in files if path.suffix in (".c", ".h")]
    python = [path for path in files if path.suffix == ".py"]
    scripts = [path for path in files if path.suffix in (".sh",)]
    if arguments.format:
        return reformat(c_files, python)
    structure = [sys.executable, str(ROOT / "tests" / "structure" / "test_structure.py")]
    if arguments.only:
        structure.append("--changed")
    checks = (
        ("not formatted (make format)", unformatted(c_files)),
        (f"lines of more than {COLUMNS} columns", wide_lines(c_files + scripts)),
        ("code in a table", code_in_tables(c_files)),
        ("marks of unfinished work", unfinished(c_files + python + scripts)),
        ("Python", python_problems(python, with_types=not arguments.only)),
        ("structure", said_by(structure)),
    )
    failed = 0
    for name, problems in checks:
        found = list(problems)
        failed += bool(found)
        if found:
            print(f"{name}: {len(found)}", *found, sep="\n  ")
    if arguments.longest:
        print_longest(c_files)
    print("lint: not clean" if failed else "lint: clean")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
