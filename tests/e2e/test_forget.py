#!/usr/bin/env python3
"""tandem forget: after it no file and no cache holds anything of the user, others keep theirs, and
the record of what left still verifies."""

import json
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import kept_bytes
from scripted_cloud import Script, ScriptedCloud, unused_port
from tandem import Tandem, edge_first, run, wait_until, workers

STORE = "ledger:\n  store_prompts: true\n"
LONG = "Explain the French revolution again and again, please, " * 6


def stored(tandem):
    return b"".join(path.read_bytes() for path in tandem.state.rglob("*") if path.is_file())


def texts(path, user):
    """What the file has of the user's texts: they are encrypted there."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        found = database.execute(
            "SELECT prompt, answer FROM exchange WHERE user = ?1 UNION ALL SELECT comment, NULL"
            " FROM feedback f JOIN exchange x ON x.seq = f.exchange WHERE x.user = ?1",
            (user,),
        ).fetchall()
    finally:
        database.close()
    return [text.encode() for row in found for text in row if text]


def say(tandem, user, text, mode, **members):
    answer = tandem.chat(text, {"x-tandem-mode": mode}, user=user, **members)
    equal(answer.status, 200, answer.body.decode())
    return answer


@case
def test_a_running_server_forgets_files_and_memory():
    cloud = ScriptedCloud(Script(text="Cloud answer for annacanary."))
    with Tandem(edge_first(cloud.base_url) + STORE, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        exchange = say(tandem, "annalisa", "Tell of annacanary.", "only-cloud").tandem["exchange"]
        say(tandem, "annalisa", LONG + "annacanary", "only-local", max_tokens=2)
        again = say(tandem, "annalisa", LONG + "annacanary", "only-local", max_tokens=2)
        assert again.json["usage"]["prompt_tokens_details"]["cached_tokens"] > 0, (
            "there is no cache to forget"
        )
        cloud.script = Script(text="Cloud answer.")
        bobs = say(tandem, "bob", "Tell of bobcanary.", "only-cloud").tandem["exchange"]
        say(tandem, "annalisa", "My card is 4111 1111 1111 1111.", "auto")
        (worker,) = workers(tandem)
        equal(
            tandem.request(
                "POST",
                "/tandem/v1/feedback",
                {"id": exchange, "ok": True, "comment": "annacomment"},
            ).status,
            200,
        )
        assert tandem.get(f"/tandem/v1/exchanges/{exchange}").json["user"] == "annalisa"
        path = tandem.state / "ledger.db"
        wait_until(lambda: len(texts(path, "annalisa")) >= 7, what="three exchanges and a comment")
        annas = texts(path, "annalisa")

        code, out, err = run(
            "forget", "annalisa", "--json", "--url", tandem.url, env=tandem.environment
        )
        equal(code, 0, err)
        result = json.loads(out)
        equal(
            (result["server"], result["exchanges"], result["comments"], result["caches"]),
            (True, 4, 1, True),
        )
        assert result["texts"] >= 3, result  # the restricted one was never stored
        held = stored(tandem)
        for canary in (b"annacanary", b"annalisa", b"annacomment", *annas):
            assert canary not in held, f"{canary} is still in a file"
        assert "bobcanary" in tandem.get(f"/tandem/v1/exchanges/{bobs}").json["prompt"]
        fresh = say(tandem, "annalisa", LONG + "annacanary", "only-local", max_tokens=2)
        equal(fresh.json["usage"]["prompt_tokens_details"]["cached_tokens"], 0, "computed before")
        equal(fresh.text, again.text)
        say(tandem, "bob", "My card is 4111 1111 1111 1111.", "auto")
        assert worker not in workers(tandem), "the confined worker still knows"
        code, out, _ = run("egress", "verify", "--json", env=tandem.environment)
        verdict = json.loads(out)
        equal((code, verdict["sound"], verdict["transfers"]), (0, True, 2))
        answer = tandem.get(f"/tandem/v1/exchanges/{exchange}").json
        equal((answer["user"], answer.get("prompt"), answer["tier"]), (None, None, "cloud"))


@case
def test_without_a_server_the_file_is_erased():
    cloud = ScriptedCloud(Script(text="Cloud."))
    folder = Path(tempfile.mkdtemp(prefix="tandem-test-forget-"))
    config = edge_first(cloud.base_url) + STORE + f"  path: {folder}/ledger.db\n"
    try:
        with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
            say(tandem, "annalisa", "Tell of annacanary.", "only-cloud")
            environment = {**tandem.environment, "TANDEM_CONFIG": str(folder / "tandem.yaml")}
        (folder / "tandem.yaml").write_text(config)
        held = (folder / "ledger.db").read_bytes()
        annas = texts(folder / "ledger.db", "annalisa")
        assert len(annas) == 2 and all(text in held for text in annas), annas
        code, out, err = run("forget", "annalisa", env=environment)
        equal(code, 0, err)
        found = {tuple(line.rsplit(None, 1)) for line in out.decode().splitlines()[1:3]}
        equal(found, {("  names in the ledger's exchanges", "1"), ("  stored texts", "1")}, out)
        for path in folder.rglob("ledger.db*"):
            for canary in (b"annacanary", b"annalisa", *annas):
                assert canary not in kept_bytes(path), path
    finally:
        shutil.rmtree(folder)


@case
def test_what_is_switched_off_now_forgets_what_it_kept_before():
    state = Path(tempfile.mkdtemp(prefix="tandem-test-forget-"))
    env = {"TEST_CLOUD_KEY": "k", "TANDEM_STATE_DIR": state}
    config = edge_first(f"http://127.0.0.1:{unused_port()}/v1")
    off = "ledger: {enabled: false}\nfiles: {mb_max: 0}\ndeferral: {count_max: 0}\n"
    off += "responses: {keep_s: 0}\nrouter: {consistency: {on: false}}\n"
    try:
        with Tandem(config + STORE, env=env) as tandem:
            later = {"x-tandem-defer": "only", "x-tandem-user": "annalisa"}
            for words in ("annacanary, when there is a link", "annacanary, once more"):
                equal(tandem.chat(words, later).status, 202)
            say(tandem, "annalisa", "Tell of annacanary.", "only-local", max_tokens=2)
            equal(tandem.chat("Of bob", {**later, "x-tandem-user": "bob"}).status, 202)
        assert b"annalisa" in (state / "ledger.db").read_bytes()
        with Tandem(config + off, env=env) as tandem:
            equal(tandem.get("/tandem/v1/deferred").status, 403, "the queue is on")
            gone = tandem.request("POST", "/tandem/v1/forget", {"user": "annalisa"}).json
            equal((gone["deferred"], gone["exchanges"]), (2, 1), str(gone))
            again = tandem.request("POST", "/tandem/v1/forget", {"user": "annalisa"}).json
            equal((again["deferred"], again["exchanges"]), (0, 0), str(again))
            for path in state.rglob("*.db*"):
                assert b"annalisa" not in path.read_bytes(), path
        with Tandem(config, env=env) as tandem:
            equal(len(tandem.get("/tandem/v1/deferred").json["data"]), 1, "bob's stays")
    finally:
        shutil.rmtree(state)


@case
def test_a_tenant_reaches_its_own_users_alone_also_where_the_store_is_off():
    state = Path(tempfile.mkdtemp(prefix="tandem-test-forget-"))
    env = {"TEST_CLOUD_KEY": "k", "TANDEM_STATE_DIR": state, "KEYS": "key-of-a,key-of-b"}
    config = edge_first(f"http://127.0.0.1:{unused_port()}/v1") + "server: {api_keys_env: KEYS}\n"
    a, b = ({"Authorization": f"Bearer key-of-{who}"} for who in "ab")
    try:
        with Tandem(config, env=env) as tandem:
            for key in (a, b):
                later = {"x-tandem-defer": "only", "x-tandem-user": "annalisa", **key}
                equal(tandem.chat("When there is a link", later).status, 202)
        with Tandem(config + "deferral: {count_max: 0}\n", env=env) as tandem:
            body = {"user": "annalisa"}
            equal(tandem.request("POST", "/tandem/v1/forget", body, a).json["deferred"], 1)
            equal(tandem.request("POST", "/tandem/v1/forget", body, a).json["deferred"], 0)
        with Tandem(config, env=env) as tandem:
            left = [len(tandem.get("/tandem/v1/deferred", headers=k).json["data"]) for k in (a, b)]
            equal(left, [0, 1], "a's and b's")
    finally:
        shutil.rmtree(state)


@case
def test_bad_requests_to_forget():
    with Tandem() as tandem:
        for body in ({}, {"user": ""}, {"user": 7}, {"user": "x" * 600}, {"user": "a\0b"}):
            equal(tandem.request("POST", "/tandem/v1/forget", body).status, 400, str(body)[:40])
        equal(tandem.request("POST", "/tandem/v1/forget", {"user": "nobody"}).json["exchanges"], 0)
    equal(run("forget")[0], 2)


if __name__ == "__main__":
    main()
