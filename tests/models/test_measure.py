#!/usr/bin/env python3
"""How the answers of the default model are graded for the default classifier
(models/router/measure.py)."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = Path(os.environ.get("TANDEM_SHARED", ROOT.parent / "shared"))
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "models/router")]
from check import case, equal, main

if not (SHARED / "data" / "clinc150").exists():
    print(f"SKIP models/test_measure: no datasets at {SHARED}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

import measure

INTENTS = frozenset(["transfer", "weather"])
REFUSAL = measure.task_other.SENTENCE


class Reply:
    def __init__(self, text, status=200, finish="stop"):
        self.text, self.status, self.finish = text, status, finish


def grade(line, *reply, **more):
    return measure.grade(line, Reply(*reply, **more), INTENTS)


@case
def test_a_known_answer_is_compared_by_the_task_that_made_it():
    intent = {"check": "intent", "wanted": "transfer"}
    equal(grade(intent, "transfer"), True)
    equal(grade(intent, "weather"), False)
    equal(grade(intent, REFUSAL), False)
    equal(grade(intent, "transfer", status=500), False)


@case
def test_what_has_no_right_answer_is_wrong_whatever_the_model_says():
    equal(grade({"check": "intent", "wanted": None}, "transfer"), False)
    equal(grade({"check": "other", "wanted": None}, REFUSAL), False)


@case
def test_of_open_prompts_only_what_is_no_answer_is_graded():
    line = {"task": "summarisation", "open": True}
    equal(grade(line, REFUSAL), False)
    equal(grade(line, REFUSAL[:20] + " candidates"), False)  # a context that was full
    equal(grade(line, ""), False)
    equal(grade(line, "The letter says", finish="length"), False)
    equal(grade(line, "weather"), False)  # the label of an intent, for which nobody asked
    equal(grade(line, "", status=400), False)
    equal(grade(line, "The letter says that all is well."), None)


if __name__ == "__main__":
    main()
