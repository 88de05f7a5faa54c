#!/usr/bin/env python3
"""Keys of the store: made, limited, rotated and revoked by the command line and the admin API,
while a server runs."""

import json
import re
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import has_card
from key_store import Store, bearer
from tandem import SOON_S, Tandem, check_prompt, clean_environment, run, wait_until

SECRET = re.compile(r"sk-tandem-[0-9a-f]{48}")


def status(tandem, key, path="/v1/models"):
    return tandem.get(path, headers=bearer(key)).status


# --- the command line ---


@case
def test_the_list_fits_a_terminal():
    with Store() as store:
        store.add("shop", "--tenant", "team", "--models", "auto,gpt-*", "--usd-per-day", "0.5")
        store.keys("limit", "--tenant", "team", "--requests-per-minute", 60)
        store.add("boss", "--operator")
        environment = clean_environment(**store.environment)
        code, out, err = run("keys", "list", env=environment)
        equal(code, 0, err)
        rows = [line for line in out.decode().splitlines() if not line.startswith("  ")]
        equal([row[18:37].strip() for row in rows], ["name", "shop", "boss", "tenant team"])
        assert max(map(len, rows)) < 80, out.decode()
        more = "of tenant team; usd_per_day 0.5; models auto,gpt-*\n"
        assert more in out.decode() and "; requests_per_minute 60\n" in out.decode(), out.decode()


@case
def test_a_wrong_key_is_told_from_none():
    with Store() as store:
        key = store.add("shop")
        with store.serve() as tandem:
            for headers, word in (
                ({}, "needs an API key"),
                (bearer("sk-tandem-0"), "revoked"),
                ({"x-api-key": "other"}, "revoked"),
            ):
                reply = tandem.get("/v1/models", headers=headers)
                equal(reply.status, 401)
                assert word in reply.json["error"]["message"], reply.json
            code, _, err = run(
                "ask", "--url", tandem.url, "hi", env=clean_environment(**store.environment)
            )
            assert code == 1 and "TANDEM_API_KEY" in err, err
            environment = clean_environment(**store.environment, TANDEM_API_KEY=key)
            code, _, err = run("ask", "--url", tandem.url, "hi", env=environment)
            equal(code, 0, err)


@case
def test_a_key_is_shown_once_and_kept_as_a_hash():
    with Store() as store:
        made = store.keys("add", "shop", "--tenant", "team", "--usd-per-day", "2.5")
        assert SECRET.fullmatch(made["key"]), made
        equal((made["tenant"], made["usd_per_day"], made["state"]), ("team", 2.5, "live"))
        listed = store.keys("list")
        assert not SECRET.search(json.dumps(listed)), listed
        equal([row["id"] for row in listed["data"]], [made["id"]])
        for file in Path(store.folder).rglob("*"):
            content = file.read_bytes() if file.is_file() else b""
            assert made["key"].encode() not in content, file
            equal(file.stat().st_mode & 0o077, 0, str(file))
        code, out, err = run("keys", "add", "lab", env=clean_environment(**store.environment))
        equal(code, 0, err)
        assert SECRET.fullmatch(out.decode().removesuffix("\n")), out  # a pipe gets nothing else
        assert "cannot be shown again" in err and "--operator" in err, err


@case
def test_a_key_that_is_not_taken_is_explained():
    with Store() as store:
        store.add("shop")
        with store.serve() as tandem:
            for key, words in (
                (None, "needs an API key"),
                ("sk-wrong", "does not take this API key"),
                ("key 'shop'\nsk-tandem-1", "TANDEM_API_KEY must be a key and nothing else"),
            ):
                env = clean_environment(TANDEM_API_KEY=key, **store.environment)
                code, _, err = run("ps", "--url", tandem.url, env=env)
                assert code == 1 and words in err, (key, err)


@case
def test_mistakes_are_named():
    with Store() as store:
        store.add("shop")
        for arguments, word in (
            (("add", "shop"), "already"),
            (("add", "a b"), "letters"),
            (("add", "x", "--tenant", "a/b"), "tenant"),
            (("add", "x", "--models", "a,,b"), "models"),
            (("add", "x", "--classes", "secret"), "classes"),
            (("add", "x", "--weight", "5000"), "weight"),
            (("limit", "none", "--weight", "2"), "keys list"),
            (("limit", "--tenant", "t", "--models", "auto"), "models"),
            (("revoke", "none"), "keys list"),
            (("rotate", "none"), "keys list"),
        ):
            error = store.keys(*arguments, code=1)["error"]
            assert word in error, (arguments, error)
        for arguments in (
            ("add",),
            ("add", "x", "--usd-per-day", "much"),
            ("add", "x", "--expires", "soon"),
            ("limit", "shop"),
            ("limit", "--weight", "2"),
            ("limit", "shop", "--tenant", "t", "--weight", "2"),
            ("rotate", "shop", "--overlap", "400d"),
            ("nothing",),
        ):
            environment = clean_environment(**store.environment)
            equal(run("keys", *arguments, env=environment)[0], 2, str(arguments))
        equal(len(store.keys("list")["data"]), 1)
    with Store() as store:
        equal(store.keys("list"), {"object": "list", "data": [], "tenants": []})
        equal(list(Path(store.folder).iterdir()), [], "what looking left")


@case
def test_a_running_server_takes_every_change_within_a_second():
    with Store() as store, store.serve() as tandem:
        equal(tandem.get("/v1/models").status, 200)
        key = store.add("shop")
        wait_until(
            lambda: tandem.get("/v1/models").status == 401, SOON_S, "the shutting of the door"
        )
        equal(status(tandem, key), 200, "the new key")
        fresh = store.keys("rotate", "shop", "--overlap", "10s")["key"]
        wait_until(lambda: status(tandem, fresh) == 200, SOON_S, "the rotated key")
        equal(status(tandem, key), 200, "the old one meanwhile")
        wait_until(lambda: status(tandem, key) == 401, 10 + SOON_S, "its end")
        store.keys("limit", "shop", "--expires", "1s")
        wait_until(lambda: status(tandem, fresh) == 401, 1 + SOON_S, "the end of the key")
        store.keys("limit", "shop", "--expires", "never")
        wait_until(lambda: status(tandem, fresh) == 200, SOON_S, "its second life")
        store.keys("revoke", "shop")
        wait_until(lambda: status(tandem, fresh) == 401, SOON_S, "the revocation")
        equal(tandem.get("/v1/models").status, 401, "no door opens by a revocation")
        assert "no key" in store.keys("limit", "shop", "--weight", "2", code=1)["error"]
        again = store.add("shop")
        wait_until(lambda: status(tandem, again) == 200, SOON_S, "another key of the name")

        def revoking() -> float:
            name = f"key-{time.monotonic_ns()}"
            gone = store.add(name)
            wait_until(lambda: status(tandem, gone) == 200)
            store.keys("revoke", name)
            begun = time.monotonic()
            wait_until(lambda: status(tandem, gone) == 401)
            return time.monotonic() - begun

        check_prompt(revoking, 1)


@case
def test_a_new_key_is_taken_by_the_first_request_that_shows_it():
    with Store() as store:
        store.add("first")
        with store.serve() as tandem:
            seen = [status(tandem, store.add(f"shop{number}")) for number in range(9)]
            fresh = store.keys("rotate", "shop0")["key"]
            equal([*seen, status(tandem, fresh)], [200] * 10)
            equal(status(tandem, "sk-tandem-" + "0" * 48), 401)


@case
def test_keys_outlive_the_server_and_what_they_own_outlives_a_rotation():
    with Store() as store:
        key = store.add("shop")
        with store.serve() as tandem:
            answer = tandem.chat("Hello.", bearer(key), max_tokens=2)
            equal(answer.status, 200, answer.body.decode())
            path = f"/tandem/v1/exchanges/{answer.headers['x-tandem-exchange']}"
        other = store.add("lab", "--tenant", "lab")
        fresh = store.keys("rotate", "shop")["key"]
        with store.serve() as tandem:
            equal((status(tandem, key), status(tandem, fresh)), (401, 200))
            equal(status(tandem, fresh, path), 200)
            equal(status(tandem, other, path), 404)
        rows = {row["name"]: row for row in store.keys("list")["data"]}
        assert abs(rows["shop"]["last_used"] - time.time()) < 60, rows


@case
def test_keys_of_the_environment_and_of_applications_go_on():
    apps = "apps: [{name: app, key_env: APP, tenant: team}]\n"
    with Store() as store:
        key = store.add("shop", "--tenant", "team")
        config = "server: {api_keys_env: KEYS, operator_keys_env: BOSS}\n" + apps
        with store.serve(config, KEYS="of-env", BOSS="of-boss", APP="of-app") as tandem:
            for known in (key, "of-env", "of-boss", "of-app"):
                equal(status(tandem, known), 200, known)
            equal(status(tandem, "other"), 401)
            answer = tandem.chat("Hello.", bearer("of-app"), max_tokens=2)
            path = f"/tandem/v1/exchanges/{answer.headers['x-tandem-exchange']}"
            equal(status(tandem, key, path), 200, "one tenant, whatever names it")
            equal(status(tandem, "of-env", path), 404)


@case
def test_applications_keys_alone_shut_the_door():
    apps = "apps: [{name: app, key_env: APP}]\n"
    with Tandem(apps, env={"APP": "of-app"}) as tandem:
        equal((status(tandem, "of-app"), tandem.get("/v1/models").status), (200, 401))
    environment = clean_environment()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tandem.yaml"
        file.write_text(apps)
        environment |= {"TANDEM_STATE_DIR": folder, "TANDEM_LISTEN": "127.0.0.1:0"}
        code, _, err = run("serve", "--config", file, env=environment)
        assert code == 1 and "none of the apps' keys is there" in err, err


@case
def test_a_public_address_is_served_with_a_key_of_the_store():
    with Store() as store:
        key = store.add("shop")
        with store.serve(TANDEM_LISTEN="0.0.0.0:0") as tandem:
            equal((status(tandem, key), tandem.get("/v1/models").status), (200, 401))


@case
def test_a_store_that_cannot_be_read_changes_nothing():
    with Store() as store:
        key, boss = store.add("shop"), store.add("boss", "--operator")
        file = Path(store.folder) / "keys.db"
        with store.serve() as tandem:
            with sqlite3.connect(file) as database:
                database.execute("UPDATE key SET terms = '{\"from_the_future\": 1}'")
            wait_until(
                lambda: any("keys_failed" in line for line in tandem.log), what="the log's word"
            )
            equal((status(tandem, key), status(tandem, "other")), (200, 401))
            with sqlite3.connect(file) as database:
                database.execute("UPDATE key SET terms = '{}'")
            wait_until(
                lambda: any("keys_recovered" in line for line in tandem.log), what="the recovery"
            )
            backup = file.read_bytes()
            for name in Path(store.folder).glob("keys.db*"):
                name.unlink()
            time.sleep(0.6)
            equal(status(tandem, key), 200, "while the file is away")
            file.write_bytes(backup)
            time.sleep(0.6)
            equal((status(tandem, key), status(tandem, boss, "/tandem/v1/keys")), (200, 200))
        with sqlite3.connect(file) as database:
            database.execute("PRAGMA user_version = 99")
        environment = clean_environment(**store.environment, TANDEM_LISTEN="127.0.0.1:0")
        code, _, err = run("serve", env=environment)
        assert code == 1 and "keys.db" in err, err


# --- the admin API ---


@case
def test_the_operator_makes_changes_rotates_and_revokes_keys():
    with Store() as store:
        boss = store.add("boss", "--operator")
        with store.serve() as tandem:

            def ask(method, path, body=None, wanted=200):
                answer = tandem.request(method, f"/tandem/v1/{path}", body, bearer(boss))
                equal(answer.status, wanted, f"{method} {path}: {answer.body.decode()}")
                return answer.json

            made = ask("POST", "keys", {"name": "shop", "tenant": "team", "usd_per_day": 1})
            equal(status(tandem, made["key"]), 200, "at once")
            equal(status(tandem, made["key"], "/tandem/v1/keys"), 403)
            shown = ask("GET", "keys/shop")
            equal({**shown, "key": made["key"], "last_used": None}, made)
            changed = ask("POST", f"keys/{made['id']}", {"usd_per_day": None, "weight": 3})
            equal(("usd_per_day" in changed, changed["weight"]), (False, 3))
            ask("POST", "tenants/team", {"tokens_per_month": 1000})
            listed = ask("GET", "keys")
            equal(store.keys("list"), listed, "one form")
            equal([row["name"] for row in listed["tenants"]], ["team"])
            fresh = ask("POST", "keys/shop/rotate", {"overlap_s": 60})["key"]
            equal((status(tandem, made["key"]), status(tandem, fresh)), (200, 200))
            fresh = ask("POST", "keys/shop/rotate")["key"]
            equal((status(tandem, made["key"]), status(tandem, fresh)), (401, 200))
            equal(ask("DELETE", "keys/shop")["state"], "revoked")
            equal(status(tandem, fresh), 401, "at once")
            ask("GET", "keys/shop", wanted=404)
            ask("DELETE", f"keys/{made['id']}", wanted=400)


@case
def test_what_is_wrong_in_a_request_for_a_key_is_named():
    with Store() as store:
        boss = store.add("boss", "--operator")
        with store.serve() as tandem:
            for path, body, param in (
                ("keys", {}, "name"),
                ("keys", {"name": 5}, "name"),
                ("keys", {"name": "a b"}, "name"),
                ("keys", {"name": "x", "tenant": ["t"]}, "tenant"),
                ("keys", {"name": "x", "operator": 1}, "operator"),
                ("keys", {"name": "x", "expires": 1}, "expires"),
                ("keys", {"name": "x", "expires": 1e40}, "expires"),
                ("keys", {"name": "x", "usd_per_day": "1"}, "usd_per_day"),
                ("keys", {"name": "x", "models": {"a": 1}}, "models"),
                ("keys", {"name": "x", "colour": 1}, "colour"),
                ("keys", {"name": "x", "tiers": ["locla"]}, "tiers"),
                ("keys/boss", {"tiers": ["local", "locla"]}, "tiers"),
                ("keys/boss", {"name": "y"}, "name"),
                ("keys/boss/rotate", {"overlap_s": -1}, "overlap_s"),
                ("tenants/t", {"weight": 2}, "weight"),
                ("tenants/t", {"usd_per_day": -2}, "usd_per_day"),
            ):
                answer = tandem.request("POST", f"/tandem/v1/{path}", body, bearer(boss))
                equal(answer.status, 400, f"{path} {body}: {answer.body.decode()}")
                equal(answer.json["error"]["param"], param, str(body))
            for text in ("[1]", "{", '{"name":"x","name":"y"}', "[" * 1000):
                answer = tandem.request("POST", "/tandem/v1/keys", text.encode(), bearer(boss))
                equal(answer.status, 400, text)
            equal(tandem.get("/tandem/v1/keys/" + "x" * 500, headers=bearer(boss)).status, 404)
        equal(len(store.keys("list")["data"]), 1)


@case
def test_a_tier_that_is_not_there_is_refused_with_the_nearest_name():
    with Store() as store:
        store.add("shop", "--tiers", "local")
        error = store.keys("limit", "shop", "--tiers", "local,opnai", code=1)["error"]
        equal(error, "tiers: there is no tier 'opnai'; did you mean 'openai'?")
        error = store.keys("add", "other", "--tiers", "zzzzzz", code=1)["error"]
        equal(error, "tiers: there is no tier 'zzzzzz'")
        (key,) = store.keys("list")["data"]
        equal(key["tiers"], ["local"])


@case
def test_terms_hold_where_no_plan_is_made():
    texts = {"public": "The sea is wide.", "private": "My card is 4111 1111 1111 1111."}
    paths = {
        "/v1/embeddings": lambda text: {"model": "auto", "input": text},
        "/v1/moderations": lambda text: {"input": text},
        "/tandem/v1/classify": lambda text: {"text": text, "labels": ["sea", "land"]},
    }
    with Store() as store:
        store.add("boss", "--operator")
        narrow = {
            store.add("elsewhere", "--tiers", "openai"): "may not use local",
            store.add("private", "--classes", "restricted"): "may not send public data",
            store.add("public", "--classes", "public"): None,
            store.add("here", "--tiers", "local", "--classes", "public,sensitive,restricted"): None,
        }
        with store.serve() as tandem:
            for path, body in paths.items():
                for key, refused in narrow.items():
                    answer = tandem.request("POST", path, body(texts["public"]), bearer(key))
                    if refused:
                        equal(answer.status, 403, f"{path} {answer.body.decode()}")
                        equal(answer.json["error"]["code"], "refused_by_policy")
                        assert refused in answer.json["error"]["message"], answer.json
                    else:
                        assert answer.status != 403, f"{path} {answer.body.decode()}"
                public, here = list(narrow)[2:]
                answer = tandem.request("POST", path, body(texts["private"]), bearer(public))
                equal(answer.status, 403, f"{path} {answer.body.decode()}")
                assert "may not send " in answer.json["error"]["message"], answer.json
                assert not has_card(answer.body)
                answer = tandem.request("POST", path, body(texts["private"]), bearer(here))
                assert answer.status != 403, f"{path} {answer.body.decode()}"


@case
def test_nobody_locks_himself_out_by_a_first_key():
    with Store() as store, store.serve() as tandem:
        answer = tandem.request("POST", "/tandem/v1/keys", {"name": "shop"})
        equal((answer.status, answer.json["error"]["code"]), (409, "operator_first"))
        equal(tandem.get("/v1/models").status, 200, "still open")
        made = tandem.request("POST", "/tandem/v1/keys", {"name": "boss", "operator": True})
        equal(made.status, 200, made.body.decode())
        equal(tandem.get("/v1/models").status, 401)
        headers = bearer(made.json["key"])
        equal(tandem.request("POST", "/tandem/v1/keys", {"name": "shop"}, headers).status, 200)


if __name__ == "__main__":
    main()
