#!/usr/bin/env python3
"""POST /tandem/v1/replay: recent exchanges under other thresholds, as `tandem replay` has them."""

import contextlib
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, run, wait_until

ENV = {"TEST_CLOUD_KEY": "k"}
QUESTIONS = [
    "Classify the intent: pay my card",
    "Classify the intent: weather music loan",
    "Classify the intent: move 100 dollars to my savings",
    "Classify the intent: gas time zone the book",
    "Why did the French revolution begin?",
    "Is my flight late?",
]


@contextlib.contextmanager
def house(more=""):
    cloud = ScriptedCloud(Script(text="Taxes and bread."))
    config = edge_first(cloud.base_url) + more
    with contextlib.closing(cloud), Tandem(config, env=ENV) as tandem:
        for question in QUESTIONS:
            equal(tandem.chat(question, max_tokens=6).status, 200)
        wait_until(lambda: len(tandem.get("/tandem/v1/exchanges").json["data"]) == len(QUESTIONS))
        yield cloud, tandem


def replay(tandem, policies, **members):
    body = {"policies": policies, **members}
    return tandem.request("POST", "/tandem/v1/replay", body)


def by_command(tandem, gates):
    """What the command says of the same configuration with other gates at its route."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as other:
        other.write(tandem.config.read_text() + gates)
        other.flush()
        code, out, err = run("replay", "--policy", other.name, "--json", env=tandem.environment)
    equal(code, 0, err)
    return json.loads(out)


@case
def test_each_policy_comes_to_what_the_command_says():
    tried = [
        ({}, ""),
        ({"confidence_min": 0.9}, "    gates: {g3: {confidence_min: 0.9}}\n"),
        (
            {"confidence_min": 0.05, "early_min": 0.05},
            "    gates: {g2: {confidence_min: 0.05}, g3: {confidence_min: 0.05}}\n",
        ),
        (
            {"confidence_min": 0, "early_min": 0},
            "    gates: {g2: {confidence_min: 0}, g3: {confidence_min: 0}}\n",
        ),
        ({"p_local_under": 0.9}, "    gates: {g0: {p_local_under: 0.9}}\n"),
        (
            {"weights": {"latency": 0, "privacy": 1, "cost": 0}},
            "    weights: {latency: 0, privacy: 1, cost: 0}\n",
        ),
        (
            {"confidence_min": 0.7, "p_local_under": 0.5},
            "    gates: {g0: {p_local_under: 0.5}, g3: {confidence_min: 0.7}}\n",
        ),
    ]
    with house() as (cloud, tandem):
        asked = len(cloud.calls())
        shown = replay(tandem, [policy for policy, _ in tried]).json
        equal(shown["exchanges"], len(QUESTIONS))
        equal(len(cloud.calls()), asked, "no model is asked")
        for (policy, gates), after in zip(tried, shown["after"], strict=True):
            said = by_command(tandem, gates)
            for name in ("cost_usd", "ms", "share_local"):
                for got, expected in (
                    (after[name], said[name]["after"]["mean"]),
                    (shown["before"][name], said[name]["before"]["mean"]),
                ):
                    assert abs(got - expected) <= 1e-9 + 1e-9 * expected, (policy, name, got, said)
            equal((policy, after["start_changed"]), (policy, said["start_changed"]))
        # The policy of now changes nothing but what a mean stands for.
        equal(shown["after"][0]["share_local"], shown["before"]["share_local"])
        shares = [after["share_local"] for after in shown["after"][1:3]]
        assert shares[0] < shares[1], shares


@case
def test_a_replay_refuses_what_it_cannot_read():
    with house() as (_, tandem):
        wrong = [
            {},
            {"policies": []},
            {"policies": [{}] * 33},
            {"policies": [1]},
            {"policies": [{"confidence_min": 1.5}]},
            {"policies": [{"confidence_min": "x"}]},
            {"policies": [{"p_local_under": -0.1}]},
            {"policies": [{"weights": {"cost": 1}}]},
            {"policies": [{"weights": {"latency": 0, "privacy": 0, "cost": 0}}]},
            {"policies": [{}], "route": "nowhere"},
            {"policies": [{}], "since_wall_ms": -1},
        ]
        for body in wrong:
            answer = tandem.request("POST", "/tandem/v1/replay", body)
            equal(answer.status, 400, (body, answer.body.decode()))
        equal(tandem.request("POST", "/tandem/v1/replay", "{").status, 400)
        later = replay(tandem, [{}], since_wall_ms=9999999999999).json
        equal((later["exchanges"], later["before"]["cost_usd"]), (0, None))
    with Tandem("ledger: {enabled: false}\n") as tandem:
        equal(replay(tandem, [{}]).status, 503)


if __name__ == "__main__":
    main()
