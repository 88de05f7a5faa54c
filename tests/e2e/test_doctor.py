#!/usr/bin/env python3
"""tandem doctor fails on what would fail, says what to do about each, and fits the terminal."""

import json
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, equal, main
from conversations import state
from scripted_cloud import Script, ScriptedCloud
from tandem import clean_environment, run

LOCAL = "tiers: [{name: local, kind: local}]\n"


def look(
    config: str = "", *arguments: object, folder: object = None, **env: object
) -> tuple[int, dict[str, list[dict[str, str]]], str]:
    """(exit code, checks by name, the text that people see)"""
    with state() as own:
        path = own / "tandem.yaml"
        path.write_text(config or "# the defaults\n")
        where = {"TANDEM_STATE_DIR": folder or own, "TANDEM_LISTEN": "127.0.0.1:0"}
        environment = clean_environment(**{**where, **env})
        call = ("doctor", *arguments, "--config", path)
        code, out, err = run(*call, "--json", env=environment)
        again, text, _ = run(*call, env=environment)
        equal(code, again, "the exit codes of JSON and text")
    found: dict[str, list[dict[str, str]]] = {}
    for check in json.loads(out)["checks"]:
        found.setdefault(check["name"], []).append(check)
    assert not err, err
    return code, found, text.decode()


def failure(name: str, config: str = "", *arguments: object, **how: Any) -> dict[str, str]:
    """The check of this name, which must be the only one that fails, with an advice."""
    code, found, text = look(config, *arguments, **how)
    failed = [one for rows in found.values() for one in rows if one["status"] == "fail"]
    equal([one["name"] for one in failed], [name], text)
    equal(code, 1)
    assert failed[0]["advice"] and "-> " in text, text
    return failed[0]


@case
def test_what_is_well_is_said_in_lines_of_eighty_columns():
    code, found, text = look("", "--offline")
    equal(code, 0, text)
    for line in text.splitlines():
        assert len(line) <= 80 or line.lstrip().count(" ") == 0, line
    for name in ("clock", "disk", "deferral", "state directory", "confidence"):
        equal(found[name][0]["status"], "ok", text)


@case
def test_a_state_folder_that_blocks_the_start_fails():
    with tempfile.NamedTemporaryFile() as file:
        one = failure("state directory", LOCAL, "--offline", folder=file.name)
        assert "is no folder" in one["text"], one
        one = failure("state directory", LOCAL, "--offline", folder=f"{file.name}/below/it")
        assert "cannot be made" in one["text"] and "no folder" in one["text"], one


@case
def test_a_state_folder_that_nobody_can_make_fails():
    for folder, words in (("/proc/x", "cannot be made"), ("/proc", "/proc: ")):
        code, found, text = look(LOCAL, "--offline", folder=folder)
        one = found["state directory"][0]
        assert code == 1 and one["status"] == "fail" and words in one["text"], text


@case
def test_what_is_wrong_is_summed_up_at_the_end_and_quiet_leaves_out_the_rest():
    config = "tiers: [{name: local, kind: local}, {name: a, kind: openai, model: m}]\n"
    code, found, text = look(config, "--offline")
    well = sum(one["status"] == "ok" for rows in found.values() for one in rows)
    end = f"1 failure: tier a; 1 warning: price of a; {well} checks are well"
    equal((code, text.splitlines()[-1]), (1, end), text)
    code, found, text = look(config, "--offline", "--quiet")
    equal((code, sorted(found)), (1, ["price of a", "tier a"]))
    equal([line[:4] for line in text.splitlines() if line[0] != " "], ["fail", "warn", end[:4]])
    code, found, text = look(LOCAL, "--offline", "-q")
    assert code == 0 and not found and text.endswith(" checks are well\n"), text


@case
def test_a_file_that_is_named_and_missing_fails():
    for config in (
        "tiers: [{name: a, kind: openai, model: m, ca_file: /none/it}]\n",
        "tiers: [{name: a, kind: openai, model: m, confidence: /none/it}]\n",
        LOCAL + "engine: {adapters: [{name: a, file: /none/it}]}\n",
    ):
        code, found, text = look(config, "--offline")
        one = found["files"][0]
        assert code == 1 and one["status"] == "fail" and "/none/it" in one["text"], text
        assert "configuration" not in found and "mend it" in one["advice"], text


@case
def test_a_key_file_that_is_missing_is_told_once():
    for name, config in (
        ("tier a", "tiers: [{name: a, kind: openai, model: m, api_key_file: /none/it}]\n"),
        ("keys", LOCAL + "server: {api_keys_file: /none/it}\n"),
        (
            "webhook w",
            LOCAL + "webhooks: [{name: w, url: 'https://example.com/', secret_file: /none/it}]\n",
        ),
        ("files", LOCAL + "cluster: {key_file: /none/it}\n"),
    ):
        assert "/none/it" in failure(name, config, "--offline")["text"], config


@case
def test_a_full_disk_and_a_small_one_are_told_apart():
    with tempfile.TemporaryDirectory(prefix="td-") as small:
        if subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", small], capture_output=True
        ).returncode:
            raise Skip("no right to mount a small file system")
        try:
            one = failure("disk", LOCAL, "--offline", folder=small)
            assert "make room" in one["advice"], one
            subprocess.run(["mount", "-o", "remount,size=200m", small], check=True)
            code, found, _ = look(LOCAL, "--offline", folder=small)
            equal((code, found["disk"][0]["status"]), (0, "warn"))
        finally:
            subprocess.run(["umount", small], check=True)


@case
def test_a_record_of_the_future_and_one_of_a_newer_program_fail():
    with state() as folder:
        env = clean_environment(TANDEM_STATE_DIR=folder)
        equal(run("ask", "2+2", env=env)[0], 0)
        equal(look(LOCAL, "--offline", folder=folder)[0], 0)
        ledger = folder / "ledger.db"
        with sqlite3.connect(ledger) as base:
            base.execute("UPDATE exchange SET wall_ms = ?", (int(time.time() + 7200) * 1000,))
        base.close()
        one = failure("clock", LOCAL, "--offline", folder=folder)
        assert "120 minutes in the future" in one["text"], one
        with sqlite3.connect(ledger) as base:
            base.execute("PRAGMA user_version = 999")
        base.close()
        one = failure("ledger", LOCAL, "--offline", folder=folder)
        assert "newer program" in one["text"] and "TANDEM_STATE_DIR" in one["advice"], one


@case
def test_a_ladder_whose_middle_nobody_judges_fails():
    edge, middle, last = (ScriptedCloud(Script()) for _ in range(3))
    tiers = "".join(
        f"  - {{name: {name}, kind: openai, place: premises, allow_http: true, model: scripted, "
        f"base_url: '{server.base_url}', price: {{input_usd_per_mtok: {price}}}}}\n"
        for name, server, price in (("a", edge, 1), ("b", middle, 0), ("c", last, 1))
    )
    route = "routes: [{name: auto, kind: hybrid, tiers: [a, b, c]%s}]\n"
    gates = ", gates: {g3: {confidence_min: 0.5}}"
    one = failure("tier b", "tiers:\n" + tiers + route % gates)
    assert "no gate judges" in one["text"] and "runtimes.md" in one["advice"], one
    none = ", gates: {g2: {tokens: 0}, g3: {confidence_min: 0}}"
    one = failure("route auto", "tiers:\n" + tiers + route % none, "--offline")
    assert "c is asked only when all before it fail" in one["text"], one


@case
def test_a_tier_at_the_servers_own_address_fails_and_does_not_start():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {"OPENAI_API_KEY": "sk-1", "TANDEM_LISTEN": f"127.0.0.1:{port}"}
    for host in ("127.0.0.1", "localhost"):
        url = f"http://{host}:{port}/v1"
        one = failure("own address", "", "--offline", OPENAI_BASE_URL=url, **env)
        assert url in one["text"] and "unset" in one["advice"], one
        code, _, err = run("serve", env=clean_environment(OPENAI_BASE_URL=url, **env))
        assert code == 1 and "come back" in err and "OPENAI_BASE_URL" in err, err
    other = f"http://127.0.0.1:{port - 1}/v1"
    code, found, text = look("", "--offline", OPENAI_BASE_URL=other, **env)
    assert code == 0 and "own address" not in found, text


@case
def test_a_cloud_without_a_price_is_warned_of():
    config = (
        f"{LOCAL[:-2]}, {{name: cloud, kind: openai, model: m, api_key_env: KEY, "
        "base_url: 'https://cloud.example/v1'%s}]\n"
    )
    code, found, text = look(config % "", "--offline", KEY="sk-1")
    equal((code, found["price of cloud"][0]["status"]), (0, "warn"), text)
    priced = config % ", price: {input_usd_per_mtok: 0.1, output_usd_per_mtok: 0.5}"
    code, found, text = look(priced, "--offline", KEY="sk-1")
    assert code == 0 and "price of cloud" not in found, text


@case
def test_a_variable_for_keys_that_holds_none_fails_as_the_start_does():
    config = "server: {listen: '0.0.0.0:0', api_keys_env: SHOP_KEYS}\n" + LOCAL
    one = failure("keys", config, "--offline")
    assert "SHOP_KEYS" in one["text"] and "does not start" in one["advice"], one
    code, found, text = look(config, "--offline", SHOP_KEYS="sk-1")
    assert code == 0 and "keys" not in found, text


@case
def test_what_an_operator_switched_on_is_looked_at():
    hook = "webhooks: [{name: shop, url: 'https://shop.example/x', secret_env: SHOP_SECRET}]\n"
    one = failure("webhook shop", LOCAL + hook, "--offline")
    assert "SHOP_SECRET is not set" in one["text"], one
    code, found, text = look(LOCAL + hook, "--offline", SHOP_SECRET="0123456789abcdef")
    equal((code, found["webhook shop"][0]["status"]), (0, "ok"), text)
    cache = "cache: {answers: all, similar: true}\nengine: {embedding_model: /nowhere.gguf}\n"
    one = failure("cache.similar", LOCAL + cache, "--offline")
    assert "engine.embedding_model" in one["advice"], one
    people = (
        "tiers:\n  - {name: local, kind: local}\n  - {name: people, kind: review, "
        "review: {minutes: 5, usd_hour: 60, cost_of_error: 40}}\n"
    )
    route = "routes: [{name: auto, kind: %s, tiers: [local%s]%s}]\n"
    checks = ", gates: {g4: {verify: answer, tier: cloud}}"
    cloud = "  - {name: cloud, kind: openai, api_key_env: KEY, model: m}\n"
    code, found, text = look(people + route % ("hybrid", ", people", ""), "--offline")
    equal((code, found["people of people"][0]["status"]), (0, "ok"), text)
    code, found, text = look(people + route % ("local-only", "", ""), "--offline")
    equal((code, found["people of people"][0]["status"]), (0, "warn"), text)
    config = LOCAL.replace("[{name: local, kind: local}]", "\n  - {name: local, kind: local}")
    config += cloud + route % ("hybrid", ", cloud", checks)
    code, found, text = look(config, "--offline", KEY="k")
    equal((code, found["checks of auto"][0]["status"]), (0, "ok"), text)


if __name__ == "__main__":
    main()
