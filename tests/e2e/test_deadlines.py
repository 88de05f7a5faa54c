#!/usr/bin/env python3
"""What a request says of its time is kept: by the tier that can make it, by what is in hand when
the time is over, or by an honest 504. With the defaults that the program is shipped with."""

import contextlib
import json
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from black_hole import BlackHole
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud, unused_port
from tandem import Tandem, check_prompt, edge_first, parse_events, parse_sse, run, stream_text

HARD = "Explain in three sentences why the French revolution began."
KEYS = {"TEST_CLOUD_KEY": "k"}
START_CLOUD = "    start: cloud\n"
RULE_CLOUD = "rules:\n- {name: up, when: {tokens_over: 0}, then: {start: cloud}}\n"
ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
# What a busy machine may add to a time that is kept. Far from what the slow clouds here take.
SLACK = 8


def started(script, more="", **options):
    cloud = ScriptedCloud(script)
    return cloud, Tandem(edge_first(cloud.base_url) + more, env=KEYS, **options)


def codes(answer):
    return [reason["code"] for reason in answer.tandem["reasons"]]


def timed(call, *arguments, **options):
    """(seconds, result)"""
    began = time.monotonic()
    result = call(*arguments, **options)
    return time.monotonic() - began, result


def check_in_time(seconds, limit):
    assert seconds < limit + SLACK, f"{seconds:.2f} s, and {limit} s were asked for"


@case
def test_a_cloud_that_takes_a_minute_costs_nobody_more_than_the_objective():
    """Nothing is known of the device's times here, so it gets half of what is left. What it gets
    when they are known is in tests/unit/exchange/test_deadline.c, where no other process is."""
    for more, headers, limit in (
        (START_CLOUD, {}, 10),
        (RULE_CLOUD, {}, 10),
        ("", {}, 10),
        ("", ONLY_CLOUD, 1),
    ):
        cloud, server = started(Script(text="Late.", first_delay=60), more)
        wish = {"slo_ms": 1000 * limit}

        def ask(_, headers=headers, wish=wish, server=server):
            return timed(server.chat, HARD, headers, max_tokens=8, tandem=wish)

        with server, ThreadPoolExecutor(3) as pool:
            for seconds, answer in pool.map(ask, range(3)):
                check_in_time(seconds, limit)
                if not headers:  # the device was asked in time
                    equal((answer.status, answer.tandem["tier"]), (200, "local"))
                    assert answer.text and answer.tandem["degraded"], answer.body
                    assert answer.tandem["disclosure"], answer.body
                else:
                    equal((answer.status, answer.json["error"]["code"]), (504, "timeout"))
                    assert int(answer.headers["retry-after"]) > 0
                    assert "1000 ms" in answer.json["error"]["message"], answer.body
            assert len(cloud.calls()) <= 3


@case
def test_a_tier_that_was_late_is_removed_whatever_chose_it():
    slow = Script(text="Late.", think=4)
    for more, headers in (
        (START_CLOUD, {}),
        (RULE_CLOUD, {}),
        ("", {"x-tandem-mode": "prefer-cloud"}),
    ):
        cloud, server = started(slow, more)
        with server as tandem:
            with ThreadPoolExecutor(5) as pool:
                list(pool.map(lambda _, t=tandem, h=headers: t.chat("hello", h), range(5)))
            equal(len(cloud.calls()), 5)
            answer = tandem.chat("hello", headers, tandem={"slo_ms": 3000}, max_tokens=8)
            equal((answer.status, answer.tandem["tier"]), (200, "local"))
            assert "removed_too_slow" in codes(answer), answer.tandem
            equal(answer.tandem["degraded"], True)
            assert "3000 ms" in answer.tandem["disclosure"], answer.tandem
            equal(len(cloud.calls()), 5)
            code, out, err = run("explain", answer.tandem["exchange"], env=tandem.environment)
            assert code == 0 and b"3000 ms" in out, (out, err)
            equal(tandem.chat("hello", headers).tandem["tier"], "cloud")


@case
def test_when_no_tier_is_fast_enough_the_fastest_is_asked():
    _cloud, server = started(Script(text="Cloud.", first_delay=0.3))
    with server as tandem:
        for _ in range(5):
            tandem.chat("hello", ONLY_CLOUD)
        answer = tandem.chat("hello", ONLY_CLOUD, tandem={"slo_ms": 100})
        equal(answer.status, 504)  # it was asked, and nothing came
        assert "cloud" in answer.json["error"]["message"], answer.body


@case
def test_at_the_deadline_the_part_that_has_come_is_the_answer():
    whole = "a b c d e f g h i j k l m n o p q r s t u v w x y z"
    _cloud, server = started(Script(text=whole, piece_delay=0.5))
    with server as tandem:
        seconds, answer = timed(tandem.chat, HARD, ONLY_CLOUD, tandem={"slo_ms": 4000})
        check_in_time(seconds, 4)
        equal(answer.status, 200)
        assert answer.text and whole.startswith(answer.text), answer.text
        assert len(answer.text) < len(whole)
        equal(answer.json["choices"][0]["finish_reason"], "length")
        equal(answer.tandem["degraded"], True)
        assert "4000 ms" in answer.tandem["disclosure"], answer.tandem

        seconds, (status, _, chunks, done) = timed(
            tandem.stream, HARD, ONLY_CLOUD, tandem={"slo_ms": 4000}
        )
        check_in_time(seconds, 4)
        equal((status, done), (200, True))
        assert whole.startswith(stream_text(chunks)) and stream_text(chunks)
        equal([c["choices"][0]["finish_reason"] for c in chunks if c.get("choices")][-1], "length")
        assert not [c for c in chunks if "error" in c], chunks


@case
def test_a_kept_answer_goes_out_when_the_better_tier_is_late():
    gates = "    gates: {g2: {tokens: 0}, g3: {confidence_min: 1}}\n"
    _cloud, server = started(Script(text="Late.", think=30), gates)
    with server as tandem:
        seconds, answer = timed(tandem.chat, "set a timer for ten minutes", tandem={"slo_ms": 8000})
        check_in_time(seconds, 8)
        equal((answer.status, answer.tandem["tier"]), (200, "local"))
        equal(answer.tandem["degraded"], True)
        assert "8000 ms" in answer.tandem["disclosure"], answer.tandem


@case
def test_the_first_text_has_a_deadline_of_its_own():
    cloud, server = started(Script(text="a b c d", piece_delay=0.5))
    with server as tandem:
        wish = {"slo_ttft_ms": 5000}
        status, _, chunks, done = tandem.stream(HARD, ONLY_CLOUD, tandem=wish)
        equal((status, done, stream_text(chunks)), (200, True, "a b c d"))  # begun in time
        equal(tandem.chat(HARD, ONLY_CLOUD, tandem=wish).text, "a b c d")
        cloud.script = Script(text="Late.", first_delay=20)
        seconds, answer = timed(tandem.chat, HARD, ONLY_CLOUD, stream=True, tandem=wish)
        check_in_time(seconds, 5)
        equal(answer.status, 504)
        assert int(answer.headers["retry-after"]) > 0
        assert "5000 ms" in answer.json["error"]["message"], answer.body


@case
def test_every_dialect_says_504_in_its_own_form():
    cloud = ScriptedCloud(Script(first_delay=20))
    with Tandem(edge_first(cloud.base_url, "    completions: true\n"), env=KEYS) as tandem:
        headers = {**ONLY_CLOUD, "x-tandem-slo-ms": "300"}
        for path, body in {
            "/v1/chat/completions": {"messages": [{"role": "user", "content": HARD}]},
            "/v1/messages": {"max_tokens": 9, "messages": [{"role": "user", "content": HARD}]},
            "/v1/responses": {"input": HARD},
            "/v1/completions": {"prompt": HARD},
        }.items():
            for stream in (False, True):
                body |= {"model": "auto", "stream": stream}
                seconds, answer = timed(tandem.request, "POST", path, body, headers)
                check_in_time(seconds, 0.3)
                equal((path, answer.status), (path, 504))
                assert int(answer.headers["retry-after"]) > 0, path
                assert "300 ms" in answer.json["error"]["message"], (path, answer.body)


@case
def test_vectors_and_labels_have_a_deadline_too():
    _cloud, server = started(Script(), "server: {deadline_ms: 2000}\n")
    many = [f"{i} " + "one two three " * 100 for i in range(1000)]  # minutes of work
    card = "My card is 4111 1111 1111 1111."  # the confined worker's
    calls = [
        ("embeddings", "/v1/embeddings", {"model": "auto", "input": many}),
        ("embeddings", "/v1/embeddings", {"model": "auto", "input": [*many, card]}),
        ("classify", "/tandem/v1/classify", {"set": "intents", "texts": many}),
    ]
    with server as tandem:
        for route, path, body in calls:
            for headers, limit in (
                ({}, 2),
                ({"x-tandem-slo-ms": "300"}, 0.3),
                ({"x-stainless-timeout": "1.0"}, 1),
            ):
                seconds, answer = timed(tandem.request, "POST", path, body, headers)
                check_in_time(seconds, limit)
                equal((answer.status, answer.json["error"]["code"]), (504, "timeout"), answer.body)
                assert int(answer.headers["retry-after"]) > 0
                assert " ms passed" in answer.json["error"]["message"], answer.body
            found = tandem.get("/tandem/v1/exchanges/" + answer.headers["x-tandem-exchange"]).json
            equal((found["status"], found["route"]), ("failed", route))
            assert " ms passed" in found["attempts"][0]["error"], found
        small = {
            "/v1/embeddings": {"model": "auto", "input": "hello"},
            "/tandem/v1/classify": {"set": "intents", "text": "hello"},
        }
        for path, body in small.items():  # and they stand in nobody's way
            equal(tandem.request("POST", path, body).status, 200)
            for value in ("0", "soon"):
                headers = {"x-tandem-slo-ms": value}
                equal(tandem.request("POST", path, body, headers).status, 400)


@case
def test_a_cloud_that_cannot_be_reached_does_not_cost_the_deadline():
    with contextlib.closing(BlackHole()) as hole:
        slow = "    timeouts: {connect_ms: 60000}\n"
        with Tandem(edge_first(hole.base_url, slow) + START_CLOUD, env=KEYS) as tandem:
            for _ in range(2):
                seconds, answer = timed(tandem.chat, HARD, tandem={"slo_ms": 1000})
                check_in_time(seconds, 1)
                assert answer.status in (200, 504), answer.body
    config = edge_first(f"http://127.0.0.1:{unused_port()}/v1") + START_CLOUD
    with Tandem(config, env=KEYS) as tandem:
        answer = tandem.chat(HARD, tandem={"slo_ms": 5000}, max_tokens=8)
        equal((answer.status, answer.tandem["tier"]), (200, "local"))


@case
def test_a_client_that_waits_for_a_time_is_answered_before_it_hangs_up():
    _cloud, server = started(Script(first_delay=20))
    with server as tandem:
        for header in ("x-stainless-timeout", "x-stainless-read-timeout"):

            def answering(header=header):
                seconds, answer = timed(
                    tandem.chat, HARD, {**ONLY_CLOUD, header: "2.0"}, timeout=60
                )
                equal(answer.status, 504, header)
                return seconds

            check_prompt(answering, 2)
        # What SDKs send when nothing is set, and what nobody can mean, is no deadline.
        for value in ("NOT_GIVEN", "None", "0", "-3", "1e12", "nan", "inf", "", "9" * 300):
            equal(tandem.chat("hello", {"x-stainless-timeout": value}).status, 200, value)


@case
def test_objectives_out_of_bounds_are_refused_with_the_bounds():
    _cloud, server = started(Script())
    with server as tandem:
        for name in ("slo_ms", "slo_ttft_ms"):
            for value in (0, -1, 10**12, 1.5, "soon", [], True):
                answer = tandem.chat("hello", tandem={name: value})
                equal((value, answer.status), (value, 400))
                error = answer.json["error"]
                equal(error["param"], f"tandem.{name}")
                assert "1 to 86400000" in error["message"], error
            header = "x-tandem-" + name.replace("_", "-")
            for value in ("0", "-1", str(10**12), "1e3", "soon", "9" * 400):
                answer = tandem.chat("hello", {header: value})
                equal((value, answer.status), (value, 400))


@case
def test_a_model_that_thinks_for_half_a_minute_is_waited_for():
    _cloud, server = started(Script(text="Thought over.", first_delay=24))
    body = json.dumps(
        {"model": "auto", "stream": True, "messages": [{"role": "user", "content": HARD}]}
    ).encode()
    head = (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        b"Content-Type: application/json\r\nx-tandem-mode: only-cloud\r\n"
        b"Content-Length: %d\r\n\r\n" % len(body)
    )
    with server as tandem, socket.create_connection(("127.0.0.1", tandem.port)) as stream:
        stream.settimeout(60)
        stream.sendall(head + body)
        got = b""
        began, first = time.monotonic(), None
        while more := stream.recv(65536):
            first = first or time.monotonic() - began
            got += more
        assert first and 5 < first < 22, first  # long before the answer
        assert b" 200 " in got.split(b"\r\n")[0] and b": keep-alive" in got, got
        assert b"x-tandem-exchange: ex_" in got, got
        assert b'"content":"Thought' in got and b"[DONE]" in got, got


@case
def test_a_failure_after_signs_of_life_is_an_event_in_each_dialect():
    _cloud, server = started(Script(think=60))
    with server as tandem:
        headers = {**ONLY_CLOUD, "x-tandem-slo-ms": "11000"}
        message = [{"role": "user", "content": HARD}]
        for path, body, parse in (
            ("/v1/chat/completions", {"messages": message}, None),
            ("/v1/messages", {"max_tokens": 9, "messages": message}, parse_events),
            ("/v1/responses", {"input": HARD}, parse_events),
        ):
            body |= {"model": "auto", "stream": True}
            seconds, answer = timed(tandem.request, "POST", path, body, headers)
            check_in_time(seconds, 11)
            equal((path, answer.status), (path, 200))
            if parse:
                events = parse(answer.body)
                assert events[-1]["type"] in ("error", "response.failed"), events
                assert "11000 ms" in json.dumps(events[-1]), events
            else:
                chunks, done = parse_sse(answer.body)
                assert done and "11000 ms" in chunks[-1]["error"]["message"], chunks


if __name__ == "__main__":
    main(at_once=4)
