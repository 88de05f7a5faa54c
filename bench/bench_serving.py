"""What serving costs: time to first token, memory, size, start."""

import http.client
import json
import os
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from scripted_cloud import Script, ScriptedCloud
from table import ROOT, heading, row
from tandem import NANO, Tandem, edge_first
from tandem import run as tandem_run

PROMPT_TOKENS = 64
RUNS = 30


def prompt_of(tokens: Any) -> str:
    """A user message whose rendered prompt has about this many tokens, by our own tokenizer."""
    text = "Classify the intent: please tell me"
    words = (
        "how i can move some money from my savings to my checking account before the end of the"
        " week".split()
    )
    for i in range(400):
        message = json.dumps([{"role": "user", "content": text}]).encode()
        _, rendered, _ = tandem_run("template", "-m", NANO, stdin=message)
        _, ids, _ = tandem_run("tokenize", "-m", NANO, "--json", stdin=rendered)
        if len(json.loads(ids)) >= tokens:
            break
        text += " " + words[i % len(words)]
    return text


def first_token_ms(connection: Any, text: str) -> Any:
    body = json.dumps(
        {"messages": [{"role": "user", "content": text}], "stream": True, "temperature": 0}
    )
    begin = time.perf_counter()
    connection.request("POST", "/v1/chat/completions", body, {"x-tandem-mode": "only-local"})
    response = connection.getresponse()
    first = None
    while True:
        line = response.readline()
        if not line:
            break
        if line.startswith(b"data: {") and first is None:
            deltas = [c["delta"].get("content") for c in json.loads(line[6:])["choices"]]
            if any(deltas):
                first = (time.perf_counter() - begin) * 1000
    return first


ANSWERS = 200


def answers_ms(tandem: Tandem, at_once: int) -> list[float]:
    """How long each of some answers of a cloud that answers at once took."""
    body = json.dumps({"messages": [{"role": "user", "content": "What is the sea?"}]})

    def ask(_: int) -> float:
        begin = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", tandem.port)
        connection.request("POST", "/v1/chat/completions", body, {"x-tandem-mode": "only-cloud"})
        connection.getresponse().read()
        connection.close()
        return (time.perf_counter() - begin) * 1000

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(ask, range(ANSWERS)))


def durable() -> None:
    heading("A record before each answer's end (ledger.durable), a cloud that answers at once")
    cloud = ScriptedCloud(Script(text="Cloud."))
    for at_once in (1, 16):
        medians = {}
        for name in ("batch", "answer"):
            config = edge_first(cloud.base_url) + f"ledger: {{durable: {name}}}\n"
            with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
                answers_ms(tandem, at_once)
                begin = time.perf_counter()
                times = answers_ms(tandem, at_once)
                took = time.perf_counter() - begin
            medians[name] = statistics.median(times)
            row(
                f"{name}, {at_once} at once: an answer, median of {ANSWERS}",
                f"{medians[name]:.1f} ms, {ANSWERS / took:.0f}/s",
            )
        row("  costs", f"{medians['answer'] - medians['batch']:.1f} ms an answer")


def run() -> None:
    serving()
    durable()


def serving() -> None:
    heading("Serving the default model")
    text = prompt_of(PROMPT_TOKENS)
    begin = time.monotonic()
    with Tandem() as tandem:
        ready = time.monotonic() - begin
        idle = tandem.rss_bytes()
        connection = http.client.HTTPConnection("127.0.0.1", tandem.port)
        times = []
        for i in range(RUNS + 3):
            # Another first word each time: no prefix of the prompt may be cached.
            ms = first_token_ms(connection, f"{chr(97 + i % 26)}{i} {text}")
            if i >= 3:
                times.append(ms)
        row(
            f"time to first token, {PROMPT_TOKENS}-token prompt, warm, median of {RUNS}",
            f"{statistics.median(times):.1f} ms",
            "goal <= 10 ms",
            statistics.median(times) <= 10,
        )
        row("  95th percentile", f"{sorted(times)[int(RUNS * 0.95)]:.1f} ms")
        row("memory (RSS) when idle", f"{idle / 2**20:.1f} MiB", "goal <= 64 MiB", idle <= 64 << 20)
        row("memory (RSS) after these requests", f"{tandem.rss_bytes() / 2**20:.1f} MiB")
    row("process start to ready", f"{ready * 1000:.0f} ms")
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(
            ["strip", "-o", stripped.name, str((ROOT / "build" / "tandem").resolve())], check=True
        )
        size = os.path.getsize(stripped.name)
    row("program, stripped", f"{size / 1e6:.2f} MB", "goal <= 2 MB", size <= 2e6)
    row(
        "default model on disk",
        f"{NANO.stat().st_size / 1e6:.2f} MB",
        "goal <= 8 MB",
        NANO.stat().st_size <= 8e6,
    )
