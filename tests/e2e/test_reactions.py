#!/usr/bin/env python3
"""What people do after an answer is seen in what their next request repeats: asking again, changing
the question, going on, leaving. It lies in the ledger beside what they say, and the report has it
by tier."""

import http.client
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import ledger_rows
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, run, wait_until

ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
ASKED = [{"role": "user", "content": "Why did the French revolution begin?"}]
TOLD = [*ASKED, {"role": "assistant", "content": "This is the cloud's answer."}]
PROGRAM_S = 1.0  # who repeats itself within so long is a program
READING_S = 1.2


def server(cloud, extra=""):
    return Tandem(edge_first(cloud.base_url) + extra, env={"TEST_CLOUD_KEY": "sk-very-secret"})


def ask(tandem, messages, **members):
    answer = tandem.chat(messages, ONLY_CLOUD, **members)
    equal(answer.status, 200, answer.body.decode())
    return answer.headers["x-tandem-exchange"]


def user(text):
    return {"role": "user", "content": text}


def is_committed(tandem, exchange):
    return (exchange,) in ledger_rows(tandem.state / "ledger.db")


def reactions(tandem, exchange):
    """Waits for the commit of what was put before: records are committed in their order."""
    if tandem.get("/tandem/v1/exchanges/last").status == 200:
        last = tandem.get("/tandem/v1/exchanges/last").json["id"]
        wait_until(lambda: is_committed(tandem, last), what=f"the commit of {last}")
    record = tandem.get("/tandem/v1/exchanges/" + exchange).json
    return [row["kind"] for row in record["reactions"]]


def repeat_like_a_program(tandem):
    """The first of two equal questions one at once after the other, as quickly as it must be."""
    for number in range(50):
        asked = [user(f"Why did revolution {number} begin?")]
        first = ask(tandem, asked)
        began = time.monotonic()
        ask(tandem, asked)
        if time.monotonic() - began < PROGRAM_S:
            return first
    raise AssertionError("this machine is too busy to be as quick as a program")


@case
def test_the_same_question_again_says_that_the_answer_was_not_good_enough():
    with server(ScriptedCloud()) as tandem:
        first = ask(tandem, ASKED)
        time.sleep(READING_S)
        second = ask(tandem, ASKED)
        equal((reactions(tandem, first), reactions(tandem, second)), (["regenerated"], []))
        time.sleep(READING_S)
        ask(tandem, ASKED)
        equal((reactions(tandem, first), reactions(tandem, second)), (["regenerated"],) * 2)


@case
def test_a_changed_question_is_an_edit_and_the_next_one_goes_on():
    with server(ScriptedCloud()) as tandem:
        first = ask(tandem, ASKED)
        second = ask(tandem, [*TOLD, user("And when did it end?")])
        time.sleep(READING_S)
        third = ask(tandem, [*TOLD, user("When did it end, and where?")])
        equal(reactions(tandem, first), ["continued"])
        equal(reactions(tandem, second), ["edited"])
        equal(reactions(tandem, third), [])


@case
def test_what_says_nothing_is_not_taken_for_a_reaction():
    with server(ScriptedCloud()) as tandem:
        first = repeat_like_a_program(tandem)
        asked = ask(tandem, ASKED)
        time.sleep(READING_S)
        others = [
            ask(tandem, [user("Another question, why not?")]),  # first questions stand alone
            ask(tandem, ASKED, user="somebody-else"),
            ask(tandem, [{"role": "system", "content": "Be short."}, *ASKED]),
        ]
        for exchange in [first, asked, *others]:
            equal(reactions(tandem, exchange), [], exchange)


@case
def test_a_client_that_leaves_while_it_reads_has_abandoned_the_answer():
    cloud = ScriptedCloud(Script(pieces=["word "] * 400, piece_delay=0.05))
    with server(cloud) as tandem:
        connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=60)
        body = {"model": "auto", "stream": True, "messages": ASKED}
        headers = {"content-type": "application/json", **ONLY_CLOUD}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        answer = connection.getresponse()
        while b"word" not in answer.readline():
            pass
        exchange = answer.headers["x-tandem-exchange"]
        answer.close()
        connection.close()
        wait_until(lambda: reactions(tandem, exchange) == ["abandoned"], what="it was abandoned")


@case
def test_reactions_are_no_feedback_and_the_report_has_them_by_tier():
    with server(ScriptedCloud()) as tandem:
        first = ask(tandem, ASKED)
        second = ask(tandem, [*TOLD, user("And when did it end?")])
        time.sleep(READING_S)
        ask(tandem, [*TOLD, user("And when did it end?")])
        equal(
            (reactions(tandem, first), reactions(tandem, second)), (["continued"], ["regenerated"])
        )
        code, out, err = run("report", "--json", env=tandem.environment)
        equal(code, 0, err)
        report = json.loads(out)
        equal((report["feedback"], report["score"]), (0, None))
        cloud = {"regenerated": 1, "edited": 0, "abandoned": 0, "continued": 1}
        equal(report["reactions"], [{"tier": "cloud", **cloud}])
        code, out, _ = run("report", env=tandem.environment)
        assert "after answers of cloud: went on 1, asked again 1" in out.decode(), out


@case
def test_where_nothing_is_kept_no_reaction_is():
    with server(ScriptedCloud(), "privacy:\n  zero_retention: true\n") as tandem:
        first = ask(tandem, ASKED)
        time.sleep(READING_S)
        ask(tandem, ASKED)
        equal(reactions(tandem, first), [])


@case
def test_no_text_of_a_question_is_in_the_state_folder():
    with server(ScriptedCloud()) as tandem:
        first = ask(tandem, ASKED)
        time.sleep(READING_S)
        ask(tandem, ASKED)
        equal(reactions(tandem, first), ["regenerated"])
        for path in tandem.state.rglob("*"):
            assert not path.is_file() or b"French" not in path.read_bytes(), path


main()
