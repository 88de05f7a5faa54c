"""The Berkeley Function-Calling Leaderboard, version 4 (Patil et al. 2025, Apache 2.0): its
single-turn questions of Python functions, judged by its rules of equal values.

A folder has BFCL_v4_CATEGORY.json with a question a line, and possible_answer/ with files of the
same names: for each function, the values that each argument may have; "" means that it may be
left out. "irrelevance" has no answers: there a call is wrong. Nobody trains on these files."""

import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

# Each category that is asked, and what is wanted of it; 0: nothing.
SIMPLE = "simple_python"
CATEGORIES = {
    SIMPLE: 0.45,
    "multiple": 0.40,
    "parallel": 0,
    "parallel_multiple": 0,
    "irrelevance": 0.85,
    "live_simple": 0,
    "live_multiple": 0,
    "live_irrelevance": 0,
}
# The leaderboard's own package, which has the questions.
PACKAGE, VERSION = "bfcl-eval", "2026.3.23"
SHA256 = "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"
PLACE = Path(__file__).resolve().parent.parent / "build-bfcl"
TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}


def json_schema(schema: Any) -> Any:
    """A schema with Python's names of types as JSON Schema."""
    if isinstance(schema, list):
        return [json_schema(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {k: json_schema(v) for k, v in schema.items()}
    if isinstance(out.get("type"), str):
        out["type"] = TYPES.get(out["type"], out["type"])
    return out


def plain(text: str) -> str:
    """A string as the leaderboard compares it: letter case, spaces and some marks do not count."""
    return re.sub(r"[ ,./\-_*^]", "", text).lower().replace("'", '"')


def same(value: Any, wanted: Any) -> bool:
    """Whether an argument equals one of the accepted values."""
    if isinstance(value, str) and isinstance(wanted, str):
        return plain(value) == plain(wanted)
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(same(v, w) for v, w in zip(value, wanted))
    if isinstance(value, dict) and isinstance(wanted, dict):
        return matches(value, wanted)
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return bool(value == wanted)


def matches(given: dict[str, Any], accepted: dict[str, Any]) -> bool:
    """Whether arguments are those of {name: accepted values}."""
    for name, values in accepted.items():
        options = values if isinstance(values, list) else [values]
        if name not in given:
            if "" not in options:
                return False
        elif not any(same(given[name], option) for option in options):
            return False
    return not set(given) - set(accepted)


class Question:
    """A request, and the calls that answer it; None: there is nothing to call."""

    def __init__(self, line: dict[str, Any], truth: list[dict[str, Any]] | None) -> None:
        tools = [{"type": "function", "function": json_schema(f)} for f in line["function"]]
        self.request = {"messages": line["question"][0], "tools": tools}
        self.truth = truth

    def is_right(self, calls: list[tuple[str, Any]]) -> bool:
        """Each wanted call once, in any order, and no other."""
        if self.truth is None:
            return not calls
        left = list(calls)
        for wanted in self.truth:
            (name, accepted), *_ = wanted.items()
            found = next((c for c in left if c[0] == name and matches(c[1], accepted)), None)
            if found is None:
                return False
            left.remove(found)
        return not left


def fetched() -> Path | None:
    """The folder with the questions: BFCL_DIR, or that of the package, which is fetched once. None
    where it cannot be had."""
    if "BFCL_DIR" in os.environ:
        return Path(os.environ["BFCL_DIR"])
    data = PLACE / "bfcl_eval" / "data"
    if data.exists():
        return data
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(PLACE)]
    wanted = f"{PACKAGE}=={VERSION}"
    if subprocess.run([*pip, wanted], capture_output=True, check=False).returncode:
        return None
    for wheel in PLACE.glob("*.whl"):
        if hashlib.sha256(wheel.read_bytes()).hexdigest() != SHA256:
            print(f"{wheel.name} is not the file that was measured with")
            return None
        with zipfile.ZipFile(wheel) as archive:
            names = [n for n in archive.namelist() if n.startswith("bfcl_eval/data/")]
            archive.extractall(PLACE, names)
    return data if data.exists() else None


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def questions(folder: Path, category: str) -> list[Question]:
    """The questions of a category; none where the folder lacks it."""
    path = folder / f"BFCL_v4_{category}.json"
    if not path.exists():
        return []
    truths = {}
    if "irrelevance" not in category:
        truths = {
            row["id"]: row["ground_truth"]
            for row in read_lines(folder / "possible_answer" / path.name)
        }
    return [Question(line, truths.get(line["id"])) for line in read_lines(path)]
