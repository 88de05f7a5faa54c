#!/usr/bin/env python3
"""A confidence model is trained from the default model's own answers, put to work, and not used for
another model."""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from intents import CLEAR, FOREIGN, INTENTS, PLACES
from scripted_cloud import Script, ScriptedCloud
from tandem import NANO, Tandem, edge_first, run

FOLDER = Path(tempfile.mkdtemp(prefix="tandem-confidence-"))


def judged():
    for text, intent in INTENTS.items():
        for place in PLACES:
            yield {"prompt": text + place, "answer": [intent, intent.replace("_", " ")]}
    for number in range(8):
        for text in FOREIGN:
            yield {"prompt": text.format(number + 3), "right": False}


def trained():
    out = FOLDER / "nano.confidence"
    if out.exists():
        return out, None
    lines = FOLDER / "lines.jsonl"
    lines.write_text("".join(json.dumps(line) + "\n" for line in judged()))
    code, text, err = run("router", "confidence", lines, "-o", out, "--json", "-n", 24, timeout=240)
    equal(code, 0, err)
    return out, json.loads(text)


@case
def test_training_says_what_it_is_worth_on_answers_not_seen():
    _, report = trained()
    equal((report["answers"], report["model"]), (96, "tandem-nano"))
    assert 15 <= report["right"] <= 48, report
    assert report["whole"]["auroc"] > 0.9 and report["running"]["auroc"] > 0.9, report
    assert report["whole"]["auroc"] >= report["whole"]["auroc_mean_logprob"], report


def with_confidence(base_url, path, gates="g3: {confidence_min: 0.5}"):
    return (
        edge_first(base_url)
        + f"    gates:\n      g2: {{tokens: 0}}\n      {gates}\nrouter:\n  confidence: {path}\n"
    )


@case
def test_a_server_answers_with_calibrated_confidences_and_says_so():
    out, _ = trained()
    cloud = ScriptedCloud(Script(text="Done."))
    with Tandem(with_confidence(cloud.base_url, out), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        answer = tandem.chat(CLEAR)
        equal(answer.tandem["tier"], "local")
        assert answer.tandem["confidence"] > 0.5, answer.tandem
        equal(tandem.chat("prove lemma 44").tandem["tier"], "cloud")
        assert "tandem_confidence_calibrated 1" in tandem.get("/metrics").body.decode()
        record = tandem.get("/tandem/v1/exchanges/last").json
        equal(len(record["signals"]["confidence_model"]), 16)
        _code, text, _err = run("doctor", "--json", env=tandem.environment)
        assert "calibrated by" in text.decode(), text


@case
def test_another_quantisation_makes_it_stale_visibly():
    out, _ = trained()
    model = json.loads(out.read_text())
    model["bound"]["quantization"] = "Q4_0"
    stale = FOLDER / "stale.confidence"
    stale.write_text(json.dumps(model))
    cloud = ScriptedCloud(Script(text="Done."))
    with Tandem(with_confidence(cloud.base_url, stale), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        equal(tandem.chat(CLEAR).status, 200)
        log = "".join(tandem.log)
        assert "confidence_stale" in log and "Q4_0" in log and "Q8_0" in log, log
        assert "tandem_confidence_calibrated -1" in tandem.get("/metrics").body.decode()
        assert "confidence_model" not in tandem.get("/tandem/v1/exchanges/last").json["signals"]
        _code, text, _err = run("doctor", "--json", env=tandem.environment)
        assert "is not used" in text.decode(), text


@case
def test_thresholds_of_another_making_are_not_used():
    out, _ = trained()
    path = FOLDER / "foreign.thresholds"
    path.write_text(
        json.dumps(
            {"tandem_thresholds": 1, "gate": "g3", "risk": 0.05, "samples": 100, "threshold": None}
        )
    )
    cloud = ScriptedCloud(Script(text="Done."))
    with Tandem(
        with_confidence(cloud.base_url, out, f"g3: {{confidence_min: 0.1, thresholds: {path}}}"),
        env={"TEST_CLOUD_KEY": "k"},
    ) as tandem:
        equal(tandem.chat(CLEAR).tandem["tier"], "local")
        assert "thresholds_stale" in "".join(tandem.log), tandem.log
    lines = FOLDER / "scores.jsonl"
    lines.write_text(
        "".join(json.dumps({"confidence": 0.9, "right": True}) + "\n" for _ in range(30))
    )
    code, _, err = run("router", "tune", lines, "--risk", "0.05", "--confidence", out, "-o", path)
    equal(code, 0, err)
    assert len(json.loads(path.read_text())["confidence"]) == 16
    with Tandem(
        with_confidence(cloud.base_url, out, f"g3: {{thresholds: {path}}}"),
        env={"TEST_CLOUD_KEY": "k"},
    ) as tandem:
        equal(tandem.chat("what can you do?").status, 200)
        assert "thresholds_stale" not in "".join(tandem.log), tandem.log


@case
def test_broken_lines_and_files_are_refused():
    lines = FOLDER / "bad.jsonl"
    for text, word in [
        ('{"prompt": "a"}', "'right' and 'answer'"),
        ('{"prompt": "a", "right": 1}', "'right'"),
        ('{"prompt": "a", "answer": [7]}', "'answer'"),
        ('{"right": true}', "'prompt' and 'messages'"),
        ("{", "line 1"),
    ]:
        lines.write_text(text + "\n")
        code, _, err = run("router", "confidence", lines, "-o", FOLDER / "none")
        assert code == 1 and "line 1" in err and word in err, err
    broken = FOLDER / "broken.confidence"
    broken.write_text('{"tandem_confidence": 1}')
    tandem = Tandem(
        with_confidence("http://127.0.0.1:9/v1", broken), env={"TEST_CLOUD_KEY": "k"}, wait=False
    )
    tandem.ended(20)
    assert tandem.process.returncode != 0 and "broken.confidence" in "".join(tandem.log), tandem.log
    assert NANO.exists()


if __name__ == "__main__":
    main()
