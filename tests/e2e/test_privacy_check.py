#!/usr/bin/env python3
"""What a server shows of itself: what is private in a text and what of it would be sent, the record
of what left with its proof, and what its models' confidence is worth."""

import contextlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, run, wait_until

CARD = "My card is 4111 1111 1111 1111."
MAIL = "Write to billing@northwind-trading.com about it."
MASKED = "privacy: {pseudonyms: {on: true}}\n"
ENV = {"TEST_CLOUD_KEY": "k"}


@contextlib.contextmanager
def house(more=""):
    cloud = ScriptedCloud(Script(text="ok"))
    with contextlib.closing(cloud), Tandem(edge_first(cloud.base_url) + more, env=ENV) as tandem:
        yield cloud, tandem


def check(tandem, text, **members):
    answer = tandem.request("POST", "/tandem/v1/privacy/check", {"text": text, **members})
    equal(answer.status, 200, answer.body.decode())
    return answer.json


def answers_of(tandem):
    return tandem.get("/tandem/v1/calibration").json["answers"]


def gets(found):
    return {tier["name"]: tier["gets"] for tier in found["tiers"]}


@case
def test_a_check_says_what_each_tier_would_be_sent():
    with house() as (_, tandem):
        equal(gets(check(tandem, "Hello.")), {"local": "text", "cloud": "text"})
        found = check(tandem, "é " + CARD)
        equal(found["class"], "restricted")
        span = found["spans"][0]
        equal((span["type"], span["char_start"], span["start"]), ("CREDIT_CARD", 13, 14))
        equal(gets(found), {"local": "text", "cloud": "nothing"})
        assert "restricted data" in found["tiers"][1]["why"], found["tiers"]
        equal(gets(check(tandem, MAIL)), {"local": "text", "cloud": "nothing"})
        equal(
            gets(check(tandem, "Hello.", data_class="sensitive")),
            {"local": "text", "cloud": "nothing"},
        )
    with house(MASKED) as (_, tandem):
        found = check(tandem, MAIL)
        equal(gets(found), {"local": "text", "cloud": "masked"})
        equal(found["replaced"], [{"type": "EMAIL_ADDRESS", "count": 1}])
        equal((found["class"], found["masked_class"]), ("sensitive", "public"))
        assert "northwind" not in found["masked"], found["masked"]
        assert found["masked"].startswith("Write to "), found["masked"]
        equal(gets(check(tandem, MAIL + CARD)), {"local": "text", "cloud": "nothing"})


@case
def test_a_check_says_what_the_exchange_then_does():
    """The same texts, asked for: what the cloud got is what the check said it would get."""
    texts = ["Hello there, friend.", CARD, MAIL, MAIL + " " + CARD, "Call +49 30 901820, Anna."]
    for more in ("", MASKED):
        with house(more) as (cloud, tandem):
            for text in texts:
                before = len(cloud.calls())
                said = gets(check(tandem, text))["cloud"]
                equal(len(cloud.calls()), before, "a check sends nothing")
                tandem.chat(text, {"x-tandem-mode": "prefer-cloud"}, max_tokens=2)
                sent = [call["body"] for call in cloud.calls()[before:]]
                got = (
                    "nothing"
                    if not sent
                    else "text"
                    if text.encode() in b"".join(sent)
                    else "masked"
                )
                equal((text, more, said), (text, more, got))


@case
def test_a_check_leaves_no_trace():
    with Tandem(MASKED) as tandem:
        check(tandem, "Tell annacanary@northwind-trading.com of Canaryville.")
        equal(tandem.get("/tandem/v1/exchanges").json["data"], [])
        equal(tandem.get("/tandem/v1/egress").json["transfers"], 0)
        kept = b"".join(path.read_bytes() for path in tandem.state.rglob("*") if path.is_file())
        assert b"annacanary" not in kept
        assert not any("annacanary" in line for line in tandem.log)


@case
def test_a_check_refuses_what_it_cannot_read():
    with Tandem() as tandem:
        bodies = [{}, {"text": 3}, {"text": "x" * 262145}, {"text": "x", "model": "nobody"}]
        bodies += [{"text": "x", "model": 3}, {"text": "x", "data_class": "secret"}, [], "x"]
        for body in bodies:
            answer = tandem.request("POST", "/tandem/v1/privacy/check", body)
            equal(answer.status, 400, answer.body.decode()[:200])
        equal(check(tandem, "")["class"], "public")


@case
def test_the_record_is_shown_with_its_sums_and_its_proof():
    with house(MASKED) as (_, tandem):
        empty = tandem.get("/tandem/v1/egress").json
        equal((empty["transfers"], empty["newest"], empty["proof"]["sound"]), (0, [], True))
        for text in ("Why is the sky blue?", MAIL):
            tandem.chat(text, {"x-tandem-mode": "prefer-cloud"})
        shown = tandem.get("/tandem/v1/egress").json
        equal((shown["state"], shown["transfers"], shown["proof"]["sound"]), ("kept", 2, True))
        equal(shown["kinds"][0]["name"], "EMAIL_ADDRESS")
        equal([one["replaced"] for one in shown["newest"]], [{"EMAIL_ADDRESS": 1}, {}])
        _, told, _ = run("egress", "report", "--json", env=tandem.environment)
        sums = json.loads(told)
        equal({name: shown[name] for name in sums}, sums)
        equal(tandem.get("/tandem/v1/egress?since=9999999999").json["transfers"], 0)
        equal(tandem.get("/tandem/v1/egress?since=x").status, 400)
        entries = next(tandem.state.rglob("entries.jsonl"))
        wait_until(lambda: tandem.get("/tandem/v1/egress").json["proof"]["unsigned_rows"] == 0)
        entries.write_text(entries.read_text().replace('"cloud"', '"clouD"', 1))
        broken = tandem.get("/tandem/v1/egress").json
        equal((broken["proof"]["sound"], broken["proof"]["bad_row"]), (False, 1))
        equal(broken["newest"], [])


@case
def test_without_a_record_it_says_so():
    with Tandem("ledger: {egress: none}\n") as tandem:
        shown = tandem.get("/tandem/v1/egress").json
        equal((shown["state"], shown["proof"]), ("off", None))


@case
def test_calibration_shows_models_and_judged_answers():
    with house() as (_, tandem):
        shown = tandem.get("/tandem/v1/calibration").json
        local, far = shown["tiers"]
        equal(
            (local["model"], local["judged_by"], local["kept_from"]), ("tandem-nano", "file", 0.55)
        )
        equal(local["file"]["quantization"], "Q8_0")
        equal((far["place"], far["file"], far["judged_by"]), ("cloud", None, "rule"))
        route = {"name": "auto", "tiers": ["local", "cloud"], "risk": 0.05, "early_min": 0.35}
        equal(shown["routes"], [route])
        assert shown["loaded"] >= 1 and shown["memory_bytes"] > local["file"]["bytes"]
        note = tandem.chat("Classify the intent: pay my card", max_tokens=4).tandem
        equal(note["tier"], "local")
        tandem.request("POST", "/tandem/v1/feedback", {"id": note["exchange"], "ok": False})
        wait_until(lambda: 0 in [row[1] for row in answers_of(tandem)])
        newest = answers_of(tandem)[0]
        equal(newest[1:], [0, True])
        equal(round(newest[0], 4), note["confidence"])
        equal(tandem.get("/tandem/v1/calibration?since_wall_ms=9999999999999").json["answers"], [])
        equal(tandem.get("/tandem/v1/calibration?since_wall_ms=x").status, 400)
        versions = tandem.get("/tandem/v1/calibration").json["versions"]
        equal([one["version"] for one in versions], [local["version"]])


@case
def test_without_a_ledger_the_models_are_shown():
    with Tandem("ledger: {enabled: false}\n") as tandem:
        shown = tandem.get("/tandem/v1/calibration").json
        equal((shown["answers"], shown["versions"]), ([], []))
        equal(shown["tiers"][0]["name"], "local")


if __name__ == "__main__":
    main()
