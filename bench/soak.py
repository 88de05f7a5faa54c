#!/usr/bin/env python3
"""Two nodes on PostgreSQL and Redis while everything dies, and one table of what became of it.

    bench/soak.py                  the long form: 10 minutes, 100 reloads and 30 kills, 60 minutes
    bench/soak.py --short          the same in some minutes
    bench/soak.py --only deaths --seconds 120 --rate 500

deaths    a node, then Redis, then PostgreSQL is killed (-9) and comes back
restarts  both nodes read their configuration again, and are killed (-9) one after the other
mixed     every kind of request, many of them left before their answer: descriptors and memory

Clients are as an SDK is: whoever is refused or cut off before the answer is whole asks the other
node. The upstream is gateway_mock, so what is counted is what Tandem and its stores do."""

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
import postgres
import redis_server
from gateway_rig import TIERS, Mock, build_programs
from postgres import Postgres, free_port
from redis_server import Redis
from table import heading, row
from tandem import Tandem, clean_environment, wait_until

PROCESSES = 2
THREADS = 24  # in each
ANSWER_S = 30
PAIR = """
state: {database}
cluster: {{redis: {redis}, key_env: CLUSTER_KEY}}
"""
DURABLE = "ledger: {{durable: {name}}}\n"


# --- clients ---


class Cut(Exception):
    """No whole answer came: another node may be asked."""


class Connection:
    """One kept connection to a node; as little of HTTP as the nodes speak here."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.socket: socket.socket | None = None
        self.rest = b""

    def close(self) -> None:
        if self.socket:
            self.socket.close()
        self.socket = None

    def _more(self) -> None:
        assert self.socket
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("the connection ended")
        self.rest += piece

    def _answer(self) -> tuple[int, bytes]:
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lower = head.lower()
        at = lower.find(b"\r\ncontent-length:")
        if at < 0:
            raise ConnectionError("an answer without a length")
        length = int(lower[at + 17 :].split(b"\r\n", 1)[0])
        while len(self.rest) < length:
            self._more()
        self.rest = self.rest[length:]
        if b"\r\nconnection: close" in lower:
            self.close()
        return int(head[9:12]), head

    def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and head. A kept connection may have been closed while it was idle: then it is
        made anew, once, as every client does."""
        kept = self.socket is not None
        for again in (kept, False):
            try:
                if not self.socket:
                    self.socket = socket.create_connection(("127.0.0.1", self.port), ANSWER_S)
                    self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self.rest = b""
                self.socket.sendall(request)
                return self._answer()
            except (OSError, ValueError) as fault:
                self.close()
                if not again:
                    raise Cut(repr(fault)) from fault
        raise Cut("unreachable")


def chat_request(text: str, key: str | None) -> bytes:
    body = json.dumps({"model": "auto", "messages": [{"role": "user", "content": text}]}).encode()
    more = f"Authorization: Bearer {key}\r\n" if key else ""
    return (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\n"
        f"{more}Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


@dataclass
class Told:
    """What the clients of one process saw."""

    answered: list[tuple[float, str, int]] = field(default_factory=list)  # when, exchange, node
    codes: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    again: int = 0  # asked at the other node
    slowest_ms: float = 0


def exchange_of(head: bytes) -> str:
    at = head.lower().find(b"\r\nx-tandem-exchange: ")
    return head[at + 21 :].split(b"\r\n", 1)[0].decode() if at >= 0 else ""


def client(ports: list[int], pause_s: float, ends: Any, told: Told, lock: threading.Lock) -> None:
    connections = [Connection(port) for port in ports]
    request = chat_request("When does the second convoy leave the harbour?", None)
    due = time.monotonic() + random.random() * pause_s
    while not ends.is_set():
        time.sleep(max(0.0, due - time.monotonic()))
        due = max(due + pause_s, time.monotonic() - 1)
        begun = time.monotonic()
        first = random.randrange(len(ports))
        why = []
        for which in (first, 1 - first):
            try:
                code, head = connections[which].ask(request)
            except Cut as cut:
                why.append(f"{which}: {cut}")
                continue
            with lock:
                told.codes[str(code)] += 1
                if code == 200:
                    told.answered.append((time.time(), exchange_of(head), which))
                elif code != 429:
                    why.append(f"{which}: {code}")
                    continue
            break
        else:
            with lock:
                told.lost.append(f"{time.time():.2f} " + "; ".join(why))
        with lock:
            told.again += bool(why)
            told.slowest_ms = max(told.slowest_ms, 1000 * (time.monotonic() - begun))
    for connection in connections:
        connection.close()


def clients_of_a_process(ports: list[int], rate: float, ends: Any, out: Any) -> None:
    told = Told()
    lock = threading.Lock()
    threads = [
        threading.Thread(target=client, args=(ports, THREADS / rate, ends, told, lock))
        for _ in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    out.send(told)


class Load:
    """So many requests a second, in processes of their own."""

    def __init__(self, ports: list[int], rate: float) -> None:
        self.ends = multiprocessing.Event()
        self.pipes = []
        self.processes = []
        self.begun = time.time()
        for _ in range(PROCESSES):
            ours, theirs = multiprocessing.Pipe(False)
            process = multiprocessing.Process(
                target=clients_of_a_process, args=(ports, rate / PROCESSES, self.ends, theirs)
            )
            process.start()
            self.pipes.append(ours)
            self.processes.append(process)

    def end(self) -> Told:
        self.ends.set()
        whole = Told()
        for pipe, process in zip(self.pipes, self.processes, strict=True):
            told: Told = pipe.recv()
            process.join()
            whole.answered += told.answered
            whole.codes += told.codes
            whole.lost += told.lost
            whole.again += told.again
            whole.slowest_ms = max(whole.slowest_ms, told.slowest_ms)
        self.seconds = time.time() - self.begun
        return whole


# --- nodes ---


class Node:
    """A node that keeps its port and its state folder over its deaths."""

    def __init__(self, name: str, config: str) -> None:
        self.port = free_port()
        self.environment = {
            "TEST_CLOUD_KEY": "k",
            "CLUSTER_KEY": "5e" * 32,
            "TANDEM_NODE": name,
            "TANDEM_LISTEN": f"127.0.0.1:{self.port}",
        }
        self.server = Tandem(config, env=self.environment)
        self.deaths: list[tuple[float, float]] = []  # killed, ready again
        self.logs: list[str] = []

    def kill(self) -> None:
        self.killed = time.time()
        self.server.process.send_signal(signal.SIGKILL)
        self.server.ended()
        self.logs += self.server.log

    def start(self) -> None:
        kept = {key: value for key, value in self.server.environment.items() if "TANDEM" in key}
        self.server = Tandem(env={**clean_environment(), **self.environment, **kept})
        self.deaths.append((self.killed, time.time()))

    def reload(self) -> None:
        self.server.process.send_signal(signal.SIGHUP)

    def in_touch(self) -> bool:
        return "limits" not in self.server.get("/readyz").json

    def log(self) -> list[str]:
        return self.logs + self.server.log


@contextlib.contextmanager
def pair(mock: Mock, limit: int = 0, more: str = "") -> Any:
    """PostgreSQL, Redis and two nodes."""
    with Postgres() as db, Redis() as redis:
        config = TIERS.format(port=mock.port) + PAIR.format(database=db.url, redis=redis.url)
        config += more
        if limit:
            config = config.replace(
                "context_tokens: 400000",
                f"context_tokens: 400000, limits: {{requests_per_minute: {limit}}}",
            )
        nodes = [Node(name, config) for name in "ab"]
        try:
            for node in nodes:
                wait_until(node.in_touch, 15)
            yield db, redis, nodes
        finally:
            for node in nodes:
                node.server.stop()


def most_in_a_minute(times: list[float]) -> int:
    times = sorted(times)
    most = begin = 0
    for end, when in enumerate(times):
        while times[begin] <= when - 60:
            begin += 1
        most = max(most, end - begin + 1)
    return most


def lost_rows(db: Postgres, told: Told, nodes: list[Node], late_s: float) -> int:
    """Answered exchanges that the database has not got, but for those of a node that was killed
    within so many seconds of the answer."""

    def safe(when: float, which: int) -> bool:
        return all(not killed - late_s < when <= killed for killed, _ in nodes[which].deaths)

    wanted = {name for when, name, which in told.answered if safe(when, which)}

    def missing() -> set[str]:
        return wanted - {line[0] for line in db.query("SELECT id FROM tandem.exchange")}

    with contextlib.suppress(AssertionError, TimeoutError):
        wait_until(lambda: not missing(), 60)
    return len(missing())


def tell_load(told: Told, load: Load, rate: float) -> None:
    count = sum(told.codes.values())
    row(
        "  seconds, requests a second",
        f"{load.seconds:.0f}, {count / load.seconds:.0f}",
        f"of {rate:.0f}",
        count / load.seconds >= 0.95 * rate,
    )
    row("  answers by status", " ".join(f"{k}:{v}" for k, v in sorted(told.codes.items())))
    row("  asked again at the other node", str(told.again))
    row("  the slowest request", f"{told.slowest_ms:.0f} ms")
    row("  requests lost while a node lived", str(len(told.lost)), "0", not told.lost)
    for line in told.lost[:5]:
        print("   ", line)


# --- stages ---


def deaths(seconds: float, rate: float) -> None:
    heading(f"a node, Redis and PostgreSQL die in turn, {seconds:.0f} s")
    limit = int(0.8 * rate * 60)
    with Mock(8, 0) as mock, pair(mock, limit) as (db, redis, nodes):
        load = Load([node.port for node in nodes], rate)

        def until(share: float) -> None:
            time.sleep(max(0.0, load.begun + share * seconds - time.time()))

        until(0.10)
        nodes[1].kill()
        until(0.20)
        nodes[1].start()
        until(0.30)
        redis.kill()
        until(0.45)
        redis.start()
        until(0.60)
        db.kill()
        until(0.75)
        db.start()
        until(1)
        told = load.end()
        tell_load(told, load, rate)
        if seconds > 60:
            most = most_in_a_minute([when for when, _, _ in told.answered])
            share = most / limit
            row("  most in a minute, of the limit", f"{most} of {limit}", "<= 1.05", share <= 1.05)
        missing = lost_rows(db, told, nodes, 1)
        row("  answered more than a second before, lost", str(missing), "0", missing == 0)
        for node in nodes:
            wait_until(node.in_touch, 20)
        dropped = sum(
            "tandem_ledger_dropped_total 0\n" not in node.server.get("/metrics").body.decode()
            for node in nodes
        )
        row("  nodes that dropped records", str(dropped), "0", dropped == 0)
        if missing or dropped:
            for node in nodes:
                print(*(f"    {line}" for line in node.log() if "event=" in line), sep="")


def restarts(reloads: int, kills: int, seconds: float, rate: float, durable: str) -> None:
    heading(f"{reloads} reloads and {kills} kills under load, ledger.durable: {durable}")
    more = DURABLE.format(name=durable)
    with Mock(8, 0) as mock, pair(mock, more=more) as (db, _, nodes):
        load = Load([node.port for node in nodes], rate)
        done = threading.Event()

        def reload_all() -> None:
            for i in range(reloads):
                time.sleep(seconds / reloads)
                with contextlib.suppress(ProcessLookupError):
                    nodes[i % 2].reload()
            done.set()

        thread = threading.Thread(target=reload_all)
        thread.start()
        for i in range(kills):
            nodes[i % 2].kill()
            nodes[i % 2].start()
            time.sleep(max(0.0, load.begun + (i + 1) * seconds / kills - time.time()))
        thread.join()
        told = load.end()
        tell_load(told, load, rate)
        read = sum("event=config_reloaded" in line for node in nodes for line in node.log())
        row("  reloads that were read", str(read) if read else "not logged")
        late_s = 0 if durable == "answer" else 1
        missing = lost_rows(db, told, nodes, late_s)
        row(f"  rows answered {late_s} s before and lost", str(missing), "0", missing == 0)
        twice = db.number(
            "SELECT count(*) FROM (SELECT id FROM tandem.exchange GROUP BY id HAVING count(*) > 1)"
            " AS twice"
        )
        row("  rows that stand there twice", str(twice), "0", twice == 0)


class Mixed:
    """Clients that ask everything, and go when they please."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.ends = threading.Event()
        self.kinds: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.large = "The harbour is closed to large ships until the ebb. " * 3000

    def send(self, path: str, body: bytes, headers: str = "") -> socket.socket:
        out = socket.create_connection(("127.0.0.1", self.port), ANSWER_S)
        out.sendall(
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Connection: close\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode()
        )
        out.sendall(body)
        return out

    def read(self, out: socket.socket, at_most: int) -> None:
        got = b""
        while len(got) < at_most:
            piece = out.recv(65536)
            if not piece:
                break
            got += piece
        with self.lock:
            self.codes[got[9:12].decode() or "none"] += 1

    def chat(self, stream: bool, at_most: int, large: bool = False) -> None:
        text = self.large if large else f"When does convoy {random.random()} leave?"
        body = {"model": "auto", "stream": stream, "messages": [{"role": "user", "content": text}]}
        with self.send("/v1/chat/completions", json.dumps(body).encode()) as out:
            self.read(out, at_most)

    def anthropic(self, stream: bool, at_most: int) -> None:
        body = {
            "model": "auto",
            "max_tokens": 64,
            "stream": stream,
            "messages": [{"role": "user", "content": f"Which ship is number {random.random()}?"}],
        }
        with self.send("/v1/messages", json.dumps(body).encode()) as out:
            self.read(out, at_most)

    def embeddings(self) -> None:
        body = {"model": "auto", "input": ["a harbour", "a convoy"]}
        with self.send("/v1/embeddings", json.dumps(body).encode()) as out:
            self.read(out, 1 << 20)

    def wrong(self) -> None:
        bodies = (
            b"{",
            b"[]",
            b'{"model": 7}',
            b'{"model":"auto","messages":"hello"}',
            b'{"model":"auto","messages":[{"role":"user","content":' + b"[" * 5000,
            b"\xff\xfe{}",
        )
        path = random.choice(("/v1/chat/completions", "/v1/messages", "/v1/embeddings"))
        with self.send(path, random.choice(bodies)) as out:
            self.read(out, 1 << 20)

    def half(self) -> None:
        """Goes in the middle of the head, or of the body; with a reset, sometimes."""
        with socket.create_connection(("127.0.0.1", self.port), ANSWER_S) as out:
            head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
            whole = head + b"Content-Length: 90000\r\n\r\n" + b'{"model":"auto",' + b" " * 60000
            out.sendall(whole[: random.randrange(1, len(whole))])
            if random.random() < 0.5:
                out.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def loop(self, pause_s: float) -> None:
        ways: list[tuple[str, Callable[[], None]]] = [
            ("stream", lambda: self.chat(True, 1 << 20)),
            ("stream, left", lambda: self.chat(True, random.randrange(1, 3000))),
            ("whole", lambda: self.chat(False, 1 << 20)),
            ("whole, left", lambda: self.chat(random.random() < 0.5, 0)),
            ("large", lambda: self.chat(random.random() < 0.5, 1 << 20, True)),
            ("large, left", lambda: self.chat(random.random() < 0.5, 0, True)),
            ("Anthropic", lambda: self.anthropic(random.random() < 0.5, 1 << 20)),
            ("Anthropic, left", lambda: self.anthropic(True, random.randrange(0, 2000))),
            ("embeddings", self.embeddings),
            ("wrong", self.wrong),
            ("half", self.half),
        ]
        while not self.ends.is_set():
            name, way = random.choice(ways)
            why = ""
            try:
                way()
            except OSError as fault:
                why = type(fault).__name__
            with self.lock:
                self.kinds[name] += 1
                if why:
                    self.codes[why] += 1
            time.sleep(pause_s * random.random() * 2)

    def run(self, seconds: float, rate: float) -> None:
        self.ends.clear()
        threads = [
            threading.Thread(target=self.loop, args=(THREADS / rate,)) for _ in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        self.ends.set()
        for thread in threads:
            thread.join()


def at_rest(node: Node) -> tuple[int, int]:
    """Descriptors, and resident bytes, when nothing has run for a while."""
    pid = node.server.process.pid
    time.sleep(8)
    return len(os.listdir(f"/proc/{pid}/fd")), node.server.rss_bytes()


def mixed(seconds: float, rate: float) -> None:
    heading(f"mixed requests, many of them left, {seconds / 60:.0f} minutes")
    with Mock(30, 4000) as mock, pair(mock) as (_, _, nodes):
        node = nodes[0]
        clients = Mixed(node.port)
        clients.run(min(60.0, seconds / 5), rate)  # buffers and pools have their size then
        before = at_rest(node)
        clients.kinds.clear()
        clients.codes.clear()
        sizes = []
        part = seconds / 10
        for _ in range(10):
            clients.run(part, rate)
            sizes.append(node.server.rss_bytes() >> 20)
        after = at_rest(node)
        count = sum(clients.kinds.values())
        row("  requests, a second", f"{count}, {count / seconds:.0f}")
        row("  kinds", str(len(clients.kinds)))
        print("   ", dict(clients.kinds))
        print("   ", dict(clients.codes))
        row(
            "  descriptors at rest",
            f"{before[0]} -> {after[0]}",
            "none more",
            after[0] <= before[0],
        )
        growth = after[1] / before[1] - 1
        row(
            "  resident MiB at rest",
            f"{before[1] >> 20} -> {after[1] >> 20}",
            "+10 %",
            growth <= 0.10,
        )
        print("    under load, MiB:", sizes)
        row(
            "  it lives and answers",
            str(node.server.get("/readyz").status),
            "200",
            node.server.get("/readyz").status == 200,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="some minutes in all")
    parser.add_argument("--only", choices=("deaths", "restarts", "mixed"))
    parser.add_argument("--seconds", type=float, help="of each stage")
    parser.add_argument("--rate", type=float, default=1000, help="requests a second")
    parser.add_argument(
        "--durable",
        choices=("answer", "batch"),
        default="answer",
        help="ledger.durable of the restarts; with batch a kill may lose the last second",
    )
    args = parser.parse_args()
    if why := postgres.missing() or redis_server.missing():
        sys.exit(why)
    build_programs()
    tempfile.tempdir = "/tmp"
    stages = (args.only,) if args.only else ("deaths", "restarts", "mixed")
    if "deaths" in stages:
        deaths(args.seconds or (80 if args.short else 600), args.rate)
    if "restarts" in stages:
        few = args.short
        restarts(
            20 if few else 100,
            6 if few else 30,
            args.seconds or (30 if few else 150),
            args.rate,
            args.durable,
        )
    if "mixed" in stages:
        mixed(args.seconds or (40 if args.short else 3600), min(args.rate, 150))


if __name__ == "__main__":
    main()
