#!/usr/bin/env python3
"""How much private data `tandem scan` finds: token-level precision, recall and F2 per type.

The data set is Presidio's synth_dataset_v2 (shared/data/presidio_research). As in its evaluation notebooks a text is cut
into tokens, each has the type of the span that covers it or O, and a prediction is right when the type is the same. Tokens
here are words and single signs; what the notebooks skip (white space, signs, and the common words that spaCy's patterns skip)
is skipped as well. Types that mean the same are mapped to one (MAPPED). An own set (--own) has more kinds, made by generate().

WNUT17's test split (names in posts of people who do not mind capitals) is measured by tokens too, and by whole entities as its
task does. PUPA (prompts of real people, with what in them is private) asks how much of that is still in the text when all that
was found is taken out, and how much of the text that was.

    bench/bench_privacy.py [--tandem build/tandem] [--set presidio|wnut|pupa] [--data FILE] [--errors TYPE] [--min-score X] [--json]
"""
import argparse
import collections
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TANDEM_SHARED", ROOT.parent / "shared"))
TOKEN = re.compile(r"\w+")
# The notebooks map both sides to Presidio's entities; places and addresses are its LOCATION.
MAPPED = {"STREET_ADDRESS": "LOCATION", "GPE": "LOCATION", "ZIP_CODE": "LOCATION", "COORDINATES": "LOCATION",
          "US_DRIVER_LICENSE": "US_DRIVER_LICENSE", "DOMAIN_NAME": "DOMAIN_NAME"}
FROM_A_TAGGER = ("PERSON", "LOCATION", "ORGANIZATION", "TITLE")


def scan(tandem, texts, min_score=None):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write(f"privacy: {{names: {{min_score: {min_score}}}}}\n" if min_score else "{}\n")
        config.flush()
        done = subprocess.run([tandem, "scan", "--jsonl", "--config", config.name], input=lines.encode(), capture_output=True,
                              check=True)
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


def print_types(rows):
    print(f"{'type':20} {'tokens':>7} {'P':>6} {'R':>6} {'F2':>6}")
    for row in rows:
        print(f"{row['type']:20} {row['tokens']:7} {row['precision']:6.3f} {row['recall']:6.3f} {row['f2']:6.3f}")


def presidio(args):
    rows = json.loads(Path(args.data).read_text())
    counts = Counts()
    known = {MAPPED.get(span["entity_type"], span["entity_type"]) for row in rows for span in row["spans"]}
    for row, found in zip(rows, scan(args.tandem, [row["full_text"] for row in rows], args.min_score)):
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
    return {"types": [counts.row(k) for k in kinds], "structured": total(counts, structured), "all": total(counts, kinds),
            "any_type": {"tokens": counts.any_wanted, "precision": ratio(counts.any_right, counts.any_given),
                         "recall": ratio(counts.any_right, counts.any_wanted)}}


def print_presidio(report):
    print_types(report["types"] + [{"type": "structured", **report["structured"]}, {"type": "all", **report["all"]}])
    any_type = report["any_type"]
    print(f"{'private, any type':20} {any_type['tokens']:7} {any_type['precision']:6.3f} {any_type['recall']:6.3f}")


# Products and works of art are nobody's private data; groups are organisations that have no register.
WNUT_TYPE = {"person": "PERSON", "location": "GPE", "corporation": "ORGANIZATION", "group": "ORGANIZATION"}


def wnut_posts():
    """(text, [(begin, end, type)]) of the test split; tokens are joined by spaces."""
    path = SHARED / "data" / "wnut17" / "emerging.test.annotated"
    for block in re.split(r"\n\s*\n", path.read_text().strip()):
        text, spans = "", []
        for token, tag in (line.split("\t")[:2] for line in block.splitlines() if "\t" in line.strip()):
            kind = WNUT_TYPE.get(tag[2:])
            if kind and tag[0] == "I" and spans and spans[-1][1] == len(text) - 1:
                spans[-1] = (spans[-1][0], len(text) + len(token), kind)
            elif kind:
                spans.append((len(text), len(text) + len(token), kind))
            text += token + " "
        yield text, spans


def wnut(args):
    posts = list(wnut_posts())
    counts, entities = Counts(), collections.Counter()
    known = set(WNUT_TYPE.values())
    for (text, spans), found in zip(posts, scan(args.tandem, [text for text, _ in posts], args.min_score)):
        given = [(s["char_start"], s["char_end"], s["type"]) for s in found if s["type"] in known]
        for (_, want), (_, give) in zip(plain_labels(text, spans), plain_labels(text, given)):
            counts.add(want, give, known)
        entities["wanted"] += len(spans)
        entities["given"] += len(given)
        entities["right"] += len(set(spans) & set(given))
    precision, recall = ratio(entities["right"], entities["given"]), ratio(entities["right"], entities["wanted"])
    return {"types": [counts.row(k) for k in ("PERSON", "GPE", "ORGANIZATION")], "all": total(counts, known),
            "entities": {"tokens": entities["wanted"], "precision": precision, "recall": recall,
                         "f2": f_beta(precision, recall), "f1": f_beta(precision, recall, 1)}}


def plain_labels(text, spans):
    return [(token.group(), next((k for b, e, k in spans if token.start() < e and b < token.end()), "O"))
            for token in TOKEN.finditer(text)]


def print_wnut(report):
    print_types(report["types"] + [{"type": "all", **report["all"]}, {"type": "whole entities", **report["entities"]}])


def pupa(args):
    with open(SHARED / "data" / "pupa" / "PUPA_New.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    units = left = letters = removed = marks = marks_left = 0
    for row, found in zip(rows, scan(args.tandem, [row["user_query"] for row in rows], args.min_score)):
        text, at, kept = row["user_query"], 0, []
        for span in found:
            kept.append(text[at:span["char_start"]])
            at = span["char_end"]
            removed += at - span["char_start"]
        letters += len(text)
        kept = " \0 ".join(kept + [text[at:]]).lower()
        for unit in {u.strip().lower() for u in row["pii_units"].split("||") if u.strip()}:
            if unit not in text.lower():
                continue  # the set's authors normalised it: whether it is there cannot be said
            if unit.startswith("presidio_anonymized"):
                marks += 1
                marks_left += unit in kept
                continue
            units += 1
            left += unit in kept
            if unit in kept and args.errors == "left":
                print(repr(unit))
    return {"units": units, "units_left": ratio(left, units), "text_removed": ratio(removed, letters), "marks": marks,
            "marks_left": ratio(marks_left, marks)}


def print_pupa(report):
    print(f"{report['units']} private units, still there {report['units_left']:.1%}; text taken out {report['text_removed']:.1%}; "
          f"of {report['marks']} marks that replaced something already {report['marks_left']:.1%} are still there")


SETS = {"presidio": (presidio, print_presidio), "wnut": (wnut, print_wnut), "pupa": (pupa, print_pupa)}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tandem", default=str(ROOT / "build" / "tandem"))
    options.add_argument("--data", default=str(SHARED / "data" / "presidio_research" / "synth_dataset_v2.json"))
    options.add_argument("--set", choices=sorted(SETS), action="append", help="only this one")
    options.add_argument("--errors", help="print what was missed and what was wrong for a type; left: PUPA's")
    options.add_argument("--min-score", type=float, help="of names, in place of the default")
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    reports = {name: SETS[name][0](args) for name in args.set or SETS}
    if args.json:
        print(json.dumps(reports, indent=1))
        return 0
    for name, report in reports.items():
        print(f"-- {name}")
        SETS[name][1](report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
