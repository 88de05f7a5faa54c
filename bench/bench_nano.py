"""make bench-nano: what the models of models/nano can do, beside published figures and the goals.

All through the chat endpoint of the real program, but for the counts of layers and guesses, which
`tandem generate` tells. BENCH_NANO=FILE measures another file, NANO_LARGE=FILE names the larger
model, PICTURES=FOLDER writes the two pictures of the model card. The Berkeley Function-Calling
Leaderboard's questions are fetched (bfcl.py). BENCH_QUICK=1 asks a fifth of everything."""

import http.client
import json
import os
import time
from pathlib import Path
from typing import Any

import bfcl
import nano_sets as sets
import pictures
from endpoint import LOCAL_ONLY, ask_all, classify_all, recorded, send, user
from measures import auroc, bins, by_outcome, calibration_error, macro_recall, mean, risk_coverage
from table import heading, row
from tandem import NANO, ROOT, Tandem
from tandem import run as run_program

QUICK = os.environ.get("BENCH_QUICK") == "1"
MODEL = Path(os.environ.get("BENCH_NANO", NANO))
LARGE = Path(os.environ.get("NANO_LARGE", ROOT / "models" / "nano" / "nano-large.gguf"))
TASK_COUNT, SCHEMA_COUNT, TWEETS, TOOL_COUNT = 200, 400, 3000, 1000
TIMED_TOOLS, TIMED = 10, 20  # tools of a timed request, how many are timed
EXITS = (0.9999, 0.999, 0.99, 0.95, 0.9, 0.8)
RISK = 0.05  # share of the answers kept on the device that may be wrong
ALARMS = 0.04  # share of our own prompts that may be said to be not ours; the goal is 0.05
LOST_MAX = 0.005  # accuracy that an early exit may cost


def some(items: Any) -> Any:
    return items[::5] if QUICK else items


class Asked:
    """Items with their replies; refused: the model said "not mine", or its confidence was too
    low."""

    def __init__(self, tandem: Tandem, items: Any) -> None:
        self.items = some(items)
        self.replies = ask_all(tandem, [item.request for item in self.items])
        self.right = [item.right(reply) for item, reply in zip(self.items, self.replies)]
        self.confidences = [reply.confidence for reply in self.replies]
        for item, reply in zip(self.items, self.replies):
            if reply.status != 200 and item.wanted is not None:
                raise RuntimeError(f"status {reply.status}: {reply.error}")

    def refused(self, least: float = 0.0) -> list:
        return [
            r.status != 200 or r.text == sets.REFUSAL or r.confidence < least for r in self.replies
        ]


def everyday(tandem: Tandem) -> Asked:
    """What newcomers type. No row asks for a label that it does not name."""
    asked = Asked(tandem, sets.everyday_items())
    pairs = list(zip(asked.items, asked.replies))
    outside = [reply for item, reply in pairs if item.wanted is None]
    labelled = mean(reply.text in sets.LABELS for reply in outside)
    refused = mean(reply.text == sets.REFUSAL for reply in outside)
    row(
        f"everyday messages, outside ({len(outside)}), labelled unasked",
        f"{labelled:.1%}",
        "goal <= 0.5 %",
        labelled <= 0.005,
    )
    row("  said to be not mine", f"{refused:.1%}", "goal >= 97 %", refused >= 0.97)
    inside = [right for item, right in zip(asked.items, asked.right) if item.wanted is not None]
    row(
        f"everyday messages, inside ({len(inside)}), right",
        f"{mean(inside):.1%}",
        "goal >= 90 %",
        mean(inside) >= 0.9,
    )
    for job in sorted({item.row["job"] for item, _ in pairs if item.wanted is not None}):
        own = [r for item, r in zip(asked.items, asked.right) if item.row.get("job") == job]
        row(f"    {job} ({len(own)})", f"{mean(own):.1%}")
    bare = Asked(tandem, sets.bare_items("test")[::5])
    labelled = mean(reply.text in sets.LABELS for reply in bare.replies)
    row(
        f"CLINC150 test, lines alone ({len(bare.items)}), labelled unasked",
        f"{labelled:.1%}",
        "goal 0 %",
        labelled == 0,
    )
    row("  said to be not mine", f"{mean(bare.refused()):.1%}")
    return asked


def coverage(asked: Asked, risk: float) -> float:
    """The largest share of the answers, the surest first, of which so few are wrong."""
    ranked = sorted(zip(asked.confidences, asked.right), key=lambda pair: -pair[0])
    kept = wrong = 0
    for number, (_, right) in enumerate(ranked, 1):
        wrong += not right
        if wrong <= risk * number:
            kept = number
    return kept / max(1, len(ranked))


def tools(tandem: Tandem) -> list:
    """Calls of tools in held-out domains, functions and schemas; all that was asked."""
    calls, texts, outside = (Asked(tandem, part) for part in sets.tool_items(TOOL_COUNT))
    right = mean(calls.right)
    row(
        f"tools, held out ({len(calls.items)}), right call",
        f"{right:.1%}",
        "goal >= 92 %",
        right >= 0.92,
    )
    called = mean(bool(reply.calls) for reply in calls.replies)
    row("  a call at all", f"{called:.1%}")
    stays = coverage(calls, RISK)
    row(
        f"  kept on the device at {RISK:.0%} risk",
        f"{stays:.1%}",
        "goal >= 60 %",
        stays >= 0.6,
    )
    row(
        f"  results and own jobs beside tools ({len(texts.items)}), right",
        f"{mean(texts.right):.1%}",
    )
    wrongly = mean(bool(reply.calls) for reply in outside.replies)
    refused = mean(outside.refused())
    row(
        f"  nothing to call ({len(outside.items)}), said to be not mine",
        f"{refused:.1%}",
        "goal >= 95 %",
        refused >= 0.95,
    )
    row("    called all the same", f"{wrongly:.1%}")
    return [calls, texts]


def leaderboard(tandem: Tandem) -> None:
    """BFCL version 4, whose questions nobody trained on."""
    folder = bfcl.fetched()
    if not folder:
        print("skipped: BFCL version 4, which could not be fetched")
        return
    for name, goal in bfcl.CATEGORIES.items():
        questions = some(bfcl.questions(folder, name))
        replies = ask_all(tandem, [q.request for q in questions])
        right = [q.is_right(r.calls) for q, r in zip(questions, replies)]
        share = mean(right)
        row(
            f"BFCL v4 {name} ({len(questions)})",
            f"{share:.1%}",
            *((f"goal >= {goal:.0%}", share >= goal) if goal else ()),
        )
        if name == bfcl.SIMPLE:
            pairs = [(r.confidence, ok) for r, ok in zip(replies, right) if r.calls]
            surer = sorted(pairs, key=lambda pair: -pair[0])[: len(pairs) // 2]
            share = mean(ok for _, ok in surer)
            row("  the surer half of its calls", f"{share:.1%}", "goal >= 75 %", share >= 0.75)


def waiting(tandem: Tandem) -> None:
    """Time of a request with TIMED_TOOLS tools: with a list that is new, and with one that the
    prefix cache has."""
    connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=120)
    cold, warm = [], []
    for first, second in sets.timed_requests(TIMED_TOOLS, TIMED):
        for request, times in ((first, cold), (second, warm)):
            began = time.monotonic()
            send(connection, request)
            times.append(1000 * (time.monotonic() - began))
    for what, times, most in (
        (f"a request with {TIMED_TOOLS} tools, new list, median", cold, 80),
        ("  the same list again, another question", warm, 40),
    ):
        median = sorted(times)[TIMED // 2]
        row(what, f"{median:.0f} ms", f"goal <= {most} ms", median <= most)


def operating_point(tandem: Tandem) -> Any:
    """The confidence below which an answer is not used, from the validation split alone: where
    in-scope accuracy and out-of-scope recall add up to most."""
    inside, outside = (Asked(tandem, part) for part in sets.clinc_items("val"))
    best = (0.0, 0.0)
    for least in sorted({round(c, 3) for c in inside.confidences + outside.confidences}):
        kept = mean(r and not gone for r, gone in zip(inside.right, inside.refused(least)))
        best = max(best, (kept + mean(outside.refused(least)), least))
    return best[1]


def intents(tandem: Tandem) -> tuple:
    """CLINC150; (Asked in scope, out of scope, operating point)."""
    least = operating_point(tandem)
    inside, outside = (Asked(tandem, part) for part in sets.clinc_items("test"))
    kept = mean(r and not gone for r, gone in zip(inside.right, inside.refused(least)))
    recall = mean(outside.refused(least))
    area = auroc(inside.confidences, outside.confidences)
    row(
        "CLINC150 test, asked for the intent, in scope, any confidence",
        f"{mean(inside.right):.1%}",
        "goal >= 92 %",
        mean(inside.right) >= 0.92,
    )
    row("  out of scope said to be not mine", f"{mean(outside.refused()):.1%}")
    row(
        f"  in scope, confidence at least {least:.3f} (validation's choice)",
        f"{kept:.1%}",
        "goal >= 92 %",
        kept >= 0.92,
    )
    row("  out of scope refused there", f"{recall:.1%}", "goal >= 60 %", recall >= 0.6)
    row("  out of scope by confidence, AUROC", f"{area:.3f}", "goal >= 0.96", area >= 0.96)
    print(
        "  published (in scope / out of scope): SVM 91.0 / 14.5, MLP 93.5 / 47.4, BERT 96.9 /"
        " 40.3;\n  hashed linear model on these files 91.1 / 20.5"
    )
    for split, what in (
        ("train", "a phrasing of training"),
        ("held", "a phrasing that is held out"),
    ):
        asked = Asked(tandem, sets.banking_items(split))
        goal = ("goal >= 90 %", mean(asked.right) >= 0.9) if split == "train" else ()
        row(f"Banking77 test, {what}", f"{mean(asked.right):.1%}", *goal)
    print("  published: encoders about 93; hashed linear model on these files 89.8")
    return inside, outside, least


class Labelled:
    """Items with the rows that /tandem/v1/classify gives them."""

    def __init__(self, tandem: Tandem, items: Any, labels: str) -> None:
        self.items = some(items)
        began = time.monotonic()
        self.rows = classify_all(tandem, [item.text for item in self.items], labels)
        self.pace = len(self.items) / (time.monotonic() - began)
        self.right = [row["label"] == item.wanted for item, row in zip(self.items, self.rows)]
        self.ours = [1 - row["not_mine"] for row in self.rows]


def labels(tandem: Tandem) -> None:
    """The same lines, asked for a label: the most probable one of the set, and the model's own "not
    mine" against what is out of scope."""
    inside, outside = (Labelled(tandem, part, "intents") for part in sets.clinc_items("test"))
    banking = Labelled(tandem, sets.banking_items(), "banking")
    for name, asked in (("CLINC150", inside), ("Banking77", banking)):
        row(f"{name} test, asked for its label", f"{mean(asked.right):.1%}, {asked.pace:.0f}/s")
    row("  CLINC150 out of scope by not_mine, AUROC", f"{auroc(inside.ours, outside.ours):.3f}")


def sentiment(tandem: Tandem) -> None:
    asked = Asked(tandem, sets.tweet_items(TWEETS))
    found = macro_recall([i.wanted for i in asked.items], [r.text for r in asked.replies])
    row(
        f"TweetEval sentiment, macro recall ({len(asked.items)} tweets)",
        f"{found:.3f}",
        "goal >= 0.50",
        found >= 0.5,
    )
    print(
        "  published, all trained on it: RoBERTa-base 0.713, FastText 0.629, SVM 0.629; guessing"
        " 0.333"
    )


def is_json(text: str) -> Any:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def tasks(tandem: Tandem) -> dict:
    """Generated tasks in held-out phrasings; all that was asked."""
    schema = Asked(tandem, sets.schema_items(SCHEMA_COUNT))
    valid = mean(is_json(r.text) for r in schema.replies)
    row("extraction to held-out schemas, valid JSON", f"{valid:.1%}", "goal 100 %", valid == 1)
    row("  exactly right", f"{mean(schema.right):.1%}", "goal >= 95 %", mean(schema.right) >= 0.95)
    against = Asked(tandem, sets.contradicting_items(SCHEMA_COUNT // 4))
    valid = mean(is_json(r.text) for r in against.replies)
    row(
        "  valid JSON where the schema contradicts the text",
        f"{valid:.1%}",
        "goal 100 %",
        valid == 1,
    )
    out = {"schema by grammar": schema}
    for task in sets.own_tasks():
        out[task] = Asked(tandem, sets.task_items(task, TASK_COUNT))
        share = mean(out[task].right)
        goal = ("goal >= 98 %", share >= 0.98) if task == "normalise" else ()
        row(f"{task}, held-out phrasings ({len(out[task].items)})", f"{share:.1%}", *goal)
    return out


def not_mine(tandem: Tandem, replies: Any) -> list:
    """The probability of "not mine" of each reply's first token. Where the model was not asked, the
    prompt was refused whole, and is not ours, or code has computed the answer."""
    told = recorded(tandem, replies, "not_mine")
    return [float(r.status != 200) if p is None else p for p, r in zip(told, replies)]


def not_mine_point(tandem: Tandem) -> Any:
    """The probability of "not mine" that ALARMS of our own prompts exceed; from CLINC150's
    validation split and generated prompts that are asked nowhere else, each task with the weight
    that it has in the test."""
    items = sets.clinc_items("val")[0][::2] + sets.schema_items(SCHEMA_COUNT, "point")
    for task in sets.own_tasks():
        items += sets.task_items(task, TASK_COUNT // 2, seed="point")
    told = sorted(not_mine(tandem, Asked(tandem, items).replies))
    return told[int(len(told) * (1 - ALARMS))]


def limits(tandem: Tandem, least: Any, asked: Any) -> None:
    """What is not ours, of kinds that training never saw, against false alarms on our tasks: by the
    probability of "not mine" alone, and with the confidence as well, which also refuses what is
    ours but hard."""
    point = not_mine_point(tandem)
    alarms = [p > point for one in asked for p in not_mine(tandem, one.replies)]
    row(
        f"not mine, probability over {point:.3f} (validation's choice): false alarms"
        f" ({len(alarms)})",
        f"{mean(alarms):.1%}",
        "goal <= 5 %",
        mean(alarms) <= 0.05,
    )
    for name, items in (
        ("BIG-Bench Hard", sets.bbh_items()),
        ("MT-Bench, first turns", sets.mt_bench_items()),
    ):
        foreign = Asked(tandem, items)
        caught = mean(p > point for p in not_mine(tandem, foreign.replies))
        row(
            f"  {name} ({len(foreign.items)}), caught",
            f"{caught:.1%}",
            "goal >= 95 %",
            caught >= 0.95,
        )
        row(
            f"    with a confidence of at least {least:.3f} asked for",
            f"{mean(foreign.refused(least)):.1%}",
        )
    row(
        "  in-domain prompts refused by that confidence",
        f"{mean(gone for one in asked for gone in one.refused(least)):.1%}",
    )


def kind_of(reply: Any) -> str:
    """The kind of an answer, by which its confidence is calibrated."""
    return "call" if reply.calls else "label" if reply.text in sets.LABELS else "answer"


def trust(tandem: Tandem, asked: Any) -> None:
    """Calibration of the confidence, and the probe."""
    sure = [c for one in asked for c in one.confidences]
    was_right = [r for one in asked for r in one.right]
    error = calibration_error(sure, was_right)
    row(
        f"expected calibration error ({len(was_right)} prompts)",
        f"{error:.3f}",
        "goal <= 0.05",
        error <= 0.05,
    )
    row("  right against wrong by confidence, AUROC", f"{auroc(*by_outcome(sure, was_right)):.3f}")
    for kind in ("answer", "label", "call"):
        own = [
            i for i, r in enumerate(r for one in asked for r in one.replies) if kind_of(r) == kind
        ]
        if own:
            told = calibration_error([sure[i] for i in own], [was_right[i] for i in own])
            row(f"  of {kind}s ({len(own)})", f"{told:.3f}", "goal <= 0.05", told <= 0.05)
    replies = [r for one in asked for r in one.replies][::3]
    probed = recorded(tandem, replies, "probe")
    if None not in probed:
        area = auroc(*by_outcome(probed, was_right[::3]))
        row(
            f"  right against wrong by the probe at prefill ({len(probed)}), AUROC",
            f"{area:.3f}",
            "goal >= 0.85",
            area >= 0.85,
        )
    if "PICTURES" in os.environ:
        folder = Path(os.environ["PICTURES"])
        (folder / "reliability.svg").write_text(pictures.reliability(bins(sure, was_right), error))
        (folder / "risk_coverage.svg").write_text(
            pictures.risk_coverage(risk_coverage(sure, was_right))
        )


def generate(model: Path, request: Any, *more: Any) -> Any:
    """`tandem generate` on a chat of one user message."""
    text = request["messages"][-1]["content"]
    code, out, err = run_program(
        "generate",
        "-m",
        model,
        "--chat",
        "--prompt",
        text,
        "-n",
        "200",
        "--temp",
        "0",
        "--json",
        *more,
    )
    if code:
        raise RuntimeError(err)
    return json.loads(out)


def single(items: Any) -> list:
    return [item for item in items if len(item.request["messages"]) == 1]


def exits() -> None:
    """Layers that decoding saves at each threshold, and what it costs."""
    about = json.loads(run_program("models", "info", MODEL, "--json")[1])["metadata"]
    if "tandem.exit.layers" not in about:
        print("skipped: the model has no early exits")
        return
    layers = int(about["llama.block_count"])
    items = [i for task in sets.own_tasks() for i in single(some(sets.task_items(task, 60)))]
    plain = mean(i.right(Text(generate(MODEL, i.request))) for i in items)
    print(
        f"early exits: {len(items)} prompts, {plain:.1%} right with all layers; the prompt always"
        " runs through all"
    )
    kept = 0.0
    for threshold in EXITS:
        results = [generate(MODEL, i.request, "--exit-threshold", threshold) for i in items]
        right = mean(i.right(Text(r)) for i, r in zip(items, results))
        passes = sum(max(0, r["completion_tokens"] - 1) for r in results)
        saved = sum(r["layers_saved"] for r in results) / max(1, passes * layers)
        row(
            f"  threshold {threshold}: right, layers of decoding saved", f"{right:.1%}, {saved:.1%}"
        )
        if right >= plain - LOST_MAX:
            kept = max(kept, saved)
    row(
        f"  most saved at no more than {LOST_MAX:.1%} lost",
        f"{kept:.1%}",
        "goal >= 30 %",
        kept >= 0.3,
    )


class Text:
    """What `tandem generate` says, as a reply."""

    def __init__(self, result: Any) -> None:
        self.status, self.text = 200, result["text"].strip()


def drafts() -> None:
    """Guesses of nano that nano-large takes."""
    if not LARGE.exists():
        print(
            f"skipped: no {LARGE.name} (make -C models/nano train export MODEL=nano-large, or"
            " NANO_LARGE=FILE)"
        )
        return
    items = [i for task in sets.own_tasks() for i in single(some(sets.task_items(task, 20)))]
    results = [generate(LARGE, i.request, "--speculate", MODEL) for i in items]
    drafted = sum(r["drafted_tokens"] for r in results)
    taken = sum(r["accepted_tokens"] for r in results) / max(1, drafted)
    row(
        f"nano drafts for nano-large ({len(items)} prompts, {drafted} guesses), taken",
        f"{taken:.1%}",
        "goal >= 60 %",
        taken >= 0.6,
    )


def hostile(tandem: Tandem) -> None:
    """A valid answer, "not mine" or an error that says what is wrong; never a crash or an endless
    answer."""
    replies = ask_all(tandem, [user(text) for text in sets.HOSTILE.values()])
    fine = [
        (r.status == 200 and r.finish == "stop") or (r.status in (400, 413, 503) and r.error)
        for r in replies
    ]
    row(
        f"bad input ({len(replies)} kinds): answers, refusals, clear errors",
        f"{sum(map(bool, fine))}",
        f"goal {len(fine)}",
        all(fine),
    )
    for name, reply, good in zip(sets.HOSTILE, replies, fine):
        if not good:
            print(f"  {name}: status {reply.status}, finish {reply.finish!r}, {reply.text[:60]!r}")


def run() -> None:
    if not sets.DATA.exists():
        print("skipped: no data (set TANDEM_SHARED)")
        return
    heading(f"{MODEL.name}, {MODEL.stat().st_size / 1e6:.2f} MB, through the chat endpoint")
    with Tandem(LOCAL_ONLY, env={"TANDEM_MODEL": MODEL}) as tandem:
        everyday(tandem)
        inside, outside, least = intents(tandem)
        labels(tandem)
        sentiment(tandem)
        done = tasks(tandem)
        called = tools(tandem)
        leaderboard(tandem)
        waiting(tandem)
        limits(tandem, least, [inside, *done.values()])
        trust(tandem, [inside, outside, *done.values(), *called])
        hostile(tandem)
    exits()
    drafts()
