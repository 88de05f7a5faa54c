#!/usr/bin/env python3
"""Thresholds are tuned to a risk, from a file or from feedback in the ledger, and put to work in a
gate."""

import json
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, run

FOLDER = Path(tempfile.mkdtemp(prefix="tandem-thresholds-"))


def judged(count, seed=1, task=None):
    rng = random.Random(seed)
    for _ in range(count):
        score = rng.random()
        yield {"confidence": round(score, 6), "right": rng.random() < score**0.3, "task": task}


def write(name, lines):
    path = FOLDER / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@case
def test_a_threshold_holds_the_asked_risk_on_its_own_lines():
    lines, out = list(judged(800)), FOLDER / "t.json"
    code, text, err = run(
        "router", "tune", write("lines.jsonl", lines), "--risk", "0.05", "-o", out, "--json"
    )
    equal(code, 0, err)
    got, file = json.loads(text), json.loads(out.read_text())
    bar = got["thresholds"][0]["threshold"]
    kept = [line for line in lines if line["confidence"] >= bar]
    equal(file["threshold"], bar)
    equal(round(len(kept) / 800, 9), round(got["share_local"], 9))
    wrong = sum(not line["right"] for line in kept)
    assert (wrong + 1) / 801 <= 0.05, (wrong, got)
    lower = sorted(line["confidence"] for line in lines if line["confidence"] < bar)[-1]
    more = sum(not line["right"] for line in lines if line["confidence"] >= lower)
    assert (more + 1) / 801 > 0.05 or got["share_local"] == 1, (more, got)  # no lower one holds


@case
def test_what_cannot_be_reached_is_said_with_an_exit_code():
    out = FOLDER / "none.json"
    code, text, _ = run(
        "router", "tune", write("few.jsonl", judged(12)), "--risk", "0.05", "-o", out
    )
    equal(code, 3)
    assert b"not reachable" in text and b"at least 19" in text and not out.exists(), text
    bad = [{"confidence": 1 - i / 100, "right": i > 20} for i in range(100)]
    code, text, _ = run("router", "tune", write("weak.jsonl", bad), "--risk", "0.001", "--json")
    equal((code, json.loads(text)["thresholds"][0]["outcome"]), (3, "too_few_samples"))
    bad = [{"confidence": 0.5, "right": i > 20} for i in range(100)]
    code, text, _ = run("router", "tune", write("weak.jsonl", bad), "--risk", "0.05", "--json")
    equal((code, json.loads(text)["thresholds"][0]["outcome"]), (3, "signal_too_weak"))


@case
def test_each_task_with_lines_enough_gets_its_own():
    lines = [*judged(300, 2, "chat"), *judged(5, 3, "rare")] + [
        {"confidence": 0.9, "right": i > 30, "task": "law"} for i in range(60)
    ]
    out = FOLDER / "tasks.json"
    code, text, err = run(
        "router", "tune", write("tasks.jsonl", lines), "--risk", "0.05", "--per-cluster", "-o", out
    )
    equal(code, 0, err)
    assert b"law" in text and b"(everything else)" in text, text
    tasks = {row["task"]: row["threshold"] for row in json.loads(out.read_text())["tasks"]}
    equal(sorted(tasks), ["chat", "law"])
    equal(tasks["law"], None)


@case
def test_broken_input_is_refused():
    bad = write(
        "bad.jsonl", [{"confidence": 0.5, "right": True}, {"confidence": "high", "right": True}]
    )
    code, _, err = run("router", "tune", bad, "--risk", "0.05")
    assert code == 1 and "bad.jsonl" in err and "line 2" in err, err
    code, _, err = run("router", "tune", bad)
    assert code == 2 and "--risk" in err, err
    code, _, err = run("router", "tune", bad, "--risk", "0.05", "--gate", "g7")
    assert code == 2 and "g0, g1 or g3" in err, err


def with_thresholds(base_url, path):
    return (
        edge_first(base_url)
        + f"    gates:\n      g2: {{tokens: 0}}\n      g3: {{thresholds: {path}}}\n     "
        " commit_tokens: all\n"
    )


def thresholds(name, threshold, gate="g3"):
    path = FOLDER / name
    path.write_text(
        json.dumps(
            {
                "tandem_thresholds": 1,
                "gate": gate,
                "risk": 0.05,
                "samples": 100,
                "threshold": threshold,
            }
        )
    )
    return path


@case
def test_a_gate_uses_the_file_and_a_reload_reads_it_again():
    import os
    import signal
    import time

    cloud = ScriptedCloud(Script(text="Done."))
    path = thresholds("gate.json", 0)
    with Tandem(with_thresholds(cloud.base_url, path), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        equal(tandem.chat("what can you do?").tandem["tier"], "local")
        thresholds("gate.json", None)
        os.kill(tandem.process.pid, signal.SIGHUP)
        for _ in range(100):
            answer = tandem.chat("what can you do?")
            if answer.tandem["tier"] == "cloud":
                break
            time.sleep(0.05)
        equal(answer.tandem["tier"], "cloud")
        assert any("out of reach" in reason["text"] for reason in answer.tandem["reasons"]), (
            answer.tandem
        )


@case
def test_a_file_of_another_gate_or_a_broken_one_does_not_start():
    for path, words in [
        (thresholds("g1.json", 0.5, "g1"), ("gate g1", "--gate g3")),
        (thresholds("wrong.json", 7), ("wrong.json", "threshold")),
    ]:
        tandem = Tandem(
            with_thresholds("http://127.0.0.1:9/v1", path), env={"TEST_CLOUD_KEY": "k"}, wait=False
        )
        tandem.ended(20)
        log = "".join(tandem.log)
        assert tandem.process.returncode != 0 and all(word in log for word in words), log


@case
def test_feedback_is_stored_reported_and_tuned_on():
    cloud = ScriptedCloud(Script(text="Done."))
    gates = (
        edge_first(cloud.base_url)
        + "    gates:\n      g2: {tokens: 0}\n      g3: {confidence_min: 0}\n"
    )
    with Tandem(gates, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        ids = [tandem.chat("what can you do?").tandem["exchange"] for _ in range(12)]
        for exchange in ids:
            answer = tandem.request(
                "POST", "/tandem/v1/feedback", {"id": exchange, "ok": True, "comment": "fine"}
            )
            equal(answer.status, 200, answer.body)
        equal(
            tandem.request("POST", "/tandem/v1/feedback", {"id": "ex_unknown", "ok": True}).status,
            404,
        )
        equal(
            tandem.request("POST", "/tandem/v1/feedback", {"id": ids[0][:-1], "ok": True}).status,
            404,
        )
        equal(tandem.request("POST", "/tandem/v1/feedback", {"id": ids[0]}).status, 400)
        equal(tandem.request("POST", "/tandem/v1/feedback", b"{").status, 400)
        for _ in range(100):
            code, out, err = run("report", "--json", env=tandem.environment)
            if code == 0 and json.loads(out)["feedback"] == 12:
                break
        report = json.loads(out)
        equal((report["feedback"], report["score"], report["tiers"][0]["feedback"]), (12, 1, 12))
        code, out, err = run("report", env=tandem.environment)
        assert b"feedback on 12 answers, mean score 1.000" in out, out
        code, out, err = run("router", "tune", "--risk", "0.1", "--json", env=tandem.environment)
        got = json.loads(out)
        equal(
            (code, got["answers_kept"], got["answers_judged"], got["samples"], got["share_local"]),
            (0, 12, 12, 12, 1),
        )
        code, out, err = run("router", "tune", "--risk", "0.05", env=tandem.environment)
        assert code == 3 and b"at least 19" in out, (code, out, err)


@case
def test_an_answer_is_judged_and_shown_before_its_record_has_its_turn():
    """Records are committed in batches of a tenth of a second, which nobody waits for here."""
    took, usual = [], []
    with Tandem(edge_first("http://127.0.0.1:9/v1"), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for number in range(14):
            exchange = tandem.chat("what can you do?").tandem["exchange"]
            began = time.monotonic()
            if number % 2:
                answer = tandem.get(f"/tandem/v1/exchanges/{exchange}")
            else:
                body = {"id": exchange, "ok": True}
                answer = tandem.request("POST", "/tandem/v1/feedback", body)
            took.append(time.monotonic() - began)
            equal((answer.status, answer.json["id"]), (200, exchange))
            began = time.monotonic()
            equal(tandem.get("/healthz").status, 200)
            usual.append(time.monotonic() - began)
    middle = len(took) // 2
    assert sorted(took)[middle] < 0.06 + 4 * sorted(usual)[middle], (took, usual)


def watched(base_url, watch):
    return (
        edge_first(base_url)
        + "    gates:\n      g2: {tokens: 0}\n      g3: {confidence_min: 0.999}\n     "
        f" commit_tokens: all\nwatch: {{{watch}}}\n"
    )


@case
def test_a_callers_cap_keeps_it_on_the_device_and_is_an_alarm():
    cloud = ScriptedCloud(Script(text="Done."))
    with Tandem(
        watched(cloud.base_url, "escalations_per_hour: 2"), env={"TEST_CLOUD_KEY": "k"}
    ) as tandem:
        tiers = [tandem.chat(f"prove lemma {i}").tandem["tier"] for i in range(4)]
        equal(tiers, ["cloud", "cloud", "local", "local"])
        equal(len(cloud.requests), 2)
        alarms = tandem.get("/tandem/v1/alarms").json
        equal(
            [(a["kind"], a["ended"], len(a["caller"])) for a in alarms["data"]],
            [("caller_capped", None, 8)],
        )
        assert (
            'tandem_alarms_active{kind="caller_capped"} 1' in tandem.get("/metrics").body.decode()
        )
        assert any("alarm_begun" in line for line in tandem.log), tandem.log


@case
def test_no_mode_and_no_named_tier_lifts_a_callers_cap():
    cloud = ScriptedCloud(Script(text="Done."))
    ways: list[dict] = [
        {"headers": {"x-tandem-mode": "only-cloud"}},
        {"headers": {"x-tandem-mode": "prefer-cloud"}},
        {"model": "cloud"},
        {"headers": {"x-tandem-user": "somebody-else"}},
    ]
    with Tandem(
        watched(cloud.base_url, "escalations_per_hour: 1"), env={"TEST_CLOUD_KEY": "k"}
    ) as tandem:
        equal(tandem.chat("prove lemma 1").tandem["tier"], "cloud")
        for way in ways:
            headers = way.get("headers", {})
            answer = tandem.chat("prove lemma 2", headers=headers, model=way.get("model", "auto"))
            if answer.status == 429:
                assert "1 escalation an hour" in answer.body.decode(), answer.body
            else:
                equal(answer.tandem["tier"], "local", str(way))
        equal(len(cloud.requests), 1)


@case
def test_a_share_above_the_usual_one_is_an_alarm_with_its_phrases():
    cloud = ScriptedCloud(Script(text="Done."))
    with Tandem(
        watched(cloud.base_url, "escalation_share: 0.05"), env={"TEST_CLOUD_KEY": "k"}
    ) as tandem:
        for i in range(40):
            tandem.chat(f"prove lemma {i}")
        got = tandem.get("/tandem/v1/alarms").json
        equal([a["kind"] for a in got["data"]], ["escalation_share"])
        assert got["escalation_share"] == 1 and got["phrases"] == [], (
            got
        )  # all leave: no phrase stands out
        equal(tandem.request("POST", "/tandem/v1/alarms", {}).status, 405)


if __name__ == "__main__":
    main()
