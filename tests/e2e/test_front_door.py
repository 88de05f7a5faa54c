#!/usr/bin/env python3
"""What somebody without a key, or a stranger's page, can make the server hold or say."""

import json
import resource
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

KEYED = "server:\n  api_keys_env: TEST_KEYS\n"
KEYS = {"TEST_KEYS": "the-key", "TEST_CLOUD_KEY": "k"}
MB = 1 << 20


def dial(tandem: Tandem) -> socket.socket:
    return socket.create_connection(("127.0.0.1", tandem.port), timeout=20)


@contextmanager
def many(tandem: Tandem, count: int) -> Iterator[list[socket.socket]]:
    held = [dial(tandem) for _ in range(count)]
    try:
        yield held
    finally:
        for one in held:
            one.close()


def head(path: str, length: int, *lines: str, host: str = "localhost") -> bytes:
    more = "".join(line + "\r\n" for line in lines)
    return (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n{more}\r\n".encode()
    )


def status(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1]) if reply.startswith(b"HTTP/1.1 ") else 0


def read_reply(connection: socket.socket) -> bytes:
    """Until the peer closes, or the first reply with a length is whole."""
    got = b""
    try:
        while True:
            start, end, body = got.partition(b"\r\n\r\n")
            lengths = [
                int(line.split(b":")[1])
                for line in start.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            ]
            if end and lengths and len(body) >= lengths[0]:
                return got
            more = connection.recv(65536)
            if not more:
                return got
            got += more
    except (ConnectionResetError, TimeoutError):
        return got


def push(connections: list[socket.socket], data: bytes, seconds: float) -> int:
    """Sends data on all of them at once, as far as they take it within the time: bytes sent."""
    left = dict.fromkeys(connections, 0)
    for one in connections:
        one.setblocking(False)
    until = time.monotonic() + seconds
    while left and time.monotonic() < until:
        moved = False
        for one, sent in list(left.items()):
            try:
                count = one.send(memoryview(data)[sent : sent + 65536])
            except BlockingIOError:
                continue
            except OSError:
                del left[one]
                continue
            moved = True
            left[one] = sent + count
            if left[one] == len(data):
                del left[one]
        if not moved:
            time.sleep(0.01)
    for one in connections:
        one.settimeout(20)
    return sum(left.values())


# --- names of the server ---

STRANGE = [
    "evil.example",
    "evil.example:8080",
    "127.0.0.1.nip.io",
    "localhost.evil.example",
    "host.docker.internal",
    "8.8.8.8",
    "[2001:db8::1]:80",
    "mylocalhost",
]
OURS = [
    "localhost",
    "LOCALHOST:1",
    "app.localhost",
    "127.0.0.1:9999",
    "127.8.9.1",
    "[::1]:8080",
    "192.168.1.7:8080",
]


def ask_as(tandem: Tandem, host: str, path: str, *lines: str, method: str = "GET") -> bytes:
    more = "".join(line + "\r\n" for line in ("Connection: close", *lines))
    return tandem.raw(f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode())


@case
def test_a_strange_host_reads_nothing_over_loopback_and_is_told_what_to_configure():
    secret = "the secret plan of tuesday"
    with Tandem("ledger:\n  store_prompts: true\n") as tandem:
        equal(tandem.chat(secret).status, 200)
        wait_until(
            lambda: secret.encode() in ask_as(tandem, "localhost", "/tandem/v1/exchanges/last"),
            what="the stored prompt",
        )
        for path in ("/tandem/v1/exchanges/last", "/metrics", "/v1/models", "/healthz", "/"):
            for host in STRANGE:
                reply = ask_as(tandem, host, path)
                equal((path, host, status(reply)), (path, host, 403))
                assert b"server.allowed_hosts" in reply and secret.encode() not in reply, reply
        equal(status(ask_as(tandem, "evil.example", "/v1/models", method="OPTIONS")), 403)
        for host in OURS:
            equal((host, status(ask_as(tandem, host, "/v1/models"))), (host, 200))


@case
def test_a_host_of_the_configuration_is_ours_with_any_port():
    config = "server:\n  allowed_hosts: [host.docker.internal, tandem.example.com]\n"
    with Tandem(config) as tandem:
        for host in ("host.docker.internal:8080", "Tandem.Example.com", "tandem.example.com.:1"):
            equal((host, status(ask_as(tandem, host, "/v1/models"))), (host, 200))
        equal(status(ask_as(tandem, "other.example.com", "/v1/models")), 403)
    with Tandem('server:\n  allowed_hosts: ["*"]\n') as tandem:
        equal(status(ask_as(tandem, "evil.example", "/v1/models")), 200)


@case
def test_a_key_does_not_replace_the_name_over_loopback():
    with Tandem(KEYED, env=KEYS) as tandem:
        key = "Authorization: Bearer the-key"
        equal(status(ask_as(tandem, "localhost", "/v1/models", key)), 200)
        equal(status(ask_as(tandem, "evil.example", "/v1/models", key)), 403)


# --- origins of pages and programs ---

LOCAL_ORIGINS = [
    "http://localhost",
    "http://localhost:3000",
    "https://localhost:5173",
    "http://127.0.0.1:8000",
    "http://[::1]:3000",
    "http://tauri.localhost",
    "vscode-webview://0k3f9q2v7c5b1d8e6a4",
    "app://obsidian.md",
    "tauri://localhost",
    "capacitor://localhost",
    "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
    "moz-extension://6d1f2c3e-0000-4000-8000-000000000001",
]
STRANGE_ORIGINS = [
    "null",
    "file://",
    "https://evil.example",
    "http://localhost.evil.example",
    "http://localhost:3000.evil.example",
    "http://localhost:",
    "http://localhost:70000",
    "http://localhost@evil.example",
    "http://127.0.0.1.nip.io",
    "http://10.0.0.5",
    "https://evil.example/?http://localhost",
    "app",
    "app://",
    "chrome-extension",
    "xapp://a",
    "javascript://localhost",
    "",
]


def preflight(tandem: Tandem, origin: str, *lines: str) -> bytes:
    asked = ("Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization")
    path = "/v1/chat/completions"
    return ask_as(
        tandem,
        f"a.localhost:{tandem.port}",
        path,
        f"Origin: {origin}",
        *asked,
        *lines,
        method="OPTIONS",
    )


@case
def test_local_programs_are_let_in_by_one_switch():
    with Tandem("server:\n  local_origins: true\n") as tandem:
        for origin in LOCAL_ORIGINS:
            reply = ask_as(tandem, "localhost:1", "/v1/models", f"Origin: {origin}")
            equal((origin, status(reply)), (origin, 200))
            assert f"access-control-allow-origin: {origin}\r\n".encode() in reply, reply
            reply = preflight(tandem, origin, "Access-Control-Request-Private-Network: true")
            equal((origin, status(reply)), (origin, 204))
            assert b"access-control-allow-private-network: true" in reply, reply
            assert b"access-control-allow-headers: authorization" in reply, reply
        assert b"private-network" not in preflight(tandem, LOCAL_ORIGINS[0])
        for origin in STRANGE_ORIGINS:
            for reply in (
                ask_as(tandem, "localhost:1", "/v1/models", f"Origin: {origin}"),
                preflight(tandem, origin, "Access-Control-Request-Private-Network: true"),
            ):
                equal((origin, status(reply)), (origin, 403))
                assert b"access-control-allow" not in reply.lower(), reply
        # A name that was pointed here is a stranger's whatever the origin.
        for origin in (LOCAL_ORIGINS[1], "http://evil.example"):
            reply = ask_as(tandem, "evil.example", "/v1/models", f"Origin: {origin}")
            equal(status(reply), 403)


@case
def test_local_programs_are_strangers_by_default_and_the_answer_names_the_switch():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with Tandem(edge_first(cloud.base_url), env=KEYS) as tandem:
        for origin in LOCAL_ORIGINS + STRANGE_ORIGINS:
            reply = preflight(tandem, origin)
            equal((origin, status(reply)), (origin, 403))
            equal((origin, b"local_origins" in reply), (origin, origin in LOCAL_ORIGINS))
            # A form of a page can be sent without asking: it must not run.
            body = b'{"model": "cloud", "messages": [{"role": "user", "content": "spend"}]}'
            lines = (f"Origin: {origin}", "Content-Type: text/plain", "Connection: close")
            sent = head("/v1/chat/completions", len(body), *lines, host="localhost:1") + body
            equal((origin, status(tandem.raw(sent))), (origin, 403))
        equal(len(cloud.requests), 0)


@case
def test_the_servers_own_page_may_always_ask():
    for config in (None, "server:\n  local_origins: true\n"):
        with Tandem(config) as tandem:
            own = f"localhost:{tandem.port}"
            reply = ask_as(tandem, own, "/v1/models", f"Origin: http://{own}")
            equal(status(reply), 200)


# --- what is held for somebody without a key ---


@case
def test_bodies_without_a_key_are_not_kept():
    with Tandem(KEYED, env=KEYS) as tandem:
        before = tandem.rss_bytes()
        size = 4 * MB - 1024
        with many(tandem, 150) as held:
            push(held, head("/v1/chat/completions", size) + b"x" * (size - 1), 20)
            grown = tandem.rss_bytes("VmHWM") - before
            assert grown < 24 * MB, f"{grown >> 20} MiB for bodies of nobody"
            equal({status(read_reply(one)) for one in held[:20]} - {401, 0}, set())
        equal(tandem.chat("hi", {"Authorization": "Bearer the-key"}).status, 200)


@case
def test_every_refusal_of_a_head_comes_before_its_body():
    with Tandem(KEYED, env=KEYS) as tandem:
        key = "Authorization: Bearer the-key"
        for path, lines, host, code in (
            ("/v1/chat/completions", (), "localhost", 401),
            ("/v1/chat/completions", ("Authorization: Bearer other",), "localhost", 401),
            ("/tandem/v1/feedback", (), "localhost", 401),
            ("/v1/none", (key,), "localhost", 404),
            ("/v1/models", (key,), "localhost", 405),
            ("/v1/chat/completions", (key,), "evil.example", 403),
            ("/v1/chat/completions", (key, "Origin: https://evil.example"), "localhost", 403),
        ):
            for expect in ((), ("Expect: 100-continue",)):
                with dial(tandem) as connection:
                    connection.sendall(head(path, MB, *lines, *expect, host=host))
                    reply = read_reply(connection)
                    equal((path, expect, status(reply)), (path, expect, code))
                    assert b"Connection: close" in reply, reply


@case
def test_a_body_that_its_endpoint_does_not_read_is_not_kept():
    with Tandem() as tandem:
        before = tandem.rss_bytes()
        size = 4 * MB - 1024
        with many(tandem, 40) as held:
            data = f"GET /healthz HTTP/1.1\r\nHost: a.localhost\r\nContent-Length: {size}\r\n\r\n"
            push(held, data.encode() + b"x" * size, 20)
            for one in held:
                equal(status(read_reply(one)), 200)
        grown = tandem.rss_bytes("VmHWM") - before
        assert grown < 24 * MB, f"{grown >> 20} MiB"


@case
def test_all_bodies_together_have_a_limit_and_small_ones_pass_beside_them():
    cloud = ScriptedCloud(Script(text="Cloud."))
    config = "server:\n  buffered_bytes_max: 16777216\n" + edge_first(cloud.base_url)
    with Tandem(config, env=KEYS) as tandem:
        tandem.chat("hi")
        before = tandem.rss_bytes()
        size = 4 * MB - 1024
        with many(tandem, 60) as held:
            start = head("/v1/chat/completions", size)
            push(held, start + b"x" * (size - 1), 4)
            grown = tandem.rss_bytes("VmHWM") - before
            assert grown < 64 * MB, f"{grown >> 20} MiB with a limit of 16"
            equal(tandem.chat("hi").status, 200)
        # They have left: a large one is read to its end.
        answer = tandem.request("POST", "/v1/chat/completions", b"{" + b" " * (size - 1))
        equal(answer.status, 400)


@case
def test_bodies_that_fill_the_limit_end_one_after_the_other():
    config = "server:\n  buffered_bytes_max: 2097152\n"
    with Tandem(config) as tandem, many(tandem, 12) as held:
        size = 2 * MB
        push(held, head("/v1/chat/completions", size) + b"{" + b" " * (size - 1), 9)
        codes = [status(read_reply(one)) for one in held]
        equal(set(codes), {400}, "each is read and found malformed")


@case
def test_a_body_that_got_no_room_is_503_and_not_the_clients_fault():
    cloud = ScriptedCloud(Script(text="Cloud.", first_delay=8))
    config = "server:\n  buffered_bytes_max: 1048576\n  header_timeout_ms: 2000\n" + edge_first(
        cloud.base_url
    ).replace("128000", "100000000")
    with Tandem(config, env=KEYS) as tandem, many(tandem, 2) as (first, second):
        text = "mild weather and a wind from the west " * 60000
        body = json.dumps(
            {"model": "cloud", "messages": [{"role": "user", "content": text}]}
        ).encode()
        first.sendall(head("/v1/chat/completions", len(body)) + body)
        wait_until(lambda: cloud.requests, what="the first in work")
        push([second], head("/v1/chat/completions", len(body)) + body, 1)
        reply = read_reply(second)
        equal(status(reply), 503)
        assert b"Retry-After: 1" in reply and b"bodies" in reply, reply
        equal(status(read_reply(first)), 200)


@case
def test_large_requests_leave_no_memory_behind():
    # A small cache of prompts is full before, and is no part of what is measured.
    with Tandem("engine: {cache_tokens: 2048}\n") as tandem:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: tandem.chat(f"hi {i}", max_tokens=4), range(80)))
        before = tandem.rss_bytes()

        def ask(number: int) -> None:
            words = [f"{number}-{i}-" + "x" * 100 for i in range(8000)]
            schema = {"type": "object", "properties": {"a": {"enum": words}}, "required": ["a"]}
            named = {"name": "n", "schema": schema}
            form = {"type": "json_schema", "json_schema": named}
            tandem.chat(f"hi {number}", max_tokens=4, response_format=form)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(ask, range(40)))
        wait_until(lambda: tandem.rss_bytes() - before < 12 * MB, what="the memory of before")


@case
def test_a_stream_that_nobody_reads_ends_without_a_normal_end():
    cloud = ScriptedCloud(Script(pieces=["x" * 200_000] * 80))
    with Tandem(edge_first(cloud.base_url), env=KEYS) as tandem, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        client.settimeout(20)
        client.connect(("127.0.0.1", tandem.port))
        asked = [{"role": "user", "content": "a long one"}]
        body = json.dumps({"model": "cloud", "messages": asked, "stream": True}).encode()
        client.sendall(head("/v1/chat/completions", len(body)) + body)
        wait_until(lambda: any("stream_cut" in line for line in tandem.log), what="the cut")
        got = b""
        while more := client.recv(1 << 20):
            got += more
    assert got.startswith(b"HTTP/1.1 200 ") and b"chunked" in got[:500], got[:500]
    assert not got.endswith(b"0\r\n\r\n") and b"[DONE]" not in got, "it looks whole"


# --- places at the table ---


@case
def test_connections_without_a_request_make_room_for_one_with():
    config = KEYED + "  connections_max: 20\n  workers: 1\n"
    with Tandem(config, env=KEYS) as tandem, many(tandem, 20) as held:
        for i, one in enumerate(held):
            # Nothing, half a head, half a body without a key, half a body with one.
            one.sendall(
                (
                    b"",
                    b"GET /v1/mod",
                    head("/v1/chat/completions", 5000) + b"{",
                    head("/v1/chat/completions", 5000, "Authorization: Bearer the-key") + b"{",
                )[i % 4]
            )
        for _ in range(5):
            equal(tandem.chat("hi", {"Authorization": "Bearer the-key"}).status, 200)


@case
def test_connections_leave_descriptors_for_tiers_and_files():
    def few_descriptors() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))

    cloud = ScriptedCloud(Script(text="Cloud."))
    config = KEYED + edge_first(cloud.base_url)
    key = {"Authorization": "Bearer the-key"}
    with Tandem(config, env=KEYS, before=few_descriptors) as tandem, many(tandem, 200):
        for _ in range(3):
            equal(tandem.chat("hi", key, model="cloud").status, 200)
        assert any("connections_limited" in line for line in tandem.log)
        assert not any("Too many open files" in line for line in tandem.log)


@case
def test_answers_that_nobody_reads_do_not_pile_up():
    with Tandem("server:\n  workers: 1\n") as tandem:
        tandem.get("/healthz")
        before = tandem.rss_bytes()
        many_requests = b"GET /v1/none HTTP/1.1\r\nHost: localhost\r\n\r\n" * 60000
        with many(tandem, 150) as held:
            push(held, many_requests, 4)
            grown = tandem.rss_bytes("VmHWM") - before
        assert grown < 24 * MB, f"{grown >> 20} MiB of answers"
        equal(tandem.get("/healthz").status, 200)


# --- a client that shuts its sending side ---


def half_closed(tandem: Tandem, data: bytes) -> bytes:
    with dial(tandem) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return read_reply(connection)


def chat_request(text: str, **members: object) -> bytes:
    body = json.dumps(
        {"model": "cloud", "messages": [{"role": "user", "content": text}], **members}
    ).encode()
    return head("/v1/chat/completions", len(body)) + body


@case
def test_a_client_that_shuts_its_sending_side_has_left_by_default():
    cloud = ScriptedCloud(Script(text="Cloud.", first_delay=0.5))
    with Tandem(edge_first(cloud.base_url), env=KEYS) as tandem:
        equal(half_closed(tandem, chat_request("hi")), b"")
        wait_until(
            lambda: 'code="499"' in tandem.get("/metrics").body.decode(), what="the count of 499"
        )
        # What is answered at once was on its way already.
        equal(status(half_closed(tandem, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")), 200)


@case
def test_a_client_that_shuts_its_sending_side_is_answered_where_that_is_configured():
    cloud = ScriptedCloud(Script(text="Cloud says it.", first_delay=0.5, piece_delay=0.05))
    config = "server:\n  ignore_client_abort: true\n" + edge_first(cloud.base_url)
    with Tandem(config, env=KEYS) as tandem:
        reply = half_closed(tandem, chat_request("hi"))
        equal(status(reply), 200)
        assert b"Cloud says it." in reply, reply
        reply = half_closed(tandem, chat_request("hi", stream=True))
        assert reply.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n"), reply[-200:]
        # Two requests before the end of sending get two answers, then the connection ends.
        with dial(tandem) as connection:
            connection.sendall(chat_request("one") + chat_request("two"))
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(20)
            got = b""
            while more := connection.recv(65536):
                got += more
        equal(got.count(b"HTTP/1.1 200 OK"), 2)
        # Half a request is none.
        equal(half_closed(tandem, chat_request("hi")[:-1]), b"")


@case
def test_a_client_that_left_is_noticed_when_something_is_sent_although_aborts_are_ignored():
    cloud = ScriptedCloud(Script(text="word " * 400, piece_delay=0.02))
    config = "server:\n  ignore_client_abort: true\n" + edge_first(cloud.base_url)
    with Tandem(config, env=KEYS) as tandem:
        with dial(tandem) as connection:
            connection.sendall(chat_request("hi", stream=True))
            connection.recv(1000)
        wait_until(
            lambda: 'status="cancelled"' in tandem.get("/metrics").body.decode(),
            what="the cancelled exchange",
        )


if __name__ == "__main__":
    main()
