#!/usr/bin/env python3
"""The access log: one line of JSON for each request, with what came of it and without content."""

import json
import signal
import socket
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
SECRET = "canarysecret"


def new_path():
    return Path(tempfile.mkdtemp(prefix="tandem-test-")) / "access.log"


def lines(path, count):
    wait_until(lambda: path.exists() and len(path.read_text().splitlines()) >= count)
    return [json.loads(line) for line in path.read_text().splitlines()]


def config(cloud, path, extra=""):
    return f'{edge_first(cloud.base_url)}log: {{access: "{path}"}}\n{extra}'


@case
def test_a_line_for_each_request_and_no_word_of_it():
    cloud = ScriptedCloud(Script(text=f"Answer of {SECRET}."))
    path = new_path()
    with Tandem(config(cloud, path), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        answer = tandem.chat(f"Tell of {SECRET}.", {**ONLY_CLOUD, "x-request-id": SECRET})
        tandem.get(f"/tandem/v1/exchanges/ex_{SECRET}?q={SECRET}")
        tandem.get(f"/nowhere/{SECRET}")
        tandem.request("POST", "/v1/chat/completions", "{" + SECRET)
        tandem.stream("Stream?", ONLY_CLOUD)
        tandem.request("POST", "/v1/embeddings", {"model": "auto", "input": SECRET})
        got = lines(path, 6)
        assert SECRET not in path.read_text()
        equal(path.stat().st_mode & 0o777 & ~0o640, 0)
    equal([line["status"] for line in got[:5]], [200, 404, 404, 400, 200])
    first = got[0]
    equal((first["method"], first["path"]), ("POST", "/v1/chat/completions"))
    equal(first["exchange"], answer.tandem["exchange"])
    equal((first["route"], first["tier"]), ("auto", "cloud"))
    equal(first["completion_tokens"], answer.json["usage"]["completion_tokens"])
    assert abs(first["cost_usd"] - answer.tandem["cost_usd"]) < 1e-9, first
    equal((first["whole"], first["peer"]), (True, "127.0.0.1"))
    equal(first["bytes_out"], len(answer.body))
    equal(first["trace"], answer.headers["traceparent"].split("-")[1])
    equal([line["path"] for line in got[1:3]], ["/tandem/v1/exchanges/*", "unknown"])
    assert got[5]["tier"] and got[5]["exchange"] and got[5]["prompt_tokens"] > 0, got[5]
    assert got[4]["bytes_out"] > 100 and got[4]["ttft_ms"] > 0, got[4]
    assert all(line["time"].endswith("Z") and line["ms"] >= 0 for line in got)


@case
def test_a_request_that_was_refused_says_what_it_asked_for():
    path = new_path()
    text = f"server: {{api_keys_env: CLIENT_KEYS}}\nlog: {{access: {path}}}\n"
    with Tandem(text, env={"CLIENT_KEYS": "key-of-shop"}) as tandem:
        tandem.request("POST", "/v1/chat/completions", {})
        tandem.get(f"/tandem/v1/exchanges/{SECRET}")
        tandem.get("/v1/chat/completions")
        got = [(line["status"], line["path"]) for line in lines(path, 3)]
    chat = "/v1/chat/completions"
    equal(got, [(401, chat), (401, "/tandem/v1/exchanges/*"), (405, chat)])


@case
def test_a_client_that_left_is_said_to_have():
    cloud = ScriptedCloud(Script(think=2))
    path = new_path()
    with Tandem(config(cloud, path), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        body = json.dumps({"model": "auto", "messages": [{"role": "user", "content": "Hm?"}]})
        head = (
            "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nx-tandem-mode: only-cloud\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", tandem.port)) as connection:
            connection.sendall((head + body).encode())
            wait_until(lambda: cloud.calls())
        (line,) = lines(path, 1)
        equal((line["status"], line["whole"], line["bytes_out"]), (499, False, 0))
        assert line["exchange"].startswith("ex_"), line


@case
def test_it_is_rotated_by_sighup():
    cloud = ScriptedCloud()
    path = new_path()
    old = path.with_suffix(".1")
    with Tandem(config(cloud, path), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        tandem.get("/healthz")
        lines(path, 1)
        path.rename(old)
        tandem.get("/healthz")
        lines(old, 2)
        tandem.process.send_signal(signal.SIGHUP)
        wait_until(path.exists)
        tandem.get("/readyz")
        equal([line["path"] for line in lines(path, 1)], ["/readyz"])
        equal(len(lines(old, 2)), 2)


@case
def test_it_may_go_to_standard_error_and_is_off_by_default():
    cloud = ScriptedCloud()
    with Tandem(config(cloud, "stderr"), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        tandem.get("/healthz")
        wait_until(lambda: any('"path":"/healthz"' in line for line in tandem.log))
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        tandem.get("/healthz")
        tandem.stop()
        assert not any("/healthz" in line for line in tandem.log), tandem.log


@case
def test_with_zero_retention_nobody_is_named():
    cloud = ScriptedCloud()
    path = new_path()
    zero = "privacy: {zero_retention: true}\n"
    with Tandem(config(cloud, path, zero), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        equal(tandem.chat("Hello?", ONLY_CLOUD).status, 200)
        (line,) = lines(path, 1)
    assert not {"peer", "tenant", "key", "trace"} & set(line), line


@case
def test_a_file_that_cannot_be_opened_is_an_error_of_the_start():
    cloud = ScriptedCloud()
    try:
        with Tandem(config(cloud, "/nowhere/access.log"), env={"TEST_CLOUD_KEY": "k"}):
            raise AssertionError("started")
    except RuntimeError as why:
        assert "log.access: /nowhere/access.log cannot be opened" in str(why), why


main()
