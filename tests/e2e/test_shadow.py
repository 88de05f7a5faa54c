#!/usr/bin/env python3
"""Shadows in the running program: another tier answers too, after the user and unseen; how far the
two agree is recorded, counted and reported; and nothing goes to a cloud that might not have gone
there."""

import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, run, stream_text, wait_until


def config(cloud, shadow, more=""):
    return f"""
tiers:
  - {{name: local, kind: local}}
  - {{name: cloud, kind: openai, base_url: {cloud.base_url}, model: big,
      api_key_env: TEST_CLOUD_KEY,
      price: {{input_usd_per_mtok: 1, output_usd_per_mtok: 100}}}}
routes:
  - name: auto
    kind: hybrid
    tiers: [local, cloud]
    gates: {{g0: {{gain_over: 0, p_local_under: 0}}, g2: {{tokens: 0}}, g3: {{confidence_min: 0}}}}
    shadow: {shadow}
{more}"""


def server(cloud, shadow, more=""):
    return Tandem(config(cloud, shadow, more), env={"TEST_CLOUD_KEY": "k"})


def shadows(tandem):
    answer = tandem.get("/tandem/v1/shadows")
    equal(answer.status, 200, answer.body.decode())
    return answer.json["data"]


def metric(tandem, name, place):
    for line in tandem.get("/metrics").body.decode().splitlines():
        if line.startswith(f'{name}{{place="{place}"}} '):
            return float(line.split()[-1])
    raise AssertionError(f"no metric {name} of {place}")


def compared(tandem, place, count):
    wait_until(
        lambda: metric(tandem, "tandem_shadows_compared_total", place) >= count,
        what=f"{count} shadows compared",
    )
    wait_until(
        lambda: sum(pair["compared"] for pair in shadows(tandem)) >= count,
        what="they are in the ledger",
    )


@case
def test_the_device_answers_in_the_shadow_of_the_cloud_and_the_user_sees_the_cloud_alone():
    cloud = ScriptedCloud(Script(text="placeholder"))
    with server(cloud, "{edge_share: 1}") as tandem:
        question = "What is the capital of France?"
        local = tandem.chat(question, max_tokens=12, tandem={"mode": "only-local"})
        equal(local.status, 200)
        cloud.script = Script(text=local.text)  # what the device says, so that they agree
        answer = tandem.chat(question, max_tokens=12, tandem={"mode": "only-cloud"})
        equal((answer.status, answer.tandem["tier"], answer.text), (200, "cloud", local.text))
        equal(len(cloud.requests), 1)
        compared(tandem, "device", 1)
        cloud.script = Script(text="Bananas grow on herbs, which few people know for sure.")
        status, _, chunks, done = tandem.stream(
            question, max_tokens=12, tandem={"mode": "only-cloud"}
        )
        equal((status, stream_text(chunks), done), (200, cloud.script.text, True))
        compared(tandem, "device", 2)
        (pair,) = shadows(tandem)
        equal(
            (pair["tier"], pair["shadow"], pair["compared"], pair["same"], pair["failed"]),
            ("cloud", "local", 2, 1, 0),
        )
        assert 0 < pair["same_low"] < 0.5 < pair["same_high"] < 1, pair
        equal(sum(task["compared"] for task in pair["tasks"]), 2)
        equal(len(pair["examples"]), 1)
        code, out, err = run("explain", pair["examples"][0], env=tandem.environment)
        assert (
            code == 0
            and b"only-cloud" in out
            and b"local: another answer (agreement 0." in out
            and b" as text)" in out
        ), (out, err)
        code, out, err = run("report", env=tandem.environment)
        assert (
            code == 0
            and b"shadow answers of local beside cloud: 1 of 2 the same" in out
            and b"95% interval" in out
        ), (out, err)
        code, out, err = run("report", "--json", env=tandem.environment)
        equal(json.loads(out)["shadows"][0]["same"], 1, err)
        tools = [{"type": "function", "function": {"name": "f"}}]
        for more in (
            {"tools": tools},
            {"response_format": {"type": "json_object"}},
            {"tandem": {"mode": "only-cloud", "no_retention": True}},
        ):
            tandem.chat(
                question, max_tokens=12, **{"tandem": {"mode": "only-cloud"}, **more}
            )  # none of them has a shadow
        tandem.chat(question, max_tokens=12, tandem={"mode": "only-cloud"})
        compared(tandem, "device", 3)
        equal(
            [
                metric(tandem, f"tandem_shadows_{what}_total", "device")
                for what in ("compared", "failed", "dropped")
            ],
            [3, 0, 0],
        )
        # the exchanges themselves had one attempt each
        report = json.loads(out)
        equal(
            [(tier["tier"], tier["exchanges"]) for tier in report["tiers"]],
            [("cloud", 2), ("local", 1)],
        )
    cloud.close()


@case
def test_a_cloud_in_the_shadow_costs_money_is_recorded_as_such_and_never_sees_what_may_not_leave():
    cloud = ScriptedCloud(Script(text="A cloud's own words about the question that was asked."))
    with server(cloud, "{cloud_share: 1}") as tandem:
        for members in (
            {"mode": "only-local"},
            {"data_class": "sensitive"},
            {"data_class": "contractual"},
            {"data_class": "restricted"},
        ):
            equal(
                tandem.chat("What is a noun?", max_tokens=4, tandem=members).tandem["tier"], "local"
            )
        equal(
            tandem.chat("My card is 4111 1111 1111 1111, is it valid?", max_tokens=4).tandem[
                "tier"
            ],
            "local",
        )
        answer = tandem.chat("What is an adverb?", max_tokens=4)
        equal(answer.tandem["tier"], "local")
        compared(tandem, "elsewhere", 1)
        # by now a shadow of those before it would have come, too: they ran one after another on one
        # loop or were never begun
        asked = [request["json"]["messages"][-1]["content"] for request in cloud.requests]
        equal(asked, ["What is an adverb?"])
        (pair,) = shadows(tandem)
        equal((pair["tier"], pair["shadow"], pair["compared"]), ("local", "cloud", 1))
        assert (
            pair["cost_usd"] > 0
            and metric(tandem, "tandem_shadows_cost_usd_total", "elsewhere") > 0
        )
        code, out, err = run("egress", "show", "--json", env=tandem.environment)
        equal(code, 0, err)
        equal([entry["purpose"] for entry in json.loads(out)["transfers"]], ["shadow"])
    cloud.close()


@case
def test_without_money_of_its_own_no_cloud_is_asked():
    cloud = ScriptedCloud(Script(text="words"))
    with server(cloud, "{cloud_share: 1}", "shadow: {usd_per_day: 0}\n") as tandem:
        equal(tandem.chat("What is a noun?", max_tokens=4).tandem["tier"], "local")
        wait_until(
            lambda: metric(tandem, "tandem_shadows_dropped_total", "elsewhere") == 1,
            what="it was dropped",
        )
        equal(cloud.requests, [])
    cloud.close()


@case
def test_what_shadows_cost_today_is_known_after_a_restart():
    cloud = ScriptedCloud(Script(text="A cloud's own words about the question that was asked."))
    folder = tempfile.mkdtemp(prefix="tandem-test-shadow-")
    text = config(
        cloud, "{cloud_share: 1}", "shadow: {usd_per_day: 0.026}\n"
    )  # one may come to 0.0256
    environment = {"TEST_CLOUD_KEY": "k", "TANDEM_STATE_DIR": folder}
    with Tandem(text, env=environment) as tandem:
        equal(tandem.chat("What is a noun?", max_tokens=4).tandem["tier"], "local")
        compared(tandem, "elsewhere", 1)
        assert shadows(tandem)[0]["cost_usd"] > 0.0004, shadows(tandem)
    with Tandem(text, env=environment) as tandem:
        equal(tandem.chat("What is a verb?", max_tokens=4).tandem["tier"], "local")
        wait_until(
            lambda: metric(tandem, "tandem_shadows_dropped_total", "elsewhere") == 1,
            what="it was dropped",
        )
    equal(len(cloud.requests), 1)
    cloud.close()
    shutil.rmtree(folder, ignore_errors=True)


@case
def test_users_are_served_while_shadows_run_and_none_is_refused_for_them():
    """One slot, no queue beyond it: a shadow in it must not make a user wait for its end or be
    refused."""
    cloud = ScriptedCloud(Script(text="A long story about a ship."))
    more = "engine: {slots: 1, queue: 1}\nshadow: {running_max: 4}\n"
    with server(cloud, "{edge_share: 1}", more) as tandem:
        for turn in range(4):
            equal(
                tandem.chat(f"Tell a long story {turn}.", tandem={"mode": "only-cloud"}).status, 200
            )
            answer = tandem.chat("Say yes.", max_tokens=3, tandem={"mode": "only-local"})
            equal((answer.status, answer.tandem["tier"]), (200, "local"), answer.body.decode())
        wait_until(
            lambda: (
                metric(tandem, "tandem_shadows_compared_total", "device")
                + metric(tandem, "tandem_shadows_dropped_total", "device")
                == 4
            ),
            seconds=60,
            what="each shadow ended somehow",
        )
    cloud.close()


@case
def test_a_server_that_ends_takes_its_shadows_along():
    cloud = ScriptedCloud(Script(text="words", first_delay=30))
    with server(cloud, "{cloud_share: 1}") as tandem:
        equal(tandem.chat("What is a noun?", max_tokens=4).tandem["tier"], "local")
        wait_until(lambda: len(cloud.requests) == 1, what="the cloud was asked")
        equal(tandem.stop(), 0)
    cloud.close()


@case
def test_a_share_that_nothing_draws_from_is_refused():
    cloud = ScriptedCloud()
    tandem = server(cloud, "{edge_share: 0.5}")
    with tandem:
        for shadow, kind, tiers, word in (
            ("{cloud_share: 1}", "cloud-only", "[cloud]", "cloud_share"),
            ("{edge_share: 1}", "local-only", "[local]", "edge_share"),
            ("{edge_share: 1.5}", "hybrid", "[local, cloud]", "edge_share"),
        ):
            file = tandem.state / "check.yaml"
            text = (
                config(cloud, shadow)
                .replace("kind: hybrid", f"kind: {kind}")
                .replace("[local, cloud]", tiers)
            )
            file.write_text(
                text.replace(
                    "    gates: {g0: {gain_over: 0, p_local_under: 0}, g2: {tokens: 0}, g3:"
                    " {confidence_min: 0}}\n",
                    "",
                )
            )
            code, out, err = run("policy", "check", file)
            assert code != 0 and word in err, (out, err)
    cloud.close()


if __name__ == "__main__":
    main()
