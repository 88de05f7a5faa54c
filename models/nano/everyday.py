"""The everyday list (everyday.jsonl): what newcomers type, and what counts as a right answer.

It measures only. Training must not see a prompt of it, so data.py asks `is_kept_out`.
"""

import functools
import json
import pathlib
import re

PATH = pathlib.Path(__file__).resolve().parent / "everyday.jsonl"


@functools.cache
def rows():
    """[{text, kind: "outside" or "inside", job and accept (a pattern) where it is inside}]"""
    return [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]


def normal(text):
    """A text without what a reader does not see as another one."""
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


@functools.cache
def kept_out():
    return frozenset(normal(row["text"]) for row in rows())


def is_kept_out(messages):
    """Whether a chat's last message of the user is one of the list."""
    asked = [content for role, content in messages if role == "user"]
    return bool(asked) and normal(asked[-1]) in kept_out()


def is_right(row, answer):
    """Whether an answer counts; for what is outside, ask for "not mine" instead."""
    return row["kind"] == "inside" and re.fullmatch(row["accept"], answer.strip()) is not None
