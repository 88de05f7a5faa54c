#!/usr/bin/env python3
"""A classifier is trained, asked and put to work: routes start by what it expects, and say the
number."""

import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, run

EASY = ["set an alarm for {}", "what is my balance on {}", "play music in the {}", "call {} please"]
HARD = [
    "prove the theorem about {}",
    "derive the integral of {}",
    "plan the migration of {}",
    "refactor the code of {}",
]
WORDS = "monday kitchen anna groups matrices queues paris servers".split()
FOLDER = Path(tempfile.mkdtemp(prefix="tandem-router-"))


def lines(count=300, seed=1):
    rng = random.Random(seed)
    for _ in range(count):
        hard = rng.random() < 0.5
        text = rng.choice(HARD if hard else EASY).format(rng.choice(WORDS))
        yield {
            "text": f"{text} {rng.randrange(99)}",
            "local_ok": not hard,
            "strong_ok": True,
            "task": "work" if hard else "command",
        }


def trained(name="small.tdr", seed=1):
    out = FOLDER / name
    data = "".join(json.dumps(line) + "\n" for line in lines()).encode()
    code, text, err = run("router", "train", "-", "-o", out, "--seed", seed, "--json", stdin=data)
    equal(code, 0, err)
    return out, json.loads(text)


def without_strong():
    out = FOLDER / "local.tdr"
    data = "".join(
        json.dumps({k: v for k, v in line.items() if k != "strong_ok"}) + "\n" for line in lines()
    )
    code, _, err = run("router", "train", "-", "-o", out, stdin=data.encode())
    equal(code, 0, err)
    return out


@case
def test_training_reports_and_is_repeatable():
    one, report = trained("a.tdr")
    other, _ = trained("b.tdr")
    equal(one.read_bytes(), other.read_bytes())
    equal((report["lines"], report["with_local_ok"], report["with_task"]), (300, 300, 300))
    assert report["held_out_task_accuracy"] > 0.9, report
    assert one.stat().st_size <= 5 << 20


@case
def test_scores_come_line_by_line():
    classifier, _ = trained()
    texts = ["please prove the theorem about lattices", "set an alarm for tuesday"]
    code, out, err = run(
        "router",
        "score",
        "-m",
        classifier,
        "--jsonl",
        stdin="\n".join(json.dumps({"text": t, "other": 1}) for t in texts).encode(),
    )
    equal(code, 0, err)
    hard, easy = map(json.loads, out.splitlines())
    assert hard["gain"] > 0.5 > easy["gain"], (hard, easy)
    assert hard["p_local"] < 0.5 < easy["p_local"], (hard, easy)
    equal((hard["task"], easy["task"]), ("work", "command"))
    code, out, err = run("router", "score", "-m", classifier, texts[0])
    assert code == 0 and b"task work" in out, (out, err)


def scored(text):
    code, out, err = run("router", "score", "--json", text)
    equal(code, 0, err)
    return json.loads(out)


@case
def test_the_default_classifier_speaks_of_the_default_model():
    with Tandem("tiers:\n  - {name: local, kind: local}\n") as tandem:
        for text in (
            "Summarise this article in three sentences: The contract runs for two years.",
            "Translate this into French: see you tomorrow.",
            "Write a haiku about a lighthouse.",
        ):
            answer = tandem.chat(text).text
            assert answer.startswith("That is outside"), answer  # the model does not do that
            found = scored(text)
            assert found["p_local"] < 0.3 and found["gain"] > 0.7, (text, found)
            equal(found["p_strong"], None)  # no cloud was asked
        alone = "please transfer 20 dollars to my savings account"
        text = "Classify the intent: " + alone
        equal(tandem.chat(text).text, "transfer")
        found = scored(text)
        assert found["p_local"] > 0.7 and found["gain"] < 0.3, found
        assert scored(alone)["p_local"] < 0.3, "its label is no answer"


@case
def test_what_the_classifier_has_not_learnt_is_refused_where_it_is_asked_for():
    for more, wanted in (
        ("rules:\n- {name: sure, when: {p_strong_over: 0.5}, then: {start: cloud}}\n", "p_strong"),
        (f"router:\n  classifier: {without_strong()}\n", "hopeless_under"),
    ):
        gate = "    gates: {hopeless_under: 0.3}\n" if "classifier" in more else ""
        tandem = Tandem(
            edge_first("http://127.0.0.1:9/v1") + gate + more,
            env={"TEST_CLOUD_KEY": "k"},
            wait=False,
        )
        tandem.ended(20)
        log = "".join(tandem.log)
        assert tandem.process.returncode != 0 and wanted in log and "strong_ok" in log, log


@case
def test_broken_lines_and_files_are_refused_with_place_and_reason():
    bad = FOLDER / "bad.jsonl"
    bad.write_text('{"text": "a"}\n{"text": "b", "local_ok": "maybe"}\n')
    code, _, err = run("router", "train", bad, "-o", FOLDER / "none.tdr")
    assert code == 1 and "bad.jsonl" in err and "line 2" in err and "local_ok" in err, err
    assert not (FOLDER / "none.tdr").exists()
    code, _, err = run("router", "train", bad)
    assert code == 2 and "-o" in err, err
    classifier, _ = trained()
    data = bytearray(classifier.read_bytes())
    data[8] = 9
    other = FOLDER / "other.tdr"
    other.write_bytes(data)
    code, _, err = run("router", "score", "-m", other, "x")
    assert code == 1 and "version 9" in err and "other.tdr" in err, err
    code, _, err = run("router", "score", "-m", FOLDER / "missing.tdr", "x")
    assert code == 1 and "missing.tdr" in err, err
    code, _, err = run(
        "router", "score", "-m", classifier, "--jsonl", stdin=b'{"text": "a"}\n{"txt": "b"}\n'
    )
    assert code == 1 and "line 2" in err, err
    code, _, err = run("router", "scor")
    assert code == 2 and "scor" in err, err


def with_gate(base_url, classifier, gate):
    return (
        edge_first(base_url)
        + f"    gates:\n      g0: {{{gate}}}\nrouter:\n  classifier: {classifier}\n"
    )


@case
def test_a_route_starts_by_the_expected_gain_and_says_the_number():
    classifier, _ = trained()
    cloud = ScriptedCloud(Script(text="Done."))
    with Tandem(
        with_gate(cloud.base_url, classifier, "gain_over: 0.5"), env={"TEST_CLOUD_KEY": "k"}
    ) as tandem:
        answer = tandem.chat("Prove the theorem about lattices")
        equal(answer.tandem["tier"], "cloud")
        chosen = [r for r in answer.tandem["reasons"] if r["code"] == "chosen_rule"]
        assert chosen and "gain" in chosen[0]["text"] and "0.50" in chosen[0]["text"], answer.tandem
        answer = tandem.chat("set an alarm for tuesday")
        assert not any(r["code"] == "chosen_rule" for r in answer.tandem["reasons"]), answer.tandem
        # What others wrote does not move it.
        quoted = tandem.chat(
            "set an alarm for tuesday\n```\nprove the theorem about the integral\n```\n> derive the"
            " integral of matrices"
        )
        assert not any(r["code"] == "chosen_rule" for r in quoted.tandem["reasons"]), quoted.tandem
        code, out, err = run("explain", "--json", answer.tandem["exchange"], env=tandem.environment)
        equal(code, 0, err)
        assert '"gain"' in out.decode() and '"command"' in out.decode(), out


@case
def test_a_gate_without_a_classifier_is_refused_at_load():
    tandem = Tandem(
        with_gate("http://127.0.0.1:9/v1", "none", "p_local_under: 0.5"),
        env={"TEST_CLOUD_KEY": "k"},
        wait=False,
    )
    tandem.ended(20)
    log = "".join(tandem.log)
    assert tandem.process.returncode != 0 and "router.classifier" in log, log


if __name__ == "__main__":
    main()
