#!/usr/bin/env python3
"""Several nodes that write to one PostgreSQL: who answered stands in the rows, every node reads
all, and nothing is lost while the database is away."""

import json
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import postgres
from check import Skip, case, equal, main
from postgres import Postgres
from screen import flat
from scripted_cloud import Script, ScriptedCloud
from tandem import Answer, Tandem, edge_first, run, wait_until

KEY = {"TEST_CLOUD_KEY": "k"}
CLOUD = {"x-tandem-mode": "only-cloud"}


def database() -> Postgres:
    why = postgres.missing()
    if why:
        raise Skip(why)
    return Postgres()


def config(cloud: ScriptedCloud, url: str, more: str = "") -> str:
    return edge_first(cloud.base_url) + f"\nledger:\n  database: {url}\n{more}"


def node(name: str, cloud: ScriptedCloud, url: str, more: str = "") -> Tandem:
    return Tandem(config(cloud, url, more), env={**KEY, "TANDEM_NODE": name})


def ask(tandem: Tandem, text: str = "hello") -> str:
    answer = tandem.chat(text, CLOUD)
    equal(answer.status, 200, answer.body.decode(errors="replace"))
    return str(answer.tandem["exchange"])


def ids(db: Postgres) -> set[str]:
    return {row[0] for row in db.query("SELECT id FROM tandem.exchange")}


def logged(tandem: Tandem, event: str) -> int:
    return sum(f"event={event} " in line for line in tandem.log)


@case
def test_two_nodes_write_and_read_one_ledger() -> None:
    cloud = ScriptedCloud(Script(text="Cloud."))
    with database() as db, node("a", cloud, db.url) as a, node("b", cloud, db.url) as b:
        asked = {ask(a), ask(b), ask(a)}
        equal(len(asked), 3)
        wait_until(lambda: ids(db) >= asked)
        nodes = dict(db.query("SELECT node, count(*) FROM tandem.exchange GROUP BY node"))
        equal(nodes, {"a": "2", "b": "1"})
        equal(db.number("SELECT count(*) FROM tandem.attempt"), 3)
        for tandem in (a, b):  # each reads what the other has answered
            for name in asked:
                found = tandem.get(f"/tandem/v1/exchanges/{name}")
                equal((found.status, found.json["id"]), (200, name))
            listed = tandem.get("/tandem/v1/exchanges?limit=10").json
            equal({row["id"] for row in listed["data"]}, asked)
            code, out, err = run("explain", "last", "--json", env=tandem.environment)
            equal(code, 0, err)
            assert json.loads(out)["id"] in asked
        code, out, err = run("report", "--json", env=a.environment)
        equal(code, 0, err)
        equal(json.loads(out)["exchanges"], 3)
        for words in (["policy", "show"], ["replay", "--policy", str(b.config)]):
            code, out, err = run(*words, env=b.environment)
            equal(code, 0, f"{words}: {out!r} {err}")
        code, out, err = run("doctor", env=b.environment)
        assert f"{db.url} can be read" in flat(out.decode()), out
        # Feedback to one node on what the other has answered.
        said = a.request("POST", "/tandem/v1/feedback", {"id": sorted(asked)[0], "ok": True})
        assert said.status in (200, 202, 204), said.body
        wait_until(lambda: db.number("SELECT count(*) FROM tandem.feedback") == 1)
        metrics = a.get("/metrics").body.decode()
        assert "tandem_ledger_database_up 1\n" in metrics
        assert "tandem_ledger_waiting_rows 0\n" in metrics


@case
def test_a_database_that_gives_no_answer_holds_up_only_who_asks_for_it() -> None:
    cloud = ScriptedCloud(Script(text="Cloud."))
    with database() as db, node("a", cloud, db.url) as tandem:
        name = ask(tandem)
        for _ in range(8):  # both loops have read from it
            equal(tandem.get(f"/tandem/v1/exchanges/{name}").status, 200)
        answers: list[Answer] = []
        paths = ["/tandem/v1/exchanges", f"/tandem/v1/exchanges/{name}", "/tandem/v1/shadows"] * 3

        def look(path: str) -> None:
            answers.append(tandem.get(path, timeout=60))

        askers = [threading.Thread(target=look, args=(path,)) for path in paths]
        begun = time.monotonic()
        equal(tandem.get("/healthz").status, 200)
        usual = time.monotonic() - begun
        with db.stalled():
            for asker in askers:
                asker.start()
            time.sleep(0.2)
            for _ in range(10):
                equal(tandem.get("/healthz", timeout=2 + 10 * usual).status, 200)
                ask(tandem)
            for asker in askers:
                asker.join()
        equal({answer.status for answer in answers}, {503}, str([a.body for a in answers]))
        wait_until(lambda: tandem.get(f"/tandem/v1/exchanges/{name}").status == 200)


@case
def test_nodes_that_start_together_make_one_schema() -> None:
    cloud = ScriptedCloud(Script(text="Cloud."))
    with database() as db:
        nodes = [
            Tandem(config(cloud, db.url), env={**KEY, "TANDEM_NODE": f"n{i}"}, wait=False)
            for i in range(4)
        ]
        try:
            for tandem in nodes:
                wait_until(lambda tandem=tandem: tandem.port is not None)
            equal({ask(tandem) for tandem in nodes}, set(ids_when(db, 4)))
        finally:
            for tandem in nodes:
                tandem.stop()


def ids_when(db: Postgres, count: int) -> set[str]:
    wait_until(lambda: len(ids(db)) == count)
    return ids(db)


@case
def test_nothing_is_lost_while_the_database_is_away() -> None:
    cloud = ScriptedCloud(Script(text="Cloud."))
    with database() as db, node("a", cloud, db.url) as a:
        asked = {ask(a)}
        wait_until(lambda: ids(db) == asked)
        before = logged(a, "ledger_database_away")  # a busy machine may have been slow
        db.kill()
        for _ in range(5):
            asked.add(ask(a))
            time.sleep(0.2)
        wait_until(lambda: logged(a, "ledger_database_away") == before + 1)
        ready = a.get("/readyz")
        equal(ready.status, 200)
        equal(ready.json["ledger"]["code"], "database_away")
        assert ready.json["ledger"]["waiting"] >= 5, ready.json
        assert "tandem_ledger_database_up 0\n" in a.get("/metrics").body.decode()
        # An answer of more than a second ago survives the end of the node as well; a busy machine
        # has its time.
        time.sleep(3)
        equal(logged(a, "ledger_database_away"), before + 1)
        a.process.send_signal(signal.SIGKILL)
        a.ended()
        again = Tandem(env={**a.environment, "TANDEM_CONFIG": str(a.config)})
        try:
            asked.add(ask(again))
            db.start()
            wait_until(lambda: ids(db) == asked)
            wait_until(lambda: logged(again, "ledger_database_back") >= 1)
            wait_until(lambda: "ledger" not in again.get("/readyz").json)
            equal(db.number("SELECT count(*) FROM tandem.attempt"), len(asked))
            assert "tandem_ledger_dropped_total 0\n" in again.get("/metrics").body.decode()
        finally:
            again.stop()


@case
def test_a_database_that_is_killed_under_load_loses_and_doubles_nothing() -> None:
    cloud = ScriptedCloud(Script(text="Cloud."))
    with database() as db, node("a", cloud, db.url) as a, node("b", cloud, db.url) as b:
        asked: set[str] = set()
        lock, ends = threading.Lock(), threading.Event()

        def load(tandem: Tandem) -> None:
            while not ends.is_set():
                name = ask(tandem)
                with lock:
                    asked.add(name)

        threads = [threading.Thread(target=load, args=(t,)) for t in (a, b, a, b)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            time.sleep(1)
            db.kill()
            time.sleep(1)
            db.start()
        time.sleep(1)
        ends.set()
        for thread in threads:
            thread.join()
        wait_until(lambda: ids(db) == asked)
        equal(db.number("SELECT count(*) FROM tandem.attempt"), len(asked))
        for tandem in (a, b):
            assert "tandem_ledger_dropped_total 0\n" in tandem.get("/metrics").body.decode()


@case
def test_a_spent_budget_is_known_to_a_node_that_starts() -> None:
    cloud = ScriptedCloud(Script(text="Cloud."))
    budget = "budgets:\n  - {name: all, usd_per_day: 0.000001}\n"
    with database() as db:
        with node("a", cloud, db.url) as a:
            ask(a)
            wait_until(lambda: len(ids(db)) == 1)
        spent = db.query("SELECT cost_usd FROM tandem.exchange")
        assert float(spent[0][0]) > 0, spent
        with node("b", cloud, db.url, budget) as b:
            answer = b.chat("hello", CLOUD)
            assert answer.status != 200 or answer.tandem["tier"] != "cloud", answer.body


@case
def test_a_database_that_turns_the_node_away_is_said_at_the_start() -> None:
    cloud = ScriptedCloud(Script(text="Cloud."))
    with database() as db:
        for url, word in (
            (db.url.replace("/postgres", "/nowhere"), "does not exist"),
            (db.url.replace("tandem@", "tandem:secret@"), "PGPASSWORD"),
            ("file.db", "postgresql://USER@HOST/DATABASE"),
            ("mysql://x/y", "no client"),
        ):
            tandem = Tandem(config(cloud, url), env=KEY, wait=False)
            code = tandem.ended()
            said = "".join(tandem.log)
            assert code != 0 and word in said and "secret" not in said, (code, said)
            tandem.stop()


@case
def test_a_user_is_forgotten_on_every_node() -> None:
    cloud = ScriptedCloud(Script(text="Cloud."))
    with database() as db, node("a", cloud, db.url) as a, node("b", cloud, db.url) as b:
        for tandem in (a, b):
            body = {"model": "auto", "user": "ann", "messages": [{"role": "user", "content": "x"}]}
            equal(
                tandem.request("POST", "/v1/chat/completions", json.dumps(body).encode()).status,
                200,
            )
        wait_until(lambda: len(ids(db)) == 2)
        equal(db.number("SELECT count(*) FROM tandem.exchange WHERE \"user\" = 'ann'"), 2)
        gone = a.request("POST", "/tandem/v1/forget", {"user": "ann"})
        equal(gone.status, 200, gone.body.decode())
        equal(db.number("SELECT count(*) FROM tandem.exchange WHERE \"user\" = 'ann'"), 0)


@case
def test_nodes_with_one_key_know_each_others_tenants() -> None:
    text = "server: {{api_keys_env: CLIENT_KEYS}}\nledger: {{database: {}}}\n"
    text += "cluster: {{key_env: CLUSTER_KEY}}\n"
    shop = {"Authorization": "Bearer key-of-shop"}
    with tempfile.TemporaryDirectory() as folder, database() as db:
        nodes = []
        for name in "ab":
            state = Path(folder) / name
            env = {"TANDEM_STATE_DIR": str(state), "TANDEM_NODE": name, "CLUSTER_KEY": "0a" * 32}
            env["CLIENT_KEYS"] = "key-of-shop,key-of-lab"
            nodes.append(Tandem(text.format(db.url), env=env))
        try:
            path = f"/tandem/v1/exchanges/{nodes[0].chat('hello', shop).tandem['exchange']}"
            wait_until(
                lambda: nodes[1].get(path, headers=shop).status == 200, what="the other node"
            )
            lab = {"Authorization": "Bearer key-of-lab"}
            equal(nodes[1].get(path, headers=lab).status, 404)
            assert not (Path(folder) / "a" / "installation.key").exists()
        finally:
            for tandem in nodes:
                tandem.stop()


@case
def test_stored_texts_are_encrypted_under_the_common_key_and_any_node_reads_them() -> None:
    text = "ledger: {{database: {}, store_prompts: true}}\ncluster: {{key_env: CLUSTER_KEY}}\n"
    stored = "SELECT count(*) FROM tandem.exchange WHERE prompt {0} OR answer {0}"
    with database() as db:
        config_text = text.format(db.url)
        with (
            Tandem(config_text, env={"CLUSTER_KEY": "0a" * 32}) as a,
            Tandem(config_text, env={"CLUSTER_KEY": "0a" * 32}) as b,
            Tandem(config_text, env={"CLUSTER_KEY": "0b" * 32}) as stranger,
        ):
            name = a.chat("canary-d0c5 is old", max_tokens=2).tandem["exchange"]
            path = f"/tandem/v1/exchanges/{name}"
            wait_until(lambda: b.get(path).status == 200, what="the other node")
            equal(db.number(stored.format("LIKE '%canary%'")), 0)
            assert "canary-d0c5" in b.get(path).json["prompt"], b.get(path).json
            closed = stranger.get(path).json
            assert "prompt" not in closed and "cluster.key_env" in closed["texts_closed"], closed
            db.query("UPDATE tandem.exchange SET prompt = 'canary-d0c5 is plain'")
            checked = json.loads(run("ledger", "check", "--json", env=b.environment)[1])["ledger"]
            equal((checked["texts_encrypted"], checked["texts_plain"]), (1, 1))
            code, out, err = run("ledger", "check", "--encrypt", "--json", env=b.environment)
            equal(code, 0, err)
            checked = json.loads(out)["ledger"]
            equal((checked["texts_encrypted"], checked["texts_plain"]), (2, 0))
            equal(db.number(stored.format("LIKE '%canary%'")), 0)
            assert "canary-d0c5" in a.get(path).json["prompt"], a.get(path).json


@case
def test_a_node_without_the_common_key_does_not_start() -> None:
    for value, words in ((None, "CLUSTER_KEY is not set"), ("secret", "64 hexadecimal digits")):
        try:
            Tandem("cluster: {key_env: CLUSTER_KEY}\n", env={"CLUSTER_KEY": value})
        except RuntimeError as ended:
            assert words in str(ended) and "secret" not in str(ended), ended
        else:
            raise AssertionError(f"it started with {value}")


if __name__ == "__main__":
    main()
