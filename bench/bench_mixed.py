"""A mixed workload: what the default model keeps, what that saves and what it costs in quality,
under thresholds that hold a risk.

Half are intents of CLINC150's test split, a tenth its out-of-scope requests, a fifth Banking77's, a
fifth GSM8K's questions. The edge is the default model, asked through the chat endpoint. The cloud
is recorded: GPT-4's answers to GSM8K, as RouteLLM kept them (right or wrong, and their length), at
its list price. Nobody recorded a cloud for the intents, so it is taken to be always right there,
also on what is out of scope: every answer that is kept can only lose against it, and "quality kept"
is a lower bound. A token is four bytes on both sides."""

import csv
import json
import random
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nano_sets as sets
from bench_nano import LOCAL_ONLY, MODEL
from bench_router import DATA, TANDEM, quantile, score, train
from endpoint import Reply, ask_all, user
from measures import auroc
from scripted_cloud import Script, ScriptedCloud
from table import heading, row
from tandem import Tandem, edge_first

CLOUD = "gpt-4-1106-preview"
SIZES = {"in scope": 750, "out of scope": 150, "banking": 300, "gsm8k": 300}
RISKS = (0.02, 0.05)
RESAMPLES = 200
WASTE_EACH = 60


def price() -> tuple:
    """USD for an input and an output token: the file has cents."""
    listed = json.loads((DATA / "prices_portkey" / "openai.json").read_text())[CLOUD][
        "pricing_config"
    ]["pay_as_you_go"]
    return listed["request_token"]["price"] / 100, listed["response_token"]["price"] / 100


class Question:
    """What is asked, whether the cloud is right, what it costs there, and who judges the edge's
    answer."""

    def __init__(
        self, kind: str, request: Any, judge: Any, cloud_right: Any, answer_bytes: Any
    ) -> None:
        text = request["messages"][-1]["content"]
        per_input, per_output = price()
        self.kind, self.request, self.judge, self.cloud_right = kind, request, judge, cloud_right
        self.cloud_usd = (len(text) * per_input + answer_bytes * per_output) / 4
        self.local_right = self.confidence = None


def gsm8k_questions() -> Iterator:
    answers = {
        line["question"]: line["answer"].split("####")[-1].strip()
        for line in map(json.loads, open(DATA / "gsm8k" / "test.jsonl"))
    }
    with open(DATA / "routellm" / "gsm8k" / "gsm8k_responses.csv", newline="") as file:
        for line in csv.DictReader(file):
            wanted = answers.get(line["prompt"])
            if wanted is not None:
                yield Question(
                    "gsm8k",
                    user(line["prompt"]),
                    lambda text, wanted=wanted: (
                        (re.findall(r"-?[\d.,]*\d", text) or [""])[-1] == wanted
                    ),
                    line[CLOUD] == "True",
                    len(line[CLOUD + "_response"]),
                )


def questions() -> list:
    rng = random.Random(1)
    inside, outside = sets.clinc_items("test")
    kinds = {"in scope": inside, "out of scope": outside, "banking": sets.banking_items()}
    out = []
    for kind, items in kinds.items():
        for item in rng.sample(items, SIZES[kind]):
            out.append(
                Question(
                    kind,
                    item.request,
                    item.right,
                    True,
                    len(item.wanted or "This is out of my scope."),
                )
            )
    out += rng.sample(list(gsm8k_questions()), SIZES["gsm8k"])
    rng.shuffle(out)
    return out


def ask(asked: Any) -> None:
    with Tandem(LOCAL_ONLY, env={"TANDEM_MODEL": MODEL}) as tandem:
        for question, reply in zip(asked, ask_all(tandem, [q.request for q in asked])):
            question.local_right = bool(
                question.judge(reply.text if question.kind == "gsm8k" else reply)
            )
            question.confidence = reply.confidence


def tune(calibration: Any, risk: float, folder: Any) -> Any:
    """The threshold of `tandem router tune`; None: the risk is not reachable."""
    path = Path(folder) / "judged.jsonl"
    path.write_text(
        "".join(
            json.dumps({"confidence": q.confidence, "right": q.local_right}) + "\n"
            for q in calibration
        )
    )
    done = subprocess.run(
        [TANDEM, "router", "tune", path, "--risk", str(risk), "--json"], stdout=subprocess.PIPE
    )
    if done.returncode not in (0, 3):
        raise RuntimeError("tandem router tune failed")
    report = json.loads(done.stdout)
    return report["thresholds"][0]["threshold"] if report["reachable"] else None


def kept(question: Any, threshold: float) -> Any:
    return threshold is not None and question.confidence >= threshold


def risk_taken(test: Any, threshold: float) -> float:
    return sum(kept(q, threshold) and not q.local_right for q in test) / len(test)


def measures(test: Any, threshold: float) -> tuple:
    """(share local, cost saved, quality of the mixture, quality kept of the cloud's)"""
    local = [kept(q, threshold) for q in test]
    cloud_usd = sum(q.cloud_usd for q in test)
    right = sum(q.local_right if k else q.cloud_right for q, k in zip(test, local))
    return (
        sum(local) / len(test),
        sum(q.cloud_usd for q, k in zip(test, local) if k) / cloud_usd,
        right / len(test),
        right / sum(q.cloud_right for q in test),
    )


def with_intervals(test: Any, threshold: float) -> list:
    rng = random.Random(2)
    found = [measures(rng.choices(test, k=len(test)), threshold) for _ in range(1000)]
    bounds = [
        (quantile(sorted(f[k] for f in found), 0.025), quantile(sorted(f[k] for f in found), 0.975))
        for k in range(4)
    ]
    return list(zip(measures(test, threshold), bounds))


def at_risk(asked: Any, risk: float, folder: Any) -> None:
    half = len(asked) // 2
    threshold = tune(asked[:half], risk, folder)
    if threshold is None:
        print(f"  a risk of {risk:.0%} is not reachable on these samples")
        return
    print(
        f"  thresholds for a risk of {risk:.0%}, tuned on {half} questions; the others are"
        " measured:"
    )
    names = (
        "served on the device",
        "cost saved",
        "answers right",
        "of the cloud's right answers kept",
    )
    for name, (value, (low, high)) in zip(names, with_intervals(asked[half:], threshold)):
        row(f"    {name}", f"{value:.1%}", f"95 %: [{low:.1%}, {high:.1%}]")
    rng = random.Random(3)
    taken = []
    for _ in range(RESAMPLES):
        mixed = rng.sample(asked, len(asked))
        taken.append(risk_taken(mixed[half:], tune(mixed[:half], risk, folder)))
    mean = statistics.fmean(taken)
    row(
        f"    risk taken, mean of {RESAMPLES} divisions (asked for {risk:.0%})",
        f"{mean:.2%}",
        f"goal <= {risk + 0.01:.0%}",
        mean <= risk + 0.01,
    )


# --- what is not worth its tokens ---


def waste() -> None:
    """Tokens of answers that the device began and did not keep: judged at their end, or given up on
    the way (g2 abandon_under). Tasks with longer answers, in held-out phrasings; the cloud is a
    script that is taken to be right."""
    gates = {
        "at its end": "g2: {tokens: 0}",
        "on the way": "g2: {tokens: 1, confidence_min: 0.35, every: 2, abandon_under: 0.5}",
    }
    items = [
        item
        for task in ("schema", "reformat", "private", "entities", "extract")
        for item in sets.task_items(task, WASTE_EACH)
    ]
    found = []
    for g2 in gates.values():
        cloud = ScriptedCloud(Script(text="Cloud."))
        config = (
            edge_first(cloud.base_url)
            + f"    gates:\n      {g2}\n      g3: {{confidence_min: 0.6}}\n      commit_tokens:"
            " all\n"
        )
        with Tandem(config, env={"TEST_CLOUD_KEY": "k", "TANDEM_MODEL": MODEL}) as tandem:
            wasted, left, right = 0, 0, 0
            for item in items:
                answer = tandem.chat(item.request["messages"], max_tokens=256)
                if answer.tandem["tier"] == "local":
                    right += item.right(Reply(answer.status, answer.json))
                    continue
                left, right = left + 1, right + 1
                wasted += sum(
                    a["completion_tokens"]
                    for a in recorded(tandem, answer.tandem["exchange"])
                    if a["tier"] == "local"
                )
        cloud.close()
        found.append((wasted / max(1, left), left / len(items), right / len(items)))
    (before, share_before, right_before), (after, share_after, right_after) = found
    row(
        f"escalated of {len(items)}: {', '.join(gates)}",
        f"{share_before:.1%}, {share_after:.1%}",
        "at least 30 %",
        share_before >= 0.3,
    )
    row(
        "tokens of an answer that is not kept",
        f"{before:.1f}, {after:.1f}",
        "goal 40 % fewer",
        after <= 0.6 * before,
    )
    row(
        "  answers right",
        f"{right_before:.1%}, {right_after:.1%}",
        "goal the same within 0.5 points",
        right_after >= right_before - 0.005,
    )


def recorded(tandem: Tandem, exchange: Any) -> Any:
    """The attempts, which the ledger has a moment after the answer."""
    for _ in range(100):
        answer = tandem.get(f"/tandem/v1/exchanges/{exchange}")
        if answer.status == 200:
            return answer.json["attempts"]
        time.sleep(0.02)
    raise RuntimeError(f"{exchange} was not recorded")


def hopeless() -> None:
    """An operator has learned that no tier helps with some domains of CLINC150 (their tools are not
    there), that the device does the others and that only the cloud does GSM8K. A cascade that
    escalates by p_local sends what no tier can answer to the cloud; with hopeless_under it
    stays."""
    domains = json.loads((DATA / "clinc150" / "domains.json").read_text())
    lost = {label for name in ("travel", "auto_and_commute", "banking") for label in domains[name]}
    full = json.loads((DATA / "clinc150" / "data_full.json").read_text())
    maths = [json.loads(line)["question"] for line in open(DATA / "gsm8k" / "train.jsonl")][:3000]
    tests = [json.loads(line)["question"] for line in open(DATA / "gsm8k" / "test.jsonl")]

    def lines(part: str, sums: Any) -> Any:
        return [
            {"text": t, "local_ok": label not in lost, "strong_ok": label not in lost}
            for t, label in full[part]
        ] + [{"text": t, "local_ok": False, "strong_ok": True} for t in sums]

    test = lines("test", tests)
    with tempfile.TemporaryDirectory() as folder:
        verdicts = score(train(lines("train", maths), 1, folder), [line["text"] for line in test])
    cascade = [v["p_local"] < 0.5 for v in verdicts]
    abstains = [leaves and v["p_strong"] >= 0.3 for leaves, v in zip(cascade, verdicts)]
    both_fail = [not line["local_ok"] and not line["strong_ok"] for line in test]
    before, after = (sum(l for l, b in zip(rule, both_fail) if b) for rule in (cascade, abstains))
    right = [
        statistics.fmean(
            line["strong_ok"] if l else line["local_ok"] for l, line in zip(rule, test)
        )
        for rule in (cascade, abstains)
    ]
    row(
        f"escalations of what no tier can answer ({sum(both_fail)})",
        f"{before} to {after}",
        "goal at most half",
        after <= before / 2,
    )
    row(
        "  answers right before and after",
        f"{right[0]:.1%}, {right[1]:.1%}",
        "goal the same within 0.5 points",
        abs(right[0] - right[1]) <= 0.005,
    )


def run() -> None:
    heading(
        "A mixed workload: the default model at the edge, recorded answers of GPT-4 as the cloud"
    )
    asked = questions()
    ask(asked)
    by_kind = {
        kind: statistics.fmean(q.local_right for q in asked if q.kind == kind) for kind in SIZES
    }
    print(
        "  right at the edge: "
        + ", ".join(f"{kind} {share:.1%}" for kind, share in by_kind.items())
    )
    print(
        "  right in the cloud: gsm8k"
        f" {statistics.fmean(q.cloud_right for q in asked if q.kind == 'gsm8k'):.1%}, intents 100 %"
        " (taken to be)"
    )
    sure = {kind: [q.confidence for q in asked if q.kind == kind] for kind in SIZES}
    area = auroc(sure["in scope"], sure["out of scope"])
    row(
        "CLINC150 in scope versus out of scope by the model's confidence, AUROC",
        f"{area:.4f}",
        "goal >= 0.95",
        area >= 0.95,
    )
    with tempfile.TemporaryDirectory() as folder:
        for risk in RISKS:
            at_risk(asked, risk, folder)
    heading("Answers that are not worth their tokens")
    waste()
    hopeless()
