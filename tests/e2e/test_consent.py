#!/usr/bin/env python3
"""Consents that a route asks for, and promises of tiers that a request asks for: without them
nothing leaves."""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

CLOUD = {"x-tandem-mode": "only-cloud"}


def server(cloud, route="", tier=""):
    return Tandem(
        edge_first(cloud.base_url, tier).rstrip("\n") + "\n" + route, env={"TEST_CLOUD_KEY": "k"}
    )


def soon(seconds=600):
    return int(time.time()) + seconds


def refused_for(answer, words):
    equal(answer.status, 403, answer.body)
    assert words in answer.body.decode(), answer.body


@case
def test_without_a_consent_nothing_leaves_and_with_one_it_does_until_it_is_taken_back():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud, "    consent: required\n") as tandem:
        refused_for(tandem.chat("Hello", CLOUD), "names no consent")
        refused_for(
            tandem.chat("Hello", {**CLOUD, "x-tandem-consent": "nobody-gave"}), "nobody gave"
        )
        stays = tandem.chat("Hello", {"x-tandem-mode": "prefer-cloud"})
        equal((stays.status, stays.tandem["place"]), (200, "device"))
        equal(len(cloud.requests), 0)
        given = tandem.request("POST", "/tandem/v1/consents", {"scope": "auto", "expires": soon()})
        equal((given.status, given.json["state"]), (200, "valid"), given.body)
        asked = {**CLOUD, "x-tandem-consent": given.json["id"]}
        equal(tandem.chat("Hello", asked).status, 200)
        equal(len(cloud.requests), 1)
        assert b"consent" not in cloud.requests[-1]["body"]
        listed = tandem.get("/tandem/v1/consents").json["data"]
        equal([item["id"] for item in listed], [given.json["id"]])
        taken = tandem.request("DELETE", f"/tandem/v1/consents/{given.json['id']}")
        equal((taken.status, taken.json["state"]), (200, "revoked"), taken.body)
        refused_for(tandem.chat("Hello", asked), "taken back")
        equal(tandem.request("DELETE", "/tandem/v1/consents/none").status, 404)
        equal(len(cloud.requests), 1)


@case
def test_a_request_does_not_give_its_own_consent():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud, "    consent: required\n") as tandem:
        own = {"id": "form-17", "scope": "*", "expires": soon()}
        refused_for(tandem.chat("Hello", CLOUD, tandem={"consent": own}), "nobody gave")
        short = {"id": "form-18", "scope": "auto", "expires": soon(90)}
        equal(tandem.request("POST", "/tandem/v1/consents", short).status, 200)
        equal(
            tandem.chat(
                "Hello", CLOUD, tandem={"consent": {**short, "scope": "*", "expires": soon()}}
            ).status,
            200,
        )
        equal(
            tandem.get("/tandem/v1/consents").json["data"],
            [{**short, "user": None, "state": "valid"}],
        )
        again = tandem.request("POST", "/tandem/v1/consents", {**short, "scope": "*"})
        refused_for(again, "give another")
        equal(len(cloud.requests), 1)


@case
def test_a_consent_is_of_the_key_that_gave_it():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with Tandem(
        edge_first(cloud.base_url).rstrip("\n")
        + "\n    consent: required\nserver: {api_keys_env: KEYS}\n",
        env={"TEST_CLOUD_KEY": "k", "KEYS": "key-of-one,key-of-two"},
    ) as tandem:
        one, two = ({"Authorization": f"Bearer key-of-{name}"} for name in ("one", "two"))
        wish = {"scope": "auto", "expires": soon(), "user": "ann", "id": "ann-1"}
        equal(tandem.request("POST", "/tandem/v1/consents", wish, one).status, 200)
        asked = {**CLOUD, "x-tandem-consent": "ann-1", "x-tandem-user": "ann"}
        refused_for(tandem.chat("Hello", {**asked, **two}), "nobody gave")
        equal(tandem.get("/tandem/v1/consents", headers=two).json["data"], [])
        equal(tandem.request("DELETE", "/tandem/v1/consents/ann-1", headers=two).status, 404)
        equal(tandem.chat("Hello", {**asked, **one}).status, 200)
        equal(
            [item["id"] for item in tandem.get("/tandem/v1/consents", headers=one).json["data"]],
            ["ann-1"],
        )
        assert "key-of" not in (tandem.state / "consents.json").read_text()
        equal(tandem.request("DELETE", "/tandem/v1/consents/ann-1", headers=one).status, 200)
        refused_for(tandem.chat("Hello", {**asked, **one}), "taken back")


@case
def test_a_consent_in_the_body_holds_for_its_scope_and_time_and_stays_taken_back():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(
        cloud, "    consent: required\nprivacy: {consents: {in_requests: true}}\n"
    ) as tandem:

        def ask(consent, user=None):
            return tandem.chat(
                "Hello", CLOUD, tandem={"consent": consent, **({"user": user} if user else {})}
            )

        equal(ask({"id": "form-17", "scope": "*", "expires": soon()}).status, 200)
        equal(ask("form-17").status, 200)
        refused_for(
            ask({"id": "form-18", "scope": "another", "expires": soon()}), "for another route"
        )
        refused_for(ask({"id": "form-19", "scope": "auto", "expires": soon(-5)}), "nobody gave")
        equal(ask({"id": "of-ann", "scope": "auto", "expires": soon()}, user="ann").status, 200)
        refused_for(ask("of-ann", user="bob"), "another user")
        equal(ask({"id": "of-ann", "scope": "*", "expires": soon(9999)}, user="ann").status, 200)
        kept = {item["id"]: item for item in tandem.get("/tandem/v1/consents").json["data"]}[
            "of-ann"
        ]
        assert kept["scope"] == "auto" and kept["expires"] <= soon(), kept
        equal(tandem.request("DELETE", "/tandem/v1/consents/form-17").status, 200)
        refused_for(ask({"id": "form-17", "scope": "*", "expires": soon()}), "taken back")
        equal(ask(7).status, 400)
        for wrong in (
            {"scope": "auto"},
            {"scope": "auto", "expires": soon(-1)},
            {"expires": soon()},
            {"scope": "auto", "expires": soon(), "id": "a b"},
            {"scope": 5, "expires": soon()},
        ):
            equal(tandem.request("POST", "/tandem/v1/consents", wrong).status, 400, wrong)


@case
def test_consents_are_kept_in_a_file_and_an_expired_one_does_not_hold():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud, "    consent: required\n") as tandem:
        state = tandem.state
        expires = soon(5)
        short = tandem.request(
            "POST", "/tandem/v1/consents", {"scope": "auto", "expires": expires, "id": "short"}
        )
        equal(short.status, 200, short.body)
        equal(
            tandem.request(
                "POST", "/tandem/v1/consents", {"scope": "auto", "expires": soon(), "id": "gone"}
            ).status,
            200,
        )
        equal(tandem.request("DELETE", "/tandem/v1/consents/gone").status, 200)
        stored = json.loads((state / "consents.json").read_text())
        equal(
            [(item["id"], "revoked" in item) for item in stored], [("short", False), ("gone", True)]
        )
        equal((state / "consents.json").stat().st_mode & 0o777, 0o600)
        while time.time() <= expires:
            time.sleep(0.1)
        refused_for(tandem.chat("Hello", {**CLOUD, "x-tandem-consent": "short"}), "expired")


@case
def test_promises_of_tiers_are_asked_for_by_request_and_route():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        equal(tandem.chat("Hello", CLOUD).status, 200)
        refused_for(tandem.chat("Hello", {**CLOUD, "x-tandem-no-train": "true"}), "not to train")
        refused_for(tandem.chat("Hello", CLOUD, tandem={"no_retention": True}), "not to keep")
        equal(tandem.chat("Hello", {**CLOUD, "x-tandem-no-train": "perhaps"}).status, 400)
        equal(tandem.chat("Hello", CLOUD, tandem={"no_train": "yes"}).status, 400)
    with server(cloud, tier="    no_train: true\n    no_retention: true\n") as tandem:
        equal(
            tandem.chat(
                "Hello", {**CLOUD, "x-tandem-no-train": "true", "x-tandem-no-retention": "1"}
            ).status,
            200,
        )
    with server(cloud, "    no_retention: true\n", tier="    no_train: true\n") as tandem:
        refused_for(tandem.chat("Hello", CLOUD), "not to keep")


@case
def test_a_request_for_a_region_stays_there():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud, tier="    region: us-east-1\n") as tandem:
        equal(tandem.chat("Hello", {**CLOUD, "x-tandem-region": "us"}).status, 200)
        for headers, members in (
            ({"x-tandem-region": "eu"}, {}),
            ({}, {"region": "eu"}),
            ({"x-tandem-region": "us"}, {"region": "EU"}),
        ):
            refused_for(
                tandem.chat("Hello", {**CLOUD, **headers}, tandem=members), "and the region of"
            )
            stays = tandem.chat(
                "Write an essay", {"x-tandem-mode": "prefer-cloud", **headers}, tandem=members
            )
            equal((stays.status, stays.tandem["place"]), (200, "device"))
        why = tandem.get(f"/tandem/v1/exchanges/{stays.tandem['exchange']}").body.decode()
        assert (
            "removed_region" in why and "must stay in region EU" in why and "is us-east-1" in why
        ), why
        for wrong in ("e u", "", "x" * 33, "eu,us"):
            equal(tandem.chat("Hello", CLOUD, tandem={"region": wrong}).status, 400, wrong)
        equal(tandem.chat("Hello", CLOUD, tandem={"region": 5}).status, 400)
    equal(len(cloud.requests), 1)
    with server(cloud, "    region: eu\n") as tandem:
        refused_for(tandem.chat("Hello", CLOUD), "route auto stays in region eu")
    equal(len(cloud.requests), 1)


@case
def test_what_may_not_be_kept_is_not_asked_to_be_stored():
    cloud = ScriptedCloud(Script(text="Cloud."))
    promises = "    no_retention: true\n"
    for route, wish in (("", True), ("", False), (promises, False)):
        with server(cloud, route, tier=promises) as tandem:
            asked = {"tandem": {"no_retention": True}} if wish else {}
            equal(tandem.chat("Hello", CLOUD, store=True, **asked).status, 200)
            equal(cloud.requests[-1]["json"]["store"], not (wish or route))


if __name__ == "__main__":
    main()
