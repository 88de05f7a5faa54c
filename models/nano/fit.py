"""Fit what stands beside the finished weights: the calibration of the confidence and the probe.

    python fit.py --model nano --from work

Asks the exported model fresh prompts through the chat endpoint of ../../build/tandem: CLINC150's
validation split, asked for and alone, and every task in phrasings and words that training never
sees. Writes work/MODEL.fitted.json (temperature and bias of answers, and of labels and calls where
there are enough of them, for export.py) and work/MODEL.lines.jsonl (for `tandem probe train`, which
knows no tools). Half of each task's prompts are used for one, all for the other; bench_nano.py asks
others."""

import argparse
import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parents[1] / "bench"), str(HERE.parents[1] / "tests" / "support")]

import chat_render
import data
import task_intent
from corpora import clinc
from endpoint import LOCAL_ONLY, ask_all
from measures import auroc, by_outcome, calibration_error
from pools import seeded
from tandem import Tandem

OF_EACH = 500  # generated prompts of each task
OF_CALLS = 3000  # of nano-tools, which has no other task
SURE = 1 - 1e-7  # as src/exchange/limits/confidence.c
KIND_LEAST = 200  # prompts of a kind of answers, from which on it has a calibration of its own
OUTCOME_LEAST = 10  # right ones and wrong ones among them
STEPS = 60  # of Newton's method; it needs about ten


def made_prompts(task, count):
    out = []
    for number in range(count):
        made, messages, answer, *_ = data.asked_example(seeded("fit", task, number), task, "held")
        out.append((messages, None if made == "other" else answer, task))
    return out


def prompts(model):
    """[(messages, wanted answer or None where it is not ours, task)]"""
    if "intent" not in data.MIXES[model]:
        return made_prompts("tools", OF_CALLS)
    rows = clinc("val")
    out = [
        (task_intent.wrap(seeded("fit asked", n), u, "held"), label, "intent")
        for n, (u, label) in enumerate(rows)
    ]
    out += [
        ([("user", u)], None, "intent")
        for u, label in rows[::8]
        if label not in task_intent.OWN_JOBS
    ]
    for task in [*data.GENERATORS, "banking"]:
        # Talk is mostly said by code, in its own words: a comparison of texts tells nothing.
        if task in data.MIXES[model] and task != "chat":
            out += made_prompts(task, OF_EACH)
    return out


def log_odds(confidence):
    sure = min(max(confidence, 1 - SURE), SURE)
    return math.log(sure / (1 - sure))


def calibrate(confidences, right):
    """(temperature, bias) of the least log loss of log-odds / temperature + bias (Platt 1999)."""
    slope, bias = 1.0, 0.0
    points = [(log_odds(c), float(r)) for c, r in zip(confidences, right) if c > 0]
    for _ in range(STEPS):
        g, h = [0.0, 0.0], [1e-9, 0.0, 1e-9]  # gradient; second derivatives aa, ab, bb
        for x, y in points:
            p = 1 / (1 + math.exp(-max(-40.0, min(40.0, slope * x + bias))))
            w = p * (1 - p)
            g = [g[0] + (p - y) * x, g[1] + p - y]
            h = [h[0] + w * x * x, h[1] + w * x, h[2] + w]
        divisor = h[0] * h[2] - h[1] * h[1]
        a, b = (h[2] * g[0] - h[1] * g[1]) / divisor, (h[0] * g[1] - h[1] * g[0]) / divisor
        a, b = (max(-1.0, min(1.0, v)) for v in (a, b))  # far from the goal a whole step overshoots
        slope, bias = max(0.02, slope - a), bias - b
    return 1 / slope, bias


def kind_of(reply, labels):
    """The kind of an answer, as src/exchange/limits/confidence.h tells them apart."""
    return "call" if reply.calls else "label" if reply.text in labels else "answer"


def fitted(kinds, confidences, right):
    """{key of tandem.calibration: value}: all answers together, and the kinds that are common."""
    out = {}
    for prefix, kind in (("", "answer"), ("label.", "label"), ("call.", "call")):
        own = [i for i, k in enumerate(kinds) if k == kind]
        outcomes = [right[i] for i in own]
        if kind == "answer":
            own = own if len(own) >= KIND_LEAST else list(range(len(kinds)))
        elif len(own) < KIND_LEAST or min(sum(outcomes), len(own) - sum(outcomes)) < OUTCOME_LEAST:
            continue
        temperature, bias = calibrate([confidences[i] for i in own], [right[i] for i in own])
        out[f"{prefix}temperature"], out[f"{prefix}bias"] = temperature, bias
    return out


def prefix(kind, keys):
    """Of the keys that hold for a kind of answers."""
    return f"{kind}." if f"{kind}.bias" in keys else ""


def applied(confidence, temperature, bias):
    return (
        1 / (1 + math.exp(-(log_odds(confidence) / temperature + bias))) if confidence > 0 else 0.0
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="nano")
    parser.add_argument("--from", dest="source", type=pathlib.Path, default="work")
    args = parser.parse_args()
    asked = prompts(args.model)
    with Tandem(
        LOCAL_ONLY, env={"TANDEM_MODEL": args.source / f"{args.model}.plain.gguf"}
    ) as tandem:
        replies = ask_all(tandem, [chat_render.request(messages) for messages, _, _ in asked])
    said = [reply.text + chat_render.call_text(reply.calls) for reply in replies]
    right = [
        wanted is not None and data.is_right(task, text, wanted)
        for (_, wanted, task), text in zip(asked, said)
    ]
    sure, labels = [reply.confidence for reply in replies], set(data.labels())
    kinds = [kind_of(reply, labels) for reply in replies]
    keys = fitted(kinds[::2], sure[::2], right[::2])
    after = [
        applied(c, *(keys.get(f"{prefix(k, keys)}{name}") for name in ("temperature", "bias")))
        for c, k in zip(sure, kinds)
    ]
    print(
        f"{len(asked)} prompts, {sum(right)} right; by confidence AUROC"
        f" {auroc(*by_outcome(sure, right)):.3f}"
    )
    for kind in ("answer", "label", "call"):
        own = [i for i in range(1, len(asked), 2) if kinds[i] == kind]
        if own:
            outcomes = [right[i] for i in own]
            print(
                f"  {kind} ({len(own)}): calibration error"
                f" {calibration_error([sure[i] for i in own], outcomes):.3f} before,"
                f" {calibration_error([after[i] for i in own], outcomes):.3f} after"
            )
    (args.source / f"{args.model}.fitted.json").write_text(json.dumps(keys))
    with open(args.source / f"{args.model}.lines.jsonl", "w") as file:
        for (messages, _, _), outcome in zip(asked, right):
            if messages[0][0] != "tools":
                line = {"messages": chat_render.request(messages)["messages"], "right": outcome}
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
