"""Do paraphrases start on the same tier, and what does it cost? 100 users ask each of ten questions
on five days, each day in other words; the memory is closed and opened again between days. Questions
are utterances of one intent of the test splits of CLINC150 and Banking77 (whose training splits the
table of similar words was made from), and the rewrites of paraphrases.txt (which nothing here was
made from). Each threshold is tried without memory, too: much is the same because the classifier's
score is."""

import csv
import json
import random
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench_router import DATA, quantile, score
from table import ROOT, heading, row

USERS, TOPICS, DAYS = 100, 10, 5
BINARY = ROOT / "build" / "bench" / "bench_consistency"


def intents() -> list:
    """Test utterances by intent."""
    found = defaultdict(list)
    for text, label in json.load(open(DATA / "clinc150" / "data_full.json"))["test"]:
        found["clinc " + label].append(text)
    for line in csv.DictReader(open(DATA / "banking77" / "test.csv", newline="")):
        found["banking " + line["category"]].append(line["text"])
    return list(found.values())


def rewrites() -> list:
    lines = (Path(__file__).parent / "paraphrases.txt").read_text().splitlines()[1:]
    return [block.split("\n") for block in "\n".join(lines).strip().split("\n\n")]


def asked(groups: Any, seed: int) -> list:
    """(user, day, topic, text), days in order; no text twice by one user."""
    rng = random.Random(seed)
    found = []
    for user in range(USERS):
        for topic in rng.sample(range(len(groups)), TOPICS):
            for day, text in enumerate(rng.sample(groups[topic], DAYS)):
                found.append((day, rng.random(), user, topic, " ".join(text.split())))
    return [(user, day, topic, text) for day, _, user, topic, text in sorted(found)]


def measure(lines: Any, thresholds: Any, table: Any) -> list:
    done = subprocess.run(
        [BINARY, ROOT / "models" / "router" / "default.tdr", table, *map(str, thresholds)],
        input="".join("\t".join(map(str, line)) + "\n" for line in lines).encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def on(name: str, groups: Any, table: Any) -> None:
    """Thresholds: a usual one, and the hardest ones, that a half and a fifth of the questions are
    above."""
    lines = asked(groups, 1)
    gains = sorted(verdict["gain"] for verdict in score(None, [line[3] for line in lines]))
    thresholds = [0.3, max(0.001, quantile(gains, 0.5)), max(0.001, quantile(gains, 0.8))]
    print(f"  {name}: {len(groups)} groups, {USERS} users, {TOPICS} questions each, {DAYS} days")
    found = measure(lines, thresholds, table)
    for without, memory in zip(found[::2], found[1::2]):
        row(
            f"gain over {memory['gain_over']:.3f} ({100 * memory['above']:.0f} % above)",
            f"{100 * memory['same']:.1f} % same tier",
            f"goal >= 95 %; {100 * without['same']:.1f} % without memory",
            memory["same"] >= 0.95,
        )
        print(
            f"      all five days the same: {100 * memory['all_same']:.1f} %"
            f" ({100 * without['all_same']:.1f} %); held {memory['kept']} times, moved"
            f" {memory['moved']} times; right answers given up, as the classifier expects:"
            f" {memory['given_up']:.4f} a request (cap 0.02)",
            flush=True,
        )


def run(table: Path = ROOT / "models" / "similar" / "similar.tds") -> None:
    heading("The same user with the same question in other words")
    if not (DATA / "clinc150").exists():
        print(f"  the data are not at {DATA}")
        return
    subprocess.run(
        ["ninja", "-C", ROOT / "build", "--quiet", "bench/bench_consistency"], check=True
    )
    on("utterances of one intent", intents(), table)
    on("rewrites", rewrites(), table)
