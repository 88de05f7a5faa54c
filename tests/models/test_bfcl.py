#!/usr/bin/env python3
"""bench/bfcl.py reads and judges the leaderboard's questions by its rules."""

import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import bfcl

LINE = {
    "id": "multiple_0",
    "question": [[{"role": "user", "content": "Paint it."}]],
    "function": [
        {
            "name": "room.paint",
            "description": "Paints.",
            "parameters": {
                "type": "dict",
                "properties": {
                    "color": {"type": "string"},
                    "liters": {"type": "float"},
                    "walls": {"type": "array", "items": {"type": "float"}},
                    "type": {"type": "dict", "properties": {"dry": {"type": "boolean"}}},
                },
                "required": ["color"],
            },
        }
    ],
}
TRUTH = {
    "room.paint": {
        "color": ["Dark red", "crimson"],
        "liters": [2.0, ""],
        "walls": ["", [1, 2]],
        "type": ["", {"dry": [True, ""]}],
    }
}
RIGHT = [
    {"color": "dark-red"},
    {"color": "Crimson", "liters": 2},
    {"color": "crimson", "walls": [1, 2], "type": {"dry": True}},
    {"color": "crimson", "type": {}},
]
WRONG = [
    {},
    {"color": "blue"},
    {"color": "crimson", "liters": "2"},
    {"color": "crimson", "walls": [2, 1]},
    {"color": "crimson", "type": {"dry": False}},
    {"color": "crimson", "brush": "wide"},
    {"color": "crimson", "liters": True},
]


def faults(folder):
    """What goes wrong, one line each."""
    (folder / "possible_answer").mkdir()
    (folder / "BFCL_v4_multiple.json").write_text(json.dumps(LINE) + "\n")
    (folder / "BFCL_v4_irrelevance.json").write_text(json.dumps(LINE) + "\n")
    answer = {"id": LINE["id"], "ground_truth": [TRUTH]}
    (folder / "possible_answer" / "BFCL_v4_multiple.json").write_text(json.dumps(answer) + "\n")
    (one,) = bfcl.questions(folder, "multiple")
    (none,) = bfcl.questions(folder, "irrelevance")
    call = ("room.paint", RIGHT[0])
    schema = one.request["tools"][0]["function"]["parameters"]
    inner = schema["properties"]["type"]
    checks = {
        "types are JSON's": schema["type"] == inner["type"] == "object"
        and schema["properties"]["walls"]["items"]["type"] == "number",
        "a category that is missing is empty": bfcl.questions(folder, "parallel") == [],
        "another function is wrong": not one.is_right([("room.sand", RIGHT[0])]),
        "no call is wrong": not one.is_right([]),
        "a call too many is wrong": not one.is_right([call, call]),
        "irrelevance wants no call": none.is_right([]) and not none.is_right([call]),
    }
    checks |= {f"right: {a}": one.is_right([("room.paint", a)]) for a in RIGHT}
    checks |= {f"wrong: {a}": not one.is_right([("room.paint", a)]) for a in WRONG}
    return checks


def main():
    with tempfile.TemporaryDirectory() as folder:
        checks = faults(Path(folder))
    for name, good in checks.items():
        if not good:
            print(f"FAIL {name}")
    failed = sum(not good for good in checks.values())
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
