#!/usr/bin/env python3
"""Hedged climbing over real sockets: a slow tier, a quick one beside it, whose answer is given and
what becomes of the other; what may not leave does not leave for a hedge either."""

import json
import random
import re
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import has_card
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, run, stream_text, wait_until

NEVER = 600  # seconds: longer than any test waits
CONFIG = """
tiers:
  - {{name: local, kind: local}}
  - {{name: first, kind: openai, model: scripted, base_url: "{first}", api_key_env: TEST_CLOUD_KEY,
      price: {{input_usd_per_mtok: 10, output_usd_per_mtok: 20}}}}
  - {{name: second, kind: openai, model: scripted, base_url: "{second}",
      api_key_env: TEST_CLOUD_KEY}}
routes:
  - {{name: auto, kind: cloud-only, tiers: [first, second], climb: hedged, hedge: {{{hedge}}}}}
  - {{name: edge, kind: hybrid, tiers: [local, first], climb: hedged, hedge: {{{hedge}}},
      gates: {{g2: {{tokens: 0}}, g3: {{confidence_min: 0}}}}}}
{more}
"""
ALWAYS = "after_ms: 50, requests_share: 1"


class Pair:
    """Two clouds and a server before them."""

    def __init__(self, first, second, hedge=ALWAYS, more=""):
        self.first, self.second = ScriptedCloud(first), ScriptedCloud(second)
        self.tandem = Tandem(
            CONFIG.format(
                first=self.first.base_url, second=self.second.base_url, hedge=hedge, more=more
            ),
            env={"TEST_CLOUD_KEY": "k"},
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tandem.stop()
        self.first.close()
        self.second.close()

    def metric(self, name):
        found = re.search(
            rf"^{re.escape(name)} (\S+)$", self.tandem.get("/metrics").body.decode(), re.MULTILINE
        )
        return float(found.group(1))

    def explain(self):
        code, out, err = run("explain", "last", "--json", env=self.tandem.environment)
        equal(code, 0, err)
        return json.loads(out)

    def purposes(self):
        code, out, err = run("egress", "show", "--json", env=self.tandem.environment)
        equal(code, 0, err)
        return [(entry["tier"], entry["purpose"]) for entry in json.loads(out)["transfers"]]


@case
def test_the_quick_one_answers_and_the_slow_one_is_cancelled():
    with Pair(Script(first_delay=NEVER), Script(text="Quick.")) as pair:
        answer = pair.tandem.chat("Explain the French revolution.")
        equal(answer.status, 200, answer.body)
        equal(
            (answer.text, answer.tandem["tier"], answer.tandem["degraded"]),
            ("Quick.", "second", False),
        )
        wait_until(
            lambda: pair.first.gone_count == 1,
            what="the slow cloud sees that nobody waits any more",
        )
        equal(pair.purposes(), [("first", "attempt"), ("second", "hedge")])
        record = pair.explain()
        equal(
            [(a["tier"], a["outcome"]) for a in record["attempts"]],
            [("first", "cancelled"), ("second", "answered")],
        )
        codes = [reason["code"] for reason in record["reasons"]]
        assert "hedged" in codes and "hedge_won" in codes, codes
        lost = record["attempts"][0]
        assert (
            lost["cost_usd"] > 0
            and lost["prompt_tokens"] > 0
            and record["cost_usd"] == lost["cost_usd"]
        ), record
        equal(pair.metric("tandem_hedges_started_total"), 1)
        equal(pair.metric('tandem_hedges_total{result="won"}'), 1)
        equal(pair.metric("tandem_hedges_cost_usd_total"), lost["cost_usd"])


@case
def test_a_stream_is_of_one_answer_whoever_wins():
    """Both begin in about the same moment, with roles first, in pieces; 60 times."""
    rng = random.Random(3)
    winners = set()
    with Pair(Script(), Script(), hedge="after_ms: 1, requests_share: 1") as pair:
        for _ in range(60):
            delays = [rng.choice([0, 0.001, 0.003]) + 0.002, rng.choice([0, 0.001, 0.003])]
            pair.first.script = Script(pieces=["a"] * 8, first_delay=delays[0], piece_delay=0.0005)
            pair.second.script = Script(pieces=["b"] * 8, first_delay=delays[1], piece_delay=0.0005)
            status, _, chunks, done = pair.tandem.stream("Explain the French revolution.")
            equal((status, done), (200, True))
            assert stream_text(chunks) in ("a" * 8, "b" * 8), stream_text(chunks)
            winners.add(stream_text(chunks)[0])
        ended = sum(
            pair.metric(f'tandem_hedges_total{{result="{result}"}}')
            for result in ("won", "lost", "failed")
        )
        equal(ended, pair.metric("tandem_hedges_started_total"))
        assert ended > 0, "nothing was hedged"


@case
def test_a_slow_one_that_stalls_after_its_role_has_sent_nothing():
    with Pair(Script(pieces=["never"], stall_after=0), Script(text="Quick.")) as pair:
        _, _, chunks, done = pair.tandem.stream("Explain the French revolution.")
        equal((stream_text(chunks), done), ("Quick.", True))


@case
def test_a_failing_one_leaves_the_other_to_answer():
    with Pair(Script(text="Slow.", first_delay=0.4), Script(status=400)) as pair:
        equal(pair.tandem.chat("Explain the French revolution.").text, "Slow.")
        pair.second.script = Script(text="Late.", first_delay=0.4)
        pair.first.script = Script(cut_after=0, first_delay=0.2)
        equal(pair.tandem.chat("Explain the French revolution.").text, "Late.")


@case
def test_a_client_that_leaves_cancels_both():
    with Pair(Script(first_delay=NEVER), Script(first_delay=NEVER)) as pair:
        thread = threading.Thread(target=leave, args=(pair,))
        thread.start()
        wait_until(lambda: pair.second.requests, what="the hedge")
        thread.join()
        wait_until(
            lambda: pair.first.gone_count == 1 and pair.second.gone_count == 1,
            what="both are cancelled",
        )
        wait_until(
            lambda: pair.metric('tandem_hedges_total{result="failed"}') == 1, what="the count"
        )


def leave(pair):
    import socket

    body = json.dumps(
        {
            "model": "auto",
            "messages": [{"role": "user", "content": "Explain the French revolution."}],
        }
    )
    with socket.create_connection(("127.0.0.1", pair.tandem.port)) as client:
        client.sendall(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
            "Content-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        wait_until(lambda: pair.first.requests and pair.second.requests, what="both are asked")


@case
def test_an_outage_adds_no_more_than_the_share():
    with Pair(
        Script(first_delay=1, text="Slow."),
        Script(text="Quick."),
        hedge="after_ms: 20, requests_share: 0.05",
    ) as pair:
        threads = [
            threading.Thread(target=pair.tandem.chat, args=("Explain the French revolution.",))
            for _ in range(40)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert 1 <= len(pair.second.requests) <= 3, len(
            pair.second.requests
        )  # 40 * 0.05, and one at the beginning
        equal(pair.metric("tandem_hedgeable_requests_total"), 40)
        started, refused = (
            pair.metric("tandem_hedges_started_total"),
            pair.metric("tandem_hedges_refused_total"),
        )
        assert started <= 3 and refused > 0 and started + refused <= 40, (started, refused)


@case
def test_the_percentile_is_of_what_was_measured():
    with Pair(
        Script(text="First."),
        Script(text="Quick."),
        hedge="after_percentile: 90, requests_share: 1",
    ) as pair:
        pair.first.script = Script(text="First.", first_delay=0.2)
        equal(
            pair.tandem.chat("Explain the French revolution.").text, "First."
        )  # nothing is known yet
        equal(len(pair.second.requests), 0)
        pair.first.script = Script(text="First.", first_delay=0.1)
        for _ in range(20):
            equal(pair.tandem.chat("Explain the French revolution.").status, 200)
        pair.first.script = Script(first_delay=NEVER)
        equal(pair.tandem.chat("Explain the French revolution.").text, "Quick.")


@case
def test_the_device_takes_over_from_a_slow_cloud_and_says_so():
    with Pair(Script(first_delay=NEVER), Script()) as pair:
        answer = pair.tandem.chat(
            "What is 12 + 30?", {"x-tandem-mode": "prefer-cloud"}, model="edge", max_tokens=16
        )
        equal((answer.status, answer.tandem["tier"]), (200, "local"), answer.body)
        assert "tier first had not answered after" in answer.tandem["disclosure"], answer.tandem


@case
def test_what_may_not_leave_is_not_hedged_and_what_is_masked_is_restored():
    with Pair(
        Script(first_delay=NEVER, echo=True),
        Script(echo=True, piece_chars=1),
        more="privacy: {pseudonyms: {on: true, classes: [sensitive]}}\n",
    ) as pair:
        for stream in (False, True):
            text = "Dear Mary Smith, your address is mary.smith@acme-corp.com. Regards"
            if stream:
                _, _, chunks, _ = pair.tandem.stream(text)
                got = stream_text(chunks)
            else:
                got = pair.tandem.chat(text).text
            equal(got, text)
        answer = pair.tandem.chat("My card is 4111 1111 1111 1111.", model="edge", max_tokens=4)
        equal(answer.tandem["tier"], "local", answer.body)
        for cloud in (pair.first, pair.second):
            assert len(cloud.requests) == 2, cloud.requests
            assert not has_card(cloud.received)
            for value in (b"Mary", b"Smith", b"acme-corp"):
                assert value not in cloud.received, f"{value!r} left the device"


@case
def test_both_restore_beside_each_other():
    """Two streams of surrogates at the same time; whichever is given is whole."""
    text = "Dear Mary Smith, your address is mary.smith@acme-corp.com. Regards"
    with Pair(
        Script(),
        Script(),
        hedge="after_ms: 1, requests_share: 1",
        more="privacy: {pseudonyms: {on: true, classes: [sensitive]}}\n",
    ) as pair:
        for i in range(20):
            pair.first.script = Script(
                echo=True, piece_chars=1, first_delay=0.003 if i % 2 else 0.006
            )
            pair.second.script = Script(echo=True, piece_chars=2, first_delay=0.001)
            _, _, chunks, done = pair.tandem.stream(text)
            equal((stream_text(chunks), done), (text, True))


@case
def test_policy_check_knows_hedging():
    with Pair(Script(), Script()) as pair:

        def check(text):
            path = pair.tandem.state / "other.yaml"
            path.write_text(text)
            code, out, err = run(
                "policy", "check", "--json", "-c", path, env=pair.tandem.environment
            )
            return code, out.decode() + err

        one = (
            "tiers:\n  - {name: local, kind: local}\nroutes:\n  - {name: auto, kind: local-only,"
            " tiers: [local], climb: hedged}\n"
        )
        code, said = check(one)
        assert "there is no second tier to ask" in said, said
        code, said = check(one.replace("climb: hedged", "climb: fast"))
        assert code != 0 and "sequential" in said, said
        code, said = check(one.replace("climb: hedged", "hedge: {requests_share: 2}"))
        assert code != 0 and "requests_share" in said, said


if __name__ == "__main__":
    main()
