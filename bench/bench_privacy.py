#!/usr/bin/env python3
"""How much private data `tandem scan` finds: token-level precision, recall and F2 per type.

The data set is Presidio's synth_dataset_v2 (shared/data/presidio_research). As in its evaluation
notebooks a text is cut into tokens, each has the type of the span that covers it or O, and a
prediction is right when the type is the same. Tokens here are words and single signs; what the
notebooks skip (white space, signs, and the common words that spaCy's patterns skip) is skipped as
well. Types that mean the same are mapped to one (MAPPED). An own set (--own) has more kinds, made
by generate().

privacy_ways.py lists some hundred ways of writing a value, which are tried one by one, and texts
that look like them; the sets of prose, sums and code count false alarms. privacy_variants.py writes
the set's values in ways that cheaply hide them. Presidio runs beside us on the same texts where
PRESIDIO_PYTHON names a Python that has it (presidio_peer.py); else its published figures are
printed, and said to be that. Speed is texts a second of processor time: ours with the program's
start, Presidio's without its own.

WNUT17's test split (names in posts of people who do not mind capitals) is measured by tokens too,
and by whole entities as its task does. PUPA (prompts of real people, with what in them is private)
asks how much of that is still in the text when all that was found is taken out, and how much of the
text that was.

    bench/bench_privacy.py [--tandem build/tandem] [--set ways|clean|presidio|hidden|wnut|pupa]
    [--data FILE] [--errors TYPE] [--min-score X] [--json]
"""

import argparse
import collections
import csv
import gzip
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
import privacy_variants
import privacy_ways
from table import heading
from table import row as print_goal
from tandem import Tandem

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TANDEM_SHARED", ROOT.parent / "shared"))
TOKEN = re.compile(r"\w+")
# The notebooks map both sides to Presidio's entities; places and addresses are its LOCATION.
MAPPED = {
    "STREET_ADDRESS": "LOCATION",
    "GPE": "LOCATION",
    "ZIP_CODE": "LOCATION",
    "COORDINATES": "LOCATION",
    "URL": "DOMAIN_NAME",
}
PRESIDIO = os.environ.get("PRESIDIO_PYTHON")
# https://github.com/microsoft/presidio-research, notebooks 4 and 5, synth_dataset_v2: the default
# engine and the tuned one.
PUBLISHED = {
    "default": {"precision": 0.685, "recall": 0.603},
    "tuned": {"precision": 0.870, "recall": 0.839},
}
FROM_A_TAGGER = ("PERSON", "LOCATION", "ORGANIZATION", "TITLE")
NAMES = ("LOCATION", "PERSON", "ORGANIZATION")
# (precision, recall)
GOAL_ALL, GOAL_STRUCTURED, GOAL_NAMES, GOAL_HIDDEN = (
    (0.92, 0.90),
    (0.95, 0.97),
    (None, 0.80),
    (None, 0.80),
)
GOAL_PUPA = 0.075  # units left
GOAL_WAYS, GOAL_OTHERS = 110, 190
# Texts of each set that are kept, as it was before numbers in unusual groups were looked for. Some
# do hold what looks like somebody's.
GOAL_CLEAN = {"HumanEval": 1, "GSM8K": 46, "BBH": 18, "banking77": 0, "CLINC150": 15, "src/base": 1}
POINTS = (0.35, 0.2, 0.1)  # of privacy.names.min_score, beside the default


def scan(
    tandem: Tandem, texts: list[str], min_score: float | None = None, strict: bool = False
) -> Any:
    return timed_scan(tandem, texts, min_score, strict)[0]


def timed_scan(
    tandem: Tandem, texts: list[str], min_score: float | None = None, strict: bool = False
) -> tuple:
    """(spans of each text, seconds of processor time)"""
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write(f"privacy: {{names: {{min_score: {min_score}}}}}\n" if min_score else "{}\n")
        config.flush()
        begin = children_seconds()
        done = subprocess.run(
            [tandem, "scan", "--jsonl", "--config", config.name] + ["--strict"] * strict,
            input=lines.encode(),
            capture_output=True,
            check=True,
        )
        spent = children_seconds() - begin
    return [json.loads(line)["spans"] for line in done.stdout.splitlines()], spent


def children_seconds() -> Any:
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def presidio_scan(texts: list[str]) -> tuple | None:
    """({"version", "model", "cpu_seconds"}, spans of each text), None where it is not installed."""
    if not PRESIDIO:
        return None
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    done = subprocess.run(
        [PRESIDIO, str(Path(__file__).with_name("presidio_peer.py"))],
        input=lines.encode(),
        capture_output=True,
    )
    if done.returncode != 0:
        sys.exit(
            f"PRESIDIO_PYTHON={PRESIDIO} cannot run"
            f" presidio_peer.py:\n{done.stderr.decode()[-600:]}"
        )
    first, *rest, last = (json.loads(line) for line in done.stdout.splitlines())
    return {**first, **last}, [row["spans"] for row in rest]


def labels(text: str, spans: Any) -> list:
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


def ratio(a: Any, b: Any) -> Any:
    return a / b if b else float("nan")


def f_beta(precision: float, recall: float, beta: float = 2) -> Any:
    below = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / below if below else 0.0


class Counts:
    def __init__(self) -> None:
        self.right = collections.Counter()
        self.wanted = collections.Counter()
        self.given = collections.Counter()
        self.as_any = collections.Counter()
        self.any_right = self.any_wanted = self.any_given = 0

    def add(self, wanted: Any, given: Any, known: Any) -> None:
        if given not in known:
            given = "O"  # a kind that the set does not label at all is no error in it
        self.wanted[wanted] += 1
        self.given[given] += 1
        self.right[wanted] += wanted == given
        if wanted != "O":
            self.any_wanted += 1
            self.any_right += given != "O"
            self.as_any[wanted] += given != "O"
        self.any_given += given != "O"

    def row(self, kind: str) -> dict:
        precision = ratio(self.right[kind], self.given[kind])
        recall = ratio(self.right[kind], self.wanted[kind])
        return {
            "type": kind,
            "tokens": self.wanted[kind],
            "precision": precision,
            "recall": recall,
            "as_any": ratio(self.as_any[kind], self.wanted[kind]),
            "f2": f_beta(precision, recall) if self.given[kind] else 0.0,
        }


def total(counts: Any, kinds: Any) -> dict:
    right = sum(counts.right[k] for k in kinds)
    given = sum(counts.given[k] for k in kinds)
    wanted = sum(counts.wanted[k] for k in kinds)
    precision, recall = ratio(right, given), ratio(right, wanted)
    return {
        "tokens": wanted,
        "precision": precision,
        "recall": recall,
        "f2": f_beta(precision, recall),
    }


def figures(row: Any) -> str:
    return f"{row['precision']:6.3f} {row['recall']:6.3f} {row['f2']:6.3f}"


def print_types(report: Any, peer: Any = None) -> None:
    """A row a type; beside it what the peer has for the same type."""
    print(
        f"{'type':20} {'tokens':>7} {'P':>6} {'R':>6} {'F2':>6}"
        + (f" | {'Presidio P':>10} {'R':>6} {'F2':>6}" if peer else "")
    )
    peers = {row["type"]: row for row in typed_rows(peer)} if peer else {}
    for row in typed_rows(report):
        print(
            f"{row['type']:20} {row['tokens']:7} {figures(row)}"
            + (f" |     {figures(peers[row['type']])}" if peer else "")
        )


def typed_rows(report: Any) -> Any:
    return report["types"] + [
        {"type": name, **report[name]} for name in ("structured", "all") if name in report
    ]


def print_goals(what: str, found: Any, goal: Any) -> None:
    """A row for the precision and one for the recall that a goal names."""
    for name, least in zip(("precision", "recall"), goal):
        if least is not None:
            print_goal(
                f"{what}, {name}",
                f"{found[name]:.3f}",
                f"goal >= {least:.2f}",
                found[name] >= least,
            )


def print_set_goals(report: Any) -> None:
    print_goals("all types", report["all"], GOAL_ALL)
    if "structured" in report:
        print_goals("structured", report["structured"], GOAL_STRUCTURED)
    for row in report["types"]:
        if MAPPED.get(row["type"], row["type"]) in NAMES:
            print_goals(row["type"], row, GOAL_NAMES)


def read_set(args: argparse.Namespace) -> list:
    """[(text, [(begin, end, type)])]"""
    return [
        (
            row["full_text"],
            [(s["start_position"], s["end_position"], s["entity_type"]) for s in row["spans"]],
        )
        for row in json.loads(Path(args.data).read_text())
    ]


def triples(spans: Any) -> list:
    return [(s["char_start"], s["char_end"], s["type"]) for s in spans]


def count_set(rows: Any, findings: Any, known: Any, errors: Any = None) -> dict:
    counts = Counts()
    for (text, spans), found in zip(rows, findings):
        wrong = []
        for (token, want), (_, give) in zip(labels(text, spans), labels(text, triples(found))):
            counts.add(want, give, known)
            if want != give and errors in (want, give):
                wrong.append(f"{token} [{want} -> {give}]")
        if wrong:
            print(" ".join(wrong), "|", repr(text[:200]))
    kinds = sorted(known, key=lambda k: -counts.wanted[k])
    return {
        "types": [counts.row(k) for k in kinds],
        "structured": total(counts, [k for k in kinds if k not in FROM_A_TAGGER]),
        "all": total(counts, kinds),
        "any_type": {
            "tokens": counts.any_wanted,
            "precision": ratio(counts.any_right, counts.any_given),
            "recall": ratio(counts.any_right, counts.any_wanted),
        },
    }


def presidio(args: argparse.Namespace) -> dict:
    rows = read_set(args)
    known = {MAPPED.get(kind, kind) for _, spans in rows for _, _, kind in spans}
    texts = [text for text, _ in rows]
    findings, seconds = timed_scan(args.tandem, texts, args.min_score)
    report = dict(count_set(rows, findings, known, args.errors), texts_s=len(texts) / seconds)
    report["points"] = {
        f"min_score {point}": count_set(rows, scan(args.tandem, texts, point), known)
        for point in POINTS
    }
    report["points"]["strict"] = count_set(
        rows, scan(args.tandem, texts, args.min_score, True), known
    )
    peer = presidio_scan(texts)
    report["presidio"] = (
        dict(
            count_set(rows, peer[1], known),
            run=peer[0],
            texts_s=len(texts) / peer[0]["cpu_seconds"],
        )
        if peer
        else {"published": PUBLISHED}
    )
    return report


def print_presidio(report: Any) -> None:
    peer = report["presidio"]
    ran = "run" in peer
    if ran:
        print(
            f"Presidio {peer['run']['version']} on the same texts, "
            + (
                f"with {peer['run']['model']}"
                if peer["run"]["model"]
                else "its patterns alone (no English spaCy model is installed)"
            )
        )
    print_types(report, peer if ran else None)
    for who, part in (("ours", report), ("Presidio", peer)):
        if "any_type" in part:
            print(
                f"private, any type, {who}: P {part['any_type']['precision']:.3f} R"
                f" {part['any_type']['recall']:.3f}; {part['texts_s']:.0f} texts/s of processor"
                " time"
            )
    for name, row in report["points"].items():
        print(
            f"{name:20} all P {row['all']['precision']:.3f} R {row['all']['recall']:.3f} F2"
            f" {row['all']['f2']:.3f}; recall of "
            + ", ".join(
                f"{r['type']} {r['recall']:.3f} (as any type {r['as_any']:.3f})"
                for r in row["types"]
                if r["type"] in NAMES
            )
        )
    print(
        "Presidio, published: "
        + ", ".join(
            f"{name} P {row['precision']:.3f} R {row['recall']:.3f}"
            for name, row in PUBLISHED.items()
        )
        + ("" if ran else " (not run here)")
    )
    print_set_goals(report)


def hidden(args: argparse.Namespace) -> dict:
    """Recall of values that were written in other ways, beside that of the same kinds as they
    are."""
    rows = read_set(args)
    changed = {name: privacy_variants.make(rows, name) for name in privacy_variants.VARIANTS}
    texts = [text for texts in changed.values() for text, _ in texts]
    peer = presidio_scan(texts)
    findings = {
        "tandem": iter(scan(args.tandem, texts, args.min_score)),
        **({"presidio": iter(peer[1])} if peer else {}),
    }
    out = {}
    for name, (_, kinds) in privacy_variants.VARIANTS.items():
        as_is = [(text, [s for s in spans if s[2] in kinds]) for text, spans in rows]
        row: dict[str, Any] = {"values": 0}
        for who, spans in findings.items():
            of_texts = [triples(next(spans)) for _ in changed[name]]
            found, row["values"] = privacy_variants.recall(changed[name], of_texts, MAPPED)
            row[who] = {"found": found, "recall": ratio(found, row["values"])}
            if who == "tandem" and args.errors == name:
                print_not_found(changed[name], of_texts)
        plain, count = privacy_variants.recall(
            as_is,
            [triples(s) for s in scan(args.tandem, [t for t, _ in as_is], args.min_score)],
            MAPPED,
        )
        row["unhidden"] = ratio(plain, count)
        out[name] = row
    return out


def print_not_found(changed: Any, findings: Any) -> None:
    for (text, values), spans in zip(changed, findings):
        if privacy_variants.recall([(text, values)], [spans], MAPPED)[0] < len(values):
            print(
                [(text[b:e], k) for b, e, k in values],
                [(text[b:e], k) for b, e, k in spans],
                repr(text[:160]),
            )


def print_hidden(report: Any) -> None:
    print(f"{'recall of values':20} {'values':>7} {'ours':>6} {'as is':>6} {'Presidio':>8}")
    sums = {}
    for name, row in report.items():
        print(
            f"{name:20} {row['values']:7} {row['tandem']['recall']:6.3f} {row['unhidden']:6.3f} "
            + (f"{row['presidio']['recall']:8.3f}" if "presidio" in row else f"{'':8}")
        )
        for who in ("tandem", "presidio"):
            if who in row:
                found, count = sums.get(who, (0, 0))
                sums[who] = (found + row[who]["found"], count + row["values"])
    print(
        f"{'all':20} {sums['tandem'][1]:7} {ratio(*sums['tandem']):6.3f} {'':6} "
        + (f"{ratio(*sums['presidio']):8.3f}" if "presidio" in sums else "")
    )
    for name, row in report.items():
        print_goals(f"hidden by {name}", row["tandem"], GOAL_HIDDEN)
    print_goals("hidden in all these ways", {"recall": ratio(*sums["tandem"])}, GOAL_HIDDEN)


# Products and works of art are nobody's private data; groups are organisations that have no
# register.
WNUT_TYPE = {
    "person": "PERSON",
    "location": "GPE",
    "corporation": "ORGANIZATION",
    "group": "ORGANIZATION",
}


def wnut_posts() -> Iterator:
    """(text, [(begin, end, type)]) of the test split; tokens are joined by spaces."""
    path = SHARED / "data" / "wnut17" / "emerging.test.annotated"
    for block in re.split(r"\n\s*\n", path.read_text().strip()):
        text, spans = "", []
        for token, tag in (
            line.split("\t")[:2] for line in block.splitlines() if "\t" in line.strip()
        ):
            kind = WNUT_TYPE.get(tag[2:])
            if kind and tag[0] == "I" and spans and spans[-1][1] == len(text) - 1:
                spans[-1] = (spans[-1][0], len(text) + len(token), kind)
            elif kind:
                spans.append((len(text), len(text) + len(token), kind))
            text += token + " "
        yield text, spans


def wnut(args: argparse.Namespace) -> dict:
    """With "any": tokens found as whatever type, also by a strict scan."""
    posts = list(wnut_posts())
    any_type = {}
    for manner, strict in (("balanced", False), ("strict", True)):
        counts = Counts()
        for (text, spans), found in zip(
            posts, scan(args.tandem, [text for text, _ in posts], args.min_score, strict)
        ):
            for (_, want), (_, give) in zip(
                plain_labels(text, spans), plain_labels(text, triples(found))
            ):
                counts.add(want, give, {give})
        any_type[manner] = ratio(counts.any_right, counts.any_wanted)
    counts, entities = Counts(), collections.Counter()
    known = set(WNUT_TYPE.values())
    for (text, spans), found in zip(
        posts, scan(args.tandem, [text for text, _ in posts], args.min_score)
    ):
        given = [(s["char_start"], s["char_end"], s["type"]) for s in found if s["type"] in known]
        for (_, want), (_, give) in zip(plain_labels(text, spans), plain_labels(text, given)):
            counts.add(want, give, known)
        entities["wanted"] += len(spans)
        entities["given"] += len(given)
        entities["right"] += len(set(spans) & set(given))
    precision, recall = (
        ratio(entities["right"], entities["given"]),
        ratio(entities["right"], entities["wanted"]),
    )
    return {
        "any_type": any_type,
        "types": [counts.row(k) for k in ("PERSON", "GPE", "ORGANIZATION")],
        "all": total(counts, known),
        "entities": {
            "tokens": entities["wanted"],
            "precision": precision,
            "recall": recall,
            "f2": f_beta(precision, recall),
            "f1": f_beta(precision, recall, 1),
        },
    }


def plain_labels(text: str, spans: Any) -> list:
    return [
        (
            token.group(),
            next((k for b, e, k in spans if token.start() < e and b < token.end()), "O"),
        )
        for token in TOKEN.finditer(text)
    ]


def print_wnut(report: Any) -> None:
    print_types(report)
    print(f"{'whole entities':20} {report['entities']['tokens']:7} {figures(report['entities'])}")
    print(
        "recall as any type: "
        + ", ".join(f"{manner} {recall:.3f}" for manner, recall in report["any_type"].items())
    )
    print_set_goals(report)


def pupa_left(args: argparse.Namespace, strict: bool) -> dict:
    with open(SHARED / "data" / "pupa" / "PUPA_New.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    units = left = letters = removed = marks = marks_left = 0
    for row, found in zip(
        rows, scan(args.tandem, [row["user_query"] for row in rows], args.min_score, strict)
    ):
        text, at, kept = row["user_query"], 0, []
        for span in found:
            kept.append(text[at : span["char_start"]])
            at = span["char_end"]
            removed += at - span["char_start"]
        letters += len(text)
        rest = " \0 ".join(kept + [text[at:]]).lower()
        for unit in {u.strip().lower() for u in row["pii_units"].split("||") if u.strip()}:
            if unit not in text.lower():
                continue  # the set's authors normalised it: whether it is there cannot be said
            if unit.startswith("presidio_anonymized"):
                marks += 1
                marks_left += unit in rest
                continue
            units += 1
            left += unit in rest
            if unit in rest and args.errors == ("left-strict" if strict else "left"):
                print(repr(unit))
    return {
        "units": units,
        "units_left": ratio(left, units),
        "text_removed": ratio(removed, letters),
        "marks": marks,
        "marks_left": ratio(marks_left, marks),
    }


def pupa(args: argparse.Namespace) -> dict:
    return {"balanced": pupa_left(args, False), "strict": pupa_left(args, True)}


def print_pupa(report: Any) -> None:
    for manner, row in report.items():
        print(
            f"{manner}: {row['units']} private units, still there {row['units_left']:.1%}; text"
            f" taken out {row['text_removed']:.1%}; of {row['marks']} marks that replaced something"
            f" already {row['marks_left']:.1%} are still there"
        )
    for manner, row in report.items():
        print_goal(
            f"PUPA, {manner}: private units left",
            f"{row['units_left']:.1%}",
            f"goal <= {GOAL_PUPA:.1%}",
            row["units_left"] <= GOAL_PUPA,
        )


def ways(args: argparse.Namespace) -> dict:
    """Which of the ways of writing a value are kept, and which texts that only look like them."""
    return {
        name: [
            {
                "name": row[0],
                "kept": found["class"] != "public",
                "why": row[2] if len(row) > 2 else "",
            }
            for row, found in zip(rows, results(args.tandem, [row[1] for row in rows]))
        ]
        for name, rows in (
            ("card", privacy_ways.WAYS),
            ("other", privacy_ways.OTHERS),
            ("clean", privacy_ways.CLEAN),
        )
    }


def print_ways(report: Any) -> None:
    for part in ("card", "other"):
        for row in report[part]:
            print(f"{row['name']:44} {'kept' if row['kept'] else 'leaves: ' + (row['why'] or '?')}")
    for part, what, least in (
        ("card", "142 ways of writing a card that are kept", GOAL_WAYS),
        ("other", "200 others", GOAL_OTHERS),
    ):
        kept = sum(row["kept"] for row in report[part])
        print_goal(what, str(kept), f"goal >= {least}", kept >= least)
    wrong = [row["name"] for row in report["clean"] if row["kept"]]
    print_goal(
        f"kept of {len(report['clean'])} texts that look like these",
        str(len(wrong)),
        "goal 0",
        not wrong,
    )


def results(tandem: Tandem, texts: list[str]) -> list:
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    done = subprocess.run(
        [tandem, "scan", "--jsonl"], input=lines.encode(), capture_output=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def clean_texts() -> dict[str, list[str]]:
    """Prose, sums and code in which hardly anything is private, by the set's name."""
    data = SHARED / "data"
    with gzip.open(data / "humaneval" / "HumanEval.jsonl.gz") as file:
        code = [json.loads(line) for line in file]
    with open(data / "banking77" / "train.csv", newline="") as file:
        questions = [row[0] for row in csv.reader(file)]
    sums = (data / "gsm8k" / "train.jsonl").read_text().splitlines()
    return {
        "HumanEval": [row["prompt"] + row["canonical_solution"] + row["test"] for row in code],
        "GSM8K": [row["question"] + "\n" + row["answer"] for row in map(json.loads, sums)],
        "BBH": [
            example["input"]
            for path in sorted((data / "bbh").glob("*.json"))
            for example in json.loads(path.read_text())["examples"]
        ],
        "banking77": questions,
        "CLINC150": [
            text
            for text, _ in json.loads((data / "clinc150" / "data_full.json").read_text())["train"]
        ],
        "src/base": [path.read_text() for path in sorted((ROOT / "src" / "base").rglob("*.[ch]"))],
    }


def clean(args: argparse.Namespace) -> dict:
    return {
        name: {
            "texts": len(texts),
            "kept": sum(row["class"] != "public" for row in results(args.tandem, texts)),
        }
        for name, texts in clean_texts().items()
    }


def print_clean(report: Any) -> None:
    for name, row in report.items():
        print_goal(
            f"{name}, of {row['texts']} texts kept",
            str(row["kept"]),
            f"goal <= {GOAL_CLEAN[name]}",
            row["kept"] <= GOAL_CLEAN[name],
        )


SETS = {
    "ways": (ways, print_ways, "Values in unusual forms"),
    "clean": (clean, print_clean, "False alarms"),
    "presidio": (presidio, print_presidio, "synth_dataset_v2, by tokens"),
    "hidden": (hidden, print_hidden, "The same values, hidden"),
    "wnut": (wnut, print_wnut, "WNUT17 test, by tokens"),
    "pupa": (pupa, print_pupa, "PUPA, what is left when all that was found is taken out"),
}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tandem", default=str(ROOT / "build" / "tandem"))
    options.add_argument(
        "--data", default=str(SHARED / "data" / "presidio_research" / "synth_dataset_v2.json")
    )
    options.add_argument("--set", choices=sorted(SETS), action="append", help="only this one")
    options.add_argument(
        "--errors",
        help=(
            "print what was missed and what was wrong: a type, a way of hiding, left or left-strict"
            " (PUPA's)"
        ),
    )
    options.add_argument("--min-score", type=float, help="of names, in place of the default")
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    reports = {name: SETS[name][0](args) for name in args.set or SETS}
    if args.json:
        print(json.dumps(reports, indent=1))
        return 0
    for name, report in reports.items():
        heading(SETS[name][2])
        SETS[name][1](report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
