#!/usr/bin/env python3
"""What the program computes (src/instant/), asked in the held-out words of the default model's
generators, which know nothing of the parser: most is understood, and what is, is right."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = Path(os.environ.get("TANDEM_SHARED", ROOT.parent / "shared"))
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "models/nano")]
from check import case, main

if not (SHARED / "data" / "clinc150").exists():
    print(f"SKIP models/test_computed: no datasets at {SHARED}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

import task_arithmetic
import task_dates
import task_units
from pools import seeded
from tandem import Tandem

COUNT = 60


def questions(task):
    """(question, answer) of one line each."""
    found = []
    for number in range(10 * COUNT):
        messages, answer = task.example(
            seeded("computed", task.__name__, number), "held" if number % 2 else "train"
        )
        if answer and len(messages) == 1 and "\n" not in answer:
            found.append((messages[0][1], answer))
    return found[:COUNT]


def is_computed(answer):
    return "computed" in [reason["code"] for reason in answer.tandem["reasons"]]


@case
def test_money_in_another_currency_is_not_computed():
    with Tandem() as tandem:
        for number in range(COUNT):
            question = task_units.money(seeded("money", number), "held")[0][1]
            answer = tandem.chat(question)
            assert not is_computed(answer), (question, answer.text)


@case
def test_what_is_understood_is_right_and_most_is():
    with Tandem() as tandem:
        for task in (task_units, task_dates, task_arithmetic):
            computed = 0
            for question, expected in questions(task):
                answer = tandem.chat(question)
                if is_computed(answer):
                    computed += 1
                    right = getattr(task, "right", str.__eq__)
                    assert right(answer.text, expected), (question, answer.text, expected)
            assert computed >= 0.9 * COUNT, (task.__name__, computed, COUNT)


if __name__ == "__main__":
    main()
