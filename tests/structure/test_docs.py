#!/usr/bin/env python3
"""The documents stay true to the tree: links and headings that they point to exist, files that they
name exist, the pages that must be short are short, and the index names every page."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
from check import case, main

README_BYTES_MAX = 6000
ARCHITECTURE_WORDS_MAX = 1500
COLUMNS_MAX = 100
# What is named in backquotes and looks like a source file must exist; other endings are often files
# of users.
SOURCE = re.compile(r"[\w.*/-]+\.(?:[ch]|py|md|sh|svg|build|sql)")
FOLDERS = ("src/", "include/", "tests/", "bench/", "tools/", "docs/", "models/", "examples/")


def tree() -> list[str]:
    """The files of the repository, those not yet committed too."""
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = (
        done.stdout.splitlines()
        if done.returncode == 0
        else [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
    )
    return [name for name in names if (ROOT / name).exists()]


FILES = tree()
PAGES = [ROOT / name for name in FILES if name.endswith(".md")]


def prose(page: Path) -> list[tuple[int, str]]:
    """(line number, line) outside code blocks."""
    lines, fenced = [], False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            lines.append((number, line))
    return lines


def anchors(page: Path) -> set[str]:
    """The names that a page's headings have in links, as GitHub makes them."""
    headings = [line.lstrip("#").strip() for _, line in prose(page) if re.match(r"#+ ", line)]
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def refuse(problems: list[str]) -> None:
    if problems:
        raise AssertionError("\n     ".join(["", *problems]))


@case
def test_every_link_leads_to_a_file_and_a_heading():
    problems = []
    for page in PAGES:
        for number, line in prose(page):
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                name, _, anchor = target.partition("#")
                to = (page.parent / name).resolve() if name else page
                where = f"{page.relative_to(ROOT)}:{number}: {target}"
                if not to.exists():
                    problems.append(f"{where}: no such file")
                elif anchor and anchor not in anchors(to):
                    problems.append(f"{where}: no such heading")
    refuse(problems)


def exists(name: str, page: Path) -> bool:
    """Beside the page, from the root, in src/, or anywhere by its name alone. `x_*.c` is any such
    file."""
    if "*" in name:
        pattern = name if "/" in name else f"**/{name}"
        return any(any(base.glob(pattern)) for base in (ROOT, ROOT / "src"))
    if any((base / name).exists() for base in (page.parent, ROOT, ROOT / "src")):
        return True
    return "/" not in name and any(Path(file).name == name for file in FILES)


@case
def test_files_and_folders_named_in_documents_exist():
    problems = []
    for page in PAGES:
        if page.name == "CHANGELOG.md":
            continue  # which tells of the tree as it was
        for number, line in prose(page):
            for words in re.findall(r"`([^`]+)`", line):
                for word in words.split():
                    folder = word.startswith(FOLDERS) and word.endswith("/")
                    if (SOURCE.fullmatch(word) or folder) and not exists(word, page):
                        problems.append(f"{page.relative_to(ROOT)}:{number}: there is no {word}")
    refuse(problems)


@case
def test_the_readme_is_short_and_runs_the_tests():
    text = (ROOT / "README.md").read_text()
    size = len(text.encode())
    refuse(
        [f"README.md has {size} bytes, at most {README_BYTES_MAX}"]
        if size > README_BYTES_MAX
        else []
    )
    refuse(
        []
        if "\nmake test\n" in text
        else ["README.md must have the command `make test`: .ci/run calls it"]
    )


@case
def test_the_figures_of_the_readme_are_those_of_the_list():
    listed = (ROOT / "docs" / "figures.md").read_text()
    table = (ROOT / "README.md").read_text().split("## Ten figures")[1].split("\n## ")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("|")][2:]
    problems = [
        f"{number} ({row[1].strip()}) is not in docs/figures.md"
        for row in rows
        for number in re.findall(r"[\d.,]*\d", row[2])
        if number not in listed
    ]
    refuse(problems + (["more than ten figures"] if len(rows) > 10 else []))


@case
def test_the_page_on_architecture_is_short():
    words = len((ROOT / "docs" / "architecture.md").read_text().split())
    refuse(
        [f"docs/architecture.md has {words} words, at most {ARCHITECTURE_WORDS_MAX}"]
        if words > ARCHITECTURE_WORDS_MAX
        else []
    )


@case
def test_the_index_names_every_page():
    index = (ROOT / "docs" / "README.md").read_text()
    refuse(
        [
            f"docs/README.md does not name {page.name}"
            for page in (ROOT / "docs").glob("*.md")
            if page.name != "README.md" and f"({page.name})" not in index
        ]
    )


def first_cells(page: Path) -> list[str]:
    """What stands in backquotes in the first cell of each row of the page's tables."""
    rows = [line.split("|")[1] for _, line in prose(page) if line.startswith("| `")]
    return [name for row in rows for name in re.findall("`([^`{]+)[^`]*`", row)]


def compare(page: Path, written: list[str], known: set[str]) -> None:
    name = page.relative_to(ROOT)
    problems = [f"{name} has {code} twice" for code in set(written) if written.count(code) > 1]
    problems += [f"{name} does not explain {code}" for code in sorted(known - set(written))]
    problems += [f"{name}: there is no {code}" for code in sorted(set(written) - known)]
    refuse(problems)


@case
def test_the_page_of_reasons_has_every_code():
    source = (ROOT / "src/router/plan/policy.c").read_text()
    known = set(re.findall(r'\[REASON_\w+\] = "(\w+)"', source))
    assert len(known) > 60, "the table of codes is not where it was"
    page = ROOT / "docs" / "reasons.md"
    compare(page, first_cells(page), known)


@case
def test_the_table_of_metrics_has_every_metric():
    """Names of metrics are written out in src/api, as /metrics has them."""
    texts = [path.read_text() for path in (ROOT / "src/api").rglob("*.c")]
    known = {name for text in texts for name in re.findall(r'"tandem_[a-z_]+(?=")', text)}
    known |= {name for text in texts for name in re.findall(r'"# HELP (tandem_[a-z_]+)', text)}
    known = {name.strip('"') for name in known} - {"tandem_summary"}  # a marker of an id
    assert len(known) > 90, "names of metrics are not where they were"
    page = ROOT / "docs" / "operations.md"
    written = [name for name in first_cells(page) if name.startswith("tandem_")]
    compare(page, written, known)


def second_argument(text: str, at: int) -> str:
    """Of the call whose arguments begin at `at`; the names in it may depend on a condition."""
    depth, commas, found = 0, 0, ""
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[()]|,|[^"(),]+', text[at:]):
        depth += (token[0] == "(") - (token[0] == ")")
        commas += token[0] == "," and depth == 0
        if depth < 0 or commas > 1:
            break
        found += token[0] if commas == 1 else ""
    return found


@case
def test_each_event_of_the_log_is_documented():
    pages = "".join(page.read_text() for page in PAGES if page.parent.name == "docs")
    events, calls = set(), 0
    for name in FILES:
        if not re.match(r"src/.*\.c", name):
            continue
        text = (ROOT / name).read_text()
        for call in re.finditer(r"\blog_event\(", text):
            calls += 1
            events |= set(re.findall(r'"(\w+)"', second_argument(text, call.end())))
    absent = sorted(event for event in events if f"`{event}`" not in pages)
    assert not absent, f"docs/operations.md has no line for: {absent}"
    assert len(events) > 150 and calls > len(events), (len(events), calls)


@case
def test_prose_ends_at_100_columns():
    problems = []
    for page in PAGES:
        if page.name == "CHANGELOG.md":
            continue
        for number, line in prose(page):
            if len(line) > COLUMNS_MAX and not line.startswith(("|", "    ")):
                problems.append(f"{page.relative_to(ROOT)}:{number}: {len(line)} columns")
    refuse(problems)


if __name__ == "__main__":
    main()
