#!/usr/bin/env python3
"""What the gateway costs, beside nginx as a plain proxy and beside no proxy at all.

    make bench-gateway      (or: bench/bench_gateway.py; BENCH_QUICK=1 is a short run)

A mock in C answers at once; a load generator in C asks it directly, through nginx (package
nginx-light) and through gateways with more and more switched on. All take turns in one run, in
random order, and what is shown of each is the difference to the direct rounds beside it, with a
95 % interval (bootstrap over rounds). CPU time is what the scheduler counted for all threads of a
process. The machine is shared by mock, load generator and gateway, so times of two cores are not
those of a server with cores of its own; CPU time is.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
from gateway_rig import (
    LITELLM,
    NGINX,
    Gateway,
    LiteLLM,
    Load,
    Mock,
    Nginx,
    Round,
    allow_many_files,
    build_programs,
    pin,
)
from table import heading, row
from tandem import BINARY, rss_bytes

QUICK = os.environ.get("BENCH_QUICK") == "1"
ROUNDS = 8 if QUICK else 40
RESAMPLES = 400
STREAMS = 500 if QUICK else 5000
STREAM_SECONDS = 10 if QUICK else int(os.environ.get("BENCH_STREAM_SECONDS", "60"))
EVENTS_A_SECOND = 20
RAMP_US = 2000
IDLE_S = 15  # by then a server has given back what its start needed
BURST = 200 if QUICK else 1500

OFF_ROUTER = "router: {classifier: none, consistency: {on: false}}\n"
OFF_NAMES = "privacy: {names: {on: false}}\n"
OFF_LEDGER = "ledger: {enabled: false, egress: none}\n"
RULES = 'rules: [{name: law, when: {tag: legal}, then: {deny: "not by this way"}}]\n'
LANES = {
    "pass-through": OFF_ROUTER + OFF_NAMES + OFF_LEDGER,
    "+ policy": RULES + OFF_NAMES + OFF_LEDGER,
    "+ privacy": OFF_ROUTER + OFF_LEDGER,
    "+ everything": RULES,
}
EVERYTHING = "+ everything"
LIMITS = "server: {connections_max: 20000, buffered_bytes_max: 1073741824}\n"

Seen = dict[str, list[Round]]


# --- bodies ---

WORDS = (
    "the a of and to in with for from over under between before after while because harbour ship"
    " convoy coal tide road field engine letter answer question table window river bridge market"
    " morning evening winter summer north south large small early late quiet heavy open closed"
    " waits takes brings carries leaves reaches counts loads writes reads turns stands moves holds"
).split()
NAMES = ("Hull", "Margaret Ellison", "Bergen", "Tobias Lind", "Lisbon", "Harland Works")


def prose(size: int) -> str:
    """Sentences of everyday words and a few names, none of it private; the same in every run."""
    dice = random.Random(5)
    sentences, length = [], 0
    while length < size:
        words = [
            dice.choice(NAMES) if dice.random() < 0.06 else dice.choice(WORDS) for _ in range(14)
        ]
        sentences.append(" ".join(words).capitalize() + ". ")
        length += len(sentences[-1])
    return "".join(sentences)[:size]


def chat(size: int, **more: Any) -> bytes:
    """A chat of about `size` bytes; each request gets a number of its own in it."""
    messages = [
        {"role": "system", "content": "You answer questions about the harbour's timetable."},
        {"role": "user", "content": ""},
    ]
    body = {"model": "auto", "messages": messages, **more}
    room = size - len(json.dumps(body)) - 60
    story = "The second convoy waits in the roads of Hull with Margaret Ellison and takes coal. "
    text = prose(room) if size > 10_000 else (story * (room // len(story) + 1))[:room]
    messages[1]["content"] = f"Question ########: {text}"
    return json.dumps(body, separators=(",", ":")).encode()


def message(size: int) -> bytes:
    """The same question in Anthropic's form."""
    asked = json.loads(chat(size))
    return json.dumps(
        {
            "model": "auto",
            "max_tokens": 400,
            "system": asked["messages"][0]["content"],
            "messages": asked["messages"][1:],
        },
        separators=(",", ":"),
    ).encode()


# --- figures ---


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def pooled(rounds: Sequence[Round], member: str) -> list[float]:
    return [value for one in rounds for value in getattr(one, member)]


def added(
    seen: Seen, lane: str, base: str, member: str, share: float
) -> tuple[float, float, float]:
    """The difference of two lanes' percentiles, and its interval over rounds."""

    def difference(chosen: Sequence[int]) -> float:
        of_lane, of_base = (
            percentile(pooled([seen[name][i] for i in chosen], member), share)
            for name in (lane, base)
        )
        return of_lane - of_base

    dice = random.Random(7)
    every = range(len(seen[lane]))
    drawn = sorted(difference(dice.choices(every, k=len(every))) for _ in range(RESAMPLES))
    return difference(every), drawn[int(RESAMPLES * 0.025)], drawn[int(RESAMPLES * 0.975)]


def show_added(what: str, figures: tuple[float, float, float], most: float | None = None) -> None:
    value, low, high = figures
    text = f"{value:.0f} us [{low:.0f} .. {high:.0f}]"
    if most is None:
        row(what, text)
    else:
        row(what, text, f"goal <= {most:g} us", value <= most)


def cpu_of(rounds: Sequence[Round]) -> float:
    """Microseconds a request."""
    return sum(one.cpu for one in rounds) / max(1, sum(len(one.whole) for one in rounds))


def rate(rounds: Sequence[Round]) -> float:
    return statistics.median(len(one.whole) / one.seconds for one in rounds)


# --- running ---


def take_turns(load: Load, lanes: dict[str, Any], rounds: int) -> Seen:
    """Each lane once a round, in an order of its own; lanes: name -> (port, pids). The first round
    warms up."""
    seen: Seen = {name: [] for name in lanes}
    dice = random.Random(11)
    for turn in range(rounds + 1):
        for name in dice.sample(list(lanes), len(lanes)):
            port, pids = lanes[name]
            got = load.run(port, pids)
            if turn > 0:
                seen[name].append(got)
    return seen


def with_lanes(
    tokens: int, interval_us: int, configs: dict[str, str], use: Callable[..., None]
) -> None:
    """Starts a mock, nginx and a gateway for each configuration, and calls use(lanes)."""
    with ExitStack() as stack:
        mock = stack.enter_context(Mock(tokens, interval_us))
        lanes: dict[str, Any] = {"direct": (mock.port, [])}
        if NGINX:
            nginx = stack.enter_context(Nginx(mock.port))
            lanes["nginx"] = (nginx.port, nginx.pids)
        for name, config in configs.items():
            gateway = stack.enter_context(Gateway(mock.port, config))
            lanes[name] = (gateway.port, gateway.pids)
        use(lanes, mock)


def show_latency(seen: Seen, what: str, goals: bool) -> None:
    for lane in [name for name in seen if name != "direct"]:
        show_added(f"{what}, {lane}: added p50", added(seen, lane, "direct", "whole", 0.5))
        show_added("  added p99", added(seen, lane, "direct", "whole", 0.99))
        cpu, most = cpu_of(seen[lane]), 120
        asked = goals and lane == EVERYTHING
        row(
            "  CPU a request",
            f"{cpu:.0f} us",
            f"goal <= {most} us" if asked else "",
            cpu <= most if asked else None,
        )
        if asked and NGINX:
            show_added("  p50 more than nginx's", added(seen, lane, "nginx", "whole", 0.5), 80)
            show_added("  p99 more than nginx's", added(seen, lane, "nginx", "whole", 0.99), 150)


def small(lanes: dict[str, Any], mock: Mock) -> None:
    load = Load("/v1/chat/completions", chat(2000), requests=100 if QUICK else 200)
    direct = take_turns(load, lanes, ROUNDS)
    whole = [percentile(pooled(direct["direct"], "whole"), share) for share in (0.5, 0.99)]
    row("direct: p50 / p99", f"{whole[0]:.0f} / {whole[1]:.0f} us")
    show_latency(direct, "2 KB, 1 connection", True)
    on_one_core(lanes, mock)


def on_one_core(lanes: dict[str, Any], mock: Mock) -> None:
    """Requests a second, the proxy on one core, mock and load generator on another."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        row("requests/s on one core", "left out", "(needs two cores)")
        return
    for _, pids in lanes.values():
        pin(pids, {cpus[0]})
    pin([mock.process.pid], {cpus[1]})
    for connections in (1, 8):
        load = Load("/v1/chat/completions", chat(2000), connections, 400, cpus={cpus[1]})
        seen = take_turns(load, lanes, max(4, ROUNDS // 4))
        for lane in [name for name in seen if name != "direct"]:
            text = f"{rate(seen[lane]):.0f}/s, {cpu_of(seen[lane]):.0f} us CPU"
            row(f"one core, {connections} connections, {lane}", text)
        if NGINX:
            share = rate(seen[EVERYTHING]) / rate(seen["nginx"])
            row("  everything, of nginx's", f"{share:.2f}", "goal >= 0.6", share >= 0.6)
    for _, pids in lanes.values():
        pin(pids, set(cpus))
    pin([mock.process.pid], set(cpus))


def streaming(lanes: dict[str, Any], mock: Mock) -> None:
    load = Load("/v1/chat/completions", chat(2000, stream=True), requests=8 if QUICK else 25)
    seen = take_turns(load, lanes, ROUNDS)
    for lane in [name for name in seen if name != "direct"]:
        last = lane == EVERYTHING
        show_added(
            f"stream, {lane}: first token, added p50", added(seen, lane, "direct", "first", 0.5)
        )
        show_added(
            "  first token, added p99",
            added(seen, lane, "direct", "first", 0.99),
            270 if last else None,
        )
        for share in (0.5, 0.99):
            value, low, high = added(seen, lane, "direct", "per_token", share)
            goal = last and share == 0.99
            row(
                f"  time from token to token, added p{share * 100:.0f}",
                f"{value:.1f} us [{low:.1f} .. {high:.1f}]",
                "goal <= 3 us" if goal else "",
                value <= 3 if goal else None,
            )
        delays = [
            statistics.median(one.delay_p50 for one in seen[name]) for name in (lane, "direct")
        ]
        row("  a token is later by, median", f"{delays[0] - delays[1]:.0f} us")
        tokens = sum(one.tokens for one in seen[lane])
        row(
            "  CPU a token, with its share of the request",
            f"{sum(o.cpu for o in seen[lane]) / tokens:.1f} us",
        )


def translated(lanes: dict[str, Any], _: Mock) -> None:
    """Anthropic's form in, OpenAI's to the tier. Directly and at nginx nothing is translated."""
    load = Load("/v1/messages", message(2000), requests=100 if QUICK else 200)
    show_latency(take_turns(load, lanes, ROUNDS // 2), "2 KB of Anthropic's, 1 connection", False)


def large(lanes: dict[str, Any], _: Mock) -> None:
    load = Load("/v1/chat/completions", chat(150_000), requests=10 if QUICK else 20)
    show_latency(take_turns(load, lanes, max(4, ROUNDS // 4)), "150 kB, 1 connection", False)


def peer() -> None:
    """LiteLLM does less (no private data, no record), in Python. It has turns of its own: it is so
    slow that the others' rounds would last for minutes."""
    load = Load("/v1/chat/completions", chat(2000), requests=20)
    with Mock(1, 0) as mock, LiteLLM(mock.port) as litellm, Gateway(mock.port, RULES) as gateway:
        lanes = {
            "direct": (mock.port, []),
            "LiteLLM": (litellm.port, litellm.pids),
            EVERYTHING: (gateway.port, gateway.pids),
        }
        load.run(litellm.port)
        show_latency(take_turns(load, lanes, max(8, ROUNDS // 4)), "2 KB, 1 connection", False)
        row("RSS of LiteLLM", f"{rss_bytes(litellm.pids[0]) / 2**20:.0f} MiB")


def size_and_idle() -> None:
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, str(BINARY.resolve())], check=True)
        size = os.path.getsize(stripped.name)
    row("program, stripped", f"{size / 1e6:.2f} MB", "goal <= 3 MB", size <= 3e6)
    with Mock(1, 0) as mock, Gateway(mock.port) as gateway:
        time.sleep(IDLE_S)
        idle = gateway.rss_bytes() / 2**20
        anonymous = gateway.rss_bytes("RssAnon") / 2**20
    row("idle RSS without a model", f"{idle:.1f} MiB", "goal <= 9 MiB", idle <= 9)
    row("  of it not of files", f"{anonymous:.1f} MiB")


def burst() -> None:
    """RSS before and after many large bodies at once. A first burst of 50 opens what stays open."""
    with Mock(1, 0) as mock, Gateway(mock.port, LIMITS) as gateway:
        Load("/v1/chat/completions", chat(150_000), 50, 50).run(gateway.port)
        time.sleep(3)
        before = gateway.rss_bytes()
        Load("/v1/chat/completions", chat(150_000), BURST, BURST).run(gateway.port)
        peak = gateway.rss_bytes("VmHWM")
        time.sleep(10)
        after = gateway.rss_bytes()
    more = after / before - 1
    row(
        f"RSS after {BURST} bodies of 150 kB at once",
        f"{before / 2**20:.1f} -> {after / 2**20:.1f} MiB",
        "goal: within 10 %",
        more <= 0.1,
    )
    row("  at its most", f"{peak / 2**20:.1f} MiB")


def many_streams() -> None:
    """Each connection one stream, all at once; memory is read in the middle. Before, a mock on the
    same port that answers at once lets the gateway open what stays open."""
    tokens = STREAM_SECONDS * EVENTS_A_SECOND
    pace = 1e6 / EVENTS_A_SECOND
    body = chat(2000, stream=True)
    ramp = STREAMS * RAMP_US / 1e6
    with Mock(1, 0) as mock, Gateway(mock.port, LIMITS) as gateway:
        Load("/v1/chat/completions", chat(2000), 20, 200).run(gateway.port)
        before = gateway.rss_bytes()
        mock.process.kill()
        mock.process.wait()
        with Mock(tokens, int(pace), mock.port):
            load = Load("/v1/chat/completions", body, STREAMS, STREAMS, RAMP_US)
            running = load.start(gateway.port)
            half = ramp + (STREAM_SECONDS - ramp) / 2
            time.sleep(half)
            each = (gateway.rss_bytes() - before) / STREAMS
            time.sleep(max(0, STREAM_SECONDS - half - 2))
            late = (gateway.rss_bytes() - before) / STREAMS
            seen = load.result(running)
    show_streams(seen, ramp)
    row("  memory a stream", f"{each / 1000:.1f} kB", "goal <= 20 kB", each <= 20_000)
    row("  the same at the end", f"{late / 1000:.1f} kB", "goal: flat", late <= 1.05 * each)


def show_streams(seen: Round, ramp: float) -> None:
    pace = 1e6 / EVENTS_A_SECOND
    got = seen.tokens / (seen.seconds - ramp / 2)
    row(
        f"{STREAMS} streams of {EVENTS_A_SECOND} events/s: events/s",
        f"{got:.0f} of {STREAMS * EVENTS_A_SECOND}",
        "goal >= 50,000",
        got >= 50_000,
    )
    row("  failed", f"{seen.failed}", "goal 0", seen.failed == 0)
    if seen.failed:
        row("  the first failure", seen.failure[:200])
    stalled = sum(gap > 10 * pace for gap in seen.gap)
    row("  stalled (a gap over ten times the pace)", f"{stalled}", "goal 0", stalled == 0)
    gaps = [percentile(seen.gap, share) / 1000 for share in (0.5, 1)] if seen.gap else [0, 0]
    row("  longest gap, p50 / most", f"{gaps[0]:.0f} / {gaps[1]:.0f} ms")


def run() -> None:
    build_programs()
    allow_many_files()
    heading("The gateway: size and memory")
    size_and_idle()
    heading("The gateway beside nginx: whole answers of 2 KB requests")
    if not NGINX:
        row("nginx", "left out", "(install the package nginx-light)")
    with_lanes(1, 0, LANES, small)
    last = {EVERYTHING: RULES}
    heading("Streams of 64 tokens, one each 2 ms")
    with_lanes(64, 2000, last, streaming)
    heading("Translation and large bodies")
    with_lanes(1, 0, last, translated)
    with_lanes(1, 0, last, large)
    heading("Beside LiteLLM")
    if LITELLM:
        peer()
    else:
        row("LiteLLM", "left out", "(LITELLM_BIN=PROGRAM names it)")
    heading("Many at once")
    burst()
    many_streams()


if __name__ == "__main__":
    run()
