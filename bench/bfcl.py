"""The Berkeley Function-Calling Leaderboard, version 4 (Patil et al. 2025, Apache 2.0): its
single-turn questions of Python functions, judged by its rules of equal values.

A folder has BFCL_v4_CATEGORY.json with a question a line, and possible_answer/ with files of the
same names: for each function, the values that each argument may have; "" means that it may be
left out. "irrelevance" has no answers: there a call is wrong. Nobody trains on these files."""

import json
import re
from pathlib import Path
from typing import Any

CATEGORIES = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "irrelevance",
    "live_simple",
    "live_multiple",
    "live_irrelevance",
)
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
