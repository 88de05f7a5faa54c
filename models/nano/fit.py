"""Fit what stands beside the finished weights: the calibration of the confidence and the probe.

    python fit.py --model nano --from work

Asks the exported model fresh prompts through the chat endpoint of ../../build/tandem: CLINC150's
validation split, and every task in phrasings and words that training never sees. Writes
work/MODEL.fitted.json (temperature and bias, for export.py) and work/MODEL.lines.jsonl (for `tandem
probe train`). Half of each task's prompts are used for one, all for the other; bench_nano.py asks
others."""

import argparse
import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parents[1] / "bench"), str(HERE.parents[1] / "tests" / "support")]

import data
from corpora import clinc
from endpoint import LOCAL_ONLY, ask_all, chat
from measures import auroc, by_outcome, calibration_error
from pools import seeded
from tandem import Tandem

OF_EACH = 500  # generated prompts of each task
SURE = 1 - 1e-7  # as src/exchange/limits/confidence.c
STEPS = 60  # of Newton's method; it needs about ten


def prompts():
    """[(messages, wanted answer or None where it is not ours, task)]"""
    out = [([("user", u)], label, "intent") for u, label in clinc("val")]
    for task in [*data.GENERATORS, "banking"]:
        for number in range(OF_EACH):
            made, messages, answer, *_ = data.task_example(
                seeded("fit", task, number), task, "held"
            )
            out.append((messages, None if made == "other" else answer, task))
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


def applied(confidence, temperature, bias):
    return (
        1 / (1 + math.exp(-(log_odds(confidence) / temperature + bias))) if confidence > 0 else 0.0
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="nano")
    parser.add_argument("--from", dest="source", type=pathlib.Path, default="work")
    args = parser.parse_args()
    asked = prompts()
    with Tandem(
        LOCAL_ONLY, env={"TANDEM_MODEL": args.source / f"{args.model}.plain.gguf"}
    ) as tandem:
        replies = ask_all(tandem, [chat(messages) for messages, _, _ in asked])
    right = [
        wanted is not None and data.is_right(task, reply.text, wanted)
        for (_, wanted, task), reply in zip(asked, replies)
    ]
    sure = [reply.confidence for reply in replies]
    temperature, bias = calibrate(sure[::2], right[::2])
    after = [applied(c, temperature, bias) for c in sure]
    print(
        f"{len(asked)} prompts, {sum(right)} right; by confidence AUROC"
        f" {auroc(*by_outcome(sure, right)):.3f}; calibration error"
        f" {calibration_error(sure[1::2], right[1::2]):.3f} before,"
        f" {calibration_error(after[1::2], right[1::2]):.3f} after (temperature {temperature:.3f},"
        f" bias {bias:.3f})"
    )
    (args.source / f"{args.model}.fitted.json").write_text(
        json.dumps({"temperature": temperature, "bias": bias})
    )
    with open(args.source / f"{args.model}.lines.jsonl", "w") as file:
        for (messages, _, _), outcome in zip(asked, right):
            file.write(
                json.dumps(
                    {"messages": [{"role": r, "content": c} for r, c in messages], "right": outcome}
                )
                + "\n"
            )


if __name__ == "__main__":
    main()
