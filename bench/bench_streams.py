#!/usr/bin/env python3
"""Many streams at once: `tandem serve` beside llama-server on the same file, alternating.

    LLAMA_BIN=/folder/of/binaries bench/bench_streams.py      (or: make bench, section "streams")

Measured: tokens/s over eight streams, the time to the first token of each, the gaps between tokens
with and without a 2,000-token prompt that arrives meanwhile, the first token of a warm 512-token
prompt, what a second turn runs again, and decoding beside one foreign busy process. Without
LLAMA_BIN only ours is measured, beside figures recorded on a 2-core machine. Both servers have as
many slots and as much context, two threads, greedy sampling and no end token. BENCH_ROUNDS=1 and
BENCH_STREAMS_PARTS="eight long" shorten it.

The clients are one thread with one selector: it only notes when bytes came, and reads them when all
is over, so that it takes no core from the servers.
"""

import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
import peers
from bench_engine import model_file, setting
from table import heading, row
from tandem import Tandem

STREAMS, PROMPT, ANSWER = 8, 128, 128
LONG_PROMPT, LONG_ANSWER = (
    2000,
    384,
)  # the streams' answers while the long prompt runs: longer than it takes
WARM_PROMPT = 512
SLOTS, CONTEXT, THREADS = STREAMS + 1, 4096, 2
ROUNDS = int(setting("BENCH_ROUNDS", "1", "5"))
PARTS = os.environ.get("BENCH_STREAMS_PARTS", "eight long warm turns busy").split()
# llama-server of September 2026, 8 slots, 2 threads, 135M Q4_0, on a 2-core AVX-512 VNNI machine.
RECORDED = {"rate": 170.0, "warm": 860.0}


class Stream:
    """One streamed chat over a socket of its own; `arrived` holds (seconds, bytes) as they came."""

    def __init__(self, port: int, content: Any, tokens: Any, **members: Any) -> None:
        messages = content if isinstance(content, list) else [{"role": "user", "content": content}]
        body = json.dumps(
            {
                "model": "auto",
                "messages": messages,
                "max_tokens": tokens,
                "temperature": 0,
                "stream": True,
                "stream_options": {"include_usage": True},
                "logit_bias": {"2": -100},
                **members,
            }
        ).encode()
        self.arrived, self.events, self.usage = [], [], {}
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.begin = time.perf_counter()
        self.socket.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
            b"content-type: application/json\r\nx-tandem-mode: only-local\r\n"
            b"content-length: %d\r\n\r\n" % len(body) + body
        )
        self.socket.setblocking(False)

    def take(self) -> bool:
        """Reads what is there; False at the end."""
        try:
            data = self.socket.recv(1 << 16)
        except BlockingIOError:
            return True
        self.arrived.append((time.perf_counter(), data))
        return bool(data)

    def finish(self) -> None:
        """The times of the events that carry tokens, from the bytes that came."""
        self.socket.close()
        held = b""
        for at, data in self.arrived:
            *lines, held = (held + data).split(b"\n")
            for line in lines:
                if not line.startswith(b"data: {"):
                    continue
                event = json.loads(line[6:])
                if "error" in event:
                    raise RuntimeError(f"the server said {event}")
                self.usage = event.get("usage") or self.usage
                choices = event.get("choices") or []
                # An answer may be nothing but bytes that are no character: then its end counts.
                last = bool(choices and choices[0].get("finish_reason") and not self.events)
                if last or (choices and choices[0].get("delta", {}).get("content") is not None):
                    self.events.append(at)
        if not self.usage:
            raise RuntimeError(
                f"no whole answer came: {b''.join(data for _, data in self.arrived)[:500]!r}"
            )

    @property
    def first_ms(self) -> Any:
        return (self.events[0] - self.begin) * 1000


def drive(streams: Any, at_tokens: Any = None, then: Any = None) -> Any:
    """Reads all streams to their ends; once each has brought at_tokens pieces, then() adds
    another."""
    selector = selectors.DefaultSelector()
    for stream in streams:
        selector.register(stream.socket, selectors.EVENT_READ, stream)
    added = None
    while selector.get_map():
        ready = selector.select(30)
        if not ready:
            raise RuntimeError("a server sent nothing for 30 s")
        for key, _ in ready:
            if not key.data.take():
                selector.unregister(key.fileobj)
        if then and all(len(stream.arrived) >= at_tokens for stream in streams):
            added, then = then(), None
            selector.register(added.socket, selectors.EVENT_READ, added)
    for stream in streams + ([added] if added else []):
        stream.finish()
    return added


class Ours:
    name = "tandem"

    def __init__(self, model: Path) -> None:
        self.server = Tandem(
            f"engine: {{model: {model}, threads: {THREADS}, slots: {SLOTS}, context_tokens:"
            f" {CONTEXT}}}\ntiers: [{{name: local, kind: local}}]\n"
        )
        self.port = self.server.port

    def stop(self) -> None:
        self.server.stop()


class Peer:
    name = "llama-server"

    def __init__(self, model: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        assert peers.LLAMA_BIN
        program = peers.LLAMA_BIN / "llama-server"
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [
                str(program),
                "-m",
                str(model),
                "-np",
                str(SLOTS),
                "-c",
                str(SLOTS * CONTEXT),
                "-t",
                str(THREADS),
                "-tb",
                str(THREADS),
                "--port",
                str(self.port),
                "--host",
                "127.0.0.1",
            ],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )
        until = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=1).close()
                return
            except OSError:
                if time.monotonic() > until or self.process.poll() is not None:
                    self.log.seek(0)
                    raise RuntimeError(
                        "llama-server did not start:\n" + self.log.read().decode()[-2000:]
                    ) from None
                time.sleep(0.05)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


class Prompts:
    """Texts of exactly so many tokens on one server, no two with a common beginning. The synthetic
    vocabulary spells letters as one token each, so one request tells what the template adds."""

    def __init__(self, server: Any) -> None:
        self.server, self.count = server, 0
        stream = Stream(server.port, "x" * 50, 1)
        drive([stream])
        self.overhead = stream.usage["prompt_tokens"] - 50

    def text(self, tokens: Any) -> Any:
        self.count += 1
        head, n = "", self.count
        while n:
            head, n = head + chr(97 + n % 26), n // 26
        return (head + "qwertyuiopasdfghjklzxcvbnm" * (tokens // 26 + 1))[: tokens - self.overhead]

    def stream(self, tokens: Any, answer: Any) -> Stream:
        return Stream(self.server.port, self.text(tokens), answer)


def percentile(values: Sequence[float], share: float) -> Any:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def eight_streams(prompts: Prompts) -> dict:
    streams = [prompts.stream(PROMPT, ANSWER) for _ in range(STREAMS)]
    drive(streams)
    tokens = sum(stream.usage["completion_tokens"] for stream in streams)
    seconds = max(stream.events[-1] for stream in streams) - min(stream.begin for stream in streams)
    firsts = sorted(stream.first_ms for stream in streams)
    return {
        "rate": tokens / seconds,
        "first of the first": firsts[0],
        "first of the middle": statistics.median(firsts),
        "first of the last": firsts[-1],
    }


def long_prompt_meanwhile(prompts: Prompts) -> dict:
    """Gaps of running streams, and those that touch the time from the long prompt's arrival to its
    first token."""
    streams = [prompts.stream(PROMPT, LONG_ANSWER) for _ in range(STREAMS)]
    added = drive(streams, 64, lambda: prompts.stream(LONG_PROMPT, 1))
    calm, mixed = [], []
    start = max(stream.events[0] for stream in streams)
    for stream in streams:
        for before, after in zip(stream.events, stream.events[1:]):
            if before >= start and after <= added.begin:
                calm.append((after - before) * 1000)
            elif after > added.begin and before < added.events[0]:
                mixed.append((after - before) * 1000)
    return {
        "calm p50": percentile(calm, 0.5),
        "calm p99": percentile(calm, 0.99),
        "mixed p50": percentile(mixed, 0.5),
        "mixed p99": percentile(mixed, 0.99),
        "first": added.first_ms,
    }


def warm_first_token(prompts: Prompts) -> dict:
    stream = prompts.stream(WARM_PROMPT, 2)
    drive([stream])
    return {"warm": stream.first_ms}


def second_turn(prompts: Prompts) -> dict:
    """A conversation goes on: what the second request runs again."""
    text = prompts.text(WARM_PROMPT)
    first = Stream(prompts.server.port, text, 16)
    drive([first])
    answer = ""
    for line in b"".join(data for _, data in first.arrived).split(b"\n"):
        if line.startswith(b"data: {"):
            for choice in json.loads(line[6:])["choices"]:
                answer += choice["delta"].get("content") or ""
    second = Stream(
        prompts.server.port,
        [
            {"role": "user", "content": text},
            {"role": "assistant", "content": answer},
            {"role": "user", "content": "and then what"},
        ],
        2,
    )
    drive([second])
    details = second.usage.get("prompt_tokens_details") or {}
    return {
        "second": second.first_ms,
        "prompt": second.usage["prompt_tokens"],
        "cached": details.get("cached_tokens", 0),
    }


MEASURES = {
    "eight": eight_streams,
    "long": long_prompt_meanwhile,
    "warm": warm_first_token,
    "turns": second_turn,
}


def measure(kinds: Any, model: Path) -> dict:
    """{part: {server: {figure: median over the rounds}}}; servers take turns, one at a time is
    awake."""
    parts = [part for part in PARTS if part in MEASURES]
    runs = {part: {kind.name: [] for kind in kinds} for part in parts}
    servers = [kind(model) for kind in kinds]
    try:
        prompts = [Prompts(server) for server in servers]
        for one in prompts:
            drive([one.stream(WARM_PROMPT, 8)])  # pages touched, weights in the cache
        for _ in range(ROUNDS):
            for part in parts:
                for server, one in zip(servers, prompts):
                    runs[part][server.name].append(MEASURES[part](one))
    finally:
        for server in servers:
            server.stop()
    return {
        part: {
            name: {figure: statistics.median(run[figure] for run in got) for figure in got[0]}
            for name, got in by.items()
        }
        for part, by in runs.items()
    }


class Busy:
    """One foreign process that never rests."""

    def __enter__(self) -> None:
        self.process = subprocess.Popen(["sh", "-c", "while :; do :; done"])

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def busy_neighbour(model: Path) -> None:
    alone, beside = [], []
    for _ in range(ROUNDS):
        alone.append(peers.ours(model, 1, 16, ANSWER)[1])
        with Busy():
            beside.append(peers.ours(model, THREADS, 16, ANSWER)[1])
    alone, beside = statistics.median(alone), statistics.median(beside)
    row(
        "decode, 2 threads beside a busy process",
        f"{beside:.1f} tok/s",
        f"1 thread undisturbed {alone:.1f}, ratio {beside / alone:.2f}, goal >= 1.0",
        beside >= alone,
    )


def ratio_row(what: str, unit: str, mine: Any, other: Any, goal: Any, sooner: bool = False) -> None:
    if other is None:
        row(what, f"{mine:.1f} {unit}")
        return
    ratio = other / mine if sooner else mine / other
    row(
        what,
        f"{mine:.1f} {unit}",
        f"llama-server {other:.1f}, {ratio:.2f} x{f', goal >= {goal}' if goal else ''}",
        ratio >= goal if goal else None,
    )


def report(got: Any, recorded: Any) -> None:
    def other(part: str, figure: str) -> Any:
        return got[part].get("llama-server", recorded).get(figure)

    def mine(part: str, figure: str) -> Any:
        return got[part]["tandem"][figure]

    if "eight" in got:
        ratio_row(
            f"{STREAMS} streams of {PROMPT} + {ANSWER} tokens",
            "tok/s",
            mine("eight", "rate"),
            other("eight", "rate"),
            1.5,
        )
        for which in ("first", "middle", "last"):
            figure = f"first of the {which}"
            ratio_row(
                f"  first token, {which} of the {STREAMS}",
                "ms",
                mine("eight", figure),
                other("eight", figure),
                None,
                True,
            )
        one_by_one = mine("eight", "first of the first") <= 0.5 * mine("eight", "first of the last")
        row("  first tokens come one after another", "yes" if one_by_one else "no", "", one_by_one)
    if "long" in got:
        for server in got["long"]:
            figures = got["long"][server]
            growth = figures["mixed p99"] / figures["calm p99"]
            row(
                f"{server}: gap between tokens, p50 / p99",
                f"{figures['calm p50']:.1f} / {figures['calm p99']:.1f} ms",
            )
            row(
                f"{server}:   while {LONG_PROMPT} tokens of prompt run",
                f"{figures['mixed p50']:.1f} / {figures['mixed p99']:.1f} ms",
                f"p99 {growth:.2f} x{', goal <= 2.0' if server == 'tandem' else ''}",
                growth <= 2.0 if server == "tandem" else None,
            )
            row(f"{server}:   first token of that prompt", f"{figures['first']:.0f} ms")
    if "warm" in got:
        ratio_row(
            f"first token of a {WARM_PROMPT}-token prompt, warm",
            "ms",
            mine("warm", "warm"),
            other("warm", "warm"),
            2.0,
            True,
        )
    if "turns" in got:
        ratio_row(
            "first token of a second turn",
            "ms",
            mine("turns", "second"),
            other("turns", "second"),
            None,
            True,
        )
        prompt, cached = mine("turns", "prompt"), mine("turns", "cached")
        row(
            "  prompt tokens that were there already",
            f"{cached:.0f} of {prompt:.0f}",
            "goal: all but the new turn's",
            cached >= WARM_PROMPT,
        )


def run() -> None:
    model = model_file("135M", "Q4_0")
    peer = bool(peers.LLAMA_BIN)
    heading(
        f"Streams beside llama-server ({'measured alternately' if peer else 'recorded figures'}),"
        f" 135M Q4_0, {THREADS} threads, median of {ROUNDS}"
    )
    got = measure([Ours, Peer] if peer else [Ours], model)
    report(got, RECORDED)
    if "busy" in PARTS:
        busy_neighbour(model)


if __name__ == "__main__":
    run()
