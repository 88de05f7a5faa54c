#!/usr/bin/env python3
"""The same user with a similar question starts on the same tier: after a restart, until forgotten,
never against what is forbidden; a conversation stays where it was answered; and all of it is
explained, counted and reported."""

import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from intents import CLEAR
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, clean_environment, edge_first, run

# Two ways to ask, which the default classifier tells apart a little.
WAYS = ["what is the capital of france", "please tell me the capital of france"]


def gains():
    code, out, err = run(
        "router",
        "score",
        "--jsonl",
        stdin="".join(json.dumps({"text": text}) + "\n" for text in WAYS).encode(),
    )
    equal(code, 0, err)
    return [json.loads(line)["gain"] for line in out.splitlines()]


# The one with more gain first.
ASKED = [text for _, text in sorted(zip(gains(), WAYS), reverse=True)]


class World:
    """A state folder that outlives servers. The gate's bound lies between the two questions' gains:
    the first one starts in the cloud, the second would start on the device."""

    def __init__(self, more=""):
        self.folder = Path(tempfile.mkdtemp(prefix="tandem-test-consistency-"))
        self.cloud = ScriptedCloud(Script(text="Paris."))
        first, second = sorted(gains(), reverse=True)
        assert second < first < second + 0.1, (
            f"the classifier no longer tells {ASKED} apart a little: {first}, {second}"
        )
        gates = (
            f"    gates: {{g0: {{gain_over: {(first + second) / 2}}}, g2: {{tokens: 0}}, g3:"
            " {confidence_min: 0}}\n"
        )
        self.config = edge_first(self.cloud.base_url) + gates + more
        (self.folder / "tandem.yaml").write_text(self.config)
        # of programs beside no server: port 1 is nobody's
        self.environment = clean_environment(
            TANDEM_STATE_DIR=self.folder,
            TANDEM_CONFIG=self.folder / "tandem.yaml",
            TANDEM_LISTEN="127.0.0.1:1",
        )

    def server(self):
        return Tandem(
            self.config, env={"TEST_CLOUD_KEY": "k", "TANDEM_STATE_DIR": str(self.folder)}
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cloud.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def ask(server, text, user, **members):
    answer = server.chat(text, user=user, max_tokens=4, **members)
    equal(answer.status, 200, answer.body.decode())
    return answer.tandem


def metric(tandem, name):
    for line in tandem.get("/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.split()[-1])
    raise AssertionError(f"no metric {name}")


@case
def test_a_similar_question_starts_where_the_earlier_one_did_also_after_a_restart():
    with World() as world:
        with world.server() as tandem:
            equal(ask(tandem, ASKED[1], "bob")["tier"], "local")  # what it is without memory
            equal(ask(tandem, ASKED[0], "ann")["tier"], "cloud")
        with world.server() as tandem:
            kept = ask(tandem, ASKED[1], "ann")
            equal(kept["tier"], "cloud")
            code, out, err = run("explain", kept["exchange"], env=tandem.environment)
            assert (
                code == 0
                and b"kept on cloud as for an earlier similar question" in out
                and b"by similar" in out
            ), (out, err)
            equal(ask(tandem, ASKED[0], "bob")["tier"], "local")  # the same, from the other side
            equal(ask(tandem, ASKED[1], "carl")["tier"], "local")
            equal(ask(tandem, CLEAR, "ann")["tier"], "local")
            equal(metric(tandem, 'tandem_remembered_starts_total{of="similar",result="kept"}'), 2)
            equal(metric(tandem, "tandem_flip_rate"), 0)
            assert metric(tandem, "tandem_stickiness_gain_given_up_total") > 0
            assert metric(tandem, "tandem_stickiness_cost_usd_total") > 0
        code, out, err = run("report", "--json", env=world.environment)
        equal(code, 0, err)
        report = json.loads(out)["consistency"]
        equal(
            (report["similar"], report["flipped"], report["kept"], len(report["days"])),
            (2, 0, 2, 1),
        )
        assert report["usd"] > 0 and report["given_up"] > 0, report


@case
def test_what_is_forbidden_or_asked_for_by_name_is_not_held():
    with World() as world, world.server() as tandem:
        equal(ask(tandem, ASKED[0], "ann")["tier"], "cloud")
        sent = len(world.cloud.requests)
        equal(
            ask(tandem, ASKED[1] + ", I wonder", "ann", tandem={"data_class": "sensitive"})["tier"],
            "local",
        )
        equal(ask(tandem, ASKED[1] + ", my card is 4111 1111 1111 1111", "ann")["tier"], "local")
        equal(ask(tandem, ASKED[1], "ann", tandem={"mode": "only-local"})["tier"], "local")
        equal(len(world.cloud.requests), sent)
        equal(ask(tandem, ASKED[1], "ann")["tier"], "cloud")  # and none of it made it forget


@case
def test_a_forgotten_user_starts_anew_and_the_file_names_nobody():
    with World() as world:
        with world.server() as tandem:
            equal(ask(tandem, ASKED[0], "annalisa")["tier"], "cloud")
            path = world.folder / "consistency.bin"
            held = path.read_bytes()
            equal(path.stat().st_mode & 0o777, 0o600)
            for word in (b"annalisa", b"france", b"cloud"):
                assert word not in held, word
            code, _, err = run(
                "forget", "annalisa", env=tandem.environment
            )  # it listens on any free port
            assert code == 1 and "name its address with --url" in err, err
            code, out, err = run(
                "forget", "annalisa", "--json", "--url", tandem.url, env=tandem.environment
            )
            equal(code, 0, err)
            equal(json.loads(out)["similar"], 2)  # the question, and the conversation that it began
            assert held[64:80] not in path.read_bytes(), "an erased entry is still in the file"
            equal(ask(tandem, ASKED[1], "annalisa")["tier"], "local")
        with world.server() as tandem:
            equal(ask(tandem, ASKED[0], "bert")["tier"], "cloud")
        code, out, err = run("forget", "bert", "--json", env=world.environment)
        equal((code, json.loads(out)["similar"]), (0, 2), err)
        with world.server() as tandem:
            equal(ask(tandem, ASKED[1], "bert")["tier"], "local")


@case
def test_off_or_with_zero_retention_nothing_is_kept():
    for more in (
        "router: {consistency: {on: false}}\n",
        "privacy: {zero_retention: true}\n",
        "    zero_retention: true\n",
    ):
        with World(more) as world, world.server() as tandem:
            equal(ask(tandem, ASKED[0], "ann")["tier"], "cloud")
            equal(ask(tandem, ASKED[1], "ann")["tier"], "local")
            path = (
                world.folder / "consistency.bin"
            )  # a route's own retention leaves a file without entries
            assert not path.exists() or path.stat().st_size == 64, more


@case
def test_a_conversation_stays_where_it_was_answered_until_the_days_cap():
    easy = [{"role": "user", "content": ASKED[0]}]
    for cap, expected in ((1, ["cloud"] * 5), (0, ["local"] * 5)):
        with (
            World(f"router: {{consistency: {{usd_per_day: {cap}}}}}\n") as world,
            world.server() as tandem,
        ):
            messages, tiers = list(easy), []
            equal(ask(tandem, messages, "ann")["tier"], "cloud")
            for turn in range(5):
                messages += [
                    {"role": "assistant", "content": "Paris."},
                    {
                        "role": "user",
                        "content": (
                            f"set an alarm for {turn + 5} o'clock tomorrow morning, and call it"
                            f" alarm number {turn}, please, thank you"
                        ),
                    },
                ]
                tiers.append(ask(tandem, messages, "ann")["tier"])
            equal(tiers, expected)
            if cap:
                equal(
                    metric(
                        tandem, 'tandem_remembered_starts_total{of="conversation",result="kept"}'
                    ),
                    5,
                )


if __name__ == "__main__":
    main()
