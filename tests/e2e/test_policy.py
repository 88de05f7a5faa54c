#!/usr/bin/env python3
"""Rules, weights, budgets and measured times decide in the running program; the policy can be
checked, tested and replaced while it runs."""

import hashlib
import json
import signal
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import kept_bytes, unpacked
from scripted_cloud import Script, ScriptedCloud
from tandem import ROOT, Tandem, clean_environment, edge_first, run, wait_until

FOLDER = Path(tempfile.mkdtemp(prefix="tandem-policy-"))
KEYS = {"TEST_CLOUD_KEY": "k"}


def started(more, **options):
    """A server over one cloud with more YAML: (cloud, server)."""
    cloud = ScriptedCloud(Script(text="Cloud."))
    return cloud, Tandem(edge_first(cloud.base_url) + more, env={**KEYS, **options.pop("env", {})})


def codes(answer):
    return [reason["code"] for reason in answer.tandem["reasons"]]


@case
def test_rules_see_tags_users_sizes_and_the_network():
    cloud, server = started("""rules:
- {name: interns, when: {user: intern}, then: {deny: "ask your mentor"}}
- {name: plane, when: {device: {network: offline}}, then: {only: local}}
- {name: legal, when: {tag: [legal, tax]}, then: {only: local, class: restricted}}
- {name: long, when: {tokens_over: 300}, then: {start: cloud}}
- {name: night, when: {hours: 0-24, tag: now}, then: {start: cloud, escalate: false}}
""")
    with server as tandem:
        equal(tandem.chat("set an alarm", {"x-tandem-tags": "now"}).tandem["tier"], "cloud")
        equal(tandem.chat("word " * 400).tandem["tier"], "cloud")
        before = len(cloud.requests)
        answer = tandem.chat("word " * 400, tandem={"tags": ["draft", "legal"]})
        equal((answer.tandem["tier"], answer.tandem["data_class"]), ("local", "restricted"))
        answer = tandem.chat("word " * 400, {"x-tandem-network": "offline"})
        equal(answer.tandem["tier"], "local")
        answer = tandem.chat("hello", {"x-tandem-user": "intern"})
        assert answer.status == 403 and "ask your mentor" in answer.json["error"]["message"], (
            answer.body
        )
        equal(len(cloud.requests), before)
        code, out, err = run("explain", "--json", "last", env=tandem.environment)
        equal(code, 0, err)
        decision = json.loads(out)["signals"]["decision"]
        equal((decision["by"], decision["rule"]), ("denied", "interns"))
        code, out, err = run("explain", "last", env=tandem.environment)
        assert (
            code == 0
            and b"rule 'interns' matched" in out
            and b"What would change it: with another user rule 'interns' would not have matched"
            in out
        ), (out, err)


@case
def test_a_battery_that_runs_low_keeps_work_off_the_radio():
    battery = FOLDER / "sys" / "class" / "power_supply" / "BAT0"
    battery.mkdir(parents=True)
    for name, text in (("type", "Battery"), ("capacity", "19"), ("status", "Discharging")):
        (battery / name).write_text(text + "\n")
    _cloud, server = started(f"""    start: cloud
device: {{root: {FOLDER / "sys"}}}
rules:
- {{name: low, when: {{device: {{battery_under: 20, on_battery: true}}}}, then: {{only: local}}}}
""")
    with server as tandem:
        equal(tandem.chat("hello").tandem["tier"], "local")
        (battery / "capacity").write_text("20\n")
        wait_until(lambda: tandem.chat("hello").tandem["tier"] == "cloud", what="a fuller battery")


@case
def test_bad_tags_weights_and_networks_are_refused():
    _, server = started("")
    with server as tandem:
        for headers, members, words in (
            ({"x-tandem-network": "wifi"}, {}, "metered"),
            ({"x-tandem-tags": "a,,b"}, {}, "tags"),
            ({}, {"tandem": {"tags": "a"}}, "list"),
            ({}, {"tandem": {"tags": [1]}}, "tags"),
            ({"x-tandem-tags": ",".join("abcdefghi")}, {}, "8"),
            ({"x-tandem-weights": "speed"}, {}, "latency"),
            ({"x-tandem-weights": "cost=2"}, {}, "0"),
            ({}, {"tandem": {"weights": {"cost": "1"}}}, "cost"),
        ):
            answer = tandem.chat("hello", headers, **members)
            assert answer.status == 400 and words in answer.json["error"]["message"], answer.body


@case
def test_weights_of_the_request_override_the_apps_and_those_the_policys():
    secret = "sk-mobile-0123456789"
    digest = hashlib.sha256(secret.encode()).hexdigest()
    _cloud, server = started(
        f"""policy: {{error_usd: 1, weights: {{privacy: 1}}}}
apps:
- {{name: mobile, key_sha256: {digest}, weights: {{cost: 1}}}}
server: {{api_keys_env: KEYS}}
""",
        env={"KEYS": secret + ",sk-other-0123456789"},
    )
    with server as tandem:
        hard = "Prove that there are infinitely many primes, step by step."
        for key, weights, tier in (
            ("sk-other-0123456789", None, "local"),  # the policy's: privacy
            (secret, None, "cloud"),  # the app's: cost, where errors cost a dollar
            (secret, "privacy", "local"),
        ):  # the request's
            headers = {
                "Authorization": "Bearer " + key,
                **({"x-tandem-weights": weights} if weights else {}),
                "x-tandem-mode": "auto",
            }
            answer = tandem.chat(hard, headers, max_tokens=4)
            chosen = [r for r in answer.tandem["reasons"] if r["code"] == "chosen_score"]
            assert chosen and chosen[0]["tier"] == tier, answer.body


@case
def test_a_slow_cloud_loses_requests_that_ask_for_a_quick_first_text():
    cloud, server = started("    start: cloud\n")
    with server as tandem:
        wish = {"tandem": {"slo_ttft_ms": 300}}
        cloud.script = Script(text="Cloud.", first_delay=0.4)
        for _ in range(5):
            equal(tandem.chat("hello").tandem["tier"], "cloud")
        answer = tandem.chat("hello", **wish)
        equal(codes(answer)[:2], ["removed_too_slow", "chosen_slo"])
        equal(answer.tandem["reasons"][1]["tier"], "local")
        equal(tandem.chat("hello").tandem["tier"], "cloud")  # nobody else is kept from it
        code, out, _err = run(
            "explain", "--json", answer.tandem["exchange"], env=tandem.environment
        )
        decision = json.loads(out)["signals"]["decision"]
        equal(
            (code, decision["by"], decision["start"], decision["runner_up"]),
            (0, "slo", "local", "cloud"),
        )
        assert "ms more time it starts on cloud" in decision["flip"], decision


@case
def test_a_spent_budget_goes_on_with_the_local_tier_and_says_so():
    _cloud, server = started("budgets: [{name: team, usd_per_day: 0.000001}]\n")
    with server as tandem:
        equal(tandem.chat("hello", {"x-tandem-mode": "prefer-cloud"}).tandem["tier"], "cloud")
        answer = tandem.chat("hello", {"x-tandem-mode": "prefer-cloud"})
        equal((answer.tandem["tier"], answer.tandem["degraded"]), ("local", True))
        assert "budget 'team' is spent" in answer.headers["x-tandem-disclosure"], answer.headers
        assert "removed_budget" in codes(answer), answer.tandem
        answer = tandem.chat("hello", {"x-tandem-mode": "only-cloud"})
        assert answer.status == 429 and "team" in answer.json["error"]["message"], answer.body
        now = time.localtime()
        midnight = 86400 - (now.tm_hour * 3600 + now.tm_min * 60 + now.tm_sec)
        left = int(answer.headers["retry-after"])  # an hour off where clocks change today
        assert abs(left - midnight) < 3700 or abs(left - midnight) > 86000, (left, midnight)


@case
def test_what_was_spent_today_stays_spent_after_a_restart():
    cloud = ScriptedCloud(Script(text="Cloud."))
    state = tempfile.mkdtemp(prefix="tandem-policy-state-")
    config = (
        edge_first(cloud.base_url)
        + """budgets:
- {name: each, per: user, usd_per_day: 0.000001}
- {name: much, usd_per_day: 1000}
rules:
- {name: busy, when: {day_tokens_over: 10, tag: busy}, then: {deny: "enough for today"}}
"""
    )
    environment = {**KEYS, "TANDEM_STATE_DIR": state}
    cloudy = {"x-tandem-mode": "prefer-cloud"}
    with Tandem(config, env=environment) as tandem:
        equal(tandem.chat("hello", {**cloudy, "x-tandem-user": "anna"}).tandem["tier"], "cloud")
        equal(tandem.chat("hello", {**cloudy, "x-tandem-user": "anna"}).tandem["tier"], "local")
    with Tandem(config, env=environment) as tandem:
        answer = tandem.chat("hello", {**cloudy, "x-tandem-user": "anna"})
        equal(answer.tandem["tier"], "local")
        assert "budget 'each' is spent" in answer.headers["x-tandem-disclosure"], answer.headers
        equal(tandem.chat("hello", {"x-tandem-tags": "busy"}).status, 403)
        equal(tandem.chat("hello", {**cloudy, "x-tandem-user": "ben"}).tandem["tier"], "cloud")


# What a first turn matches and a second one does not: (condition, headers, members).
FIRST_TURN_ONLY: list[tuple[str, dict, dict]] = [
    ("tag: legal", {"x-tandem-tags": "legal"}, {}),
    ("messages_under: 2", {}, {}),
    ("tokens_under: 30", {}, {}),
    ("priority: batch", {"x-tandem-priority": "batch"}, {}),
    ("device: {network: metered}", {"x-tandem-network": "metered"}, {}),
    ("answer_tokens_under: 8", {}, {"max_tokens": 4}),
]


@case
def test_a_class_that_a_rule_gave_holds_in_the_next_turn():
    for data_class in ("sensitive", "contractual", "restricted"):
        for number, (when, headers, members) in enumerate(FIRST_TURN_ONLY):
            what = (data_class, when)
            cloud, server = started(
                f"rules: [{{name: first, when: {{{when}}}, then: {{class: {data_class}}}}}]\n"
            )
            with server as tandem:
                opening = f"Hello from room {number}."
                first = tandem.chat(opening, headers, **members)
                equal((what, first.status, first.tandem["data_class"]), (what, 200, data_class))
                turns = [
                    {"role": "user", "content": opening},
                    {"role": "assistant", "content": first.text},
                    {"role": "user", "content": "And what should we do about the windows there?"},
                ]
                second = tandem.chat(turns, {"x-tandem-mode": "prefer-cloud"}, max_tokens=30)
                equal((what, second.tandem["data_class"]), (what, data_class))
                equal((what, second.tandem["tier"]), (what, "local"))
                other = tandem.chat(
                    "And what should we do about the windows there? They are all of glass,"
                    " and nobody has cleaned them since the summer before last.",
                    {"x-tandem-mode": "prefer-cloud"},
                    max_tokens=30,
                )
                matched = when == "messages_under: 2"
                equal((what, other.tandem["tier"]), (what, "local" if matched else "cloud"))
            equal((what, len(cloud.calls())), (what, 0 if matched else 1))


@case
def test_a_budget_by_key_cannot_be_got_around_and_outlives_a_restart():
    cloud = ScriptedCloud(Script(text="Cloud."))
    state = tempfile.mkdtemp(prefix="tandem-policy-state-")
    config = (
        edge_first(cloud.base_url)
        + """budgets:
- {name: each, per: key, usd_per_day: 0.000001}
- {name: people, per: user, usd_per_day: 1000}
server: {api_keys_env: KEYS}
"""
    )
    environment = {**KEYS, "TANDEM_STATE_DIR": state, "KEYS": "key-of-one,key-of-two"}
    cloudy = {"x-tandem-mode": "prefer-cloud"}
    one, two = ({**cloudy, "Authorization": f"Bearer key-of-{name}"} for name in ("one", "two"))
    with Tandem(config, env=environment) as tandem:
        equal(tandem.chat("hello", one).tandem["tier"], "cloud")
        for headers in ({}, {"x-tandem-user": "anna"}, {"x-tandem-mode": "only-cloud"}):
            answer = tandem.chat("hello", {**one, **headers})
            assert answer.status == 429 or answer.tandem["tier"] == "local", answer.body
        equal(tandem.chat("hello", two).tandem["tier"], "cloud")
    with Tandem(config, env=environment) as tandem:
        for headers in (one, two):
            equal(tandem.chat("hello", headers).tandem["tier"], "local")
        equal(len(cloud.requests), 2)


@case
def test_records_show_no_hash_of_a_key_and_older_rows_count_for_the_same_key():
    cloud = ScriptedCloud(Script(text="Cloud."))
    state = Path(tempfile.mkdtemp(prefix="tandem-policy-state-"))
    config = (
        edge_first(cloud.base_url)
        + """budgets: [{name: each, per: key, usd_per_day: 0.000001}]
apps: [{name: shop, key_env: SHOP}]
server: {api_keys_env: KEYS}
"""
    )
    environment = {
        **KEYS,
        "TANDEM_STATE_DIR": state,
        "KEYS": "key-of-one,key-of-two",
        "SHOP": "key-of-one",
    }
    one, two = (
        {"x-tandem-mode": "prefer-cloud", "Authorization": f"Bearer key-of-{name}"}
        for name in ("one", "two")
    )
    digest = hashlib.sha256(b"key-of-one").hexdigest()
    with Tandem(config, env=environment) as tandem:
        equal(tandem.chat("hello", one).tandem["tier"], "cloud")
    for path in state.iterdir():
        if path.is_file():
            assert digest[:12].encode() not in kept_bytes(path), path
    with sqlite3.connect(state / "ledger.db") as db:  # as it was before
        (packed,) = db.execute("SELECT packed FROM exchange").fetchone()
        signals = json.loads(unpacked(packed)[0])
        assert len(signals.pop("key_id")) == 16, signals
        db.execute(
            "UPDATE exchange SET packed = NULL, signals = ?",
            (json.dumps({**signals, "key": digest[:16]}),),
        )
    with Tandem(config, env=environment) as tandem:
        equal(tandem.chat("hello", one).tandem["tier"], "local")  # its money is spent
        equal(tandem.chat("hello", two).tandem["tier"], "cloud")


@case
def test_a_request_without_a_user_draws_on_its_callers_budget():
    cloud, server = started("budgets: [{name: each, per: user, usd_per_day: 0.000001}]\n")
    cloudy = {"x-tandem-mode": "prefer-cloud"}
    with server as tandem:
        tiers = [tandem.chat("hello", cloudy).tandem["tier"] for _ in range(3)]
        equal(tiers, ["cloud", "local", "local"])
        equal(len(cloud.requests), 1)


@case
def test_rules_change_while_it_runs_and_broken_ones_change_nothing():
    _cloud, server = started("rules:\n- {name: a, then: {start: cloud}}\n")
    with server as tandem:
        text = tandem.config.read_text()
        equal(tandem.chat("hello").tandem["tier"], "cloud")
        tandem.config.write_text(text + "- {name: b, when: {code: true}, then: {only: local}}\n")
        tandem.process.send_signal(signal.SIGHUP)
        wait_until(
            lambda: any("never be reached" in line for line in tandem.log),
            what="complaint in the log",
        )
        equal(tandem.chat("hello").tandem["tier"], "cloud")
        tandem.config.write_text(text.replace("{start: cloud}", "{only: local}"))
        tandem.process.send_signal(signal.SIGHUP)
        wait_until(lambda: tandem.chat("hello").tandem["tier"] == "local", what="the new rule")


@case
def test_presets_pass_their_truth_tables():
    files = sorted((ROOT / "examples" / "policies").glob("*.test.yaml"))
    assert len(files) >= 4, files
    for file in files:
        code, out, err = run("policy", "test", file)
        assert code == 0 and b" 0 failed" in out, (file, out, err)
        code, out, err = run("policy", "check", str(file).replace(".test.yaml", ".yaml"))
        assert code == 0 and b"is sound" in out, (file, out, err)


@case
def test_a_failing_assertion_prints_the_difference_and_gives_exit_code_one():
    config, tests = FOLDER / "c.yaml", FOLDER / "t.yaml"
    config.write_text(
        edge_first("http://127.0.0.1:9/v1")
        + "rules:\n- {name: long, when: {tokens_over: 100}, then: {start: cloud}}\n"
    )
    tests.write_text(
        "config: c.yaml\ntests:\n- {name: right, given: {tokens: 200}, expect: {tier: cloud, rule:"
        " long}}\n- {name: wrong, given: {tokens: 100}, expect: {tier: cloud, rule: long}}\n"
    )
    code, out, err = run("policy", "test", tests)
    equal(code, 1, err)
    assert (
        b"t.yaml:4: wrong" in out
        and b"tier: expected cloud, got local; rule: expected long, got none" in out
    ), out
    assert b"1 passed, 1 failed" in out, out
    code, out, err = run("policy", "test", "--json", tests)
    report = json.loads(out)
    equal((code, report["ok"], report["passed"], report["failed"]), (1, False, 1, 1))
    equal([t["ok"] for t in report["tests"]], [True, False])
    tests.write_text(
        "config: c.yaml\ntests:\n- {name: t, given: {down: clod}, expect: {tier: local}}\n"
    )
    code, out, err = run("policy", "test", tests)
    assert code == 1 and "line 3" in err and "clod" in err, err
    code, _, err = run("policy", "test")
    assert code == 2 and "file of tests" in err, err


@case
def test_check_refuses_the_files_that_a_start_refuses():
    config, empty, present = FOLDER / "files.yaml", FOLDER / "empty.key", FOLDER / "a.key"
    empty.write_text("")
    present.write_text("k")
    cloud = "tiers:\n- {name: local, kind: local}\n- {name: cloud, kind: openai, model: m, "
    for text, word in (
        (f"{cloud}api_key_file: {FOLDER}/none.key}}\n", "none.key"),
        (f"{cloud}api_key_file: {empty}}}\n", "empty.key"),
        (f"{cloud}keys: [{{name: a, file: {FOLDER}/none.key}}]}}\n", "none.key"),
        (f"{cloud}ca_file: {FOLDER}/none.pem}}\n", "none.pem"),
        (f"{cloud}confidence: {FOLDER}/none.bin}}\n", "none.bin"),
        (f"router: {{confidence: {present}}}\n", "a.key"),
        (f"engine: {{adapters: [{{name: a, file: {FOLDER}/none.gguf}}]}}\n", "none.gguf"),
        (f"engine: {{adapters: [{{name: a, file: {present}}}]}}\n", "a.key"),
        (f"server: {{api_keys_file: {FOLDER}/none.keys}}\n", "server.api_keys_file: key file"),
        (
            f"server: {{operator_keys_file: {FOLDER}/none.keys}}\n",
            "server.operator_keys_file: key file",
        ),
        (f"cluster: {{key_file: {FOLDER}/none.key}}\n", "cluster.key_file: key file"),
        (f"cluster: {{key_file: {present}}}\n", "cluster.key_file"),
        (
            f"privacy: {{pseudonyms: {{vault: {{file: {FOLDER}/v, key_file: {present}}}}}}}\n",
            "privacy.pseudonyms.vault",
        ),
        (
            f"otlp: {{endpoint: 'http://127.0.0.1:9', ca_file: {FOLDER}/none.pem}}\n",
            "none.pem",
        ),
        (f"server: {{tls: {{certificate_file: {present}, key_file: {present}}}}}\n", "a.key"),
        (
            f"webhooks: [{{name: w, url: 'https://example.com/', secret_file: {FOLDER}/none.w}}]\n",
            "webhook w: ",
        ),
        ("privacy: {pseudonyms: {types: [EMAIL]}}\n", "EMAIL"),
    ):
        config.write_text(text)
        state = {"TANDEM_STATE_DIR": str(FOLDER / "state")}
        code, out, err = run(
            "serve", "-l", "127.0.0.1:0", "-c", config, env=clean_environment(**state)
        )
        assert code == 1 and word in err, (text, code, out, err)
        code, out, err = run("policy", "check", config, env=clean_environment())
        assert code == 1 and word in err, (text, code, out, err)
    config.write_text(f"{cloud}api_key_file: {present}, ca_file: {present}}}\n")
    equal(run("policy", "check", config)[0], 0)
    config.write_text("server: {listen: '0.0.0.0:1'}\n")
    code, out, err = run("policy", "check", config, env=clean_environment())
    assert code == 0 and b"no key is needed" in out, (out, err)


@case
def test_check_names_errors_and_what_is_suspicious():
    config = FOLDER / "check.yaml"
    config.write_text(
        edge_first("http://127.0.0.1:9/v1")
        + "rules:\n- {name: a, when: {task: cod}, then: {only: local}}\n"
    )
    code, out, err = run("policy", "check", config)
    assert code == 1 and "check.yaml:" in err and "'cod'" in err and "'code'" in err, err
    code, out, err = run("policy", "check", "--json", config)
    assert code == 1 and "'code'" in json.loads(out)["error"], (out, err)
    config.write_text(
        "tiers:\n- {name: local, kind: local}\n- {name: cloud, kind: openai, model: of-no-card}\n"
        "- {name: spare, kind: openai}\n"
        "routes:\n- {name: auto, kind: hybrid, tiers: [local, cloud]}\n"
        "- {name: near, kind: local-only, tiers: [local], documents: {stay: device}}\n"
    )
    code, out, err = run("policy", "check", "--json", config)
    report = json.loads(out)
    assert code == 0 and report["ok"] and len(report["policy_version"]) == 16, (out, err)
    assert any("spare" in w and "no route" in w for w in report["warnings"]), report
    assert any("cloud" in w and "no price" in w for w in report["warnings"]), report
    stays = [w for w in report["warnings"] if "documents" in w]
    assert len(stays) == 1 and "'near'" in stays[0], report


if __name__ == "__main__":
    main()
