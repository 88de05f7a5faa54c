"""The router's claims: RouteLLM's evaluation on its own responses, nine small models, the default
classifier on data it has not seen, and the time of a decision. Everything is trained and scored by
`tandem router train` and `tandem router score`.

RouteLLM's metric (routellm/evals at 0b64fdaf): rank the prompts by score, split at the eleven edges
of ten quantiles, at each send what is at or above the edge to the strong model; CPT(p) is the share
of strong calls at which the share p of the difference between the models is recovered (linear
interpolation); APGR is the area between the curve and the weak model over that of the strong
one."""

import csv
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from endpoint import LOCAL_ONLY, ask_all, user
from measures import auroc, by_outcome, calibration_error
from table import ROOT, heading, program, row
from tandem import Tandem

DATA = Path(os.environ.get("TANDEM_SHARED", ROOT.parent / "shared")) / "data"
TANDEM = Path(os.environ.get("TANDEM_BINARY", ROOT / "build" / "tandem"))
LABELS = 1500
SEEDS = range(int(os.environ.get("BENCH_SEEDS", 5)))
RESAMPLES = 200
OF_EACH_TASK = 150  # prompts of each of the default model's own tasks
MARGIN = 0.05  # between nine models; .05 to .15 give the same
# The published routers' best figures (arXiv 2406.18665, tables 1 to 3): APGR, CPT(50), CPT(80),
# each the best of its column.
PUBLISHED = {
    "MMLU": (0.603, 35.40, 70.31),
    "GSM8K": (0.622, 33.64, 63.26),
    "MT-Bench": (0.802, 13.40, 31.31),
}


# --- the metric ---


def interpolate(x: float, xs: Sequence[float], ys: Sequence[float]) -> Any:
    """numpy.interp: xs need not be monotone, as theirs are not checked either."""
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    low, high = 0, len(xs) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if xs[middle] <= x:
            low = middle
        else:
            high = middle
    if xs[high] == xs[low]:
        return ys[low]
    return ys[low] + (ys[high] - ys[low]) * (x - xs[low]) / (xs[high] - xs[low])


def quantile(ordered: Sequence[float], q: float) -> Any:
    at = q * (len(ordered) - 1)
    low = int(at)
    return ordered[low] + (ordered[min(low + 1, len(ordered) - 1)] - ordered[low]) * (at - low)


def measure(scores: Sequence[float], weak: Any, strong: Any, points: Any = 10) -> tuple:
    """APGR, CPT(50), CPT(80) in percent. Ties are broken by chance: their quantiles refuse equal
    edges."""
    rng = random.Random(0)
    scores = [score + rng.random() * 1e-9 for score in scores]
    ordered = sorted(scores)
    n = len(scores)
    curve = []
    for i in range(points + 1):
        edge = quantile(ordered, i / points)
        taken = [(s > edge) if i == points else (s >= edge) for s in scores]
        share = 100 * sum(taken) / n
        curve.append((share, sum(b if t else a for t, a, b in zip(taken, weak, strong)) / n))
    curve.sort(key=lambda point: point[0])
    xs, ys = [p[0] for p in curve], [p[1] for p in curve]
    weak_mean, strong_mean = sum(weak) / n, sum(strong) / n

    def area(values: Sequence[float]) -> Any:
        return sum(
            (values[i] + values[i + 1]) / 2 * (xs[i + 1] - xs[i]) / 100 for i in range(len(xs) - 1)
        )

    under = area([weak_mean] * len(xs))
    apgr = (area(ys) - under) / (area([strong_mean] * len(xs)) - under)
    cpt = [interpolate(p * (strong_mean - weak_mean) + weak_mean, ys, xs) for p in (0.5, 0.8)]
    return apgr, cpt[0], cpt[1]


def interval(scores: Sequence[float], weak: Any, strong: Any) -> list:
    """95 % of the bootstrap over test rows."""
    rng = random.Random(1)
    n = len(scores)
    found = []
    for _ in range(RESAMPLES):
        rows = rng.choices(range(n), k=n)
        found.append(
            measure([scores[i] for i in rows], [weak[i] for i in rows], [strong[i] for i in rows])
        )
    return [
        (quantile(sorted(f[k] for f in found), 0.025), quantile(sorted(f[k] for f in found), 0.975))
        for k in range(3)
    ]


# --- the commands ---


def train(lines: Any, seed: int, folder: Any) -> Any:
    """Trains on lines and gives the classifier's path."""
    source, out = Path(folder) / "train.jsonl", Path(folder) / "router.tdr"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    subprocess.run(
        [TANDEM, "router", "train", source, "-o", out, "--seed", str(seed)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return out


def score(classifier: Any, texts: list[str]) -> list:
    """The verdicts, one object a text."""
    command = [str(TANDEM), "router", "score", "--jsonl"]
    if classifier:
        command += ["-m", str(classifier)]
    done = subprocess.run(
        command,
        input="".join(json.dumps({"text": t}) + "\n" for t in texts).encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


# --- RouteLLM ---


def contaminated(folder: Any) -> set:
    with open(DATA / "routellm" / folder / "contaminated_prompts.jsonl") as file:
        return {line.get("eval_prompt") for line in map(json.loads, file)}


def read_responses(path: Any, subject: str) -> list:
    """[prompt, weak right, strong right, subject]"""
    with open(path, newline="") as file:
        rows = csv.reader(file)
        names = next(rows)
        weak = next(i for i, n in enumerate(names) if n.endswith("Mixtral-8x7B-Instruct-v0.1"))
        strong = next(i for i, n in enumerate(names) if n.endswith("gpt-4-1106-preview"))
        return [
            (r[names.index("prompt")], r[weak] == "True", r[strong] == "True", subject)
            for r in rows
        ]


def mmlu() -> list:
    dropped = contaminated("mmlu")
    rows = []
    for path in sorted((DATA / "routellm" / "mmlu" / "responses").glob("mmlu_*.csv")):
        rows += read_responses(path, path.stem[5:])
    return [r for r in rows if r[0] not in dropped]


def gsm8k() -> list:
    dropped = contaminated("gsm8k")
    return [
        r
        for r in read_responses(DATA / "routellm" / "gsm8k" / "gsm8k_responses.csv", "gsm8k")
        if r[0] not in dropped
    ]


def labelled(rows: Any) -> list:
    """The subjects are not given: as tasks they made the ranking no better."""
    return [{"text": r[0], "local_ok": r[1], "strong_ok": r[2]} for r in rows]


def known_subject(train_rows: Any, test_rows: Any) -> list:
    """Mean gain of the row's subject among the training labels, drawn to the mean of all as if by
    15 more rows."""
    gains = defaultdict(list)
    for r in train_rows:
        gains[r[3]].append(r[2] - r[1])
    mean = statistics.fmean(g for values in gains.values() for g in values)
    return [(sum(gains[r[3]]) + 15 * mean) / (len(gains[r[3]]) + 15) for r in test_rows]


def print_rows(name: str, figures: Any) -> None:
    """figures: what -> one (APGR, CPT50, CPT80) a seed."""
    print(f"  {name + ':':38} {'APGR':>6} {'CPT(50)':>8} {'CPT(80)':>8}")
    for what, values in figures.items():
        means = [statistics.fmean(v[k] for v in values) for k in range(3)]
        print(f"  {what:38} {means[0]:6.3f} {means[1]:8.2f} {means[2]:8.2f}", flush=True)


def on_labels(name: str, rows: Any, label_count: Any, has_subjects: Any, goals: Any) -> None:
    """Five random choices of the training rows; all the others are tested."""
    figures = defaultdict(list)
    last = None
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            rng = random.Random(seed)
            order = list(range(len(rows)))
            rng.shuffle(order)
            known, test = (
                [rows[i] for i in order[:label_count]],
                [rows[i] for i in order[label_count:]],
            )
            weak, strong = [float(r[1]) for r in test], [float(r[2]) for r in test]
            figures["random"].append(measure([rng.random() for _ in test], weak, strong))
            figures["prompt length"].append(measure([len(r[0]) for r in test], weak, strong))
            if has_subjects:
                figures["known subject"].append(measure(known_subject(known, test), weak, strong))
            ours = [
                v["gain"] for v in score(train(labelled(known), seed, folder), [r[0] for r in test])
            ]
            figures["tandem"].append(measure(ours, weak, strong))
            last = (ours, weak, strong)
    figures["best published router"] = [PUBLISHED[name]]
    print_rows(f"{name}, {label_count} labels, {len(SEEDS)} seeds", figures)
    assert last
    bounds = interval(*last)
    print(
        "  95 % interval of the last seed's rows:   "
        + "  ".join(f"[{a:.3f}, {b:.3f}]" if b < 2 else f"[{a:.1f}, {b:.1f}]" for a, b in bounds)
    )
    means = [statistics.fmean(v[k] for v in figures["tandem"]) for k in range(3)]
    for what, k, goal, higher in goals:
        row(
            f"{name} {what}",
            f"{means[k]:.3f}" if k == 0 else f"{means[k]:.1f} %",
            f"goal {'>=' if higher else '<='} {goal}",
            means[k] >= goal if higher else means[k] <= goal,
        )


def mt_bench(train_rows: Any) -> None:
    """Trained on MMLU and GSM8K labels: there are too few questions to train on. Both turns count,
    the first one is scored."""
    folder = DATA / "routellm" / "mt_bench"
    questions = {
        q["question_id"]: q["turns"][0] for q in map(json.loads, open(folder / "question.jsonl"))
    }
    dropped = contaminated("mt_bench")
    judged = defaultdict(dict)
    for line in map(json.loads, open(folder / "judgements.jsonl")):
        judged[line["question_id"], line["turn"]][line["model"]] = line["score"]
    ids = [i for i in sorted(questions) if questions[i] not in dropped]
    strong_name = next(m for m in judged[ids[0], 1] if "gpt-4" in m)
    weak_name = next(m for m in judged[ids[0], 1] if m != strong_name)
    rows = [
        (i, judged[i, turn][weak_name], judged[i, turn][strong_name])
        for i in ids
        for turn in (1, 2)
    ]
    weak, strong = [r[1] for r in rows], [r[2] for r in rows]
    texts = [questions[r[0]] for r in rows]
    rng = random.Random(0)
    figures = {
        "random": [measure([rng.random() for _ in rows], weak, strong) for _ in range(50)],
        "prompt length": [measure([len(t) for t in texts], weak, strong)],
    }
    with tempfile.TemporaryDirectory() as place:
        ours = [v["gain"] for v in score(train(labelled(train_rows), 0, place), texts)]
    figures["tandem, labels of MMLU and GSM8K"] = [measure(ours, weak, strong)]
    shipped = [v["gain"] for v in score(None, texts)]
    figures["tandem, default classifier"] = [measure(shipped, weak, strong)]
    figures["best published router"] = [PUBLISHED["MT-Bench"]]
    print_rows(f"MT-Bench, {len(ids)} questions", figures)
    low, high = interval(shipped, weak, strong)[0]
    print(
        f"  95 % interval of the default's APGR: [{low:.3f}, {high:.3f}]: with so few questions"
        " most differences are noise"
    )


def routellm() -> None:
    heading(f"RouteLLM's responses, its metric, at most {LABELS} labels")
    mmlu_rows, gsm8k_rows = mmlu(), gsm8k()
    on_labels("MMLU", mmlu_rows, LABELS, True, [("APGR", 0, 0.67, True), ("CPT(50)", 1, 27, False)])
    on_labels("GSM8K", gsm8k_rows, len(gsm8k_rows) // 2, False, [("APGR", 0, 0.65, True)])
    rng = random.Random(0)
    mt_bench(rng.sample(mmlu_rows, LABELS // 2) + rng.sample(gsm8k_rows, LABELS // 2))


# --- nine small models ---


def nine_models(folds: int = 4) -> None:
    heading("Nine small models, one classifier each, the best expected one answers")
    lines = json.load(open(DATA / "llmrouter" / "dcrouter_train.json"))
    prices = {
        name: (m.get("input_price", 0) + m.get("output_price", 0)) / 2
        for name, m in json.load(open(DATA / "llmrouter" / "default_llm.json")).items()
    }
    models = sorted(lines[0]["scores"])
    order = list(range(len(lines)))
    random.Random(0).shuffle(order)
    fold_of = {line: i % folds for i, line in enumerate(order)}
    expected = [{} for _ in lines]
    # Two models a classifier: one as the local, one as the strong tier.
    with tempfile.TemporaryDirectory() as folder:
        for fold in range(folds):
            train_ids = [i for i in range(len(lines)) if fold_of[i] != fold]
            test_ids = [i for i in range(len(lines)) if fold_of[i] == fold]
            for at in range(0, len(models), 2):
                local, strong = models[at], models[min(at + 1, len(models) - 1)]
                known = [
                    {
                        "text": lines[i]["question"],
                        "local_ok": lines[i]["scores"][local],
                        "strong_ok": lines[i]["scores"][strong],
                    }
                    for i in train_ids
                ]
                verdicts = score(
                    train(known, fold, folder), [lines[i]["question"] for i in test_ids]
                )
                for i, verdict in zip(test_ids, verdicts):
                    expected[i][local], expected[i][strong] = (
                        verdict["p_local"],
                        verdict["p_strong"],
                    )
    means = {m: statistics.fmean(line["scores"][m] for line in lines) for m in models}
    best = max(means, key=means.__getitem__)
    # The best of nine noisy numbers is often one that is too high: another model answers only where
    # it is ahead by a margin.
    ahead = [max(models, key=lambda m: of[m]) for of in expected]
    chosen = [m if of[m] > of[best] + MARGIN else best for m, of in zip(ahead, expected)]
    got = [lines[i]["scores"][m] for i, m in enumerate(chosen)]

    def price(m: str) -> Any:
        return next((p for name, p in prices.items() if name == m), float("nan"))

    row("best single model", f"{means[best]:.3f}", f"{best}, {price(best):.2f} USD/Mtok")
    row("oracle", f"{statistics.fmean(max(l['scores'].values()) for l in lines):.3f}")
    known_price = [price(m) for m in chosen if price(m) == price(m)]
    row(
        "routed mixture, cross-validated",
        f"{statistics.fmean(got):.3f}",
        f"goal >= 0.66; {statistics.fmean(known_price) if known_price else float('nan'):.2f}"
        " USD/Mtok",
        statistics.fmean(got) >= 0.66,
    )
    error = 1.96 * statistics.stdev(got) / len(got) ** 0.5
    row("  95 % interval", f"+- {error:.3f}")


# --- the default classifier ---


def macro_f1(pairs: Any) -> dict:
    kinds = sorted({wanted for wanted, _ in pairs})
    scores = {}
    for kind in kinds:
        hits = sum(w == p == kind for w, p in pairs)
        wrong = sum((w == kind) != (p == kind) for w, p in pairs)
        scores[kind] = 2 * hits / (2 * hits + wrong)
    return scores


def written(split: str, count: int) -> list:
    made = subprocess.run(
        [
            "python3",
            ROOT / "models" / "router" / "make_data.py",
            "--split",
            split,
            "--count",
            str(count),
        ],
        stdout=subprocess.PIPE,
        check=True,
    )
    return [json.loads(line) for line in made.stdout.splitlines()]


def out_of_scope(inside: Any, outside: Any) -> float:
    """Share of the lines out of scope above the score that one in ten inside is above."""
    edge = quantile(sorted(inside), 0.9)
    return sum(score > edge for score in outside) / len(outside)


def scope() -> None:
    """What an operator does whose intents are CLINC150's: their training lines are in scope, its
    out-of-scope training lines (each three times, there are 250) and written requests of other
    kinds are not."""
    heading("A scope: CLINC150's intents")
    full = json.load(open(DATA / "clinc150" / "data_full.json"))
    outside = json.load(open(DATA / "clinc150" / "data_oos_plus.json"))["oos_train"]
    inside = {text for text, _ in full["train"]}
    others = {"qa", "creative", "planning", "code", "maths", "reasoning", "fresh", "translation"}
    known = [{"text": text, "local_ok": True} for text, _ in full["train"]] + [
        {"text": text, "local_ok": False} for text, _ in outside
    ] * 3
    known += [
        {"text": line["text"], "local_ok": False}
        for line in written("train", 700)
        if line.get("task") in others and line["text"] not in inside
    ]
    with tempfile.TemporaryDirectory() as folder:
        classifier = train(known, 1, folder)
        scores = [
            [-v["p_local"] for v in score(classifier, [t for t, _ in full[part]])]
            for part in ("test", "oos_test")
        ]
    caught = out_of_scope(*scores)
    area = auroc(scores[1], scores[0])
    row("AUROC in scope versus out of scope", f"{area:.4f}", "goal >= 0.95", area >= 0.95)
    row(
        "out of scope to the safer tier, 10 % false",
        f"{100 * caught:.1f} %",
        "goal >= 70 %",
        caught >= 0.7,
    )


def default_classifier() -> None:
    heading("The default classifier on data that it has not seen")
    clinc = json.load(open(DATA / "clinc150" / "data_full.json"))
    sets = {
        "clinc150": [t for t, _ in clinc["test"]],
        "banking77": [
            r["text"] for r in csv.DictReader(open(DATA / "banking77" / "test.csv", newline=""))
        ],
        "gsm8k": [json.loads(line)["question"] for line in open(DATA / "gsm8k" / "test.jsonl")],
        "humaneval": [
            json.loads(line)["prompt"]
            for line in gzip.open(DATA / "humaneval" / "HumanEval.jsonl.gz")
        ],
        "bbh": [
            e["input"]
            for path in sorted((DATA / "bbh").glob("*.json"))
            for e in json.load(open(path))["examples"]
        ],
        "oos": [t for t, _ in clinc["oos_test"]],
    }
    verdicts = {name: score(None, texts) for name, texts in sets.items()}
    gains = {name: [v["gain"] for v in found] for name, found in verdicts.items()}
    easy = gains["clinc150"] + gains["banking77"]
    for name in ("gsm8k", "bbh", "humaneval"):
        row(f"AUROC easy (CLINC150, Banking77) versus {name}", f"{auroc(gains[name], easy):.4f}")
    together = auroc(gains["gsm8k"] + gains["bbh"] + gains["humaneval"], easy)
    row("AUROC easy versus hard", f"{together:.4f}", "goal >= 0.95", together >= 0.95)
    row(
        "CLINC150 out of scope to the safer tier, 10 % false",
        f"{100 * out_of_scope(gains['clinc150'], gains['oos']):.1f} %",
        "by the default classifier, which knows no scope",
    )
    held = [line for line in written("held", 100) if "task" in line]
    pairs = list(
        zip(
            (line["task"] for line in held),
            (v["task"] for v in score(None, [line["text"] for line in held])),
        )
    )
    rng = random.Random(1)
    for name, kind in (
        ("gsm8k", "maths"),
        ("humaneval", "code"),
        ("bbh", "reasoning"),
        ("banking77", "command"),
    ):
        found = [v["task"] for v in verdicts[name]]
        pairs += [(kind, task) for task in rng.sample(found, min(300, len(found)))]
    scores = macro_f1(pairs)
    print("  F1: " + ", ".join(f"{kind} {value:.2f}" for kind, value in scores.items()))
    mean = statistics.fmean(scores.values())
    row(
        "macro-F1 of the task, held-out phrasings and test sets",
        f"{mean:.3f}",
        "goal >= 0.85",
        mean >= 0.85,
    )


def unseen() -> list:
    """Prompts with known answers that neither the classifier nor the default model was trained on,
    as models/router/make_data.py writes them, each with its set."""
    import corpora
    import data
    from nano_sets import bbh_items
    from pools import seeded

    lines = [
        (name, {"text": text, "check": "intent", "wanted": label})
        for name, rows in (
            ("CLINC150", corpora.clinc("test")),
            ("Banking77", corpora.banking("test")),
        )
        for text, label in rows
    ]
    for task in data.GENERATORS:
        for number in range(OF_EACH_TASK):
            made, messages, answer, *_ = data.asked_example(
                seeded("bench_router", task, number), task, "held"
            )
            wanted = None if made == "other" else answer
            if len(messages) == 1:
                lines += [(task, {"text": messages[0][1], "check": task, "wanted": wanted})]
    return lines + [
        ("BIG-Bench Hard", {"text": item.request["messages"][0]["content"], "wanted": None})
        for item in bbh_items()
    ]


def own_answers() -> None:
    """p_local beside what the default model then gets right."""
    sys.path += [str(ROOT / "models" / part) for part in ("nano", "router")]
    import measure

    heading("p_local of the default classifier beside the default model's answers")
    lines = unseen()
    with Tandem(LOCAL_ONLY) as tandem:
        replies = ask_all(tandem, [user(line["text"]) for _, line in lines])
    right = [measure.grade(line, r, frozenset()) for (_, line), r in zip(lines, replies)]
    expected = [v["p_local"] for v in score(None, [line["text"] for _, line in lines])]
    of_set = defaultdict(list)
    for (name, _), p, r in zip(lines, expected, right):
        of_set[name].append((p, r))
    for name, pairs in of_set.items():
        row(
            f"  {name}: p_local; right",
            "; ".join(f"{statistics.fmean(float(x[k]) for x in pairs):.2f}" for k in (0, 1)),
        )
    row("AUROC right versus wrong", f"{auroc(*by_outcome(expected, right)):.3f}")
    row("calibration error", f"{calibration_error(expected, right):.3f}")


# --- an attacker ---


def hill_climb() -> None:
    """Half easy prompts, half hard ones; bench_climb.c has the attack."""
    rng = random.Random(1)
    clinc = [t for t, _ in json.load(open(DATA / "clinc150" / "data_full.json"))["test"]]
    banking = [r["text"] for r in csv.DictReader(open(DATA / "banking77" / "test.csv", newline=""))]
    maths = [json.loads(line)["question"] for line in open(DATA / "gsm8k" / "test.jsonl")]
    tasks = [
        e["input"]
        for path in sorted((DATA / "bbh").glob("*.json"))
        for e in json.load(open(path))["examples"]
    ]
    prompts = (
        rng.sample(clinc, 700)
        + rng.sample(banking, 300)
        + rng.sample(maths, 400)
        + rng.sample(tasks, 300)
    )
    prompts += [r[0] for r in rng.sample(mmlu(), 300)]
    rng.shuffle(prompts)
    with tempfile.NamedTemporaryFile("wb", suffix=".prompts") as file:
        file.write(b"".join(p.replace("\0", " ").encode() + b"\0" for p in prompts))
        file.flush()
        program(
            "bench_climb",
            "Hill-climbing on suffixes",
            ROOT / "models" / "router" / "default.tdr",
            file.name,
        )


def run() -> None:
    import bench_mixed  # which trains and scores by what is above

    if not (DATA / "routellm").exists():
        heading("Router")
        print(f"  the data are not at {DATA}")
        return
    default_classifier()
    own_answers()
    scope()
    routellm()
    nine_models()
    hill_climb()
    bench_mixed.run()
    program(
        "bench_router",
        "Decision time, 500-token prompt",
        ROOT / "models" / "router" / "default.tdr",
        ROOT / "models" / "similar" / "similar.tds",
        ROOT / "models" / "nano" / "nano.gguf",
    )
