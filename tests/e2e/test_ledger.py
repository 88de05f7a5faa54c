#!/usr/bin/env python3
"""The ledger in an operator's hands: kept by age and class, pruned, copied, restored, checked,
exported and summed, while a server runs or without one."""

import csv
import datetime
import fcntl
import io
import json
import os
import pty
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import ledger_rows as rows
from scripted_cloud import Script, ScriptedCloud
from tandem import BINARY, Tandem, edge_first, run, wait_until

DAY_MS = 86_400_000
STORE = "ledger:\n  store_prompts: true\n"


def verb(tandem, *arguments, code=0):
    got, out, err = run(*arguments, env=tandem.environment)
    equal(got, code, f"{arguments}: {out.decode()} {err}")
    return out.decode() if code == 0 else out.decode() + err


def recorded(tandem, count):
    path = tandem.state / "ledger.db"
    wait_until(lambda: path.exists() and len(rows(path)) == count, what=f"{count} rows")
    return path


def age(path, days, where="1"):
    """As if these exchanges had been answered so many days earlier."""
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE exchange SET wall_ms = wall_ms - {days * DAY_MS} WHERE {where}")
    database.close()


def say(tandem, text, mode="only-local", headers=None, **more):
    headers = {"x-tandem-mode": mode, **(headers or {})}
    answer = tandem.chat(text, headers, max_tokens=4, **more)
    equal(answer.status, 200, answer.body.decode())
    return answer.headers["x-tandem-exchange"]


@case
def test_a_server_keeps_by_age_and_class():
    config = "ledger:\n  keep_days: 30\n  keep_class_days: {restricted: all, sensitive: 7}\n"
    state = Path(tempfile.mkdtemp(prefix="tandem-test-"))
    try:
        with Tandem(config, env={"TANDEM_STATE_DIR": state}) as tandem:
            for data_class in ("public", "public", "sensitive", "restricted"):
                say(tandem, "hello", headers={"x-tandem-data-class": data_class})
            path = state / "ledger.db"
            wait_until(lambda: len(rows(path)) == 4, what="the rows")
        age(path, 10, "seq IN (1, 3)")
        age(path, 100, "seq IN (2, 4)")
        with Tandem(config, env={"TANDEM_STATE_DIR": state}) as tandem:
            wait_until(lambda: len(rows(path)) == 2, what="the old rows gone")
            wait_until(lambda: "event=ledger_pruned exchanges=2" in "".join(tandem.log))
        kept = rows(path, "SELECT seq, data_class FROM exchange ORDER BY seq")
        equal(kept, [(1, "public"), (4, "restricted")])
    finally:
        shutil.rmtree(state)


@case
def test_what_is_pruned_leaves_a_signed_record_that_verifies():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        ids = [say(tandem, f"question {i}", "only-cloud") for i in range(6)]
        path = recorded(tandem, 6)
        age(path, 40, "seq <= 4")
        said = verb(tandem, "ledger", "prune", code=1)
        assert "--older-than" in said, said
        equal(
            verb(tandem, "ledger", "prune", "--older-than", "30d", "-n"), "4 exchanges would go\n"
        )
        pruned = json.loads(verb(tandem, "ledger", "prune", "--older-than", "30d", "--json"))
        equal((pruned["exchanges"], pruned["removed"]), (4, True))
        equal([name for (name,) in rows(path)], ids[4:])
        equal(rows(path, "SELECT count(*) FROM attempt"), [(2,)])
        verified = json.loads(verb(tandem, "egress", "verify", "--json"))
        assert verified["sound"], verified
        shown = json.loads(verb(tandem, "egress", "show", "--json"))
        equal([entry["exchange"] for entry in shown["transfers"] if entry["exchange"]], ids)
        checked = json.loads(verb(tandem, "ledger", "check", "--json"))
        equal((checked["sound"], checked["ledger"]["exchanges"]), (True, 2))
        assert checked["egress"]["transfers"] >= 6, checked
        verb(tandem, "ledger", "prune", "--class", "public", code=2)
        verb(tandem, "ledger", "prune", "--older-than", "soon", code=1)
        verb(tandem, "ledger", "prune", "--older-than", "1d", "--class", "secret", code=1)


@case
def test_a_backup_of_a_busy_server_is_refused_where_it_would_lose_something():
    with Tandem(STORE) as tandem:
        first = say(tandem, "before")
        recorded(tandem, 1)
        stop = threading.Event()

        def write():
            while not stop.is_set():
                say(tandem, "meanwhile")

        writer = threading.Thread(target=write)
        writer.start()
        file = tandem.state / "copy.db"
        copied = json.loads(verb(tandem, "ledger", "backup", str(file), "--json"))
        stop.set()
        writer.join()
        equal(len(rows(file)), copied["exchanges"])
        equal(rows(file, "PRAGMA integrity_check"), [("ok",)])
        equal(file.stat().st_mode & 0o777, 0o600)
        verb(tandem, "ledger", "backup", str(file), code=1)
        say(tandem, "after")
        said = verb(tandem, "ledger", "restore", str(file), code=1)
        assert "pid" in said or "server" in said, said
        with Tandem() as other:  # its state is another one
            say(other, "another key")
            other.stop()
            said = verb(other, "ledger", "restore", str(file), code=1)
            assert "installation.key" in said, said
            verb(other, "ledger", "restore", str(file), "--other-state", "--replace")
            equal(len(rows(other.state / "ledger.db")), copied["exchanges"])
        count = len(rows(tandem.state / "ledger.db")) + 1
        tandem.process.terminate()
        equal(tandem.ended(20), 0)
        path = tandem.state / "ledger.db"
        count = len(rows(path))
        assert count > copied["exchanges"], (count, copied)
        said = verb(tandem, "ledger", "restore", str(file), code=1)
        assert "--replace" in said and len(rows(path)) == count, said
        said = verb(tandem, "ledger", "restore", str(path), "--replace", code=1)
        assert "the ledger itself" in said and len(rows(path)) == count, said
        restored = json.loads(verb(tandem, "ledger", "restore", str(file), "--replace", "--json"))
        equal(len(rows(path)), copied["exchanges"])
        equal(len(rows(restored["aside"])), count)
        assert first in verb(tandem, "explain", first), "the restored ledger explains"
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA user_version = 999")
        database.close()
        said = verb(tandem, "ledger", "check", code=1)
        assert "newer program" in said, said


@case
def test_stored_texts_are_encrypted_and_a_lost_key_loses_nothing():
    canary = "canary-b81d"

    def on_disk():
        return any(canary.encode() in file.read_bytes() for file in state.glob("*.db*"))

    with Tandem(STORE) as tandem:
        state = tandem.state
        exchange = say(tandem, f"set an alarm for {canary}")
        feedback = {"id": exchange, "ok": True, "comment": f"{canary} rang"}
        equal(tandem.request("POST", "/tandem/v1/feedback", feedback).status, 200)
        path = recorded(tandem, 1)
        wait_until(
            lambda: rows(path, "SELECT count(*) FROM feedback") == [(1,)], what="the comment"
        )
        assert not on_disk()
        assert canary in verb(tandem, "explain", exchange, "--json")
        exported = json.loads(verb(tandem, "ledger", "export", "-o", "-"))
        assert canary in exported["prompt"] + exported["answer"], exported
        equal(exported["feedback"][0]["comment"], f"{canary} rang")
        copy = state / "copy" / "ledger.db"
        copy.parent.mkdir()
        verb(tandem, "ledger", "backup", str(copy))
        assert canary.encode() not in copy.read_bytes()
        assert "texts: 3 encrypted\n" in verb(tandem, "ledger", "check")

        key = state / "installation.key"
        kept = key.rename(state / "kept.key")
        shown = json.loads(verb(tandem, "explain", exchange, "--json"))
        assert "prompt" not in shown and "installation.key" in shown["texts_closed"], shown
        assert "encrypted under" in verb(tandem, "explain", exchange)
        refused = verb(tandem, "ledger", "export", "-o", "-", code=1)
        assert "1 exchanges are without their texts" in refused, refused
        assert "nothing is lost" in verb(tandem, "ledger", "export", "traffic", "-o", "-", code=1)
        assert "3 do not open" in verb(tandem, "ledger", "check")
        assert not key.exists(), "a command that reads makes no key"
        kept.rename(key)
        assert canary in verb(tandem, "explain", exchange, "--json")


@case
def test_texts_of_an_older_version_are_found_and_encrypted():
    with Tandem(STORE) as tandem:
        exchange = say(tandem, "hello")
        path = recorded(tandem, 1)
        with sqlite3.connect(path) as database:
            database.execute("UPDATE exchange SET prompt = '[\"canary-5e1c\"]'")
        database.close()
        assert "canary-5e1c" in verb(tandem, "explain", exchange, "--json")
        assert "1 not: 'tandem ledger check --encrypt'" in verb(tandem, "ledger", "check")
        said = verb(tandem, "ledger", "check", "--encrypt")
        assert "texts: 2 encrypted (1 of them just now)\n" in said, said
        assert not any(b"canary-5e1c" in file.read_bytes() for file in path.parent.glob("*.db*"))
        assert "canary-5e1c" in verb(tandem, "explain", exchange, "--json")


@case
def test_explain_waits_for_the_commit_of_an_answer_that_has_just_come():
    with Tandem(STORE) as tandem:
        exchange = say(tandem, "set an alarm for nine")
        path = recorded(tandem, 1)

        def rename(old, new):
            with sqlite3.connect(path) as database:
                database.execute("UPDATE exchange SET id = ? WHERE id = ?", (new, old))
            database.close()

        rename(exchange, "ex_another")  # as if its commit were still to come
        later = threading.Timer(0.8, rename, ("ex_another", exchange))
        later.start()
        assert exchange in verb(tandem, "explain", exchange)
        later.join()


@case
def test_exports_are_what_the_learning_verbs_read():
    with Tandem(STORE) as tandem:
        for i in range(3):
            exchange = say(tandem, f"set an alarm for {i}")
            named = exchange if i else exchange.replace("ex_", "chatcmpl-")  # a client has that one
            body = {"id": named, "ok": i > 0, "comment": f"comment {i}"}
            equal(tandem.request("POST", "/tandem/v1/feedback", body).status, 200)
        recorded(tandem, 3)
        path = tandem.state / "ledger.db"
        wait_until(lambda: rows(path, "SELECT count(*) FROM feedback") == [(3,)], what="feedback")
        lines = [json.loads(line) for line in verb(tandem, "ledger", "export").splitlines()]
        equal([line["prompt"] for line in lines], [f"set an alarm for {i}" for i in range(3)])
        equal(
            [line["feedback"][0]["comment"] for line in lines], [f"comment {i}" for i in range(3)]
        )
        assert all(line["attempts"] and line["signals"]["plan"] for line in lines), lines[0]
        for form, train in (
            ("router", ("router", "train")),
            ("probe", ("probe", "train")),
            ("confidence", ("router", "confidence")),
        ):
            exported = verb(tandem, "ledger", "export", form)
            equal(exported, verb(tandem, *train, "--from-ledger", "--lines", "-"), form)
            equal(len(exported.splitlines()), 3, exported)
        file = tandem.state / "lines.jsonl"
        verb(tandem, "ledger", "export", "router", "-o", str(file))
        equal(len(file.read_text().splitlines()), 3)
        equal(verb(tandem, "ledger", "export", "--tenant", "nobody"), "")
        verb(tandem, "ledger", "export", "else", code=2)


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@case
def test_what_a_client_chose_does_not_steer_the_terminal():
    with Tandem() as tandem:
        user = '\x1b]0;title\x07\x9b2J"x"'
        say(tandem, "question", user=user)
        recorded(tandem, 1)
        for more in ((), ("--csv",)):
            text = verb(tandem, "report", "--by", "user", "--since", "all", *more)
            assert "title" in text and not set("\x1b\x07\x9b") & set(text), text
        assert '\ufffd2J""x"""' in text, text
        text = verb(tandem, "forget", user, "--url", tandem.url)
        assert "title" in text and not set("\x1b\x07\x9b") & set(text), text


def shown(tandem, columns, *arguments):
    """What a terminal of so many columns gets, line by line."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [str(BINARY), *arguments], stdin=child, stdout=child, stderr=child, env=tandem.environment
    )
    os.close(child)
    told = b""
    try:
        while piece := os.read(parent, 65536):
            told += piece
    except OSError:  # the end, on Linux
        os.close(parent)
    equal(process.wait(30), 0, told)
    return [line.rstrip() for line in told.decode().split("\r\n")]


@case
def test_tables_fit_a_terminal_of_60_columns_and_stay_on_one_line_in_80():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        say(tandem, "Write to anna.smith@example.com", headers={"x-tandem-mode": "only-cloud"})
        key = verb(tandem, "keys", "add", "lab").strip()
        say(tandem, "question", headers={"authorization": f"Bearer {key}"})
        recorded(tandem, 2)
        for command in (
            ("report",),
            ("report", "--by", "tier"),
            ("report", "--by", "day"),
            ("egress", "report"),
            ("keys", "list"),
            ("report", "--help"),
        ):
            narrow, wide = shown(tandem, 60, *command), shown(tandem, 80, *command)
            assert max(map(width, narrow)) <= 60, "\n".join(narrow)
            assert 60 < max(map(width, wide)) <= 80, "\n".join(wide)
        narrow, wide = shown(tandem, 60, "report"), shown(tandem, 80, "report")
        at = next(i for i, line in enumerate(narrow) if line.startswith("cloud "))
        row = next(line for line in wide if line.startswith("cloud "))
        equal(" ".join((narrow[at] + narrow[at + 1]).split()), " ".join(row.split()))
        assert narrow[at + 1].startswith(" " * 14), narrow
        whole = [" ".join(line.split()) for line in verb(tandem, "report").split("\n")]
        assert " ".join(row.split()) in whole, (row, whole)  # a pipe has no columns


@case
def test_reports_name_keys_and_refuse_parameters_that_do_not_exist():
    with Tandem() as tandem:
        key = verb(tandem, "keys", "add", "lab").strip()
        env = ("--since", "all")

        def knows_the_key():  # until then the server is open, and notes no key
            say(tandem, "question", headers={"authorization": f"Bearer {key}"})
            return "\nlab  " in verb(tandem, "report", "--by", "key", *env)

        wait_until(knows_the_key, 10, "the key's name")
        groups = json.loads(verb(tandem, "report", "--by", "key", "--json", *env))["groups"]
        group = next(group for group in groups if group["name"])
        equal((group["key_name"], group["name"] != "lab"), ("lab", True))
        whole = verb(tandem, "report", *env)
        assert f"{group['name']} lab" in " ".join(whole.split()), whole
    with Tandem() as tandem:
        for path in (
            "report?bye=user",
            "exchanges?limt=1",
            "shadows?limit=1",
            "report?by=user&x",
            "calibration?since=1",
            "egress?since_wall_ms=1",
            "review/tickets?limits=1",
            "deferred?state=answered",
        ):
            answer = tandem.get(f"/tandem/v1/{path}")
            assert answer.status == 400 and "there is no parameter" in answer.body.decode(), path
        equal(tandem.get("/tandem/v1/report?since_wall_ms=1&by=user&").status, 200)


@case
def test_reports_by_what_people_ask():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    config = edge_first(cloud.base_url)
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        users = ["ann", "ann", "=cmd()", "長い名前の利用者" * 4, 'a "quoted", name']
        for i, user in enumerate(users):
            say(tandem, f"question {i}", "only-cloud" if i < 2 else "only-local", user=user)
        path = recorded(tandem, 5)
        age(path, 3, "seq = 1")
        for by in ("app", "user", "route", "model", "tier", "class", "day", "key"):
            text = verb(tandem, "report", "--by", by, "--since", "all")
            for line in text.splitlines():
                assert width(line) <= 80, (width(line), line)
            asked = tandem.get(f"/tandem/v1/report?by={by}").json
            told = json.loads(verb(tandem, "report", "--by", by, "--since", "all", "--json"))
            equal(asked["groups"] and asked["by"], by)
            for report in (asked, told):
                equal(sum(group["exchanges"] for group in report["groups"]), 5, by)
                for group in report["groups"]:
                    equal((len(group["trend"]), sum(group["trend"])), (12, group["exchanges"]))
        days = tandem.get("/tandem/v1/report?by=day").json["groups"]
        equal([group["exchanges"] for group in days], [1, 4])
        largest = tandem.get("/tandem/v1/report?by=user").json["groups"][0]
        equal((largest["name"], largest["exchanges"], largest["device"]), ("ann", 2, 0))
        assert largest["cost_usd"] > 0 and largest["tokens"] > 0, largest
        table = verb(tandem, "report", "--by", "user", "--since", "all", "--csv")
        read = list(csv.DictReader(io.StringIO(table)))
        equal({row["user"] for row in read}, {"ann", "'=cmd()", users[3], users[4]})
        whole = tandem.get("/tandem/v1/report").json
        equal((whole["exchanges"], len(whole["tiers"])), (5, 2))
        by_day = tandem.get("/tandem/v1/report?by=day").json
        for sums in ("exchanges", "cost_usd", "all_cloud_cost_usd", "saving_usd"):
            equal(round(by_day[sums], 9), round(whole[sums], 9), sums)
        ends = by_day["groups"][1]["name"]  # the second day
        midnight = datetime.datetime.fromisoformat(f"{ends}T00:00:00+00:00").timestamp()
        until = f"/tandem/v1/report?by=user&until_wall_ms={midnight * 1000:.0f}"
        equal([group["name"] for group in tandem.get(until).json["groups"]], ["ann"])
        equal(tandem.get("/tandem/v1/report?by=user&key_id=none").json["groups"], [])
        equal(tandem.get("/tandem/v1/report?by=user&until_wall_ms=x").status, 400)
        equal(tandem.get(f"/tandem/v1/report?by=user&key_id={'x' * 99}").status, 400)
        verb(tandem, "report", "--key", "none", code=2)
        equal(tandem.get("/tandem/v1/report?since_wall_ms=99999999999999").json["exchanges"], 0)
        equal(tandem.get("/tandem/v1/report?by=shoes").status, 400)
        equal(tandem.get("/tandem/v1/report?since_wall_ms=x").status, 400)
        verb(tandem, "report", "--csv", code=2)
        verb(tandem, "report", "--by", "shoes", code=2)
        sums = json.loads(verb(tandem, "egress", "report", "--json"))
        shown = json.loads(verb(tandem, "egress", "show", "--json"))
        equal((sums["transfers"], sums["bytes"]), (shown["count"], shown["bytes"]))
        for name in ("destinations", "classes", "purposes", "days"):
            equal(sum(group["bytes"] for group in sums[name]), shown["bytes"], name)
        assert cloud.base_url.split("/")[2] in verb(tandem, "egress", "report")
        own = shown["transfers"][0]["exchange"]
        for name in (own, f"chatcmpl-{own.removeprefix('ex_')}", own[:20]):
            one = json.loads(verb(tandem, "egress", "show", "--json", "--exchange", name))
            equal([row["exchange"] for row in one["transfers"]], [own], name)


if __name__ == "__main__":
    main()
