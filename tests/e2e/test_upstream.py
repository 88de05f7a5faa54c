#!/usr/bin/env python3
"""An upstream is not trusted: not with the health of a tier that others use, not with money, not
with what clients read of this server, and not with their time. All time-outs but those that a case
names are those that are shipped."""

import ctypes
import gzip
import re
import sqlite3
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from black_hole import BlackHole
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud, unused_port
from tandem import Tandem, edge_first, run, wait_until

HARD = "Explain in three sentences why the French revolution began."
ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
KEYS = "server: {api_keys_env: KEYS}\n"
ANNA, BOB, CARL = (
    {**ONLY_CLOUD, "Authorization": f"Bearer key-of-{name}"} for name in ("anna", "bob", "carl")
)
INPUT, OUTPUT = 0.15e-6, 0.60e-6  # USD a token, as in edge_first
FINE = Script(text="Fine.")


def server(base_url, tier_extra="", more="", **options):
    env = {"TEST_CLOUD_KEY": "sk-very-secret", "KEYS": "key-of-anna,key-of-bob,key-of-carl"}
    return Tandem(edge_first(base_url, tier_extra) + more, env={**env, **options})


def metric(tandem, name):
    text = tandem.get("/metrics", headers=ANNA).body.decode()
    lines = [line for line in text.splitlines() if line.startswith(name)]
    return sum(float(line.rpartition(" ")[2]) for line in lines)


# --- one caller and the others ---

CHUNK = '{"choices": [{"index": 0, "delta": {"content": %s}}]}'
WHOLE = '{"choices": [{"index": 0, "message": {"content": %s}, "finish_reason": "stop"}]}'
UNUSABLE = {
    "NUL": b'"a\\u0000b"',
    "a lone surrogate": b'"a\\ud800b"',
    "a lone low surrogate": b'"a\\udc00b"',
    "two high surrogates": b'"a\\ud83d\\ud83db"',
    "bytes that are no UTF-8": b'"a\xff\xfeb"',
    "too long": b'"' + b"a" * (9 * 1024 * 1024) + b'"',
}


def unusable():
    """(name, script): a server that works, and an answer of which nothing can be made."""
    for name, text in UNUSABLE.items():
        chunk = CHUNK.encode() % text
        yield name, Script(garbage_after=0, garbage=b"data: " + chunk + b"\n\n")
        body = WHOLE.encode() % text
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        yield name + ", whole", Script(raw=head + body)


@case
def test_an_answer_that_cannot_be_used_is_its_exchanges_fault():
    cloud = ScriptedCloud()
    with server(cloud.base_url, more=KEYS) as tandem:
        for name, script in unusable():
            cloud.script = script
            for _ in range(12):
                answer = tandem.chat(HARD, ANNA)
                equal((name, answer.status), (name, 502))
            cloud.script = FINE
            equal((name, tandem.chat(HARD, BOB).status), (name, 200))


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ABSURD = (128, 2**31, 2**32 - 1, 2**63 - 1, -1, 1.5, 1e300, "0")


def asked_in_all_dialects(stream):
    """(path, body): the same question."""
    turn = [{"role": "user", "content": HARD}]
    yield "/v1/chat/completions", {"messages": turn, "stream": stream}
    yield "/v1/messages", {"max_tokens": 50, "messages": turn, "stream": stream}
    yield "/v1/responses", {"input": HARD, "stream": stream}
    yield "/api/chat", {"messages": turn, "stream": stream}


@case
def test_a_call_with_an_absurd_number_is_the_upstreams_fault_in_all_dialects():
    cloud = ScriptedCloud()
    with server(cloud.base_url) as tandem:
        for index in ABSURD:
            delta = {"tool_calls": [CALL | {"index": index}]}
            cloud.script = Script(pieces=[""], extra_delta=delta, finish="tool_calls")
            for stream in (False, True):
                for path, body in asked_in_all_dialects(stream):
                    answer = tandem.request("POST", path, {"model": "auto"} | body, ONLY_CLOUD)
                    equal((path, index, answer.status), (path, index, 502))
                    assert b"the index of a tool call is no number" in answer.body, answer.body


@case
def test_a_call_with_a_long_id_is_passed_on():
    cloud = ScriptedCloud()
    with server(cloud.base_url) as tandem:
        delta = {"tool_calls": [CALL | {"index": 0, "id": "c" * 400}]}
        cloud.script = Script(pieces=[""], extra_delta=delta, finish="tool_calls")
        answer = tandem.chat(HARD, ONLY_CLOUD)
        equal(answer.status, 200)
        equal(answer.json["choices"][0]["message"]["tool_calls"][0]["id"], "c" * 400)


def encoded(coding, body, kind="application/json"):
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: {coding}\r\n"
    return Script(raw=f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)


@case
def test_an_answer_in_gzip_is_read_although_nobody_asked_for_it():
    cloud = ScriptedCloud()
    whole = WHOLE.encode() % b'"Whole."'
    stream = b"data: " + CHUNK.encode() % b'"Piece."' + b"\n\n"
    end = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
    stream += end + b"data: [DONE]\n\n"
    with server(cloud.base_url) as tandem:
        cloud.script = encoded("gzip", gzip.compress(whole))
        equal(tandem.chat(HARD, ONLY_CLOUD).text, "Whole.")
        cloud.script = encoded("gzip", gzip.compress(stream), "text/event-stream")
        equal(tandem.chat(HARD, ONLY_CLOUD).text, "Piece.")
        heads = [request["headers"] for request in cloud.calls()]
        assert not any(name.lower() == "accept-encoding" for head in heads for name in head), heads


@case
def test_an_encoding_that_is_the_name_of_a_character_set_changes_nothing():
    curl = ctypes.CDLL("libcurl.so.4")
    curl.curl_version.restype = ctypes.c_char_p
    from_8_on = int(re.match(rb"libcurl/(\d+)", curl.curl_version()).group(1)) >= 8
    cloud = ScriptedCloud()
    with server(cloud.base_url) as tandem:
        for coding in ("utf-8", "UTF-8 "):
            cloud.script = encoded(coding, WHOLE.encode() % b'"Whole."')
            answer = tandem.chat(HARD, ONLY_CLOUD)
            if from_8_on:  # which cannot be told to leave it any more
                assert answer.status == 502 and b"ncoding" in answer.body, answer.body
            else:
                equal((coding, answer.text), (coding, "Whole."))


@case
def test_an_encoding_that_cannot_be_read_is_the_upstreams_fault():
    cloud = ScriptedCloud()
    whole = gzip.compress(WHOLE.encode() % b'"Whole."')
    for coding, body, said in (
        ("rot13", whole, b"Unrecognized"),
        ("gzip", b"no gzip at all", b"Encoding"),
        ("gzip", whole[:-12], b"cloud"),
        ("gzip", gzip.compress(b" " * 200_000_000), b"larger than"),
    ):
        with server(cloud.base_url) as tandem:
            cloud.script = encoded(coding, body)
            answer = tandem.chat(HARD, ONLY_CLOUD)
            equal((coding, answer.status), (coding, 502))
            assert said in answer.body, answer.body


RUBBISH = {
    "no HTTP": Script(raw=b"\x00\xff\x00garbage\r\n\r\n"),
    "no JSON in a chunk": Script(garbage_after=0),
    "bytes in a chunk": Script(garbage_after=0, garbage=b"data: \xff\xfe\x00\n\n"),
    "HTML": Script(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n<html></html>"),
    "half a JSON": Script(raw=b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"choices":['),
    "bad chunks": Script(
        raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n"
    ),
    "nothing": Script(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
}


@case
def test_a_tier_that_sends_rubbish_three_times_rests():
    for name, script in RUBBISH.items():
        cloud = ScriptedCloud(script)
        with server(cloud.base_url) as tandem:
            statuses = [tandem.chat(HARD, ONLY_CLOUD).status for _ in range(4)]
            equal((name, statuses[:3]), (name, [502] * 3))
            equal((name, statuses[3], len(cloud.calls())), (name, 503, 3))


def failing(status):
    """Requests with a seed fail, and the others are answered."""
    return Script(text="Fine.", refuses="seed", refuse_status=status)


@case
def test_one_callers_failures_alone_do_not_keep_others_from_a_tier():
    for status in (500, 403, 404):
        cloud = ScriptedCloud(failing(status))
        with server(cloud.base_url, more=KEYS) as tandem:
            equal(tandem.chat(HARD, BOB).status, 200)
            for number in range(16):
                assert tandem.chat(HARD, ANNA, seed=1).status >= 400, status
                if number % 4 == 3:
                    equal((status, number, tandem.chat(HARD, BOB).status), (status, number, 200))
            equal(tandem.chat(HARD, CARL).status, 200)


@case
def test_what_fails_for_every_caller_rests():
    cloud = ScriptedCloud(FINE)
    with server(cloud.base_url, more=KEYS) as tandem:
        for who in (ANNA, BOB, CARL):
            equal(tandem.chat(HARD, who).status, 200)
        cloud.script = Script(status=500)
        cloud.clear()
        resting = [tandem.chat(HARD, (ANNA, BOB, CARL)[i % 3]).json for i in range(12)]
        assert len({call["time"] for call in cloud.calls()}) <= 8, len(cloud.calls())
        assert "is resting" in str(resting[-1]) or "failed lately" in str(resting[-1]), resting[-1]


@case
def test_a_single_callers_failures_rest_a_tier_that_nobody_else_asks():
    cloud = ScriptedCloud(FINE)
    with server(cloud.base_url, more=KEYS) as tandem:
        equal(tandem.chat(HARD, ANNA).status, 200)
        cloud.script = Script(status=500)
        cloud.clear()
        for _ in range(6):
            tandem.chat(HARD, ANNA)
        assert len(cloud.calls()) <= 4, len(cloud.calls())  # one of them a retry


# --- usage ---

TEXT = "Because bread was dear."

LIES = [
    '{"prompt_tokens": 20, "completion_tokens": 9000000000000000000}',
    '{"prompt_tokens": 20, "completion_tokens": 99999999999999999999999}',
    '{"prompt_tokens": 20, "completion_tokens": 9e18}',
    '{"prompt_tokens": 20, "completion_tokens": 1e999}',
    '{"prompt_tokens": 20, "completion_tokens": NaN}',
    '{"prompt_tokens": 20, "completion_tokens": -Infinity}',
    '{"prompt_tokens": 20, "completion_tokens": 8000000}',
    '{"prompt_tokens": 20, "completion_tokens": 100000}',
    '{"prompt_tokens": 20, "completion_tokens": -5}',
    '{"prompt_tokens": 8000000, "completion_tokens": 6}',
    '{"prompt_tokens": 100000, "completion_tokens": 6}',
    '{"prompt_tokens": 20, "completion_tokens": 6, "cached_tokens": 21}',
    '{"prompt_tokens": 20, "completion_tokens": 6, "cached_tokens": -1}',
    '{"prompt_tokens": 20, "completion_tokens": 6, "prompt_tokens_details": '
    '{"cached_tokens": 9000000000000000000}}',
    '{"prompt_tokens": 20, "completion_tokens": 6, "completion_tokens_details": '
    '{"reasoning_tokens": 9000000000000000000}}',
    '{"prompt_tokens": 20, "completion_tokens": 6, "completion_tokens_details": '
    '{"reasoning_tokens": -1}}',
    '{"prompt_tokens": 20, "completion_tokens": 8000000, "completion_tokens_details": '
    '{"reasoning_tokens": 7999990}}',
    '{"prompt_tokens": 20, "completion_tokens": 6, "total_tokens": 8000026, '
    '"completion_tokens_details": {"reasoning_tokens": 8000000}}',
    "[1, 2]",
    '"many"',
]


def attempts(tandem, count):
    """(prompt, completion, cached, exact, estimated, usd) of each attempt, oldest first."""
    path = f"file:{tandem.state}/ledger.db?mode=ro"

    def read():
        with sqlite3.connect(path, uri=True) as base:
            return base.execute(
                "SELECT prompt_tokens, completion_tokens, cached_tokens, exact, estimated, cost_usd"
                " FROM attempt ORDER BY exchange, position"
            ).fetchall()

    wait_until(lambda: len(read()) >= count, what="the attempts in the ledger")
    return read()


@case
def test_a_usage_beyond_what_can_have_been_is_not_charged_and_is_flagged():
    cloud = ScriptedCloud()
    with server(cloud.base_url) as tandem:
        for number, lie in enumerate(LIES):
            whole = number % 2 == 1
            cloud.script = Script(text=TEXT, usage_text=lie, ignore_stream=whole)
            answer = tandem.chat(HARD, ONLY_CLOUD)
            equal((lie, whole, answer.status), (lie, whole, 200))
            equal((lie, answer.text), (lie, TEXT))
            assert answer.tandem["cost_usd"] < 60 * INPUT + 20 * OUTPUT, (lie, answer.tandem)
            told = [r for r in answer.tandem["reasons"] if r["code"] == "usage_refused"]
            equal((lie, len(told)), (lie, 1))
            assert told[0]["tier"] == "cloud", told
        for row in attempts(tandem, len(LIES)):
            equal(row[3:5], (0, 1), "marked as an estimate")
            assert row[0] <= 60 and row[1] <= 20 and row[2] <= row[0], row
        equal(metric(tandem, "tandem_usages_refused_total"), len(LIES))
        code, out, err = run("explain", "last", env=tandem.environment)
        assert code == 0 and b"cannot be true" in out, (out, err)


@case
def test_what_a_request_allows_bounds_what_its_answer_can_cost():
    cloud = ScriptedCloud(Script(text="One two.", piece_delay=0.5))
    with server(cloud.base_url) as tandem:
        for told, believed in ((16, True), (4000, False)):
            cloud.script.usage_members = {"completion_tokens": told}
            answer = tandem.chat(HARD, ONLY_CLOUD, max_tokens=16)
            codes = {reason["code"] for reason in answer.tandem["reasons"]}
            equal((told, "usage_refused" not in codes), (told, believed))
            assert answer.tandem["cost_usd"] <= 60 * INPUT + 16 * OUTPUT, answer.tandem
        # It is also all that an answer costs whose server does not obey, whatever it tells.
        lie = '{"prompt_tokens": 9, "completion_tokens": 400}'
        cloud.script = Script(text="word " * 400, usage_text=lie)
        for _ in range(2):
            answer = tandem.chat(HARD, ONLY_CLOUD, max_tokens=16)
            assert 0 < answer.tandem["cost_usd"] <= 60 * INPUT + 16 * OUTPUT, answer.tandem
            cloud.script.usage = False
        cloud.script = Script(text="One two.", piece_delay=0.5)
        # Thoughts that nobody sees take their time: what a second can hold is believed.
        cloud.script.usage_members = {"completion_tokens": 2500}
        answer = tandem.chat(HARD, ONLY_CLOUD)
        equal(answer.json["usage"]["completion_tokens"], 2500)


@case
def test_reasoning_beside_the_answer_is_added_where_the_total_says_so():
    usage = {
        "prompt_tokens": 20,
        "completion_tokens": 2,
        "total_tokens": 422,
        "completion_tokens_details": {"reasoning_tokens": 400},
    }
    cloud = ScriptedCloud(Script(text="One two.", usage_members=usage, piece_delay=0.3))
    with server(cloud.base_url) as tandem:
        answer = tandem.chat(HARD, ONLY_CLOUD)
        equal(answer.json["usage"]["completion_tokens"], 402)
        assert abs(answer.tandem["cost_usd"] - 20 * INPUT - 402 * OUTPUT) < 1e-12, answer.tandem


@case
def test_a_day_of_lies_leaves_the_budget_what_it_is():
    cloud = ScriptedCloud(Script(text=TEXT, usage_members={"completion_tokens": 8_000_000}))
    with server(cloud.base_url, more="budgets: [{name: day, usd_per_day: 0.5}]\n") as tandem:
        for _ in range(20):
            equal(tandem.chat(HARD, ONLY_CLOUD).status, 200)


# --- what clients read ---

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def secretive(tandem, answer, what, *secrets):
    """The answer names nothing of where this server's parts are."""
    text = answer.body.decode()
    for secret in (str(tandem.state), "127.0.0.1", "localhost", "0.0.0.0", *secrets):
        assert secret not in text, (what, secret, text)


@case
def test_errors_name_no_address_of_an_upstream():
    port, hole = unused_port(), BlackHole()
    cases = {
        "refused": (f"http://localhost:{port}/v1", None),
        "no such host": ("https://llm-7.corp.invalid/v1", None),
        "no connection": (hole.base_url, None),
        "TLS to plain HTTP": ("https://localhost:{port}/v1", Script()),
        "garbage": ("http://localhost:{port}/v1", Script(raw=b"\x00\xffgarbage\r\n\r\n")),
        "closed": ("http://localhost:{port}/v1", Script(raw=b"")),
        "reset": ("http://localhost:{port}/v1", Script(cut_at_once=True)),
        "cut": ("http://localhost:{port}/v1", Script(raw=HEAD + b"50\r\nab")),
        "bad chunk": ("http://localhost:{port}/v1", Script(raw=HEAD + b"zz\r\nab")),
        "silent": ("http://localhost:{port}/v1", Script(first_delay=30)),
        "redirect": (
            "http://localhost:{port}/v1",
            Script(raw=b"HTTP/1.1 302 Found\r\nLocation: http://10.1.2.3/\r\n\r\n"),
        ),
    }
    for name, (url, script) in cases.items():
        cloud = ScriptedCloud(script)
        timeouts = "    timeouts: {connect_ms: 1000, first_ms: 700, idle_ms: 700}\n"
        with server(url.replace("{port}", str(cloud.port)), timeouts) as tandem:
            for member in ({}, {"stream": True}):
                answer = tandem.chat(HARD, ONLY_CLOUD, **member)
                assert answer.status >= 500 and "cloud" in answer.body.decode(), (name, answer.body)
                secretive(tandem, answer, name, str(cloud.port), str(port), "corp", "10.1.2.3")
            degraded = tandem.chat(HARD)
            equal((name, degraded.status), (name, 200))
            secretive(tandem, degraded, name, str(cloud.port), str(port), "corp", "10.1.2.3")
            log = "".join(tandem.log)
            assert "event=upstream_failed" in log or name == "redirect", (name, log)


@case
def test_a_damaged_egress_record_is_not_the_upstreams_and_its_path_is_not_told():
    cloud = ScriptedCloud(FINE)
    with server(cloud.base_url) as tandem:
        equal(tandem.chat(HARD, ONLY_CLOUD).status, 200)
        (tandem.state / "egress" / "entries.jsonl").write_bytes(b"")
        for _ in range(5):
            answer = tandem.chat(HARD, ONLY_CLOUD)
            equal((answer.status, answer.json["error"]["code"]), (500, "internal_error"))
            secretive(tandem, answer, "a cut record")
        secretive(tandem, tandem.chat(HARD), "a cut record")
        equal(len(cloud.calls()), 1)
        log = "".join(tandem.log)
        assert str(tandem.state) in log and "was cut" in log, log


@case
def test_a_damaged_ledger_is_not_an_upstreams_answer():
    cloud = ScriptedCloud(FINE)
    with server(cloud.base_url) as tandem:
        exchange = tandem.chat(HARD, ONLY_CLOUD).headers["x-tandem-exchange"]
        attempts(tandem, 1)
        for path in tandem.state.glob("ledger.db*"):
            path.write_bytes(b"no database at all, " * 4096)
        for path in ("", "/last", "/" + exchange):
            answer = tandem.get("/tandem/v1/exchanges" + path)
            assert answer.status >= 500, (path, answer.body)
            assert "upstream" not in answer.body.decode(), (path, answer.body)
            secretive(tandem, answer, path)
        answer = tandem.request("POST", "/tandem/v1/forget", {"user": "somebody"})
        secretive(tandem, answer, "forget")
        for path in tandem.state.glob("ledger.db*"):
            path.unlink()
        for path in ("", "/last", "/" + exchange):
            secretive(tandem, tandem.get("/tandem/v1/exchanges" + path), "gone " + path)
        answer = tandem.request("POST", "/tandem/v1/forget", {"user": "somebody"})
        secretive(tandem, answer, "forget, gone")
        feedback = {"id": exchange, "ok": True}
        answer = tandem.request("POST", "/tandem/v1/feedback", feedback)
        assert "upstream" not in answer.body.decode(), answer.body
        secretive(tandem, answer, "feedback")


# --- when to come back ---


@case
def test_the_clients_are_told_when_the_upstream_wants_to_be_asked_again():
    for status, value, low, high in (
        (429, "60", 55, 60),
        (503, "30", 25, 30),
        (529, "45", 40, 45),
        (429, "9" * 40, 3590, 3600),
        (429, "0" * 40 + "9", 5, 9),
        (503, None, 80, 90),
        (503, "Fri, 31 Dec 9999 23:59:59 GMT", 3590, 3600),
    ):
        cloud = ScriptedCloud(Script(status=status, retry_after=value or "1"))
        with server(cloud.base_url) as tandem:
            begin = time.time()
            if value is None:  # a date, seen from when the question is asked
                date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(begin + 90))
                cloud.script = Script(status=status, retry_after=date)
            for number in range(3):  # the first is refused, the others see it rest
                answer = tandem.chat(HARD, ONLY_CLOUD)
                assert answer.status in (429, 503), (status, value, answer.body)
                told = int(answer.headers["retry-after"])
                late = time.time() - begin
                assert low - late <= told <= high, (status, value, number, told, late)
            equal(len(cloud.calls()), 1)


@case
def test_a_wish_that_is_none_is_not_passed_on():
    for value in ("-5", "soon", "1.5", "Mon, 99 Foo 2026", ""):
        cloud = ScriptedCloud(Script(status=429, retry_after=value))
        with server(cloud.base_url) as tandem:
            told = tandem.chat(HARD, ONLY_CLOUD).headers["retry-after"]
            assert 1 <= int(told) <= 2, (value, told)


LASTING = {
    "301": Script(raw=b"HTTP/1.1 301 Gone\r\nLocation: /v2\r\nContent-Length: 0\r\n\r\n"),
    "302": Script(raw=b"HTTP/1.1 302 Found\r\nLocation: /v2\r\nContent-Length: 0\r\n\r\n"),
    "304": Script(raw=b"HTTP/1.1 304 Same\r\n\r\n"),
    "307": Script(raw=b"HTTP/1.1 307 There\r\nLocation: /v2\r\nContent-Length: 0\r\n\r\n"),
    "501": Script(status=501),
    "505": Script(status=505),
    "600": Script(raw=b"HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n"),
    "no hex": Script(raw=HEAD + b"zz\r\nhello\r\n0\r\n\r\n"),
    "a chunk without its end": Script(raw=HEAD + b"5\r\nhelloXX\r\n0\r\n\r\n"),
    "a chunk of 2^84 bytes": Script(raw=HEAD + b"f" * 21 + b"\r\nhello\r\n0\r\n\r\n"),
    "a long line in the head": Script(raw=b"HTTP/1.1 200 OK\r\nX: " + b"a" * 400_000 + b"\r\n\r\n"),
    "a long status": Script(raw=b"HTTP/1.1 200 " + b"a" * 400_000 + b"\r\n\r\n"),
    "many lines in the head": Script(
        raw=b"HTTP/1.1 200 OK\r\n" + b"X: aaaa\r\n" * 60_000 + b"\r\n"
    ),
    "a length below nothing": Script(raw=b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc"),
    "no HTTP": Script(raw=b"\x00\xffgarbage\r\n\r\n"),
}


@case
def test_what_would_only_come_again_is_not_asked_for_again():
    for name, script in LASTING.items():
        cloud = ScriptedCloud(script)
        with server(cloud.base_url) as tandem:
            answer = tandem.chat(HARD, ONLY_CLOUD)
            equal((name, answer.status, len(cloud.calls())), (name, 502, 1))
            equal((name, answer.json["error"]["code"]), (name, "bad_upstream_answer"))


# --- silence ---

SILENCE = "    timeouts: {connect_ms: 1000, first_ms: 1500, idle_ms: 1500}\n"
DRIPS = {
    "comments": Script(text="a b c", drips=b": still here\n\n"),
    "comments after text": Script(text="a b c", drips=b": still here\n\n", drips_after=2),
    "empty lines": Script(text="a b c", drips=b"\n"),
    "other fields": Script(text="a b c", drips=b"id: 7\nretry: 5\n\n"),
    "names of events": Script(text="a b c", drips=b"event: ping\n\n"),
    "one endless comment": Script(text="a b c", drips=b":aaaaaaaa"),
    "chunks without anything": Script(text="a b c", drips=b'data: {"choices": []}\n\n'),
    "empty texts": Script(
        text="a b c",
        drips=b'data: {"choices": [{"index": 0, "delta": {"content": ""}}]}\n\n',
    ),
    "headers": Script(text="a b c", drips=b"X-Wait: 1\r\n", drips_head=True),
}


@case
def test_what_says_nothing_is_silence():
    for name, script in DRIPS.items():
        cloud = ScriptedCloud(script)
        with server(cloud.base_url, SILENCE) as tandem:
            began = time.monotonic()
            answer = tandem.chat(HARD, ONLY_CLOUD)  # the drops have no end
            took = time.monotonic() - began
            assert answer.status == 504, (name, answer.status, answer.body)
            assert took > 1.2, (name, took)


@case
def test_an_answer_that_goes_on_slowly_is_not_silent():
    script = Script(text="a b c d e", piece_delay=0.7, comments=True)
    cloud = ScriptedCloud(script)
    with server(cloud.base_url, SILENCE) as tandem:
        equal(tandem.chat(HARD, ONLY_CLOUD).text, script.text)


if __name__ == "__main__":
    main(at_once=4)
