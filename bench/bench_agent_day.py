#!/usr/bin/env python3
"""A day's session of a coding agent: 200 turns, tools, a history that grows to 150 kB, of which all
but the last turn was sent before. A cloud that answers at once stands behind Tandem; each turn asks
it directly and through Tandem, by turns, and the difference is what Tandem costs.

    bench/bench_agent_day.py      (or: make bench, section "agents")

AGENT_TURNS (200) and AGENT_ROUNDS (3) change the run. Texts are files of this repository. Bodies
are made before the clock starts, and the cloud reads no JSON, so that the rest of the way costs
little and the same in both.
"""

import http.client
import json
import multiprocessing
import os
import socket
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
from table import ROOT, heading, row
from tandem import Tandem

TURNS = int(os.environ.get("AGENT_TURNS", "200"))
ROUNDS = int(os.environ.get("AGENT_ROUNDS", "3"))
BYTES = 150_000  # of the last turn's body
GOAL_MS = 5.0
LAST = 20  # turns that are shown apart: those with the longest history

CONFIG = """
tiers:
  - {{name: cloud, kind: openai, place: cloud, model: scripted, base_url: "{cloud}",
      api_key_env: TEST_CLOUD_KEY, context_tokens: 400000}}
routes: [{{name: auto, kind: cloud-only, tiers: [cloud]}}]
"""
PSEUDONYMS = CONFIG + "privacy: {{pseudonyms: {{on: true}}}}\n"


# --- the cloud, a process of its own ---


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    value = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "scripted",
        "choices": [choice],
    }
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def cloud_answer() -> bytes:
    call = {"name": "read_file", "arguments": '{"path": "src/base/bytes/buf.c"}'}
    calls = [{"index": 0, "id": "call_1", "type": "function", "function": call}]
    body = (
        chunk({"role": "assistant", "content": "I look at the file."})
        + chunk({"tool_calls": calls})
        + chunk({}, "tool_calls")
        + b"data: [DONE]\n\n"
    )
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n"
        % len(body)
        + body
    )


def serve_one(connection: socket.socket, answer: bytes) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    held = b""
    with connection:
        while True:
            while b"\r\n\r\n" not in held:
                data = connection.recv(1 << 18)
                if not data:
                    return
                held += data
            head, _, held = held.partition(b"\r\n\r\n")
            lines = [line.split(b":", 1) for line in head.lower().split(b"\r\n")[1:]]
            left = sum(int(v) for name, v in lines if name == b"content-length") - len(held)
            held = b""
            while left > 0:
                data = connection.recv(1 << 18)
                if not data:
                    return
                left -= len(data)
            connection.sendall(answer)


def serve_cloud(listener: socket.socket) -> None:
    answer = cloud_answer()
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve_one, args=(connection, answer), daemon=True).start()


# --- the session ---


def tool(number: int, text: str) -> dict[str, Any]:
    properties = {
        name: {"type": "string", "description": text[at : at + 160]}
        for at, name in enumerate(("path", "command", "pattern", "content"))
    }
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    name = "read_file" if number == 0 else f"tool_{number}"
    return {
        "type": "function",
        "function": {"name": name, "description": text[:700], "parameters": schema},
    }


def sources() -> str:
    """Text as an agent's tools bring it: code of the lowest folder."""
    return "".join(p.read_text() for p in sorted((ROOT / "src" / "base").glob("*.c")))


def turns() -> list[bytes]:
    """The bodies of a session's requests, each with all that was said before."""
    docs, code = (ROOT / "docs" / "architecture.md").read_text(), sources()
    system = {"type": "text", "text": docs[:12000], "cache_control": {"type": "ephemeral"}}
    tools = [tool(i, docs[400 * i :]) for i in range(16)]
    messages: list[dict[str, Any]] = [{"role": "system", "content": [system]}]
    head = len(json.dumps([messages, tools]))
    share = (BYTES - head) // TURNS - 270
    bodies = []
    for turn in range(TURNS):
        if turn % 10 == 0:
            messages.append({"role": "user", "content": f"Go on with step {turn // 10}, please."})
        bodies.append(
            json.dumps(
                {
                    "model": "auto",
                    "stream": True,
                    "prompt_cache_key": "session-1",
                    "messages": messages,
                    "tools": tools,
                }
            ).encode()
        )
        call = {"name": "read_file", "arguments": json.dumps({"path": f"src/base/part_{turn}.c"})}
        calls = [{"id": f"call_{turn}", "type": "function", "function": call}]
        at = turn * share % (len(code) - share)
        messages.append({"role": "assistant", "content": "I look at it.", "tool_calls": calls})
        messages.append(
            {"role": "tool", "tool_call_id": f"call_{turn}", "content": code[at : at + share]}
        )
    return bodies


class Asker:
    """One kept connection."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.connection.connect()
        assert self.connection.sock
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ms(self, body: bytes) -> float:
        begin = time.perf_counter()
        self.connection.request(
            "POST", "/v1/chat/completions", body, {"Content-Type": "application/json"}
        )
        answer = self.connection.getresponse()
        got = answer.read()
        spent = (time.perf_counter() - begin) * 1000
        if answer.status != 200 or b"[DONE]" not in got or b"read_file" not in got:
            raise RuntimeError(f"status {answer.status}: {got[:600]!r}")
        return spent


def session(tandem: Tandem, cloud_port: int, bodies: Sequence[bytes]) -> list[float]:
    """What Tandem adds to each turn, in ms."""
    ours, direct = Asker(tandem.port), Asker(cloud_port)
    return [ours.ms(body) - direct.ms(body) for body in bodies]


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def show(what: str, spent: Sequence[float], goal: bool) -> None:
    p50, p95 = statistics.median(spent), percentile(spent, 0.95)
    row(
        what,
        f"{p50:.2f} / {p95:.2f} ms",
        f"p50 / p95, goal <= {GOAL_MS:.0f}" if goal else "p50 / p95",
        p95 <= GOAL_MS if goal else None,
    )


def measure(config: str, cloud_port: int, bodies: Sequence[bytes]) -> list[list[float]]:
    rounds = []
    text = config.format(cloud=f"http://127.0.0.1:{cloud_port}/v1")
    for _ in range(ROUNDS):
        with Tandem(text, env={"TEST_CLOUD_KEY": "k"}) as tandem:
            rounds.append(session(tandem, cloud_port, bodies))
    return rounds


def run() -> None:
    bodies = turns()
    heading(f"A day of an agent: {TURNS} turns, the last of {len(bodies[-1]) / 1000:.0f} kB")
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    cloud = multiprocessing.Process(target=serve_cloud, args=(listener,), daemon=True)
    cloud.start()
    port = listener.getsockname()[1]
    try:
        for name, config in (("as shipped", CONFIG), ("with pseudonyms", PSEUDONYMS)):
            rounds = measure(config, port, bodies)
            every = [ms for got in rounds for ms in got]
            show(f"overhead of a turn, {name}", every, config is CONFIG)
            show(f"  the last {LAST} turns", [m for got in rounds for m in got[-LAST:]], False)
    finally:
        cloud.terminate()
        cloud.join()


if __name__ == "__main__":
    run()
