"""How often does a cache of similar questions give the wrong answer? Questions of people to a bank
(Banking77) and to an assistant (CLINC150), whose intents are known: some are asked and kept, then
others are asked. An answer that was kept for a question of another intent is a false hit. The same
intent does not make it a right one ("is it open on Monday", "when does it open"), so the share that
is printed is the least that is wrong.

Every question goes through the server, which tells how similar the kept one was; each threshold is
read from that. Beside it stands what the vectors alone would have given, without a look at numbers,
negations, quotations and names. TANDEM_EMBEDDING_MODEL names another model than
all-MiniLM-L6-v2."""

import csv
import json
import random
import time
from collections import defaultdict
from operator import mul
from typing import Any

import minilm
from bench_router import DATA, quantile
from scripted_cloud import Script, ScriptedCloud
from table import heading, row
from tandem import Tandem, edge_first

KEPT = 1000  # as many as are looked through in one scope (answer_cache.h)
ASKED = 1000
THRESHOLDS = (0.8, 0.85, 0.9, 0.95, 0.98)
LEAST = 0.5  # of the configuration: everything nearer is told
CONFIG = """
cache: {{answers: all, similar: true, similar_threshold: {least}}}
engine: {{embedding_model: {model}}}
ledger: {{egress: none}}
"""


def drawn(groups: dict[str, list[str]], count: int, seed: int) -> list[tuple[str, str]]:
    """(text, intent), about as many of each intent; no text twice."""
    rng = random.Random(seed)
    each = -(-count // len(groups))
    found = [
        (" ".join(text.split()), intent)
        for intent, texts in sorted(groups.items())
        for text in rng.sample(sorted(set(texts)), min(each, len(set(texts))))
    ]
    rng.shuffle(found)
    return found[:count]


def banking() -> tuple[list, list]:
    halves = []
    for seed, name in enumerate(("train", "test")):
        groups = defaultdict(list)
        for line in csv.DictReader(open(DATA / "banking77" / f"{name}.csv", newline="")):
            groups[line["category"]].append(line["text"])
        halves.append(drawn(groups, (KEPT, ASKED)[seed], seed))
    return halves[0], halves[1]


def clinc() -> tuple[list, list]:
    """A tenth of the asked ones are of no intent: every hit is then a false one."""
    data = json.load(open(DATA / "clinc150" / "data_full.json"))
    halves = []
    for seed, name in enumerate(("train", "test")):
        groups = defaultdict(list)
        for text, intent in data[name]:
            groups[intent].append(text)
        halves.append(drawn(groups, (KEPT, ASKED * 9 // 10)[seed], seed))
    others = random.Random(2).sample([text for text, _ in data["oos_test"]], ASKED // 10)
    return halves[0], halves[1] + [(text, "none") for text in others]


def vectors(tandem: Tandem, texts: list[str]) -> list[list[float]]:
    found = []
    for at in range(0, len(texts), 50):
        body = {"model": "auto", "input": texts[at : at + 50]}
        answer = tandem.request("POST", "/v1/embeddings", body)
        assert answer.status == 200, answer.body
        found += [item["embedding"] for item in answer.json["data"]]
    return found


def by_vectors(tandem: Tandem, kept: list, asked: list) -> list[tuple[float, bool]]:
    """(similarity of the nearest kept question, whether its intent is another one)."""
    mine = vectors(tandem, [text for text, _ in kept])
    found = []
    for (_, intent), vector in zip(asked, vectors(tandem, [text for text, _ in asked])):
        best, at = max((sum(map(mul, vector, other)), i) for i, other in enumerate(mine))
        found.append((best, kept[at][1] != intent))
    return found


def by_server(
    tandem: Tandem, cloud: ScriptedCloud, kept: list, asked: list, user: str
) -> tuple[list[tuple[float, bool]], list[float]]:
    """The same of the answers that were given, and the ms that each miss took."""
    intents = dict(kept)
    cloud.script = Script(echo=True)
    headers = {"x-tandem-mode": "only-cloud"}
    for text, _ in kept:
        tandem.chat(text, {**headers, "cache-control": "no-cache"}, user=user)
    cloud.script = Script(echo=True, finish="content_filter")  # which is not kept
    found, took = [], []
    for text, intent in asked:
        begun = time.perf_counter()
        answer = tandem.chat(text, headers, user=user)
        ms = 1000 * (time.perf_counter() - begun)
        verdict = answer.headers.get("x-tandem-cache")
        if verdict in ("similar", "hit"):
            similarity = float(answer.headers.get("x-tandem-cache-similarity", 1))
            found.append((similarity, intents[answer.text] != intent))
        else:
            took.append(ms)
    return found, took


def told(found: list[tuple[float, bool]], threshold: float) -> str:
    """Hits of all, and false ones of the hits."""
    hits = [wrong for similarity, wrong in found if similarity >= threshold]
    share = f" = {100 * sum(hits) / len(hits):.1f} %" if hits else ""
    return f"{100 * len(hits) / ASKED:.1f} %, {sum(hits)} of {len(hits)}{share}"


def measure(name: str, kept: list, asked: list, tandem: Tandem, cloud: ScriptedCloud) -> None:
    given, took = by_server(tandem, cloud, kept, asked, name)
    alone = by_vectors(tandem, kept, asked)
    print(f"  {name}: {len(kept)} questions are kept, {len(asked)} others are asked")
    for threshold in THRESHOLDS:
        row(
            f"threshold {threshold:.2f}: hits, false ones of them",
            told(given, threshold),
            f"vectors alone {told(alone, threshold)}",
        )
    took.sort()
    if took:
        row("a request with a look in vain, mock behind", f"p50 {quantile(took, 0.5):.1f} ms")


def run() -> None:
    heading("Answers to similar questions")
    cloud: Any = ScriptedCloud(Script(echo=True))
    config = edge_first(cloud.base_url) + CONFIG.format(least=LEAST, model=minilm.path())
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for name, (kept, asked) in (("Banking77", banking()), ("CLINC150", clinc())):
            measure(name, kept, asked, tandem, cloud)
