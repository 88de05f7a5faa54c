#!/usr/bin/env python3
"""Ramps in the running program: users are taken by a share that grows on evidence, a bad candidate
is sent back by itself, and where a ramp stands survives a restart and is told."""

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, run, wait_until

RAMP = "{to: local, steps: [40, 60, 100], judged_min: 20, disagreement_max: 0.6, loss_margin: 0.4}"


def config(cloud, ramp, shadow="{}", start="cloud", mode="auto"):
    return f"""
tiers:
  - {{name: local, kind: local}}
  - {{name: cloud, kind: openai, base_url: {cloud.base_url}, model: big,
      api_key_env: TEST_CLOUD_KEY}}
routes:
  - name: auto
    kind: hybrid
    tiers: [local, cloud]
    start: {start}
    mode: {mode}
    gates: {{g2: {{tokens: 0}}, g3: {{confidence_min: 0}}}}
    shadow: {shadow}
    ramp: {ramp}
router: {{classifier: none}}
"""


class World:
    """A state folder that outlives servers."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tandem-test-ramp-"))
        self.cloud = ScriptedCloud(Script(text="Paris."))

    def server(self, *arguments, **options):
        return Tandem(
            config(self.cloud, *arguments, **options),
            env={"TEST_CLOUD_KEY": "k", "TANDEM_STATE_DIR": str(self.folder)},
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cloud.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def ask(server, user, text="What is a noun?", **members):
    answer = server.chat(text, user=user, max_tokens=2, **members)
    equal(answer.status, 200, answer.body.decode())
    return answer.tandem


def ramp(tandem):
    answer = tandem.get("/tandem/v1/ramps")
    equal(answer.status, 200, answer.body.decode())
    (one,) = answer.json["data"]
    return one


def metric(tandem, line):
    found = [
        row
        for row in tandem.get("/metrics").body.decode().splitlines()
        if row.startswith(line + " ")
    ]
    equal(len(found), 1, line)
    return float(found[0].split()[-1])


def explained(tandem, exchange):
    code, out, err = run("explain", exchange, env=tandem.environment)
    equal(code, 0, err)
    return out.decode()


@case
def test_a_good_candidate_gets_more_users_and_each_stays_on_his_side_over_a_restart():
    with World() as world:
        with world.server(RAMP) as tandem:
            equal(
                (ramp(tandem)["percent"], ramp(tandem)["step"], ramp(tandem)["steps"]), (40, 1, 3)
            )
            first = {f"user{i}": ask(tandem, f"user{i}") for i in range(24)}
            sides = {user: answer["tier"] for user, answer in first.items()}
            assert set(sides.values()) == {"local", "cloud"}, sides
            for user in ("user0", "user1", "user2"):
                equal(ask(tandem, user, "And what is a verb?")["tier"], sides[user])
            taken = next(user for user in sides if sides[user] == "local")
            other = next(user for user in sides if sides[user] == "cloud")
            text = explained(tandem, first[taken]["exchange"])
            assert "canary 40 %: taken, starts on local" in text and "by ramp" in text, text
            assert "canary 40 %: not taken to local" in explained(tandem, first[other]["exchange"])
            for _i in range(100):
                if ramp(tandem)["step"] > 1:
                    break
                ask(tandem, taken), ask(tandem, other)
            equal(
                (ramp(tandem)["step"], ramp(tandem)["percent"], ramp(tandem)["stopped"]),
                (2, 60, False),
            )
            equal(metric(tandem, 'tandem_ramp_percent{route="auto",to="local"}'), 60)
        with world.server(RAMP) as tandem:
            equal(ramp(tandem)["percent"], 60)
            for user in sides:
                if sides[user] == "local":
                    equal(ask(tandem, user)["tier"], "local")
            moved = [
                user
                for user in sides
                if sides[user] == "cloud" and ask(tandem, user)["tier"] == "local"
            ]
            assert moved, "a larger share takes nobody more"
        equal((world.folder / "ramps.json").stat().st_mode & 0o777, 0o600)


@case
def test_a_candidate_that_says_something_else_is_sent_back_and_stays_back_until_it_is_restarted():
    strict = RAMP.replace("disagreement_max: 0.6", "disagreement_max: 0.1")
    with World() as world:
        world.cloud.script = Script(
            text=(
                "Something that no small model says about this, with seventeen words or so in a"
                " row."
            )
        )
        with world.server(strict, "{edge_share: 1}") as tandem:
            for i in range(120):
                if ramp(tandem)["stopped"]:
                    break
                answer = ask(tandem, f"user{i}")
                if answer["tier"] == "cloud":
                    wait_until(
                        lambda: metric(tandem, "tandem_shadows_running") == 0,
                        what="the shadow ended",
                    )
            one = ramp(tandem)
            equal((one["stopped"], one["cause"], one["percent"]), (True, "agreement", 0))
            assert one["cause_loss"] > 0.1 and one["evidence"]["agreement"]["judged"] > 0, one
            alarms = [
                alarm
                for alarm in tandem.get("/tandem/v1/alarms").json["data"]
                if alarm["kind"] == "ramp_stopped"
            ]
            equal((len(alarms), alarms[0]["ended"]), (1, None))
            tiers = {ask(tandem, f"user{i}")["tier"] for i in range(12)}
            equal(tiers, {"cloud"})
            assert "canary stopped: nobody is taken to local" in explained(
                tandem, ask(tandem, "ann")["exchange"]
            )
        with world.server(strict, "{edge_share: 1}") as tandem:
            equal(
                (ramp(tandem)["stopped"], metric(tandem, 'tandem_ramp_stopped{route="auto"}')),
                (True, 1),
            )
            equal({ask(tandem, f"user{i}")["tier"] for i in range(6)}, {"cloud"})
            equal(tandem.request("POST", "/tandem/v1/ramps/none", {"restart": True}).status, 404)
            equal(tandem.request("POST", "/tandem/v1/ramps/auto", {}).status, 400)
            equal(tandem.request("POST", "/tandem/v1/ramps/auto", {"restart": True}).status, 200)
            equal((ramp(tandem)["stopped"], ramp(tandem)["percent"]), (False, 40))
            assert all(
                alarm["ended"]
                for alarm in tandem.get("/tandem/v1/alarms").json["data"]
                if alarm["kind"] == "ramp_stopped"
            )
        with world.server(RAMP, "{edge_share: 1}") as tandem:  # another plan is another ramp
            equal(
                (ramp(tandem)["stopped"], ramp(tandem)["evidence"]["agreement"]["judged"]),
                (False, 0),
            )


@case
def test_a_cloud_that_fails_as_a_candidate_is_sent_back_and_no_user_sees_an_error():
    with World() as world:
        world.cloud.script = Script(status=400, error_message="this model does not support it")
        with world.server(RAMP.replace("to: local", "to: cloud"), start="local") as tandem:
            for i in range(200):
                if ramp(tandem)["stopped"]:
                    break
                equal(ask(tandem, f"user{i}")["tier"], "local")
            equal((ramp(tandem)["stopped"], ramp(tandem)["cause"]), (True, "outcomes"))
            asked = len(world.cloud.requests)
            for i in range(10):
                ask(tandem, f"user{i}")
            equal(len(world.cloud.requests), asked)


@case
def test_constraints_come_before_the_ramp():
    with (
        World() as world,
        world.server(
            RAMP.replace("to: local", "to: cloud").replace("[40, 60, 100]", "[100]"), start="local"
        ) as tandem,
    ):
        equal(ask(tandem, "ann")["tier"], "cloud")
        sent = len(world.cloud.requests)
        for members in (
            {"mode": "only-local"},
            {"data_class": "sensitive"},
            {"data_class": "restricted"},
        ):
            equal(ask(tandem, "ann", f"A question {members}", tandem=members)["tier"], "local")
        equal(ask(tandem, "ann", "my card is 4111 1111 1111 1111")["tier"], "local")
        equal(len(world.cloud.requests), sent)


@case
def test_feedback_counts_once_an_exchange():
    with World() as world, world.server(RAMP) as tandem:
        sides = {}
        for i in range(30):
            answer = ask(tandem, f"user{i}")
            sides.setdefault(answer["tier"], answer["exchange"])
        for _ in range(3):
            for exchange in sides.values():
                equal(
                    tandem.request(
                        "POST",
                        "/tandem/v1/feedback",
                        {"id": exchange, "ok": exchange == sides["cloud"]},
                    ).status,
                    200,
                )
        feedback = ramp(tandem)["evidence"]["feedback"]
        equal((feedback["judged"], feedback["loss"]), (1, 1))


@case
def test_contradictions_are_refused_with_line_and_reason():
    with World() as world:
        for ramp_text, start, mode, words in (
            ("{to: local}", "local", "auto", "the tier on which the route starts anyway"),
            ("{to: nowhere}", "cloud", "auto", "is not one of the tiers of the route"),
            ("{to: local}", "cloud", "prefer-cloud", "would never be tried"),
            ("{steps: [1, 2]}", "cloud", "auto", "need ramp.to"),
            ("{to: local, steps: [5, 5]}", "cloud", "auto", "must be larger than the one before"),
            ("{to: local, steps: [0, 5]}", "cloud", "auto", "above 0 and at most 100"),
            ("{to: local, steps: [5, 101]}", "cloud", "auto", "above 0 and at most 100"),
            ("{to: local, steps: [5, much]}", "cloud", "auto", "much"),
            ("{to: local, disagreement_max: 1}", "cloud", "auto", "disagreement_max"),
        ):
            file = world.folder / "check.yaml"
            file.write_text(config(world.cloud, ramp_text, start=start, mode=mode))
            code, out, err = run("policy", "check", file)
            assert code != 0 and words in err and "check.yaml:" in err, (ramp_text, out, err)
        file.write_text(config(world.cloud, "{to: local}"))
        equal(run("policy", "check", file)[0], 0)
        (world.folder / "ramps.json").write_text('[{"route": "auto"}]')
        try:
            with world.server(RAMP):
                raise AssertionError("a server began with ramps that it cannot read")
        except RuntimeError as error:
            assert "ramps.json" in str(error) and "malformed" in str(error), error


if __name__ == "__main__":
    main()
