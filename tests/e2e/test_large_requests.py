#!/usr/bin/env python3
"""Requests of megabytes: small ones are answered beside them, and what they need ends with them."""

import json
import signal
import socket
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

KEYS = {"TEST_CLOUD_KEY": "k"}
ONE_WORKER = "server: {workers: 1}\n"
MB = 1 << 20


def served(base_url: str, more: str = ONE_WORKER) -> Tandem:
    config = more + edge_first(base_url).replace("128000", "100000000")
    return Tandem(config, env=KEYS)


def chat_of(size: int, **members: object) -> bytes:
    """A chat for the cloud whose text makes its body about that large."""
    text = "mild weather and a wind from the west, 12 km/h " * (size // 47)
    messages = [{"role": "user", "content": text}]
    return json.dumps({"model": "cloud", "messages": messages, **members}).encode()


def post(body: bytes, path: str = "/v1/chat/completions") -> bytes:
    """The bytes of a request."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def dial(tandem: Tandem) -> socket.socket:
    return socket.create_connection(("127.0.0.1", tandem.port), timeout=20)


def unread(tandem: Tandem, connection: socket.socket) -> int:
    """Bytes that the server's end of the connection has got and not read."""
    peer = f"0100007F:{connection.getsockname()[1]:04X}"
    own = f"0100007F:{tandem.port:04X}"
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[1] == own and fields[2] == peer:
            return int(fields[4].split(":")[1], 16)
    raise AssertionError("the server has no such connection")


def healthy(connection: socket.socket) -> bool:
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return connection.recv(4096).startswith(b"HTTP/1.1 200 ")


def is_called(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@case
def test_small_requests_are_answered_while_a_large_one_is_read_and_searched():
    cloud = socket.create_server(("127.0.0.1", 0))
    cloud.setblocking(False)
    url = f"http://127.0.0.1:{cloud.getsockname()[1]}/v1"
    with served(url) as tandem, dial(tandem) as large, dial(tandem) as small:
        request = post(chat_of(4 * MB - 4096))
        large.sendall(request[:-1])
        wait_until(lambda: unread(tandem, large) == 0, what="all but a byte was read")
        large.sendall(request[-1:])
        answered = 0
        while not is_called(cloud):
            assert healthy(small)
            answered += 1
        # To parse, search and write it takes as long as hundreds of small answers.
        assert answered >= 25, f"{answered} answers before the cloud was called"
    cloud.close()


@case
def test_every_endpoint_takes_large_requests():
    cloud = ScriptedCloud(Script(text="Cloud."))
    text = "a wind from the west " * 20000
    chat = [{"role": "user", "content": text}]
    bodies = {
        "/v1/chat/completions": {"model": "cloud", "messages": chat, "stream": True},
        "/v1/messages": {"model": "cloud", "max_tokens": 9, "messages": chat},
        "/v1/messages/count_tokens": {"model": "cloud", "messages": chat},
        "/v1/responses": {"model": "cloud", "input": text},
        # Longer than the context of the local models.
        "/v1/completions": {"model": "local", "prompt": text},
        "/v1/embeddings": {"model": "auto", "input": text},
    }
    with served(cloud.base_url) as tandem:
        for path, body in bodies.items():
            answer = tandem.request("POST", path, body)
            too_long = path in ("/v1/completions", "/v1/embeddings")
            equal(answer.status, 400 if too_long else 200, f"{path}: {answer.body[:300]!r}")
        counted = tandem.get("/metrics").body.decode()
        for code, count in ((200, 4), (400, 2)):
            assert f'tandem_http_requests_total{{code="{code}"}} {count}\n' in counted, counted
    cloud.close()


@case
def test_clients_that_leave_during_a_large_request_do_no_harm():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with served(cloud.base_url) as tandem, dial(tandem) as small:
        request = post(chat_of(MB))
        for wait in (0, 0.002, 0.01, 0.02, 0.04, 0.08) * 2:
            with dial(tandem) as large:
                large.sendall(request)
                threading.Event().wait(wait)
            assert healthy(small)
        idle = "tandem_exchanges_in_flight 0\n"
        wait_until(lambda: idle in tandem.get("/metrics").body.decode(), 60, "no request in work")
        equal(tandem.request("POST", "/v1/chat/completions", chat_of(MB)).status, 200)
        with dial(tandem) as kept:  # goes on, for small requests and for large ones
            for _ in range(2):
                kept.sendall(request)
                assert kept.recv(65536).startswith(b"HTTP/1.1 200 ")
                assert healthy(kept)
    cloud.close()


@case
def test_a_large_request_is_answered_by_a_server_that_stops():
    cloud = ScriptedCloud(Script(text="Cloud.", first_delay=0.5))
    with served(cloud.base_url) as tandem, dial(tandem) as large:
        large.sendall(post(chat_of(2 * MB)))
        wait_until(lambda: cloud.requests, what="the request in work")
        tandem.process.send_signal(signal.SIGTERM)
        got = b""
        while more := large.recv(65536):
            got += more
        assert got.startswith(b"HTTP/1.1 200 ") and b"Cloud." in got, got
        equal(tandem.ended(), 0)
    cloud.close()


if __name__ == "__main__":
    main()
