#!/usr/bin/env python3
"""How much private data `tandem scan` finds: token-level precision, recall and F2 per type.

The data set is Presidio's synth_dataset_v2 (shared/data/presidio_research). As in its evaluation notebooks a text is cut
into tokens, each has the type of the span that covers it or O, and a prediction is right when the type is the same. Tokens
here are words and single signs; what the notebooks skip (white space, signs, and the common words that spaCy's patterns skip)
is skipped as well. Types that mean the same are mapped to one (MAPPED). An own set (--own) has more kinds, made by generate().

    bench/bench_privacy.py [--tandem build/tandem] [--data FILE] [--errors TYPE] [--json]
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TANDEM_SHARED", ROOT.parent / "shared"))
TOKEN = re.compile(r"\w+")
# The notebooks map both sides to Presidio's entities; places and addresses are its LOCATION.
MAPPED = {"STREET_ADDRESS": "LOCATION", "GPE": "LOCATION", "ZIP_CODE": "LOCATION", "COORDINATES": "LOCATION",
          "US_DRIVER_LICENSE": "US_DRIVER_LICENSE", "DOMAIN_NAME": "DOMAIN_NAME"}
FROM_A_TAGGER = ("PERSON", "LOCATION", "ORGANIZATION", "TITLE")


def scan(tandem, texts):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    done = subprocess.run([tandem, "scan", "--jsonl"], input=lines.encode(), capture_output=True, check=True)
    return [json.loads(line)["spans"] for line in done.stdout.splitlines()]


def labels(text, spans):
    """One label a token, from (begin, end, type) in characters."""
    out = []
    for token in TOKEN.finditer(text):
        label = "O"
        for begin, end, kind in spans:
            if token.start() < end and begin < token.end():
                label = MAPPED.get(kind, kind)
                break
        out.append((token.group(), label))
    return out


def ratio(a, b):
    return a / b if b else float("nan")


def f_beta(precision, recall, beta=2):
    below = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / below if below else 0.0


class Counts:
    def __init__(self):
        self.right = collections.Counter()
        self.wanted = collections.Counter()
        self.given = collections.Counter()
        self.any_right = self.any_wanted = self.any_given = 0

    def add(self, wanted, given, known):
        if given not in known:
            given = "O"  # a kind that the set does not label at all is no error in it
        self.wanted[wanted] += 1
        self.given[given] += 1
        self.right[wanted] += wanted == given
        if wanted != "O":
            self.any_wanted += 1
            self.any_right += given != "O"
        self.any_given += given != "O"

    def row(self, kind):
        precision = ratio(self.right[kind], self.given[kind])
        recall = ratio(self.right[kind], self.wanted[kind])
        return {"type": kind, "tokens": self.wanted[kind], "precision": precision, "recall": recall,
                "f2": f_beta(precision, recall) if self.given[kind] else 0.0}


def total(counts, kinds):
    right = sum(counts.right[k] for k in kinds)
    given = sum(counts.given[k] for k in kinds)
    wanted = sum(counts.wanted[k] for k in kinds)
    precision, recall = ratio(right, given), ratio(right, wanted)
    return {"tokens": wanted, "precision": precision, "recall": recall, "f2": f_beta(precision, recall)}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tandem", default=str(ROOT / "build" / "tandem"))
    options.add_argument("--data", default=str(SHARED / "data" / "presidio_research" / "synth_dataset_v2.json"))
    options.add_argument("--errors", help="print what was missed and what was wrong for a type")
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    rows = json.loads(Path(args.data).read_text())
    counts = Counts()
    known = {MAPPED.get(span["entity_type"], span["entity_type"]) for row in rows for span in row["spans"]}
    for row, found in zip(rows, scan(args.tandem, [row["full_text"] for row in rows])):
        text = row["full_text"]
        wanted = labels(text, [(s["start_position"], s["end_position"], s["entity_type"]) for s in row["spans"]])
        given = labels(text, [(s["char_start"], s["char_end"], s["type"]) for s in found])
        wrong = []
        for (token, want), (_, give) in zip(wanted, given):
            counts.add(want, give, known)
            if want != give and args.errors in (want, give):
                wrong.append(f"{token} [{want} -> {give}]")
        if wrong:
            print(" ".join(wrong), "|", repr(text[:200]))
    kinds = sorted(known, key=lambda k: -counts.wanted[k])
    structured = [k for k in kinds if k not in FROM_A_TAGGER]
    report = {"types": [counts.row(k) for k in kinds], "structured": total(counts, structured), "all": total(counts, kinds),
              "any_type": {"precision": ratio(counts.any_right, counts.any_given),
                           "recall": ratio(counts.any_right, counts.any_wanted)}}
    if args.json:
        print(json.dumps(report, indent=1))
        return 0
    print(f"{'type':20} {'tokens':>7} {'P':>6} {'R':>6} {'F2':>6}")
    for row in report["types"] + [{"type": "structured", **report["structured"]}, {"type": "all", **report["all"]}]:
        print(f"{row['type']:20} {row['tokens']:7} {row['precision']:6.3f} {row['recall']:6.3f} {row['f2']:6.3f}")
    print(f"{'private, any type':20} {counts.any_wanted:7} {report['any_type']['precision']:6.3f} "
          f"{report['any_type']['recall']:6.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
