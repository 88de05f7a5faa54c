"""What hedged climbing does to the tail: a cloud of which 5 % of the answers begin two seconds
late, another one beside it. The same requests with and without; the times are a client's, to its
first text."""

import http.client
import json
import random
import re
import threading
import time
from typing import Any

from scripted_cloud import Script, ScriptedCloud
from table import heading, row
from tandem import Tandem

REQUESTS, CLIENTS = 1500, 12
SPIKE_S, SPIKES = 2.0, 0.05
CONFIG = """
tiers:
  - {{name: first, kind: openai, model: scripted, base_url: "{first}", api_key_env: TEST_CLOUD_KEY}}
  - {{name: second, kind: openai, model: scripted, base_url: "{second}",
      api_key_env: TEST_CLOUD_KEY}}
routes:
  - {{name: auto, kind: cloud-only, tiers: [first, second], {climb}}}
"""


class SpikyCloud(ScriptedCloud):
    """Usually 30 to 60 ms to the first byte; of a share of the answers, by lot, two seconds
    more."""

    def __init__(self, seed: int, spikes: Any) -> None:
        self.lots, self.spikes = random.Random(seed), spikes
        super().__init__()

    def _answer(self, connection: Any, request: Any) -> Any:
        with self._lock:
            delay = self.lots.uniform(0.03, 0.06) + (
                SPIKE_S if self.lots.random() < self.spikes else 0
            )
        time.sleep(delay)
        return super()._answer(connection, request)


def first_text_ms(connection: Any) -> Any:
    body = json.dumps(
        {
            "messages": [{"role": "user", "content": "Explain the French revolution."}],
            "stream": True,
        }
    )
    begin = time.perf_counter()
    connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    first = None
    while line := response.readline():
        if (
            first is None
            and line.startswith(b"data: {")
            and any(choice["delta"].get("content") for choice in json.loads(line[6:])["choices"])
        ):
            first = (time.perf_counter() - begin) * 1000
    return first


def client(port: int, times: Any) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(REQUESTS // CLIENTS):
        times.append(first_text_ms(connection))
    connection.close()


def measure(climb: Any, spikes: Any = (SPIKES, 0)) -> dict:
    first, second = SpikyCloud(1, spikes[0]), SpikyCloud(2, spikes[1])
    first.script = second.script = Script(text="An answer.")
    times = []
    with Tandem(
        CONFIG.format(first=first.base_url, second=second.base_url, climb=climb),
        env={"TEST_CLOUD_KEY": "k"},
    ) as tandem:
        threads = [
            threading.Thread(target=client, args=(tandem.port, times)) for _ in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        metrics = tandem.get("/metrics").body.decode()
    first.close()
    second.close()

    def number(name: str) -> float:
        found = re.search(rf"^{name} (\S+)$", metrics, re.MULTILINE)
        assert found, name
        return float(found.group(1))

    times.sort()
    return {
        "p50": times[len(times) // 2],
        "p95": times[int(len(times) * 0.95)],
        "p99": times[int(len(times) * 0.99)],
        "extra": 100 * number("tandem_hedges_started_total") / len(times),
        "refused": number("tandem_hedges_refused_total"),
    }


def run() -> None:
    heading(
        f"Hedged climbing: {REQUESTS} requests, {100 * SPIKES:.0f} % of the first cloud's answers"
        f" {SPIKE_S:.0f} s late (p50, p95, p99 of the first text)"
    )
    without = measure("climb: sequential")
    row("sequential", f"{without['p50']:.0f} {without['p95']:.0f} {without['p99']:.0f} ms")
    both = (SPIKES, SPIKES)
    for name, hedge, spikes in [
        ("", "", (SPIKES, 0)),
        (", the second cloud as spiky", "", both),
        (", a share of 5 %", "requests_share: 0.05", (SPIKES, 0)),
        (", after 150 ms", "after_ms: 150", (SPIKES, 0)),
    ]:
        got = measure(f"climb: hedged, hedge: {{{hedge}}}", spikes)
        row(
            f"hedged{name}",
            f"{got['p50']:.0f} {got['p95']:.0f} {got['p99']:.0f} ms",
            f"{got['extra']:.1f} % extra requests, {got['refused']:.0f} refused",
        )
