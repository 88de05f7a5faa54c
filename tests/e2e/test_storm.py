#!/usr/bin/env python3
"""Requests of every dialect while servers fail in every way, clients leave at every moment, the
configuration is read again and confined workers die. Nothing crashes, hangs, races or leaks (run
under sanitizers), whatever answer is whole is well formed, and afterwards everything works.

STORM_REQUESTS=10000 python3 tests/e2e/test_storm.py   is the long run; STORM_SEED changes it.
"""

import json
import os
import random
import shutil
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

REQUESTS = int(os.environ.get("STORM_REQUESTS", "240"))
SEED = int(os.environ.get("STORM_SEED", "1"))
os.environ.setdefault("TEST_CASE_SECONDS", str(240 + REQUESTS // 4))

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import (
    Tandem,
    clean_environment,
    kill_workers,
    parse_events,
    parse_sse,
    run,
    wait_until,
)

CLIENTS = 6
DEADLINE_MS = 20000
# Whatever fails, and however slow the machine and a sanitizer are, an answer comes at its deadline.
# Who waits three times as long is forgotten.
PATIENCE_S = 3 * DEADLINE_MS / 1000

CONFIG = """
server: {{workers: 2, header_timeout_ms: 3000, deadline_ms: {deadline_ms}}}
tiers:
  - {{name: local, kind: local}}
  - {{name: house, kind: openai, place: premises, model: scripted, base_url: "{house}",
      allow_http: true, completions: true,
      timeouts: {{first_ms: 400, idle_ms: 400, total_ms: 2000}}}}
  - {{name: cloud, kind: openai, place: cloud, model: scripted, base_url: "{cloud}",
      api_key_env: TEST_CLOUD_KEY, completions: true,
      timeouts: {{first_ms: 400, idle_ms: 400, total_ms: 2000}}}}
routes:
  - {{name: auto, kind: hybrid, tiers: [local, house, cloud]}}
  - {{name: far, kind: hybrid, tiers: [local, cloud],
      shadow: {{cloud_share: 0.5, edge_share: 0.5}}}}
  - {{name: pair, kind: hybrid, tiers: [house, cloud], climb: hedged,
      hedge: {{after_ms: 5, requests_share: 1}}}}
ledger: {{egress: "{folder}/egress", store_prompts: true}}
privacy: {{confine: {confine}, pseudonyms: {{on: true, classes: [sensitive, restricted]}}}}
"""

FAULTS = {
    "none": {},
    "slow": {"first_delay": 0.1},
    "timeout": {"first_delay": 5},
    "stall": {"stall_after": 1},
    "busy": {"statuses": [503, 503]},
    "down": {"status": 503},
    "limit": {"statuses": [429], "retry_after": "1"},
    "cut": {"cut_after": 1},
    "reset": {"cut_at_once": True},
    "garbage": {"garbage_after": 1},
    "error": {"error_after": 1},
    "denied": {"status": 401},
    "wrong": {"status": 400},
    "whole": {"ignore_stream": True},
    "no_end": {"no_done": True},
    "nonsense": {"raw": b"HTTP/1.1 200 OK\r\n\r\nnot json"},
    "bytes": {"byte_by_byte": True},
    "echo": {"echo": True, "echo_whole": True, "piece_chars": 7},
}

TEXTS = (
    "Explain the French revolution.",
    "what can you do?",
    "My card is 4539 5787 6362 1486, please check it.",
    "Write to nina.kowalczyk@acmecorp.com about the order.",
    "Nina Kowalczyk of Gdansk asks for a refund. " * 20,
    "x" * 20000,
    "\u2603 \U0001f600 " * 50,
)
# How a client leaves, or does not.
ENDS = ("waits", "waits", "waits", "head", "body", "sent", "some", "half")


def chat(rng, text):
    body = {"messages": [{"role": "user", "content": text}], "max_tokens": rng.choice([1, 8])}
    if rng.random() < 0.3:
        body["messages"] = [
            {"role": "user", "content": TEXTS[rng.randrange(4)]},
            {"role": "assistant", "content": "Yes?"},
            *body["messages"],
        ]
    if rng.random() < 0.2:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "n", "schema": {"type": "object", "properties": {"a": {}}}},
        }
    if rng.random() < 0.2:
        body["tools"] = [{"type": "function", "function": {"name": "f", "description": text}}]
    return "/v1/chat/completions", body


def messages(_rng, text):
    return "/v1/messages", {"max_tokens": 8, "messages": [{"role": "user", "content": text}]}


def response(_rng, text):
    return "/v1/responses", {"input": text, "instructions": "Be brief.", "max_output_tokens": 8}


def completion(rng, text):
    return "/v1/completions", {"prompt": [text] * rng.choice([1, 1, 3]), "max_tokens": 4}


def embedding(_rng, text):
    return "/v1/embeddings", {"input": [text[:500], "other"], "model": "local"}


FORMS = (chat, chat, messages, response, completion, embedding)


def request_of(rng):
    """The bytes of a request, and whether its answer comes as a stream."""
    if rng.random() < 0.1:
        path = rng.choice(["/metrics", "/readyz", "/v1/models", "/tandem/v1/exchanges", "/nothing"])
        return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode(), b""
    path, body = rng.choice(FORMS)(rng, rng.choice(TEXTS))
    if "embeddings" not in path:
        body = {"model": rng.choice(["auto", "far", "pair", "cloud"]), **body}
        body["stream"] = rng.random() < 0.5
    data = json.dumps(body).encode()
    if rng.random() < 0.05:
        data = data[: rng.randrange(len(data))] + b"\xff"  # no JSON
    mode = rng.choice(["auto", "prefer-cloud", "prefer-cloud", "only-cloud", "prefer-local"])
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"X-Tandem-Mode: {mode}\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    return head.encode(), data


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def read_all(connection, most=None):
    got = b""
    while most is None or len(got) < most:
        more = connection.recv(65536)
        if not more:
            break
        got += more
    return got


class Cut(AssertionError):
    """A stream that ends without its last chunk, by which its client can tell."""


def unchunked(body):
    out = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            return out
        out, body = out + body[:length], body[length + 2 :]
    raise Cut(f"a stream without its end: {out[-300:]!r}")


def check_reply(raw):
    """A whole reply is well formed. Gives its status."""
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    status = int(lines[0].split(" ")[1])
    headers = {
        name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:] if line)
    }
    if "chunked" in headers.get("transfer-encoding", ""):
        body = unchunked(body)
    else:
        equal(len(body), int(headers["content-length"]), "bytes of a body")
    kind = headers.get("content-type", "")
    if "event-stream" in kind:
        check_stream(body)
    elif "json" in kind:
        json.loads(body)
    return status


def check_stream(body):
    if b"event: " in body:
        last = parse_events(body)[-1]["type"]
        assert last in (
            *("message_stop", "error", "response.completed"),
            *("response.incomplete", "response.failed"),
        ), last
    else:
        _, done = parse_sse(body)
        assert done, f"a stream without [DONE]: {body[-300:]!r}"


class Storm:
    def __init__(self, requests, confine=True):
        self.folder = Path(tempfile.mkdtemp(prefix="tandem-storm-"))
        self.clouds = {name: ScriptedCloud(Script(text="Remote.")) for name in ("house", "cloud")}
        self.left = requests
        self.lock = threading.Lock()
        self.statuses, self.faults, self.ends, self.wrong = Counter(), Counter(), Counter(), []
        self.slowest = (0.0, "")
        self.over = threading.Event()
        urls = {name: cloud.base_url for name, cloud in self.clouds.items()}
        self.tandem = Tandem(
            CONFIG.format(
                folder=self.folder,
                confine=str(confine).lower(),
                deadline_ms=DEADLINE_MS,
                **urls,
            ),
            env={"TEST_CLOUD_KEY": "k"},
        )

    def close(self):
        for cloud in self.clouds.values():
            cloud.close()
        shutil.rmtree(self.folder)

    def disturb(self, rng):
        """Other faults again and again; now and then a reload, or the death of a worker."""
        while not self.over.wait(0.15):
            for cloud in self.clouds.values():
                name = rng.choice(list(FAULTS))
                cloud.script = Script(text="Remote answer of some words.", **FAULTS[name])
                self.faults[name] += 1
            if rng.random() < 0.05:
                self.tandem.process.send_signal(signal.SIGHUP)
                self.faults["reload"] += 1
            if rng.random() < 0.1:
                self.faults["worker killed"] += kill_workers(self.tandem)

    def send(self, rng, connection, head, body, end):
        """Sends a request and leaves at some moment. Gives what came, or None."""
        self.ends[end] += 1
        if end in ("head", "body"):
            data = (
                head[: rng.randrange(len(head))] if end == "head" else head + body[: len(body) // 2]
            )
            connection.sendall(data)
            if rng.random() < 0.5:
                reset(connection)
            return None
        connection.sendall(head + body)
        if end == "half":
            connection.shutdown(socket.SHUT_WR)
        elif end == "sent":
            time.sleep(rng.choice([0, 0.002, 0.05]))
            reset(connection)
            return None
        elif end == "some":
            read_all(connection, rng.choice([1, 300, 2000]))
            reset(connection)
            return None
        got = read_all(connection)
        return got if end == "waits" or got else None

    def client(self, seed):
        rng = random.Random(seed)
        while True:
            with self.lock:
                if self.left <= 0 or len(self.wrong) > 5:
                    return
                self.left -= 1
            head, body = request_of(rng)
            end = rng.choice(ENDS)
            what = f"{head.decode().split(' HTTP')[0]} {end}"
            began = time.monotonic()
            try:
                at = ("127.0.0.1", self.tandem.port)
                with socket.create_connection(at, PATIENCE_S) as connection:
                    got = self.send(rng, connection, head, body, end)
                status = "left" if got is None else check_reply(got)
            except Cut as failure:
                # Whoever shuts its sending side has left, as nginx has it: what it still gets may
                # end anywhere.
                status = "left" if end == "half" else "wrong"
                if end != "half":
                    self.wrong.append(f"{what}: {failure}; {self.state()}")
            except Exception as failure:  # noqa: BLE001: what is wrong is told at the end
                status = "wrong"
                self.wrong.append(f"{what}: {type(failure).__name__}: {failure}; {self.state()}")
            with self.lock:
                self.statuses[status] += 1
                self.slowest = max(self.slowest, (time.monotonic() - began, what))

    def rage(self):
        disturber = threading.Thread(target=self.disturb, args=(random.Random(SEED),))
        clients = [
            threading.Thread(target=self.client, args=(f"{SEED} {i}",)) for i in range(CLIENTS)
        ]
        for thread in [disturber, *clients]:
            thread.start()
        for thread in clients:
            thread.join()
        self.over.set()
        disturber.join()

    def running(self):
        text = self.tandem.get("/metrics").body.decode()
        return [
            line.split()[-1]
            for line in text.splitlines()
            if line.startswith("tandem_exchanges_in_flight")
        ]

    def state(self):
        """For whoever looks into a failure: is the server there, and is anything stuck in it?"""
        try:
            return f"{self.running()} in flight"
        except OSError as failure:
            return f"no metrics: {failure}"

    def check_calm(self):
        """Nothing runs any more, and every dialect is answered again."""
        for cloud in self.clouds.values():
            cloud.script = Script(text="Remote.")
        wait_until(lambda: all(float(n) == 0 for n in self.running()), what="no exchange runs")
        for form in (chat, messages, response, completion):
            path, body = form(random.Random(1), "what can you do?")
            wait_until(
                lambda path=path, body=body: (
                    self.tandem.request("POST", path, {"model": "auto", **body}).status == 200
                ),
                what=f"an answer of {path}",
            )


@case
def nothing_breaks_in_a_storm_of_faults_and_clients_that_leave():
    storm = Storm(REQUESTS, confine=not os.environ.get("TSAN_OPTIONS"))
    try:
        storm.rage()
        seconds, what = storm.slowest
        print(
            f"{REQUESTS} requests: {dict(storm.statuses)}; the slowest took {seconds:.1f} s: {what}"
        )
        print(f"  clients: {dict(storm.ends)}\n  faults: {dict(storm.faults)}")
        log = "".join(storm.tandem.log)
        assert storm.tandem.process.poll() is None, "the server is gone:\n" + log[-20000:]
        equal(storm.wrong, [], "what was wrong")
        storm.check_calm()
        equal(storm.tandem.stop(), 0, "exit code")  # a sanitizer's report fails here
        environment = clean_environment(TEST_CLOUD_KEY="k")
        code, out, err = run("egress", "verify", storm.folder / "egress", env=environment)
        equal(code, 0, f"{out.decode()}{err}")
    finally:
        storm.tandem.stop(signal.SIGKILL)
        storm.close()


main()
