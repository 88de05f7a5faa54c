#!/usr/bin/env python3
"""Evidence for a policy: replay of the ledger, the front of patterns, audit of a cloud's traffic,
total cost."""

import functools
import hashlib
import json
import random
import signal
import sys
import tempfile
import time
import xml.dom.minidom
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from intents import ASKED, CLEAR
from scripted_cloud import Script, ScriptedCloud
from tandem import NANO, Tandem, clean_environment, edge_first, run, wait_until

FOLDER = Path(tempfile.mkdtemp(prefix="tandem-evidence-"))
NOTHING = clean_environment(TANDEM_STATE_DIR=FOLDER)  # a machine without a ledger


def write(name, text):
    path = FOLDER / name
    path.write_text(
        text if isinstance(text, str) else "".join(json.dumps(line) + "\n" for line in text)
    )
    return path


def policy(base_url, g3, **more):
    return (
        edge_first(base_url)
        + f"    gates:\n      g2: {{tokens: 0}}\n      g3: {{confidence_min: {g3}}}\n     "
        " commit_tokens: all\n"
    )


def recorded(tandem, count, headers=None):
    """The ledger commits a moment later."""
    for _ in range(200):
        rows = tandem.get("/tandem/v1/exchanges?limit=1000", headers=headers).json["data"]
        if len(rows) == count:
            return rows
        time.sleep(0.02)
    raise AssertionError(f"{len(rows)} of {count} exchanges were recorded")


@case
def test_a_replay_of_the_same_policy_changes_nothing_and_of_another_what_it_would():
    cloud = ScriptedCloud(Script(text="Done."))
    same = policy(cloud.base_url, 0.6)
    with Tandem(same, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for i in range(10):
            tandem.chat(f"{ASKED}set an alarm for {i + 1}")
            tandem.chat(f"prove lemma {i}")
        rows = recorded(tandem, 20)
        ids, local = [row["id"] for row in rows], sum(row["tier"] == "local" for row in rows)
        assert 0 < local < 20, local

        def replay(g3, *more):
            other = write("other.yaml", policy(cloud.base_url, g3))
            code, out, err = run(
                "replay", "--policy", other, "--json", *more, env=tandem.environment
            )
            equal(code, 0, err)
            return json.loads(out)

        got = replay(0.6)
        equal((got["exchanges"], got["start_changed"], got["refused"]), (20, 0, 0))
        for name in ("share_local", "cost_usd"):
            assert abs(got[name]["change"]["mean"]) < 1e-9, (name, got)
        assert abs(got["ms"]["change"]["mean"]) < 0.2 * got["ms"]["before"]["mean"] + 2, got
        equal(got["share_local"]["before"]["mean"], local / 20)
        everything = replay(0)
        equal(everything["share_local"]["after"]["mean"], 1)
        nothing = replay(1)
        equal(nothing["share_local"]["after"]["mean"], 0)
        assert nothing["share_local"]["change"]["high"] < 0, nothing
        table = write(
            "table.jsonl",
            [
                {
                    "id": i,
                    "local": {"right": 0, "cost_usd": 0, "ms": 1},
                    "cloud": {"right": 1, "cost_usd": 1, "ms": 1},
                }
                for i in ids
            ],
        )
        got = replay(0, "--outcomes", table)
        equal((got["right"]["before"]["mean"], got["right"]["after"]["mean"]), (1 - local / 20, 0))
        code, out, err = run("replay", "--policy", write("same.yaml", same), env=tandem.environment)
        assert code == 0 and b"share local" in out and b"95 % interval" in out, (out, err)
        code, _, err = run(
            "replay", "--policy", write("broken.yaml", "routes: 7\n"), env=tandem.environment
        )
        assert code == 1 and "broken.yaml:1" in err, err
        equal(run("replay", env=tandem.environment)[0], 2)


@case
def test_the_same_policy_moves_nothing_of_mixed_traffic():
    cloud = ScriptedCloud(Script(text="Done.", piece_delay=0.01))
    more = """    weights: {latency: 0.2, cost: 0.8}
policy: {error_usd: 0.5}
apps:
- {name: mobile, key_env: MOBILE, weights: {latency: 1}}
budgets:
- {name: each, per: user, usd_per_day: 0.00002}
rules:
- {name: legal, when: {tag: legal}, then: {only: local}}
- {name: raise, when: {class: public, tag: raise}, then: {class: sensitive}}
- {name: train, when: {device: {network: metered}, tag: train}, then: {start: cloud}}
server: {api_keys_env: KEYS}
"""
    config = edge_first(cloud.base_url) + more
    env = {"TEST_CLOUD_KEY": "k", "MOBILE": "key-mobile", "KEYS": "key-mobile,key-other"}
    asked = [
        {},
        {"x-tandem-tags": "legal"},
        {"x-tandem-tags": "raise"},
        {"x-tandem-tags": "train", "x-tandem-network": "metered"},
        {"x-tandem-network": "metered"},
        {"x-tandem-weights": "privacy"},
        {"x-tandem-weights": "latency=0.5,cost=0.5"},
        {"x-tandem-mode": "prefer-cloud"},
        {"x-tandem-mode": "only-cloud", "x-tandem-user": "anna"},
        {"x-tandem-user": "anna"},
        {"x-tandem-data-class": "restricted"},
        {"x-tandem-slo-ms": "60000"},
    ]
    texts = [CLEAR, "Prove that there are infinitely many primes.", "Hello"]
    with Tandem(config, env=env) as tandem:
        answered = 0
        for i in range(72):
            key = {"Authorization": f"Bearer key-{'mobile' if i % 2 else 'other'}"}
            headers = {**key, **asked[i // 2 % len(asked)]}
            got = tandem.chat(texts[i % 3], headers, max_tokens=8)
            answered += got.status == 200

        def replay():
            code, out, err = run(
                "replay", "--policy", write("same.yaml", config), "--json", env=tandem.environment
            )
            equal(code, 0, err)
            return json.loads(out)

        wait_until(lambda: replay()["exchanges"] == answered)
        assert answered > 50, answered
        equal((replay()["start_changed"], replay()["refused"]), (0, 0))


@case
def test_the_ledger_has_the_text_of_each_policy():
    cloud = ScriptedCloud(Script(text="Done."))
    config = (
        edge_first(cloud.base_url + "?key=pass-example")
        + "apps:\n- {name: mobile, key_env: MOBILE}\n"
        + "rules:\n- {name: hers, when: {user: anna-example}, then: {only: local}}\n"
    )
    env = {"TEST_CLOUD_KEY": "k", "MOBILE": "key-mobile"}
    mobile = {"Authorization": "Bearer key-mobile"}
    with Tandem(config, env=env) as tandem:

        def decided_under(policy, number):
            tandem.config.write_text(policy)
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "".join(tandem.log).count("event=config_reloaded") == number)
            tandem.chat(f"set an alarm for {number}", mobile)
            return recorded(tandem, number + 1, mobile)[0]["policy_version"]

        def show(*version):
            code, out, err = run("policy", "show", *version, "--json", env=tandem.environment)
            equal(code, 0, err)
            return json.loads(out)

        tandem.chat(CLEAR, mobile)
        first = recorded(tandem, 1, mobile)[0]["policy_version"]
        equal(decided_under(config + "# decides the same\n", 1), first)
        dearer = config.replace("mobile, ", "mobile, weights: {cost: 1}, ")
        second = decided_under(dearer, 2)
        assert second != first
        equal([row["version"] for row in show()], [first, second])
        for version, count in ((first, 2), (second, 1)):
            policy = show(version[:8])
            equal((policy["version"], policy["exchanges"]), (version, count))
            equal(hashlib.sha256(policy["text"].encode()).hexdigest()[:16], version)
            assert hashlib.sha256(b"key-mobile").hexdigest() not in policy["text"]
            assert "rule hers" in policy["text"], policy
            assert "anna" not in policy["text"] and "pass-example" not in policy["text"], policy
        code, out, _ = run("policy", "show", env=tandem.environment)
        equal((code, [line.split()[0] for line in out.decode().splitlines()]), (0, [first, second]))
        code, _, err = run("policy", "show", "0" * 16, env=tandem.environment)
        assert code == 1 and "none of the ledger's policies begins" in err, err


@case
def test_draws_say_what_a_policy_that_never_ran_would_be_worth():
    cloud = ScriptedCloud(Script(text="Done.", piece_delay=0.005))
    gates = "    gates: {g2: {tokens: 0}, g3: {confidence_min: 0}}\n"
    ran = edge_first(cloud.base_url) + "    explore_share: 0.4\n" + gates
    other = write("other.yaml", edge_first(cloud.base_url) + "    start: cloud\n" + gates)
    count, open_share = 240, 7 / 8
    right = open_share * 0.75 + (1 - open_share) * 0.3
    with Tandem(ran, env={"TEST_CLOUD_KEY": "k"}) as tandem:

        def replay(policy, *more):
            code, out, err = run("replay", "--policy", policy, *more, env=tandem.environment)
            equal(code, 0, err)
            return out

        def judged(out):
            return json.loads(out)["starts"]["right"]["known"]

        on_cloud, told = 0, []
        for i in range(count):
            headers = {"x-tandem-user": f"user-{i}"}
            if i % 8 == 7:  # not open to the draw
                headers["x-tandem-mode"] = "prefer-local"
            answer = tandem.chat(f"set an alarm for {i}", headers).json["tandem"]
            drawn = answer["tier"] == "cloud"
            equal(any(reason["code"] == "explored" for reason in answer["reasons"]), drawn)
            assert not (drawn and i % 8 == 7)
            on_cloud += drawn
            score = 0.3 if not drawn else 1.0 if on_cloud % 4 else 0.0
            told.append({"id": answer["exchange"], "score": score})
        assert 0.2 * count < on_cloud < 0.5 * count, on_cloud
        with ThreadPoolExecutor(16) as pool:  # each waits for the ledger
            tell = functools.partial(tandem.request, "POST", "/tandem/v1/feedback")
            equal({answer.status for answer in pool.map(tell, told)}, {200})
        rows = recorded(tandem, count)
        costs = [row["cost_usd"] for row in rows if row["tier"] == "cloud"]

        ran_file = write("ran.yaml", ran)
        wait_until(lambda: judged(replay(ran_file, "--json")) == count)
        same = json.loads(replay(ran_file, "--json"))
        equal((same["start_changed"], same["starts"]["moved"]), (0, 0))
        for column in ("cost_usd", "ms", "share_local", "right"):
            got = same["starts"][column]
            assert abs(got["ips"]["mean"] - got["ran"]["mean"]) < 1e-6 * got["ran"]["mean"], got

        got = json.loads(replay(other, "--json"))["starts"]
        equal((got["exchanges"], got["supported"]), (count, count))
        equal((got["moved"], got["cost_usd"]["matched"]), (count * open_share, on_cloud))
        truths = {
            "right": right,
            "cost_usd": open_share * sum(costs) / len(costs),
            "share_local": 1 - open_share,
        }
        for column, truth in truths.items():
            for name in ("ips", "doubly_robust"):
                assert got[column][name], (column, got)
                # 95 % intervals miss the truth at times; ones that are three times as wide do not.
                low, high = got[column][name]["low"], got[column][name]["high"]
                width = high - low
                assert low - width <= truth <= high + width, (column, name, truth, got)
        text = replay(other).decode()
        assert "doubly robust" in text and f"{got['supported']} can be judged" in text, text


@case
def test_without_draws_a_replay_says_that_it_is_a_models_figure():
    cloud = ScriptedCloud(Script(text="Done."))
    config = edge_first(cloud.base_url)
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        tandem.chat(CLEAR)
        recorded(tandem, 1)
        same = write("same.yaml", config)
        out = run("replay", "--policy", same, env=tandem.environment)[1].decode()
        assert "no start was drawn (routes[].explore_share)" in out, out
        got = json.loads(run("replay", "--policy", same, "--json", env=tandem.environment)[1])
        equal((got["starts"]["drawn"], got["starts"]["cost_usd"]["ips"]), (0, None))


def outcomes(count, seed=1):
    rng = random.Random(seed)
    for _ in range(count):
        ease = rng.random()
        yield {
            "p_local": round(0.5 * ease + 0.5 * rng.random(), 6),
            "local": {
                "right": rng.random() < ease,
                "cost_usd": 0,
                "ms": 150,
                "confidence": round(ease, 6),
            },
            "cloud": {"right": rng.random() < 0.9, "cost_usd": 0.002, "ms": 800},
        }


@case
def test_the_front_is_printed_and_drawn():
    table, svg = write("outcomes.jsonl", outcomes(1000)), FOLDER / "front.svg"
    code, out, err = run("policy", "pareto", table, "-o", svg, "--json")
    equal(code, 0, err)
    got = json.loads(out)
    best = [plan for plan in got["plans"] if plan["best"]]
    assert {"local", "cloud", "g0", "g3", "g0+g3"} <= {plan["plan"] for plan in got["plans"]}, got
    assert {"local"} < {plan["plan"] for plan in best}, best
    for plan in best:
        assert plan["right_low"] <= plan["right"] <= plan["right_high"], plan
    picture = xml.dom.minidom.parse(str(svg))
    equal(len(picture.getElementsByTagName("circle")), len(got["plans"]) + 6)
    code, out, _ = run("policy", "pareto", table)
    assert code == 0 and b"95 % interval" in out, out
    code, _, err = run("policy", "pareto", write("bad.jsonl", '{"local": {}}\n'))
    assert code == 1 and "bad.jsonl" in err and "line 1" in err, err
    equal(run("policy", "pareto")[0], 2)


@case
def test_cloud_traffic_is_audited_by_task_with_intervals():
    lines = [
        {"text": f"set an alarm for {i % 12 + 1}", "prompt_tokens": 20, "completion_tokens": 10}
        for i in range(120)
    ]
    lines += [
        {
            "messages": [
                {
                    "role": "user",
                    "content": f"prove theorem {i} about prime numbers and derive its corollary",
                }
            ],
            "cost_usd": 0.01,
        }
        for i in range(80)
    ]
    code, out, err = run("router", "audit", write("log.jsonl", lines), "--json", env=NOTHING)
    equal(code, 0, err)
    got = json.loads(out)
    equal(got["questions"], 200)
    assert got["movable"]["low"] <= got["movable"]["mean"] <= got["movable"]["high"], got
    assert abs(got["cost_usd"]["mean"] - (0.8 + 120 * (20 * 0.15 + 10 * 0.6) / 1e6)) < 1e-9, got
    equal(sum(task["questions"] for task in got["tasks"]), 200)
    code, out, _ = run("router", "audit", FOLDER / "log.jsonl", "--p-local", "0.99", env=NOTHING)
    assert code == 0 and b"could move" in out and b"quick wins" in out, out
    assert b"is not known: the ledger has 0 outcomes" in out and b"not measured" in out, out
    equal((got["right"], got["outcomes"]), (None, 0))
    code, _, err = run("router", "audit", write("bad.jsonl", '{"text": "a"}\n{"txt": "b"}\n'))
    assert code == 1 and "line 2" in err, err
    code, _, err = run("router", "audit", FOLDER / "log.jsonl", "--price-in", "0.15")
    assert code == 1 and "no unit" in err, err


@case
def test_an_audit_takes_what_is_right_from_the_answers_of_the_device():
    log = write("alarms.jsonl", [{"text": f"{ASKED}set an alarm for {i}"} for i in range(1, 12)])
    with Tandem(env={"TEST": "1"}) as tandem:
        for i in range(12):
            answer = tandem.chat(f"set an alarm for {i + 1}", {"x-tandem-mode": "only-local"})
            said = {"id": answer.tandem["exchange"], "ok": i < 9}
            equal(tandem.request("POST", "/tandem/v1/feedback", said).status, 200)

        def audit():
            code, out, err = run("router", "audit", log, "--json", env=tandem.environment)
            equal(code, 0, err)
            return json.loads(out)

        wait_until(lambda: audit()["outcomes"] == 12)
        got = audit()
        assert got["right"]["low"] < got["right"]["mean"] == 0.75 < got["right"]["high"], got


def alarms(count):
    """A quarter of the answers of the log are not what the embedded model says."""
    for i in range(count):
        said = "weather" if i % 4 == 3 else ["Alarm.", "the alarm"] if i % 4 else "alarm"
        content = f"{ASKED}set an alarm for {i % 12 + 1}"
        asked = {"messages": [{"role": "user", "content": content}]} if i % 2 else {"text": content}
        yield {**asked, "answer": said, "cost_usd": 0.001}


@case
def test_an_audit_asks_the_devices_own_model_what_would_move():
    state = FOLDER / "asking"
    env = clean_environment(TANDEM_STATE_DIR=state)
    hard = {"text": "prove that there are infinitely many primes, step by step", "answer": "x"}
    log = write("answered.jsonl", [*alarms(40), *[hard] * 5])

    def audit(*more):
        code, out, err = run("router", "audit", log, "--run", *more, env=env)
        equal(code, 0, err)
        return out

    got = json.loads(audit("--json"))
    equal((got["right"]["mean"], got["outcomes"], got["questions"]), (0.75, 40, 45))
    asked = {"tier": "local", "model": "tandem-nano", "questions": 40, "of": 40, "failed": 0}
    equal(got["asked"], asked)
    by_task = {task["task"]: task["right"] for task in got["tasks"]}
    equal((by_task["classification"]["mean"], by_task["maths"]), (0.75, None))
    text = audit("--questions", "8").decode()
    assert "is not known: it takes 10 outcomes" in text, text
    assert "tier local (tandem-nano) was asked 8 of the 40 that would move" in text, text
    assert not (state / "ledger.db").exists()  # what is asked is no exchange

    def refused(why, *more, config=None):
        given = ["-c", write("refused.yaml", config)] if config else []
        code, out, err = run("router", "audit", *more, *given, env=env)
        assert code == 1 and why in err and not out, (why, code, err, out)

    refused("no-such.gguf", log, "--run", config="engine: {model: no-such.gguf}\n")
    broken = FOLDER / "broken.gguf"
    broken.write_bytes(NANO.read_bytes()[:5000])
    refused("broken.gguf", log, "--run", config=f"engine: {{model: {broken}}}\n")
    refused("no tier 'oprem'", log, "--run", "--tier", "oprem")
    refused("tier openai is a cloud", log, "--run", "--tier", "openai")
    unknown = write(
        "unknown.jsonl", [{"text": f"{ASKED}set an alarm for {i}"} for i in range(1, 13)]
    )
    refused('none of the 12 questions that would move has an "answer"', unknown, "--run")
    equal(run("router", "audit", log, "--tier", "local", env=env)[0], 2)


@case
def test_an_audit_asks_a_server_on_the_device():
    edge = ScriptedCloud(Script(text="alarm"))
    config = write(
        "edge.yaml",
        f"""tiers:
- {{name: edge, kind: openai, model: small, base_url: "{edge.base_url}", place: device}}
- {{name: local, kind: local}}
""",
    )
    log = write("answered.jsonl", alarms(40))
    command = ["router", "audit", log, "--run", "-c", config, "--questions", "20", "--json"]
    code, out, err = run(*command, env=NOTHING)
    equal(code, 0, err)
    got = json.loads(out)
    equal((got["asked"]["tier"], got["asked"]["questions"], len(edge.requests)), ("edge", 20, 20))
    assert got["outcomes"] == 20 and 0.4 < got["right"]["mean"] < 1, got
    fit = ["router", "confidence", "--tier", "edge", "-c", config, "-o", FOLDER / "edge.json"]
    prompts = write("prompts.jsonl", [{"prompt": "set an alarm", "answer": "alarm"}])
    code, _, err = run(*fit, prompts, env=NOTHING)
    assert code == 1 and "tier edge gave no log-probabilities" in err, err
    edge.close()
    code, out, err = run(*command, env=NOTHING)
    assert code == 1 and "none of 20 questions was answered: tier edge" in err, err


PRICES = [
    "--price-in",
    "0.15 USD/Mtok",
    "--price-out",
    "0.60 USD/Mtok",
    "--volume",
    "10000000 queries/month",
]


@case
def test_the_total_cost_has_units_and_a_crossover():
    code, out, err = run("tco", *PRICES, "--hardware", "2400 USD", "--json")
    equal(code, 0, err)
    got = json.loads(out)
    saving = 0.8 * (500 * 0.15e-6 + 200 * 0.6e-6)
    assert abs(got["crossover_queries_per_month"] - 2400 / 36 / saving) < 1e-3, got
    assert got["pays"] and got["payback_months"] < 36 and "bandwidth" in got["not_counted"], got
    machines = ["--hardware", "40000 USD", "--machines", "20"]
    power = ["--power", "300 W", "--tariff", "30 ct/kWh", "--decode", "40 tok/s"]
    code, out, _ = run("tco", *PRICES, *machines, *power)
    assert code == 0 and b"crossover" in out and b"not counted: development" in out, out
    assert b"utilisation not known" in out, out
    for bad, word in [
        (["--price-in", "0.15"], "no unit"),
        (["--price-in", "0.15 EUR/Mtok"], "wrong unit"),
        (["--hardware", "2400 W"], "--hardware"),
    ]:
        code, _, err = run("tco", *PRICES, *bad)
        assert code == 2 and word in err, err
    code, _, err = run("tco", "--price-in", "1 USD/Mtok")
    assert code == 2 and "--price-out" in err, err


@case
def test_the_total_cost_needs_hardware_that_can_carry_the_load():
    code, out, err = run("tco", *PRICES)
    assert code == 2 and "--hardware is required" in err and not out, err
    speeds = ["--prefill", "1000 tok/s", "--decode", "40 tok/s"]
    code, out, err = run("tco", *PRICES, "--hardware", "2400 USD", *speeds)
    # Ten million queries, each of 5.5 s on the device.
    assert code == 3 and "2091 %" in err and "at least 21" in err and not out, (code, err)
    enough = ["--hardware", "50400 USD", "--machines", "21"]
    code, out, err = run("tco", *PRICES, *enough, *speeds)
    assert code == 0 and b"utilisation 99.6 %" in out and b"too much" in out, (out, err)


@case
def test_breaches_are_priced_and_the_rate_that_decides_is_said():
    small = [
        "--price-in",
        "0.15 USD/Mtok",
        "--price-out",
        "0.60 USD/Mtok",
        "--volume",
        "100000 queries/month",
        "--hardware",
        "3600 USD",
    ]
    breach = ["--breach-usd", "4e6"]
    code, out, err = run(
        "tco", *small, *breach, "--json"
    )  # 100 USD a month of hardware against 0.000195 USD a query
    equal(code, 0, err)
    got = json.loads(out)
    point = 1e6 * (100 / 100000 / 0.8 - 0.000195) / 4e6
    assert (
        abs(got["breakeven_breaches_per_million"] - point) < 1e-12
        and not got["pays"]
        and "breaches" in got["not_counted"]
    ), got
    code, out, _ = run("tco", *small, *breach, "--breach-per-million", "0.001", "--json")
    got = json.loads(out)
    assert (
        abs(got["breach_usd_per_cloud_query"] - 0.004) < 1e-12
        and got["pays"]
        and "breaches" not in got["not_counted"]
    ), got
    for rate, cheaper in (
        (point * 0.999, b"the cloud is cheaper"),
        (
            point * 1.001,
            b"local is cheaper",
        ),
    ):
        code, out, _ = run("tco", *small, *breach, "--breach-per-million", repr(rate))
        assert code == 0 and b"\nbreaches: " in out and cheaper in out, out
    for bad in "-1", "nan", "1e99", "4 EUR", "":
        code, _, err = run("tco", *small, f"--breach-usd={bad}")
        assert code == 2 and "--breach-usd needs a number from 0" in err, err
    for bad in "-0.1", "2e6", "often":
        code, _, err = run("tco", *small, *breach, f"--breach-per-million={bad}")
        assert code == 2 and "--breach-per-million needs a number from 0 to 1000000" in err, err
    code, _, err = run("tco", *small, "--breach-per-million", "0.001")
    assert code == 2 and "needs --breach-usd" in err, err


if __name__ == "__main__":
    main()
