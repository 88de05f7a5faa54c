#!/usr/bin/env python3
"""The configuration's file over HTTP: shown without secrets, checked, replaced as a whole, and by
whom; and a calibration beside a server's answers."""

import json
import os
import stat
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import gguf
from check import case, equal, main
from gguf import write_adapter
from intents import calibration_questions
from scripted_cloud import Script, ScriptedCloud
from tandem import NANO, Tandem, edge_first, run, wait_until

AT = "/tandem/v1/config"
RUN = "/tandem/v1/calibration/run"
BOSS = {"Authorization": "Bearer key-of-the-operator"}
CLIENT = {"Authorization": "Bearer key-of-a-client"}
ENV = {"TEST_CLOUD_KEY": "k", "KEYS": "key-of-a-client", "BOSS": "key-of-the-operator"}
KEYED = "server: {api_keys_env: KEYS, operator_keys_env: BOSS%s}\n"
SECRET = "    headers: [{name: X-Secret, value: of-nobody-else}, {name: X-Title, value: shop}]\n"


def house(more="", tier="", url="http://127.0.0.1:9", **env):
    return Tandem(edge_first(url, tier) + more, env={**ENV, **env})


def check(tandem, text, headers=None):
    answer = tandem.request("POST", AT + "/check", {"text": text}, headers)
    equal(answer.status, 200, str(answer.body))
    return answer.json


def apply(tandem, text, version, headers=None):
    return tandem.request("POST", AT, {"text": text, "version": version}, headers)


def refusal(answer):
    return answer.status, answer.json["error"]["code"], answer.json["error"]["message"]


def starts_on_cloud(text):
    assert "kind: hybrid" in text, text
    return text.replace("kind: hybrid", "kind: hybrid\n    start: cloud")


@case
def test_a_change_is_in_force_at_once_and_the_file_keeps_mode_and_owner():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with house(url=cloud.base_url) as tandem:
        os.chmod(tandem.config, 0o640)
        before = tandem.config.read_text()
        shown = tandem.get(AT).json
        equal((shown["text"], shown["may_change"], shown["why_not"]), (before, True, None))
        equal(tandem.chat("hi", max_tokens=2).tandem["tier"], "local")
        wanted = starts_on_cloud(before)
        changed = apply(tandem, wanted, shown["version"])
        equal((changed.status, changed.json["restart"]), (200, []), str(changed.body))
        equal(tandem.chat("hi", max_tokens=2).tandem["tier"], "cloud")
        info = tandem.config.stat()
        equal((stat.S_IMODE(info.st_mode), info.st_uid), (0o640, os.getuid()))
        equal(tandem.config.read_text(), wanted)
        backup = tandem.config.with_name("tandem.yaml.bak")
        equal((backup.read_text(), stat.S_IMODE(backup.stat().st_mode)), (before, 0o600))
        equal(tandem.get(AT).json["version"], changed.json["version"])
        line = next(line for line in tandem.log if "event=config_changed" in line)
        assert f"policy={changed.json['policy_version']}" in line and "key=none" in line, line
        version = changed.json["policy_version"].encode()
        wait_until(lambda: version in run("policy", "show", env=tandem.environment)[1])
    cloud.close()


@case
def test_a_stale_text_is_refused_and_the_newer_one_stays():
    with house() as tandem:
        read = tandem.get(AT).json
        newer = read["text"] + "# of somebody else\n"
        tandem.config.write_text(newer)
        code, name, message = refusal(apply(tandem, starts_on_cloud(newer), read["version"]))
        equal((code, name), (409, "config_changed"))
        assert "read it again" in message, message
        equal(tandem.config.read_text(), newer)
        again = tandem.get(AT).json
        equal(apply(tandem, starts_on_cloud(newer), again["version"]).status, 200)


@case
def test_a_check_finds_all_mistakes_with_their_lines_and_changes_nothing():
    with house() as tandem:
        text = tandem.config.read_text()
        found = check(tandem, text.replace("tiers: [", "tier: [") + "rotes: []\n")
        assert not found["ok"] and found["error_count"] == len(found["errors"]) > 1, found
        last = text.count("\n") + 1
        assert {"line": last, "text": "unknown key 'rotes'; did you mean 'routes'?"} in found[
            "errors"
        ], found
        code, out, _ = run("policy", "check", "--json", tandem.config, env=tandem.environment)
        equal(code, 0)
        by_command = json.loads(out)
        sound = check(tandem, text)
        equal((sound["ok"], sound["policy_version"]), (True, by_command["policy_version"]))
        equal(sound["tests"], None)
        equal(check(tandem, "a: b: c")["errors"][0]["line"], 1)
        equal(tandem.config.read_text(), text)
        too_long = tandem.request("POST", AT + "/check", {"text": "#" * 1100000})
        equal((too_long.status, tandem.request("POST", AT, {"text": text}).status), (400, 400))


@case
def test_a_text_that_the_server_refuses_goes_out_of_the_file_again():
    with house(KEYED % "") as tandem:
        shown = tandem.get(AT, headers=BOSS).json
        text = shown["text"].replace("api_key_env: TEST_CLOUD_KEY", "api_key_file: /nowhere/key")
        checked = check(tandem, text, BOSS)
        assert not checked["ok"] and "No such file" in checked["errors"][0]["text"], checked
        equal(apply(tandem, text, shown["version"], BOSS).status, 400)
        equal(tandem.config.read_text(), shown["text"])
        adapter = tandem.config.with_name("other.gguf")
        write_adapter(adapter, [("blk.99.attn_q.weight", 64, 64)])
        text = shown["text"] + f"\nengine: {{adapters: [{{name: a, file: {adapter}}}]}}\n"
        equal(check(tandem, text, BOSS)["ok"], True, "only the server has its model")
        code, _, message = refusal(apply(tandem, text, shown["version"], BOSS))
        equal(code, 400)
        assert "the file is as it was" in message and "adapter a" in message, message
        equal(tandem.config.read_text(), shown["text"])
        equal(tandem.get(AT, headers=BOSS).json["version"], shown["version"])
        equal(tandem.chat("hi", headers=BOSS, max_tokens=2).status, 200)


@case
def test_the_tests_beside_the_file_are_run():
    with house() as tandem:
        tests = tandem.config.with_name("tandem.test.yaml")
        tests.write_text("tests:\n  - {name: easy, given: {text: hi}, expect: {tier: cloud}}\n")
        text = tandem.config.read_text()
        found = check(tandem, text)["tests"]
        equal((found["file"], found["passed"], found["failed"]), (tests.name, 0, 1))
        one = found["tests"][0]
        equal((one["line"], one["mismatch"]), (2, "tier: expected cloud, got local"))
        assert one["because"], one
        equal(check(tandem, starts_on_cloud(text))["tests"]["passed"], 1)
        tests.write_text("tests: 1\n")
        assert check(tandem, text)["tests"]["error"], "a broken file of tests says so"


@case
def test_the_value_of_a_header_is_never_shown_and_stays():
    with house(KEYED % "", SECRET) as tandem:
        answer = tandem.get(AT, headers=BOSS)
        assert "of-nobody-else" not in str(answer.body) and "shop" not in str(answer.body), str(
            answer.body
        )
        shown = answer.json
        assert "{name: X-Secret, value: (hidden 1)}" in shown["text"], shown["text"]
        text = shown["text"].replace("value: (hidden 2)", "value: bakery") + "# (hidden 9)\n"
        equal(apply(tandem, text, shown["version"], BOSS).status, 200)
        kept = tandem.config.read_text()
        assert "X-Secret, value: of-nobody-else}" in kept and "value: bakery" in kept, kept
        assert kept.endswith("# (hidden 9)\n"), kept
        tandem.config.write_text(kept.replace("of-nobody-else", '"of\\x2dnobody"'))
        refused = tandem.get(AT, headers=BOSS)
        equal(refused.status, 400)
        assert "cannot be hidden" in str(refused.body) and "nobody" not in str(refused.body), str(
            refused.body
        )


@case
def test_where_nobody_needs_a_key_only_the_policy_may_change():
    with house(tier=SECRET) as tandem:
        shown = tandem.get(AT).json
        equal(shown["sections"], ["routes", "rules", "budgets", "policy", "shadow"])
        for text, section in (
            (shown["text"].replace("127.0.0.1:9", "127.0.0.2:9"), "tiers"),
            (shown["text"] + "server: {operator_keys_env: HOME}\n", "server"),
            (shown["text"] + "log: {access: /tmp/other}\n", "log"),
            (shown["text"].replace("(hidden 1)", "other"), "tiers"),
        ):
            errors = check(tandem, text)["errors"]
            equal(len(errors), 1, str(errors))
            assert errors[0]["text"].startswith(f"'{section}' is changed only in"), errors
            equal(apply(tandem, text, shown["version"]).status, 400)
        more = shown["text"] + "budgets: [{name: all, per: all, usd_per_day: 3}]\n"
        equal(check(tandem, more)["ok"], True)
        equal(tandem.config.read_text(), edge_first("http://127.0.0.1:9", SECRET))


@case
def test_no_key_makes_the_server_run_a_program():
    with house(KEYED % "") as tandem:
        shown = tandem.get(AT, headers=BOSS).json
        equal(shown["sections"], [])
        text = shown["text"].replace("api_key_env: TEST_CLOUD_KEY", "token_command: [touch, /x]")
        assert text != shown["text"]
        errors = check(tandem, text, BOSS)["errors"]
        assert len(errors) == 1 and errors[0]["text"].startswith("'token_command' names"), errors
        equal(apply(tandem, text, shown["version"], BOSS).status, 400)


@case
def test_an_admin_applies_an_operator_of_the_store_looks_and_others_see_nothing():
    with house(KEYED % "") as tandem:
        made = tandem.request("POST", "/tandem/v1/keys", {"name": "b", "operator": True}, BOSS)
        stored = {"Authorization": f"Bearer {made.json['key']}"}
        shown = tandem.get(AT, headers=stored).json
        equal(shown["may_change"], False)
        assert "server.operator_keys_env" in shown["why_not"], shown
        for path in ("/check", ""):
            body = {"text": shown["text"], "version": shown["version"]}
            equal(tandem.request("POST", AT + path, body, stored).status, 403)
            equal(tandem.request("POST", AT + path, body, CLIENT).status, 403)
            equal(tandem.request("POST", AT + path, body).status, 401)
        equal([tandem.get(AT + p, headers=CLIENT).status for p in ("", "/schema")], [403, 403])
        equal(tandem.get(RUN, headers=CLIENT).status, 403)
        properties = tandem.get(AT + "/schema", headers=stored).json["properties"]
        assert "routes" in properties and "config_edit" in str(properties["server"]), properties
        text = shown["text"].replace("KEYS, operator", "OTHER, operator")
        restart = check(tandem, text, BOSS)["restart"]
        equal(restart, ["server"])
        text = starts_on_cloud(shown["text"])
        equal(apply(tandem, text, shown["version"], BOSS).status, 200)


@case
def test_where_others_reach_the_server_it_takes_a_word_of_the_file():
    for more, env, part in (
        (KEYED % ", config_edit: 'off'", {}, "server.config_edit is off"),
        (KEYED % "", {"TANDEM_LISTEN": "0.0.0.0:0"}, "others reach this server"),
        (KEYED % ", allowed_hosts: [tandem.example]", {}, "others reach this server"),
        ("server: {config_edit: on, local_origins: true}\n", {}, "it needs no key"),
        (KEYED % ", config_edit: on", {"TANDEM_LISTEN": "0.0.0.0:0"}, None),
    ):
        with house(more, **env) as tandem:
            headers = BOSS if "BOSS" in more else None
            shown = tandem.get(AT, headers=headers).json
            equal(shown["may_change"], part is None, more)
            answer = apply(tandem, shown["text"], shown["version"], headers)
            equal(answer.status, 403 if part else 200, str(answer.body))
            if part:
                assert part in shown["why_not"] and part in str(answer.body), (
                    part,
                    str(answer.body),
                )
    with Tandem() as tandem:
        shown = tandem.get(AT).json
        equal((shown["file"], shown["may_change"]), (None, False))
        assert "--config" in shown["why_not"], shown


# --- calibration ---


def state_of(tandem):
    return tandem.get(RUN).json


def ends(tandem):
    wait_until(lambda: state_of(tandem)["state"] != "running", 200)
    return state_of(tandem)


@case
def test_a_calibration_runs_beside_answers_and_is_used_when_somebody_wants_it():
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "unknown.gguf"
        gguf.add_metadata(NANO, model, (), without="tandem.calibration.")
        with house(TANDEM_MODEL=model) as tandem:
            equal(state_of(tandem)["state"], "none")
            body = {"tier": "local", "questions": calibration_questions()}
            begun = tandem.request("POST", RUN, body)
            equal((begun.status, begun.json["state"]), (200, "running"), str(begun.body))
            equal(refusal(tandem.request("POST", RUN, {}))[:2], (409, "calibration_runs"))
            equal(tandem.chat("hi", max_tokens=2).status, 200)
            ended = ends(tandem)
            equal((ended["state"], ended["error"], ended["kept"]), ("done", None, False))
            equal((ended["asked"], ended["questions"]), (120, 120))
            equal(len(ended["found"]["risks"]), 3)
            judged = tandem.get("/tandem/v1/calibration").json["tiers"][0]["judged_by"]
            equal(judged, "nothing", "it is not used yet")
            equal(tandem.request("POST", "/tandem/v1/calibration/keep").json["kept"], True)
            tier = tandem.get("/tandem/v1/calibration").json["tiers"][0]
            equal(tier["judged_by"], "calibration")
            equal(
                [row["threshold"] for row in tier["thresholds"]],
                [row["threshold"] for row in ended["found"]["risks"]],
            )


@case
def test_a_calibration_is_cancelled_and_a_useless_one_says_why():
    with house() as tandem:
        equal(tandem.request("POST", RUN, {"tier": "cloud"}).status, 400)
        equal(tandem.request("POST", "/tandem/v1/calibration/keep").status, 400)
        equal(tandem.request("POST", RUN, {}).status, 200)
        wait_until(lambda: state_of(tandem)["asked"] > 0, 60)
        assert state_of(tandem)["left_s"] > 0
        equal(tandem.request("DELETE", RUN).status, 200)
        equal(ends(tandem)["state"], "cancelled")
        few = {"questions": "".join(calibration_questions().splitlines(keepends=True)[:20])}
        equal(tandem.request("POST", RUN, few).status, 200)
        failed = ends(tandem)
        equal(failed["state"], "failed")
        assert "nothing is written" in failed["error"], failed
        tandem.request("POST", RUN, {})  # the server's end ends it


if __name__ == "__main__":
    main()
