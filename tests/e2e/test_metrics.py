#!/usr/bin/env python3
"""What /metrics counts of exchanges: routes, classes and outcomes in the ledger's own words, both
ends of a climb, what was less than planned or asked twice, and the times that were asked for."""

import http.client
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

HARD = "Explain in three sentences why the French revolution began."
ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}


def server(cloud):
    return Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "sk-very-secret"})


def read(tandem, family):
    """{labels as a dict's items: value} of one family."""
    text = tandem.get("/metrics").body.decode()
    found = {}
    for labels, value in re.findall(rf"^{family}(?:{{(.*)}})? (\S+)$", text, re.M):
        found[tuple(re.findall(r'(\w+)="([^"]*)"', labels))] = float(value)
    return found


def total(tandem, family, **labels):
    return sum(
        value
        for key, value in read(tandem, family).items()
        if all(dict(key).get(name) == wanted for name, wanted in labels.items())
    )


def leave_a_stream(tandem):
    """Reads the first bytes of a streamed answer and goes."""
    connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=10)
    body = {"model": "auto", "stream": True, "messages": [{"role": "user", "content": HARD}]}
    connection.request(
        "POST",
        "/v1/chat/completions",
        json.dumps(body),
        {"content-type": "application/json", **ONLY_CLOUD},
    )
    answer = connection.getresponse()
    answer.read(20)
    answer.close()
    connection.close()


@case
def test_outcomes_are_counted_by_route_and_class_in_the_ledgers_words():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        equal(tandem.chat("What is 2 + 2?", {"x-tandem-mode": "only-local"}).status, 200)
        tandem.chat("My card is 4111 1111 1111 1111, is it valid?")
        cloud.script = Script(status=400, error_message="this model does not support it")
        assert tandem.chat(HARD, ONLY_CLOUD).status >= 400
        cloud.script = Script(pieces=["word "] * 200, piece_delay=0.05)
        leave_a_stream(tandem)
        cancelled = {"route": "auto", "class": "public", "status": "cancelled"}
        wait_until(lambda: total(tandem, "tandem_requests_total", **cancelled) == 1)
        kept = [
            (row["route"], row["data_class"], row["status"])
            for row in tandem.get("/tandem/v1/exchanges").json["data"]
        ]
        for route, name, status in set(kept):
            count = total(
                tandem, "tandem_requests_total", **{"route": route, "class": name, "status": status}
            )
            equal(count, kept.count((route, name, status)), f"{route} {name} {status}")
        words = {dict(key)["status"] for key in read(tandem, "tandem_exchanges_total")}
        equal(words, {"ok", "failed", "cancelled"})
        assert total(tandem, "tandem_exchanges_total", tier="cloud", status="cancelled") == 1


@case
def test_a_climb_has_both_ends_and_its_reason_and_class():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        answer = tandem.chat(HARD)
        equal(answer.tandem["tier"], "cloud")
        climbs = read(tandem, "tandem_escalations_total")
        equal(len(climbs), 1, str(climbs))
        labels = dict(next(iter(climbs)))
        equal((labels["from"], labels["to"], labels["class"]), ("local", "cloud", "public"))
        assert labels["reason"] in ("not_mine", "low_confidence"), labels
        cloud.script = Script(status=400, error_message="this model does not support it")
        answer = tandem.chat(HARD)
        equal((answer.tandem["tier"], answer.tandem["degraded"]), ("local", True))
        back = {"from": "cloud", "to": "local", "reason": "error"}
        equal(total(tandem, "tandem_escalations_total", **back), 1)
        equal(total(tandem, "tandem_degraded_total", tier="local", route="auto"), 1)


@case
def test_what_is_sent_again_is_counted_as_a_retry():
    cloud = ScriptedCloud(Script(statuses=[500]))
    with server(cloud) as tandem:
        equal(tandem.chat(HARD, ONLY_CLOUD).status, 200)
        equal(len(cloud.requests), 2)
        equal(total(tandem, "tandem_retries_total", tier="cloud"), 1)


@case
def test_a_resting_tier_is_a_gauge():
    cloud = ScriptedCloud(Script(cut_at_once=True))
    with server(cloud) as tandem:
        equal(
            read(tandem, "tandem_tier_resting"), {(("tier", n),): 0.0 for n in ("local", "cloud")}
        )
        for _ in range(6):
            tandem.chat(HARD)
            if total(tandem, "tandem_tier_resting", tier="cloud"):
                break
        equal(total(tandem, "tandem_tier_resting", tier="cloud"), 1)
        equal(total(tandem, "tandem_tier_resting", tier="local"), 0)


@case
def test_times_that_were_asked_for_are_hit_or_missed_and_burn():
    cloud = ScriptedCloud(Script(first_delay=0.4))
    with server(cloud) as tandem:
        equal(read(tandem, "tandem_objective_burn_rate"), {})
        for _ in range(3):
            tandem.chat("Hi", {"x-tandem-mode": "only-local"}, tandem={"slo_ms": 60000})
        hit = {"objective": "whole_answer", "result": "hit", "route": "auto"}
        equal(total(tandem, "tandem_objectives_total", **hit), 3)
        burn = read(tandem, "tandem_objective_burn_rate")
        equal(burn, {(("window", "5m"),): 0.0, (("window", "1h"),): 0.0})
        tandem.chat(HARD, ONLY_CLOUD, tandem={"slo_ms": 50, "slo_ttft_ms": 40})
        for name in ("whole_answer", "first_text"):
            equal(total(tandem, "tandem_objectives_total", objective=name, result="missed"), 1)
        burn = read(tandem, "tandem_objective_burn_rate")
        assert all(value > 14 for value in burn.values()), burn


@case
def test_the_share_that_escalates_starts_unbiased():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        equal(tandem.chat(HARD).tandem["tier"], "cloud")
        for _ in range(9):
            equal(tandem.chat("Hi", {"x-tandem-mode": "prefer-local"}).tandem["tier"], "local")
        share = total(tandem, "tandem_escalation_share")
        assert abs(share - 0.1) < 1e-9, share


main()
