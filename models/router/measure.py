#!/usr/bin/env python3
"""What the default model gets right of the prompts of make_data.py: lets build/tandem answer them
greedily with the model that it ships, and writes the lines for `tandem router train`.

    measure.py prompts.jsonl > lines.jsonl

Each line keeps "text" and "task"; "local_ok" is there where an answer could be graded. "strong_ok"
never is: no cloud was asked. The counts by kind of task go to standard error."""

import collections
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / part) for part in ("models/nano", "bench", "tests/support")]

import corpora
import data
import task_other
from endpoint import LOCAL_ONLY, ask_all, user
from tandem import Tandem

# So much of a beginning tells the sentence from other answers: "That is".
REFUSAL_BYTES = 7


def refuses(text):
    """Does it begin like the sentence after the "not mine" token? A full context cuts or garbles
    the rest."""
    return text.startswith(task_other.SENTENCE[:REFUSAL_BYTES]) or not text


def is_no_answer(reply, intents):
    """Whatever was asked: a refusal, nothing, an answer without an end, and the label of an intent,
    for which an open prompt does not ask."""
    return (
        reply.status != 200
        or refuses(reply.text)
        or reply.finish == "length"
        or reply.text in intents
    )


def grade(line, reply, intents):
    """True, False, or None where nobody can tell."""
    if "wanted" in line:
        return (
            line["wanted"] is not None
            and reply.status == 200
            and data.is_right(line.get("check"), reply.text, line["wanted"])
        )
    return False if is_no_answer(reply, intents) else None


def measure(lines):
    """The lines for training, and Counters of verdicts by kind of task."""
    intents = frozenset(corpora.clinc_labels() + corpora.banking_labels())
    with Tandem(LOCAL_ONLY) as tandem:
        replies = ask_all(tandem, [user(line["text"]) for line in lines])
    out, counts = [], collections.defaultdict(collections.Counter)
    for line, reply in zip(lines, replies):
        kept = {key: line[key] for key in ("text", "task") if key in line}
        right = grade(line, reply, intents)
        counts[line.get("check") or "open: " + line.get("task", "any")][right] += 1
        out.append(kept if right is None else {**kept, "local_ok": right})
    return out, counts


def main():
    lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    out, counts = measure(lines)
    for line in out:
        print(json.dumps(line, ensure_ascii=False))
    print(f"{'':20} {'right':>6} {'wrong':>6} {'not graded':>11}", file=sys.stderr)
    for kind, of in sorted(counts.items()):
        print(f"{kind:20} {of[True]:6} {of[False]:6} {of[None]:11}", file=sys.stderr)


if __name__ == "__main__":
    main()
