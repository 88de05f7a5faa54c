#!/usr/bin/env python3
"""Request bodies that a client has compressed."""

import gzip
import json
import socket
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Answer, Tandem, edge_first

KEYS = {"TEST_CLOUD_KEY": "k"}
MB = 1 << 20
CHAT = "/v1/chat/completions"


def bare(data: bytes) -> bytes:
    coder = zlib.compressobj(9, zlib.DEFLATED, -15)
    return coder.compress(data) + coder.flush()


def zstd(data: bytes) -> bytes:
    return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


def chat(text: str, **members: object) -> bytes:
    asked = [{"role": "user", "content": text}]
    return json.dumps({"model": "local", "messages": asked, "max_tokens": 4, **members}).encode()


def send(tandem: Tandem, coding: str, body: bytes, path: str = CHAT) -> Answer:
    return tandem.request("POST", path, body, {"Content-Encoding": coding})


def fault_of(reply: Answer) -> str:
    return f"{reply.status} {reply.json['error']['message']}"


@case
def test_every_coding_is_read_on_every_endpoint():
    plain = chat("hi")
    with Tandem() as tandem:
        for coding, body in (
            ("gzip", gzip.compress(plain)),
            ("x-gzip", gzip.compress(plain)),
            ("GZIP", gzip.compress(plain[:20]) + gzip.compress(plain[20:])),
            ("deflate", zlib.compress(plain)),
            ("deflate", bare(plain)),
            ("zstd", zstd(plain)),
            ("zstd", zstd(plain[:20]) + zstd(plain[20:])),
            ("identity", plain),
            ("", plain),
        ):
            equal((coding, send(tandem, coding, body).status), (coding, 200))
        message = json.dumps(
            {"model": "local", "max_tokens": 4, "messages": [{"role": "user", "content": "hi"}]}
        )
        for path, text in (
            ("/v1/messages", message),
            ("/v1/responses", '{"model": "local", "input": "hi", "max_output_tokens": 16}'),
            ("/v1/completions", '{"model": "local", "prompt": "hi", "max_tokens": 4}'),
            ("/v1/embeddings", '{"model": "local", "input": "hi"}'),
            ("/tandem/v1/classify", '{"text": "hi", "labels": ["a", "b"]}'),
        ):
            reply = send(tandem, "gzip", gzip.compress(text.encode()), path)
            equal((path, reply.status), (path, 200))


@case
def test_a_compressed_secret_is_found_and_stays():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with Tandem(edge_first(cloud.base_url), env=KEYS) as tandem:
        body = chat("my password is hunter2, and my card 4111 1111 1111 1111", model="auto")
        reply = send(tandem, "gzip", gzip.compress(body))
        equal(reply.json["tandem"]["data_class"], "restricted")
        equal(len(cloud.requests), 0)


@case
def test_other_codings_are_415_and_say_which_there_are():
    with Tandem() as tandem:
        for coding in ("br", "compress", "gzip, gzip", "gzip;q=1"):
            reply = send(tandem, coding, gzip.compress(chat("hi")))
            equal((coding, reply.status), (coding, 415))
            equal(reply.headers["accept-encoding"], "gzip, deflate, zstd")
            error = reply.json["error"]
            equal((error["param"], error["code"]), ("content-encoding", "unsupported_encoding"))
        both = (
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: a.localhost\r\nContent-Length: 4\r\n"
            b"Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\nabcd"
        )
        assert tandem.raw(both).startswith(b"HTTP/1.1 415 "), "two headers"
        equal(tandem.request("GET", "/healthz", b"x", {"Content-Encoding": "br"}).status, 200)


@case
def test_what_is_damaged_or_cut_is_400():
    coded = gzip.compress(chat("hi"))
    framed = zstd(chat("hi"))
    with Tandem() as tandem:
        for coding, body in (
            ("gzip", coded[:-1]),
            ("gzip", coded[:-9]),
            ("gzip", coded + b"x"),
            ("gzip", chat("hi")),
            ("gzip", coded[:-8] + bytes(8)),
            ("deflate", zlib.compress(chat("hi"))[:-1]),
            ("deflate", b"\xff" * 40),
            ("zstd", framed[:-1]),
            ("zstd", framed + b"x"),
            ("zstd", chat("hi")),
            ("gzip", coded[:-9] + bytes(200_000)),
        ):
            reply = send(tandem, coding, body)
            equal((coding, body[-9:], reply.status), (coding, body[-9:], 400))
            equal(reply.json["error"]["param"], "content-encoding")
        equal(tandem.chat("hi", model="local").status, 200)


@case
def test_bombs_are_413_and_take_no_memory():
    tall = gzip.compress(bytes(400 * MB), 9)
    twice = gzip.compress(gzip.compress(bytes(100 * MB), 9))
    flat = zstd(bytes(800 * MB))
    with Tandem() as tandem:
        equal(send(tandem, "gzip", gzip.compress(chat("hi"))).status, 200)
        before = tandem.rss_bytes()
        for _ in range(3):
            for coding, body in (("gzip", tall), ("deflate", bare(bytes(40 * MB))), ("zstd", flat)):
                reply = send(tandem, coding, body)
                equal((coding, reply.status), (coding, 413))
                assert "decompressed" in fault_of(reply), fault_of(reply)
        equal(send(tandem, "gzip", twice).status, 400)  # one coding: what is in it is no JSON
        grown = tandem.rss_bytes("VmHWM") - before
        assert grown < 100 * MB, f"{grown >> 20} MiB"


@case
def test_many_bodies_that_swell_share_the_room():
    body = gzip.compress(b'{"a": "' + b" " * (30 * MB) + b'"}', 9)
    config = "server:\n  buffered_bytes_max: 41943040\n"
    with Tandem(config) as tandem:
        before = tandem.rss_bytes()
        codes: list[int] = []

        def ask() -> None:
            codes.append(send(tandem, "gzip", body).status)

        threads = [threading.Thread(target=ask) for _ in range(24)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        equal((len(codes), set(codes) - {400, 503}), (24, set()))
        grown = tandem.rss_bytes("VmHWM") - before
        assert grown < 400 * MB, f"{grown >> 20} MiB for 720 MiB of bodies"


@case
def test_small_requests_are_answered_while_large_ones_are_decompressed():
    words = " ".join(f"word{i * 7919 % 100003}" for i in range(3_000_000))[: 30 * MB]
    body = zlib.compress(b'{"model": "none", "messages": "' + words.encode() + b'"}', 1)
    with Tandem("server:\n  workers: 1\n") as tandem:
        done: list[int] = []
        one = threading.Thread(target=lambda: done.append(send(tandem, "deflate", body).status))
        one.start()
        slowest, answers = 0.0, 0
        while one.is_alive():
            begun = time.monotonic()
            equal(tandem.get("/healthz").status, 200)
            slowest = max(slowest, time.monotonic() - begun)
            answers += one.is_alive()
        one.join()
        equal(done, [400])
        # Who waited for its end would get one answer at most.
        assert answers > 3, f"{answers} answers, the slowest after {slowest:.2f} s"


@case
def test_a_connection_goes_on_after_a_compressed_body_of_each_size():
    with Tandem() as tandem, socket.create_connection(("127.0.0.1", tandem.port)) as connection:
        connection.settimeout(30)
        for size in (10, 100_000, 10):
            body = gzip.compress(b'{"text": "' + b"x" * size + b'", "labels": ["a", "b"]} oops')
            connection.sendall(
                b"POST /tandem/v1/classify HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Encoding: gzip\r\n"
                + f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            got = b""
            while not got.endswith(b"}}"):
                more = connection.recv(65536)
                assert more, f"closed after {got!r}"
                got += more
            assert got.startswith(b"HTTP/1.1 400 "), got


if __name__ == "__main__":
    main()
