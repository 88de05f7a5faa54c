#!/usr/bin/env python3
"""Start, reload, stop and die: nothing is dropped, nothing that was answered is lost."""

import http.client
import json
import os
import signal
import sqlite3
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, clean_environment, edge_first, run, stream_text, wait_until

EASY = "Classify the intent: play some music"


def ledger_ids(tandem):
    database = next(
        path for path in tandem.state.rglob("*") if path.suffix in (".db", ".sqlite", ".sqlite3")
    )
    with sqlite3.connect(database) as connection:
        tables = [
            row[0]
            for row in connection.execute("select name from sqlite_master where type='table'")
        ]
        table = next(name for name in tables if name.startswith("exchange"))
        return {row[0] for row in connection.execute(f"select id from {table}")}


@case
def test_health_and_readiness():
    with Tandem() as tandem:
        equal(tandem.get("/healthz").status, 200)
        equal(tandem.get("/readyz").status, 200)
        metrics = tandem.get("/metrics")
        assert metrics.headers["content-type"].startswith("text/plain")
        tandem.chat(EASY)
        text = tandem.get("/metrics").body.decode()
        for line in text.splitlines():
            assert line.startswith("#") or (
                len(line.rsplit(" ", 1)) == 2 and float(line.rsplit(" ", 1)[1]) is not None
            ), line
        assert "tandem_" in text and 'tier="local"' in text


@case
def test_kill_9_loses_nothing_answered_more_than_a_second_ago():
    late, tries = {""}, 0
    while late and tries < 6:  # a busy machine may be late once, but not always
        tries += 1
        with Tandem() as tandem:
            ids = {tandem.chat(EASY).tandem["exchange"] for _ in range(20)}
            time.sleep(1)
            written = ledger_ids(tandem)
            os.kill(tandem.process.pid, signal.SIGKILL)
            tandem.ended()
            left = ledger_ids(tandem)
            equal(written - left, set(), "exchanges that were written are lost")
            late = ids - left
            code, out, err = run("report", "--json", env=tandem.environment)
            equal((code, json.loads(out)["exchanges"]), (0, len(left)), err)
    equal(late, set(), "exchanges lost")


@case
def test_sigterm_finishes_running_answers():
    cloud = ScriptedCloud(Script(text="one two three four five six", piece_delay=0.15))
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        result = []
        client = threading.Thread(
            target=lambda: result.append(
                tandem.stream("Write a poem.", {"x-tandem-mode": "only-cloud"})
            )
        )
        client.start()
        wait_until(lambda: cloud.requests, what="request at the cloud")
        time.sleep(0.2)
        tandem.process.send_signal(signal.SIGTERM)
        client.join(10)
        _, _, chunks, done = result[0]
        equal((stream_text(chunks), done), ("one two three four five six", True))
        equal(tandem.ended(10), 0)


@case
def test_a_second_sigterm_ends_two_workers_beside_a_hanging_cloud():
    cloud = ScriptedCloud(Script(first_delay=60))
    config = edge_first(cloud.base_url) + "server: {workers: 2, shutdown_timeout_ms: 50000}\n"
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:

        def ask():
            try:
                tandem.chat("Write a poem.", {"x-tandem-mode": "only-cloud"})
            except (OSError, http.client.HTTPException):
                pass  # the server may be gone before the answer

        clients = [threading.Thread(target=ask) for _ in range(4)]
        for client in clients:
            client.start()
        wait_until(lambda: len(cloud.requests) == 4, what="requests at the cloud")
        tandem.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        tandem.process.send_signal(signal.SIGTERM)
        equal(tandem.ended(30), 0)  # the cloud hangs for 60 s
        for client in clients:
            client.join()
        assert not any("Sanitizer" in line for line in tandem.log), "".join(tandem.log)


@case
def test_sighup_changes_the_policy_without_dropping_a_request():
    first, second = ScriptedCloud(Script(text="First.")), ScriptedCloud(Script(text="Second."))
    with Tandem(edge_first(first.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        stop, answers = threading.Event(), []

        def load():
            while not stop.is_set():
                answer = tandem.chat("Write a poem.", {"x-tandem-mode": "only-cloud"})
                answers.append(answer.text if answer.status == 200 else answer.status)

        clients = [threading.Thread(target=load) for _ in range(4)]
        for client in clients:
            client.start()
        time.sleep(0.3)
        tandem.config.write_text(edge_first(second.base_url))
        tandem.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "Second." in answers, what="new policy in use")
        time.sleep(0.3)
        stop.set()
        for client in clients:
            client.join()
        equal({a for a in answers if a not in ("First.", "Second.")}, set())
        equal(answers[-1], "Second.")


@case
def test_a_broken_reload_keeps_the_old_policy_and_says_why():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        tandem.config.write_text(edge_first(cloud.base_url).replace("kind: hybrid", "kynd: hybrid"))
        tandem.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any("kynd" in line for line in tandem.log), what="complaint in the log")
        equal(tandem.chat("Write a poem.", {"x-tandem-mode": "only-cloud"}).text, "Cloud.")


@case
def test_an_empty_file_is_no_configuration():
    """A full disk and an editor that has just begun to write leave one: the defaults would allow
    what the file forbade."""
    closed = "privacy: {data_class: sensitive}\n"
    with Tandem(closed) as tandem:
        tandem.config.write_text("")
        tandem.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any("is empty" in line for line in tandem.log), what="the complaint")
        wait_until(lambda: any("event=config_rejected kept=old" in line for line in tandem.log))
        equal(tandem.chat("Hello.").tandem["data_class"], "sensitive")
    started = Tandem("", wait=False)
    assert started.ended(10) != 0
    assert "tandem.yaml: is empty" in "".join(started.log), started.log


@case
def test_configuration_errors_name_file_line_and_nearest_name():
    for text, words in (
        (
            edge_first("http://127.0.0.1:1/v1").replace("base_url", "base_ulr"),
            ["base_ulr", "base_url", ":9"],
        ),
        (edge_first("http://127.0.0.1:1/v1").replace("    kind: hybrid\n", ""), ["kind", "auto"]),
        ("server:\n  unix_mode: {a: 1}\n", ["unix_mode", ":2"]),
        ("tiers:\n  - name: a\n    kind: openai\n    api_key: sk-literal\n", ["api_key", "env"]),
        ("server: {\n", ["tandem.yaml"]),
        ("server:\n  port_of_call: 1\n", ["port_of_call"]),
    ):
        tandem = Tandem(text, wait=False)
        code = tandem.ended(10)
        wait_until(lambda: tandem._ready.is_set())
        log = "".join(tandem.log)
        assert code != 0, text
        for word in words:
            assert word in log, f"{word!r} not in: {log}"
        assert "sk-literal" not in log
        tandem.stop()


@case
def test_a_port_in_use_is_said():
    with Tandem() as tandem:
        code, _, err = run(
            "serve",
            env=clean_environment(
                TANDEM_LISTEN=f"127.0.0.1:{tandem.port}", TANDEM_STATE_DIR=tandem.state / "second"
            ),
            timeout=10,
        )
        assert code != 0 and str(tandem.port) in err, err


@case
def test_a_slow_client_does_not_hold_up_others():
    with Tandem() as tandem:
        import select
        import socket

        slow = [socket.create_connection(("127.0.0.1", tandem.port)) for _ in range(50)]
        for connection in slow:
            connection.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Le"
            )
        equal(tandem.chat(EASY).status, 200)
        equal(select.select(slow, [], [], 0)[0], [], "answered before the others were given up")
        for connection in slow:
            connection.close()


@case
def test_keep_alive_serves_many_requests_on_one_connection():
    with Tandem() as tandem:
        connection = http.client.HTTPConnection("127.0.0.1", tandem.port)
        for i in range(50):
            body = json.dumps(
                {"messages": [{"role": "user", "content": EASY}], "stream": i % 2 == 1}
            )
            connection.request("POST", "/v1/chat/completions", body)
            answer = connection.getresponse()
            equal(answer.status, 200)
            answer.read()
        connection.close()


@case
def test_idle_memory_is_small():
    with Tandem() as tandem:
        tandem.chat(EASY)
        rss = tandem.rss_bytes()
        assert rss <= 64 << 20, f"{rss / 2**20:.1f} MiB"


if __name__ == "__main__":
    main()
