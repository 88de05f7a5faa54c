#!/usr/bin/env python3
"""A model that nobody calibrated is not gated by another model's thresholds: what it answers
climbs, and says so. After `tandem calibrate` its own thresholds decide."""

import contextlib
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import gguf
from check import case, equal, main
from intents import CLEAR, FOREIGN, INTENTS, PLACES
from model_hub import Folder
from scripted_cloud import Script, ScriptedCloud
from tandem import BINARY, NANO, Tandem, clean_environment, edge_first, run

FOLDER = Path(tempfile.mkdtemp(prefix="tandem-calibration-"))
MORE_PLACES = [*PLACES, " then", " my friend", " at once", " as before"]


def unknown_model(name="unknown.gguf", *pairs):
    """The default model as if its makers had said nothing of what its confidence is worth."""
    path = FOLDER / name
    if not path.exists():
        gguf.add_metadata(NANO, path, pairs, without="tandem.calibration.")
    return path


def questions():
    path = FOLDER / "questions.jsonl"
    lines = [
        {"prompt": text + place, "check": "words", "answer": [intent, intent.replace("_", " ")]}
        for text, intent in INTENTS.items()
        for place in MORE_PLACES
    ]
    lines += [
        {"prompt": text.format(number + 3), "check": "number", "answer": -1}
        for number in range(12)
        for text in FOREIGN
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def calibrate(state, model, *more, code=0):
    got, out, err = run(
        "calibrate", "-m", model, questions(), "--json", "-n", 24, *more, timeout=240,
        env=clean_environment(TANDEM_STATE_DIR=state),
    )  # fmt: skip
    equal(got, code, err)
    return json.loads(out) if code == 0 else err


_calibrated = {}


def calibrated(model):
    """The calibration file's bytes and name."""
    if model not in _calibrated:
        state = Path(tempfile.mkdtemp(dir=FOLDER))
        report = calibrate(state, model)
        _calibrated[model] = (report, Path(report["file"]).name, Path(report["file"]).read_bytes())
    return _calibrated[model]


def put_calibration(state, name, data):
    (state / "calibrations").mkdir(exist_ok=True)
    (state / "calibrations" / name).write_bytes(data)


@contextlib.contextmanager
def serving(model, gates="", before=None, cloud=True):
    """A server with a scripted cloud above the model; `before` gets the state folder."""
    state = Path(tempfile.mkdtemp(dir=FOLDER))
    if before:
        before(state)
    script = ScriptedCloud(Script(text="From the cloud."))
    config = edge_first(script.base_url) + gates
    keys = {"TEST_CLOUD_KEY": "k"} if cloud else {}
    env = {"TANDEM_STATE_DIR": state, "TANDEM_MODEL": model, **keys}
    with Tandem(config, env=env) as tandem:
        tandem.state_dir = state
        yield tandem
    script.close()


def last_reasons(tandem):
    return tandem.get("/tandem/v1/exchanges/last").json["reasons"]


def doctor_says(tandem):
    _code, text, _err = run("doctor", "--json", env=tandem.environment)
    found = [c for c in json.loads(text)["checks"] if c["name"].startswith("confidence")]
    return found[0]["status"], found[0]["text"]


@case
def test_an_uncalibrated_model_climbs_and_explain_says_so():
    with serving(unknown_model()) as tandem:
        answer = tandem.chat(CLEAR)
        equal(answer.tandem["tier"], "cloud")
        texts = [reason["text"] for reason in last_reasons(tandem)]
        assert any("uncalibrated" in text for text in texts), texts
        _code, out, _err = run("explain", env=tandem.environment)
        assert b"uncalibrated" in out and b"tandem calibrate" in out, out
        equal(doctor_says(tandem)[0], "fail")
        assert "uncalibrated" in doctor_says(tandem)[1], doctor_says(tandem)
        assert "model_uncalibrated" in "".join(tandem.log), tandem.log


@case
def test_the_default_model_keeps_its_own_thresholds():
    with serving(NANO) as tandem:
        equal(tandem.chat(CLEAR).tandem["tier"], "local")
        equal(doctor_says(tandem), ("ok", "calibrated by the model's file"))


@case
def test_named_or_wished_for_it_is_asked_and_left_at_its_first_token():
    with serving(unknown_model()) as tandem:
        answer = tandem.chat(CLEAR, {"x-tandem-mode": "prefer-local"})
        equal(answer.tandem["tier"], "cloud")
        codes = [reason["code"] for reason in last_reasons(tandem)]
        assert "left_uncalibrated" in codes, codes


@case
def test_without_a_higher_tier_it_answers_and_discloses():
    with serving(unknown_model(), cloud=False) as tandem:
        answer = tandem.chat(CLEAR)
        equal(answer.tandem["tier"], "local")
        assert answer.tandem["degraded"], answer.tandem
        assert "uncalibrated" in answer.tandem["disclosure"], answer.tandem


@case
def test_thresholds_of_the_route_count_as_saying_otherwise():
    for gates in ["g3: {confidence_min: 0.3}", "g2: {tokens: 1, confidence_min: 0.3}"]:
        with serving(unknown_model(), f"    gates:\n      {gates}\n") as tandem:
            equal(tandem.chat(CLEAR).tandem["tier"], "local", gates)
            equal(doctor_says(tandem)[0], "ok", gates)


@case
def test_a_gate_that_is_only_switched_off_does_not_keep_everything():
    with serving(unknown_model(), "    gates:\n      g2: {confidence_min: 0}\n") as tandem:
        equal(tandem.chat(CLEAR).tandem["tier"], "cloud")


@case
def test_a_calibrated_model_stays_by_its_thresholds():
    model = unknown_model()
    report, name, data = calibrated(model)
    equal([line["risk"] for line in report["risks"]], [0.02, 0.05, 0.1])
    assert report["questions"] == 144 and 40 <= report["right"] <= 100, report
    assert all(0 <= low <= high <= 1 for low, high in (r["risk_seen_95"] for r in report["risks"]))
    with serving(model, before=lambda state: put_calibration(state, name, data)) as tandem:
        answer = tandem.chat(CLEAR)
        equal(answer.tandem["tier"], "local", last_reasons(tandem))
        kept = [r["text"] for r in last_reasons(tandem) if r["code"] == "kept_confident"]
        threshold = report["risks"][1]["threshold"]
        assert kept[0].endswith(f"at least {threshold:.2f}"), (kept, threshold)
        equal(tandem.chat("prove lemma 44").tandem["tier"], "cloud")
        health, text = doctor_says(tandem)
        assert health == "ok" and "calibrated" in text, text
        assert "tandem_confidence_calibrated 1" in tandem.get("/metrics").body.decode()
        assert "model_uncalibrated" not in "".join(tandem.log)


@case
def test_the_route_chooses_the_risk():
    model = unknown_model()
    report, name, data = calibrated(model)
    for index, risk in enumerate(["2%", "5%", "10%"]):
        gates = f"    gates:\n      risk: {risk}\n"
        with serving(model, gates, lambda state: put_calibration(state, name, data)) as tandem:
            tandem.chat(CLEAR)
            text = "".join(r["text"] for r in last_reasons(tandem))
            threshold = report["risks"][index]["threshold"]
            wanted = "not reachable" if threshold is None else f"at least {threshold:.2f}"
            assert wanted in text, (text, threshold)


def measured(data, by, second):
    return json.dumps(
        {**json.loads(data), "second": {"by": by, "bias": 0, "first": 1, "second": second}}
    ).encode()


def second_of(tandem):
    exchange = tandem.get("/tandem/v1/exchanges/last").json
    says = [r["text"] for r in exchange["reasons"] if r["code"] == "second_signal"]
    return exchange["signals"].get("second"), says


@case
def test_a_second_signal_is_asked_near_the_bound_and_its_cost_is_on_record():
    model = unknown_model()
    _, name, data = calibrated(model)
    for by, count in (("p_true", 0), ("agreement", 2)):
        gates = f"    gates: {{g3: {{second: {by}, second_band: 1, second_samples: 2}}}}\n"
        for weight, tier in ((1e-6, "local"), (0, "local")):
            put = measured(data, by, weight)
            with serving(model, gates, lambda state: put_calibration(state, name, put)) as tandem:
                equal(tandem.chat(CLEAR).tandem["tier"], tier, last_reasons(tandem))
                said, reasons = second_of(tandem)
                if weight == 0:
                    equal((said, reasons), (None, []))
                    continue
                equal((said["by"], said["tier"], len(reasons)), (by, "local", 1), reasons)
                assert 0 < said["value"] < 1 and said["ms"] > 0, said
                # What stands before the answer, and the answer, were computed already.
                assert said["cached_tokens"] > 0.3 * said["prompt_tokens"] > 0, said
                assert (said["completion_tokens"] > 0) == (count > 0), said
                _code, out, _err = run("explain", env=tandem.environment)
                assert by.encode() in out and b"tokens" in out, out
                # Nobody else may answer what has to stay: nothing to be in doubt about.
                answer = tandem.chat(CLEAR + " for 4111 1111 1111 1111")
                equal(answer.tandem["data_class"], "restricted")
                equal(second_of(tandem), (None, []))


@case
def test_calibrating_measures_a_second_signal_and_says_what_it_is_worth():
    model = unknown_model()
    for flag, by in (("--p-true", "p_true"), ("--agreement", "agreement")):
        state = Path(tempfile.mkdtemp(dir=FOLDER))
        report = calibrate(state, model, flag, *(["2"] if by == "agreement" else []))
        second = report["second"]
        equal(second["by"], by)
        assert all(0 <= second[f"auroc_{of}"] <= 1 for of in ("first", "second", "both")), second
        written = json.loads(Path(report["file"]).read_bytes())["second"]
        equal(written["by"], by)
        better = second["auroc_both"] > second["auroc_first"]
        equal(written["second"] > 0, better, second)


@case
def test_a_second_signal_that_cannot_be_read_is_refused_with_the_calibration():
    model = unknown_model()
    _, name, data = calibrated(model)
    for by, weight in (("guess", 1), ("p_true", -1), ("p_true", 1e300)):
        put = measured(data, by, weight)
        with serving(model, before=lambda state: put_calibration(state, name, put)) as tandem:
            equal(tandem.chat(CLEAR).tandem["tier"], "cloud")
            assert "calibration_unusable" in "".join(tandem.log), tandem.log


@case
def test_a_reload_takes_up_a_calibration():
    model = unknown_model()
    _, name, data = calibrated(model)
    with serving(model) as tandem:
        equal(tandem.chat(CLEAR).tandem["tier"], "cloud")
        put_calibration(tandem.state_dir, name, data)
        tandem.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 20
        while tandem.chat(CLEAR).tandem["tier"] != "local":
            assert time.monotonic() < deadline, tandem.log
            time.sleep(0.1)


@case
def test_a_model_that_changed_after_its_calibration_is_uncalibrated():
    _, name, data = calibrated(unknown_model())
    changed = unknown_model("changed.gguf", ("general.description", "trained further"))
    with serving(changed, before=lambda state: put_calibration(state, name, data)) as tandem:
        equal(tandem.chat(CLEAR).tandem["tier"], "cloud")
        equal(doctor_says(tandem)[0], "fail")


@case
def test_a_broken_or_foreign_calibration_is_said_and_not_used():
    model = unknown_model()
    _, name, data = calibrated(model)
    whole = json.loads(data)
    foreign = json.dumps({**whole, "bound": {**whole["bound"], "weights": "0" * 16}}).encode()
    bare = json.dumps({k: v for k, v in whole.items() if k != "thresholds"}).encode()
    rising = json.loads(data)
    rising["thresholds"][2]["threshold"] = None
    for bad in [b"", b"{", data[:-200], b"\0" * 5000, foreign, bare, json.dumps(rising).encode()]:
        with serving(model, before=lambda state: put_calibration(state, name, bad)) as tandem:
            equal(tandem.chat(CLEAR).tandem["tier"], "cloud")
            assert "calibration_unusable" in "".join(tandem.log), tandem.log
            health, text = doctor_says(tandem)
            assert health == "warn" and "uncalibrated" in text, text


@case
def test_an_adapter_makes_another_model_of_it():
    adapter = FOLDER / "adapter.gguf"
    gguf.write_adapter(adapter, [("blk.0.attn_q.weight", 256, 256)])
    engine = f"engine:\n  adapters:\n    - {{name: style, file: {adapter}, always: true}}\n"
    with serving(NANO, engine) as tandem:
        equal(tandem.chat(CLEAR).tandem["tier"], "cloud")
        assert any("uncalibrated" in r["text"] for r in last_reasons(tandem))
    engine = engine.replace("always: true", "always: false")
    with serving(NANO, engine) as tandem:
        equal(tandem.chat(CLEAR).tandem["tier"], "local")
        answer = tandem.chat(CLEAR, model="style")
        equal(answer.tandem["tier"], "local")
        assert "uncalibrated" in answer.tandem["disclosure"], answer.tandem


@case
def test_each_local_tier_has_its_own_calibration():
    model = unknown_model()
    script = ScriptedCloud(Script(text="From the cloud."))
    second = f"  - name: second\n    kind: local\n    model: {model}\n  - name: cloud\n"
    config = edge_first(script.base_url).replace("  - name: cloud\n", second)
    config = config.replace("tiers: [local, cloud]", "tiers: [second, local, cloud]")
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        answer = tandem.chat(CLEAR)
        equal(answer.tandem["tier"], "local", last_reasons(tandem))
        assert any("what second answers is uncalibrated" in r["text"] for r in last_reasons(tandem))
    script.close()


@case
def test_a_replay_of_the_same_policy_starts_where_it_did():
    with serving(unknown_model()) as tandem:
        equal(tandem.chat(CLEAR).tandem["tier"], "cloud")
        equal(tandem.chat("play some music").tandem["tier"], "cloud")
        last_reasons(tandem)  # then they are on record
        code, out, err = run("replay", "--policy", tandem.config, "--json", env=tandem.environment)
        equal(code, 0, err)
        report = json.loads(out)
        equal((report["exchanges"], report["start_changed"]), (2, 0), report)


@case
def test_thresholds_tuned_on_feedback_belong_to_the_calibration():
    model = unknown_model()
    _, name, data = calibrated(model)
    with serving(model, before=lambda state: put_calibration(state, name, data)) as tandem:
        answer = tandem.chat(CLEAR)
        equal(answer.tandem["tier"], "local")
        feedback = {"id": answer.headers["x-tandem-exchange"], "ok": True}
        equal(tandem.request("POST", "/tandem/v1/feedback", feedback).status, 200)
        last_reasons(tandem)  # then it is on record
        code, out, err = run("router", "tune", "--risk", "0.9", "--json", env=tandem.environment)
        assert code in (0, 3), err
        equal(json.loads(out)["answers_judged"], 1)


# --- the command ---


@case
def test_too_few_right_answers_write_nothing():
    lines = FOLDER / "hopeless.jsonl"
    lines.write_text('{"prompt": "say 1", "check": "number", "answer": -7}\n' * 130)
    state = FOLDER / "hopeless"
    code, out, err = run(
        "calibrate", lines, "-n", 2, env=clean_environment(TANDEM_STATE_DIR=state), timeout=120
    )
    assert code == 1 and not out and "nothing is written" in err and "0 right" in err, err
    equal(list((state / "calibrations").iterdir()), [])


@case
def test_wrong_lines_are_refused_with_their_number():
    lines = FOLDER / "wrong.jsonl"
    for text, word in [
        ('{"prompt": "a", "check": "number", "answer": "x"}', "numbers"),
        ('{"prompt": "a", "check": "number", "answer": 1, "tolerance": -1}', "tolerance"),
        ('{"prompt": "a", "check": "pattern", "answer": "("}', "regular expression"),
        ('{"prompt": "a", "check": "pattern", "answer": 1}', "pattern"),
        ('{"prompt": "a", "check": "words", "answer": []}', "'answer'"),
        ('{"prompt": "a", "check": "words", "answer": "b", "or": [1]}', "'or'"),
        ('{"prompt": "a", "check": "nothing", "answer": "b"}', "'check'"),
    ]:
        lines.write_text(text + "\n")
        env = clean_environment(TANDEM_STATE_DIR=FOLDER / "wrong")
        code, _, err = run("calibrate", lines, env=env)
        assert code == 1 and "line 1" in err and word in err, err


@case
def test_a_folder_that_takes_no_file_is_found_before_the_questions():
    plain = FOLDER / "a-file"
    plain.write_text("")
    err = calibrate(plain / "state", unknown_model(), code=1)
    assert "a-file" in err and "TANDEM_STATE_DIR" in err, err


@case
def test_a_full_disk_leaves_the_calibration_as_it_was():
    state = FOLDER / "full"
    _, name, data = calibrated(unknown_model())
    (state / "calibrations").mkdir(parents=True)
    put_calibration(state, name, data)

    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = subprocess.run(
        [BINARY, "calibrate", "-m", unknown_model(), questions(), "-n", "24", "--seed", "2"],
        env=clean_environment(TANDEM_STATE_DIR=state), capture_output=True, text=True,
        timeout=240, preexec_fn=no_room, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "calibrations" in done.stderr, done.stderr
    equal([p.name for p in (state / "calibrations").iterdir()], [name])
    equal((state / "calibrations" / name).read_bytes(), data)


@case
def test_what_it_judged_trains_a_probe():
    lines, probed = FOLDER / "judged.jsonl", FOLDER / "probed.gguf"
    report = calibrate(FOLDER / "judging", unknown_model(), "--judged", lines)
    judged = [json.loads(line) for line in lines.read_text().splitlines()]
    equal([sorted(line) for line in judged], [["prompt", "right"]] * report["questions"])
    equal(sum(line["right"] for line in judged), report["right"])
    code, out, err = run("probe", "train", "-m", unknown_model(), lines, "-o", probed, timeout=240)
    assert code == 0 and b"AUROC" in out, err


@case
def test_whoever_stops_it_leaves_nothing_half_and_sees_the_time_left():
    state = FOLDER / "stopped"
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [BINARY, "calibrate", "-m", unknown_model(), "-n", "48"],
        env=clean_environment(TANDEM_STATE_DIR=state), stdout=subprocess.PIPE, stderr=child,
    )  # fmt: skip
    os.close(child)
    seen = ""
    while not re.search(r"question \d+ of \d+, \d+ answered rightly, \d+ s left", seen):
        seen += os.read(parent, 4096).decode()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode != 0 and not out, (process.returncode, out)
    os.close(parent)
    equal(list((state / "calibrations").iterdir()), [])


@case
def test_the_questions_that_came_are_whole():
    """Each has a checker that a right answer passes and an empty one does not."""
    path = Path(NANO).parent.parent / "calibration" / "questions.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert 600 <= len(lines) <= 1200 and path.stat().st_size <= 2_000_000
    equal(len({line["prompt"] for line in lines}), len(lines))
    for line in lines:
        assert line["check"] in ("number", "words", "pattern"), line
        assert "canary" not in line["prompt"].lower()
        if line["check"] == "pattern":
            assert not re.search(line["answer"], ""), line


@case
def test_a_pulled_model_can_be_calibrated_at_once():
    state = FOLDER / "pulled"
    with Folder(TANDEM_STATE_DIR=state) as folder:
        code, events, err = folder.pull(unknown_model(), "--calibrate", timeout=400)
        equal(code, 0, err)
        equal([event.get("event") for event in events][-2:], ["pulled", None])
        equal(events[-1]["questions"], 1104)
        assert Path(events[-1]["file"]).parent == state / "calibrations", events[-1]


if __name__ == "__main__":
    main()
