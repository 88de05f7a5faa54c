#!/usr/bin/env python3
"""Private values written in some hundred unusual ways: `tandem scan` keeps them, and says what is
out of reach."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import privacy_ways
from check import case, equal, main
from tandem import run


def classes(texts):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    code, out, err = run("scan", "--jsonl", stdin=lines.encode())
    equal(code, 0, err)
    return [json.loads(line)["class"] for line in out.splitlines()]


def leaves(rows):
    """The names of the ways that are not kept."""
    found = classes([text for _, text, _ in rows])
    return [name for (name, _, _), found in zip(rows, found) if found == "public"]


@case
def test_a_card_is_kept_however_it_is_written():
    equal(len(privacy_ways.WAYS), 142)
    equal(leaves([row for row in privacy_ways.WAYS if row[2] is None]), [])


@case
def test_other_values_are_kept_however_they_are_written():
    equal(len(privacy_ways.OTHERS), 200)
    equal(leaves([row for row in privacy_ways.OTHERS if row[2] is None]), [])


@case
def test_what_is_out_of_reach_is_named_and_little():
    named = [row for row in privacy_ways.WAYS + privacy_ways.OTHERS if row[2] is not None]
    assert len(named) <= 12, [name for name, _, _ in named]
    page = (Path(__file__).resolve().parents[2] / "docs" / "privacy.md").read_text()
    for reason in {row[2] for row in named}:
        assert reason in " ".join(page.split()), f"docs/privacy.md does not say: {reason}"


@case
def test_what_looks_like_a_hidden_value_is_none():
    found = classes([text for _, text in privacy_ways.CLEAN])
    wrong = [name for (name, _), kept in zip(privacy_ways.CLEAN, found) if kept != "public"]
    equal(wrong, [])


if __name__ == "__main__":
    main()
