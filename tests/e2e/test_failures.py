#!/usr/bin/env python3
"""A cloud that is slow, wrong or dies: the next allowed rung answers, or an error names every
cause. The stream is well formed to its [DONE] in every case."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, stream_text, wait_until

HARD = "Explain in three sentences why the French revolution began."
TIMEOUTS = """    timeouts:
      connect_ms: 1000
      first_ms: 700
      idle_ms: 700
"""
ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
ONLY_LOCAL = {"x-tandem-mode": "only-local"}

FAILURES = {
    "reset at once": Script(cut_at_once=True),
    "never answers": Script(first_delay=30),
    "500": Script(status=500),
    "429": Script(status=429, retry_after="1"),
    "401": Script(status=401),
    "404": Script(status=404),
    "garbage instead of a chunk": Script(garbage_after=0),
    "garbage instead of HTTP": Script(raw=b"\x00\xff\x00garbage\r\n\r\n"),
    "HTML": Script(
        raw=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>"
    ),
    "stalls before the first piece": Script(stall_after=0),
    "cut before the first piece": Script(cut_after=0),
    "an error chunk": Script(error_after=0),
    "empty stream": Script(pieces=[], no_done=True),
    "empty body": Script(
        raw=b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n"
    ),
}


def server(cloud):
    return Tandem(edge_first(cloud.base_url, TIMEOUTS), env={"TEST_CLOUD_KEY": "sk-very-secret"})


@case
def test_every_failure_before_text_falls_back_to_the_local_answer():
    cloud = ScriptedCloud()
    for name, script in FAILURES.items():
        cloud.script = script
        with server(cloud) as tandem:
            answer = tandem.chat(HARD)
            equal((name, answer.status, answer.tandem["tier"]), (name, 200, "local"))
            equal(answer.tandem["degraded"], True, name)
            assert answer.tandem["disclosure"] and answer.text.strip(), name
            _, _, chunks, done = tandem.stream(HARD)
            assert done and stream_text(chunks).strip(), name


@case
def test_every_failure_without_another_rung_is_an_error_that_names_the_cause():
    cloud = ScriptedCloud()
    for name, script in FAILURES.items():
        cloud.script = script
        with server(cloud) as tandem:
            answer = tandem.chat(HARD, ONLY_CLOUD)
            assert answer.status >= 400, (name, answer.status)
            error = answer.json["error"]
            assert "cloud" in error["message"] and error["type"], (name, error)
            assert "sk-very-secret" not in answer.body.decode()


@case
def test_credentials_that_the_cloud_refuses_are_not_the_clients():
    for status in (401, 403):
        cloud = ScriptedCloud(Script(status=status))
        with server(cloud) as tandem:
            answer = tandem.chat(HARD, ONLY_CLOUD)
            equal((answer.status, answer.json["error"]["code"]), (502, "upstream_denied"))
            assert "x-should-retry" not in answer.headers


@case
def test_a_cut_after_shown_text_ends_in_an_error_chunk_and_done():
    cloud = ScriptedCloud()
    for name, script in {
        "cut": Script(text="a b c d e f", cut_after=3, piece_delay=0.02),
        "stall": Script(text="a b c d e f", stall_after=3, piece_delay=0.02),
        "garbage": Script(text="a b c d e f", garbage_after=3, piece_delay=0.02),
        "no done": Script(text="a b c d e f", no_done=True),
    }.items():
        cloud.script = script
        with server(cloud) as tandem:
            status, _, chunks, done = tandem.stream(HARD, ONLY_CLOUD)
            equal((name, status, done), (name, 200, True))
            errors = [chunk["error"] for chunk in chunks if "error" in chunk]
            equal(len(errors), 1, name)
            assert "cloud" in errors[0]["message"], (name, errors)


@case
def test_one_retry_before_the_first_byte_mends_a_passing_fault():
    for statuses in ([500], [429], [503]):
        cloud = ScriptedCloud(Script(text="Fine.", statuses=list(statuses)))
        with server(cloud) as tandem:
            answer = tandem.chat(HARD, ONLY_CLOUD)
            equal((answer.status, answer.status == 200 and answer.text), (200, "Fine."))
            equal(len(cloud.requests), 2)


@case
def test_only_one_retry():
    cloud = ScriptedCloud(Script(status=500))
    with server(cloud) as tandem:
        tandem.chat(HARD, ONLY_CLOUD)
        equal(len(cloud.requests), 2)


@case
def test_odd_but_valid_streams_are_understood():
    cloud = ScriptedCloud()
    for name, script in {
        "byte by byte": Script(text="Grüße aus Köln 😀.", byte_by_byte=True),
        "CR LF": Script(text="Plain words.", crlf=True),
        "comments": Script(text="Plain words.", comments=True),
        "no usage": Script(text="Plain words.", usage=False),
        "JSON to a stream": Script(text="Plain words.", ignore_stream=True),
    }.items():
        cloud.script = script
        with server(cloud) as tandem:
            answer = tandem.chat(HARD, ONLY_CLOUD)
            equal((name, answer.status), (name, 200))
            equal(answer.text, script.text, name)
            assert answer.json["usage"]["completion_tokens"] > 0, name


@case
def test_a_client_that_leaves_stops_the_upstream():
    import http.client
    import json

    cloud = ScriptedCloud(Script(text="word " * 200, piece_delay=0.05))
    with server(cloud) as tandem:
        for stream in (True, False):
            cloud.clear()
            connection = http.client.HTTPConnection("127.0.0.1", tandem.port)
            body = {"messages": [{"role": "user", "content": HARD}], "stream": stream}
            connection.request("POST", "/v1/chat/completions", json.dumps(body), ONLY_CLOUD)
            if stream:
                connection.getresponse().read(64)
            else:
                time.sleep(0.3)
            wait_until(lambda: cloud.requests, what="request at the cloud")
            connection.close()
            connection.sock = None
            # Only an upstream that is left before its 10 s of text are over notices that.
            wait_until(
                lambda: cloud.gone_count,
                what=f"cloud noticed that the client left (stream={stream})",
            )


@case
def test_many_clients_at_once_all_get_whole_answers():
    from concurrent.futures import ThreadPoolExecutor

    cloud = ScriptedCloud(Script(text="All is well.", piece_delay=0.005))
    with server(cloud) as tandem:

        def one(i):
            _, _, chunks, done = tandem.stream(
                HARD if i % 2 else "Classify the intent: play some music",
                ONLY_CLOUD if i % 2 else ONLY_LOCAL,  # else a burst overflows to the cloud
            )
            return done and (stream_text(chunks) == ("All is well." if i % 2 else "play_music"))

        with ThreadPoolExecutor(40) as pool:
            results = list(pool.map(one, range(200)))
        equal(results.count(True), 200)


if __name__ == "__main__":
    main()
