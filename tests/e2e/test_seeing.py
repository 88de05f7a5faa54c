#!/usr/bin/env python3
"""What a server says of itself: what it can, which tiers are up, and what somebody has to mend."""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, run, wait_until

ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
KEY = {"TEST_CLOUD_KEY": "sk-canarykey"}


def values(tandem, start):
    text = tandem.get("/metrics").body.decode()
    return {
        name: float(value)
        for name, value in (line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
        if name.startswith(start)
    }


def reduced(tandem):
    return tandem.get("/readyz").json.get("reduced", [])


def said(tandem, event):
    return [line for line in tandem.log if f"event={event} " in line]


@case
def test_capabilities_name_tiers_routes_endpoints_and_limits_and_no_secret():
    cloud = ScriptedCloud()
    with Tandem(edge_first(cloud.base_url, "    region: eu-central-1\n"), env=KEY) as tandem:
        answer = tandem.get("/tandem/v1/capabilities")
    equal(answer.status, 200)
    for secret in (b"canarykey", b"TEST_CLOUD_KEY", b"127.0.0.1", b"http"):
        assert secret not in answer.body, secret
    got = answer.json
    local, remote = got["tiers"]
    equal((local["name"], local["place"], local["provider"]), ("local", "device", "tandem"))
    equal((remote["name"], remote["place"], remote["provider"]), ("cloud", "cloud", "openai"))
    equal((local["up"], remote["up"], remote["code"]), (True, True, "up"))
    equal((remote["models"], remote["region"]), (["scripted"], "eu-central-1"))
    equal((local["classes"], remote["classes"]), (got["privacy"]["classes"], ["public"]))
    assert "tools" in remote["can"] and "grammar" in local["can"], got["tiers"]
    assert "grammar" not in remote["can"], remote
    equal(got["routes"][0]["name"], "auto")
    for path in ("/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat"):
        assert path in got["endpoints"], got["endpoints"]
    assert got["limits"]["body_bytes_max"] == 33554432 and got["cache"] is False, got


@case
def test_an_app_sees_only_what_it_may_name():
    cloud = ScriptedCloud()
    config = """
server: {api_keys_env: CLIENTS}
apps: [{name: small, key_env: SMALL_KEY, models: [local]}]
"""
    env = {**KEY, "CLIENTS": "key-small,key-other", "SMALL_KEY": "key-small"}
    with Tandem(edge_first(cloud.base_url) + config, env=env) as tandem:
        equal(tandem.get("/tandem/v1/capabilities").status, 401)
        as_small = {"authorization": "Bearer key-small"}
        got = tandem.get("/tandem/v1/capabilities", headers=as_small).json
        equal((got["routes"], got["tiers"][1]["models"]), ([], []))


@case
def test_a_tier_that_dies_is_said_once_and_when_it_comes_back():
    cloud = ScriptedCloud()
    port = cloud.port
    with Tandem(edge_first(cloud.base_url), env=KEY) as tandem:
        equal(tandem.chat("One?", ONLY_CLOUD).status, 200)
        equal(
            (reduced(tandem), values(tandem, "tandem_tier_up")),
            ([], {'tandem_tier_up{tier="local"}': 1.0, 'tandem_tier_up{tier="cloud"}': 1.0}),
        )
        cloud.script = Script(cut_at_once=True)  # ends the connection that is kept
        cloud.close()
        for _ in range(6):
            tandem.chat("Two?", ONLY_CLOUD)
        wait_until(lambda: said(tandem, "tier_down"))
        (fault,) = reduced(tandem)
        equal((fault["tier"], fault["code"]), ("cloud", "unreachable"))
        equal(values(tandem, "tandem_tier_up{")['tandem_tier_up{tier="cloud"}'], 0.0)
        equal(tandem.get("/tandem/v1/capabilities").json["tiers"][1]["up"], False)
        failures = values(tandem, "tandem_tier_failures_total")
        assert failures['tandem_tier_failures_total{tier="cloud",kind="unavailable"}'] >= 1, (
            failures
        )
        again = ScriptedCloud(port=port)
        wait_until(lambda: said(tandem, "tier_up"))
        equal((len(said(tandem, "tier_down")), len(said(tandem, "tier_up"))), (1, 1))
        equal(tandem.chat("Three?", ONLY_CLOUD).status, 200)
        equal(reduced(tandem), [])
        again.close()


@case
def test_a_tier_without_its_key_or_with_a_wrong_one_is_named_everywhere():
    cloud = ScriptedCloud()
    with Tandem(edge_first(cloud.base_url)) as tandem:
        (fault,) = reduced(tandem)
        equal((fault["tier"], fault["code"]), ("cloud", "no_key"))
        wait_until(lambda: said(tandem, "tier_down"))
        equal(values(tandem, "tandem_tier_broken")['tandem_tier_broken{tier="cloud"}'], 1.0)
        code, out, _ = run("doctor", "--json", env=tandem.environment)
        (check,) = [c for c in json.loads(out)["checks"] if c["name"] == "tier cloud"]
        equal(
            (code, check["status"], check["text"]), (1, "fail", "no API key: the tier is not used")
        )
    cloud.script = Script(status=401)
    with Tandem(edge_first(cloud.base_url), env=KEY) as tandem:
        for _ in range(3):
            tandem.chat("One?", ONLY_CLOUD)
        wait_until(lambda: said(tandem, "tier_down"))
        (fault,) = reduced(tandem)
        equal((fault["tier"], fault["code"]), ("cloud", "refused"))
        kinds = values(tandem, "tandem_tier_failures_total")
        assert kinds['tandem_tier_failures_total{tier="cloud",kind="http_401"}'] >= 2, kinds


@case
def test_the_doctor_fails_for_a_dead_tier():
    cloud = ScriptedCloud()
    cloud.close()
    with Tandem(edge_first(cloud.base_url), env=KEY) as tandem:
        code, out, _ = run("doctor", "--json", env=tandem.environment)
        (check,) = [c for c in json.loads(out)["checks"] if c["name"] == "tier cloud"]
        equal((code, check["status"]), (1, "fail"))
        assert "cannot be reached" in check["text"], check


@case
def test_without_a_configuration_nothing_is_amiss():
    with Tandem() as tandem:
        equal(reduced(tandem), [])
        equal(said(tandem, "tier_down"), [])


@case
def test_attempts_latency_and_budgets_are_counted_by_tier():
    cloud = ScriptedCloud()
    config = "budgets: [{name: all, usd_per_day: 5}, {name: each, per: user, usd_per_day: 1}]\n"
    with Tandem(edge_first(cloud.base_url) + config, env=KEY) as tandem:
        for _ in range(3):
            cost = tandem.chat("One?", ONLY_CLOUD).tandem["cost_usd"]
        got = values(tandem, "tandem_tier_")
        equal(got['tandem_tier_attempts_total{tier="cloud",outcome="answered"}'], 3.0)
        equal(got['tandem_tier_seconds_count{tier="cloud"}'], 3.0)
        equal(got['tandem_tier_first_seconds_count{tier="cloud"}'], 3.0)
        equal(got['tandem_tier_in_flight{tier="cloud"}'], 0.0)
        spent = values(tandem, "tandem_budget")
        equal(spent['tandem_budget_usd{budget="all"}'], 5.0)
        assert abs(spent['tandem_budget_spent_usd{budget="all"}'] - 3 * cost) < 1e-9, spent
        equal(len(spent), 2)
        text = tandem.get("/metrics").body.decode()
        names = re.findall(r"(?m)^# TYPE (\S+)", text)
        equal(len(names), len(set(names)), "families once each")


main()
