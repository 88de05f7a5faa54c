"""A ladder in ordinary trouble: two local servers of ours behind one gateway and a scripted cloud,
mixed traffic, and faults by a seeded schedule on every link, with reloads and restarts. What each
client got is compared with its deadline, what the links counted with the gateway's own records.

LADDER_REQUESTS (2000), LADDER_RATE (6 a second) and LADDER_SEED (1) change the run."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ladder_links import FAULTS, Link, Schedule
from ladder_load import LATE_MS, SECRET
from scripted_cloud import unused_port
from table import ROOT, heading, row
from tandem import Tandem

REQUESTS = int(os.environ.get("LADDER_REQUESTS", "2000"))
RATE = float(os.environ.get("LADDER_RATE", "6"))
SEED = int(os.environ.get("LADDER_SEED", "1"))

GATEWAY = """
tiers:
  - {{name: edge, kind: openai, place: device, model: local, base_url: "{edge}"}}
  - {{name: office, kind: openai, place: premises, model: local, base_url: "{office}",
      allow_http: true}}
  - {{name: cloud, kind: openai, place: cloud, model: scripted, base_url: "{cloud}",
      api_key_env: TEST_CLOUD_KEY, price: {{input_usd_per_mtok: 1, output_usd_per_mtok: 4}}}}
routes:
  - {{name: auto, kind: hybrid, tiers: [edge, office, cloud]}}
ledger: {{store_prompts: true}}
"""
LOCAL = """
engine: {{model: {model}, slots: 4}}
server: {{listen: "127.0.0.1:{port}"}}
tiers: [{{name: local, kind: local}}]
routes: [{{name: auto, kind: local-only, tiers: [local]}}]
ledger: {{enabled: false}}
"""


class LocalServer:
    """One of ours on a port of its own, which can be started anew."""

    def __init__(self, model: Path) -> None:
        self.port = unused_port()
        self.config = LOCAL.format(model=model, port=self.port)
        self.start()

    def start(self) -> None:
        self.server = Tandem(self.config, env={"TANDEM_LISTEN": f"127.0.0.1:{self.port}"})

    def stop(self) -> None:
        self.server.stop(signal.SIGKILL)


def synthetic(folder: Path, shape: str) -> Path:
    path = folder / f"{shape}.gguf"
    tool = ROOT / "bench" / "make_synthetic_gguf.py"
    subprocess.run(
        [sys.executable, str(tool), shape, "q4_0", str(path)], check=True, capture_output=True
    )
    return path


Act = tuple[Callable[[], Any], Callable[[], Any]]


def plan_of(
    links: dict[str, Link], servers: dict[str, LocalServer], gateway: Tandem, seconds: float
) -> tuple[list[tuple[float, float, Act]], Counter]:
    """Trouble on one link after the other, each for two to six seconds, with rests between."""
    lots, plan, counts, at = random.Random(SEED), [], Counter(), 3.0
    while at < seconds - 8:
        name = lots.choice(list(links))
        kind = lots.choice([*FAULTS, "reload", "restart"])
        length = lots.uniform(2, 6)
        link = links[name]
        act: Act = (partial(link.begin, kind), link.end)
        if kind == "reload":
            act = (partial(gateway.process.send_signal, signal.SIGHUP), partial(str))
        if kind == "restart":
            name = name if name in servers else "office"
            act = (servers[name].stop, servers[name].start)
        plan.append((at, at + length, act))
        counts[kind] += 1
        at += length + lots.uniform(1, 4)
    return plan, counts


def load(port: int) -> list[dict[str, Any]]:
    tool = Path(__file__).with_name("ladder_load.py")
    got = subprocess.run(
        [sys.executable, str(tool), str(port), str(REQUESTS), str(RATE), str(SEED)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in got.stdout.splitlines()]


def rows_of(database: Path, query: str) -> list[Any]:
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def judge_clients(results: list[dict[str, Any]], answers: dict[str, str]) -> None:
    late = [r for r in results if r["ms"] > r["slo_ms"] + LATE_MS]
    answered = [r for r in results if r["status"] == 200 and not r["error"]]
    broken = [r for r in results if r["faults"]]
    refused = [r for r in results if r["error"]]
    retracted = [
        r
        for r in answered
        if r["corrections"]
        or (r["streamed"] and r["exchange"] in answers and r["text"] != answers[r["exchange"]])
    ]
    twice = (
        len(results)
        - len({r["exchange"] for r in results if r["exchange"]})
        - sum(not r["exchange"] for r in results)
    )
    row(
        "requests: answered, refused with words",
        f"{len(answered)} + {len(refused)}",
        f"all of {REQUESTS}",
        len(answered) + len(refused) == REQUESTS,
    )
    row("broken answers", f"{len(broken)}", "0", not broken)
    worst = max((r["ms"] - r["slo_ms"] for r in results), default=0)
    row(
        "later than the deadline and 50 ms",
        f"{len(late)}",
        f"0; the latest {worst:+.0f} ms",
        not late,
    )
    row("answered twice", f"{twice}", "0", twice == 0)
    row("streamed clients that saw text retracted", f"{len(retracted)}", "0", not retracted)
    for r in (broken + late + retracted)[:5]:
        print(
            "   ",
            {
                k: r[k]
                for k in (
                    "number",
                    "dialect",
                    "streamed",
                    "slo_ms",
                    "mode",
                    "status",
                    "ms",
                    "error",
                    "faults",
                    "exchange",
                )
            },
        )
    causes = Counter(r["error"][:90] for r in refused)
    for cause, count in causes.most_common(4):
        print(f"    refused {count:4}: {cause}")


def judge_links(links: dict[str, Link], gateway: Tandem) -> None:
    database = gateway.state / "ledger.db"
    attempts = rows_of(
        database, "SELECT tier, count(*), count(DISTINCT exchange) FROM attempt GROUP BY tier"
    )
    asked = {tier: exchanges for tier, _, exchanges in attempts}
    for name, link in links.items():
        times = link.count.requests / max(1, asked.get(name, 0))
        row(
            f"{name}: calls for each exchange that asked it",
            f"{times:.3f}",
            "at most 1.1",
            times <= 1.1,
        )
    exact = {
        tier: (prompt, completion)
        for tier, prompt, completion in rows_of(
            database,
            "SELECT tier, total(prompt_tokens), total(completion_tokens) FROM attempt"
            " WHERE exact = 1 GROUP BY tier",
        )
    }
    for name, link in links.items():
        got = exact.get(name, (0, 0))
        seen = (link.count.prompt_tokens, link.count.completion_tokens)
        row(
            f"{name}: tokens in the ledger",
            f"{got[0]:.0f} + {got[1]:.0f}",
            f"the link counted {seen[0]} + {seen[1]}",
            tuple(got) == seen,
        )
    left = [
        name
        for name in ("office", "cloud")
        if any(SECRET.encode() in body for body in links[name].count.bodies)
    ]
    row("restricted text off the device", f"{len(left)}", "0", not left)


def run() -> None:
    seconds = REQUESTS / RATE
    folder = Path(tempfile.mkdtemp(prefix="tandem-ladder-"))
    servers = {
        "edge": LocalServer(synthetic(folder, "smollm2-135m")),
        "office": LocalServer(synthetic(folder, "llama-3.2-1b")),
    }
    links = {name: Link(server.port) for name, server in servers.items()} | {"cloud": Link()}
    config = GATEWAY.format(**{name: link.base_url for name, link in links.items()})
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as gateway:
        plan, counts = plan_of(links, servers, gateway, seconds)
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        heading(f"A ladder in trouble: {REQUESTS} requests at {RATE:g}/s; {kinds} (seed {SEED})")
        schedule = Schedule(plan)
        schedule.start()
        results = load(gateway.port or 0)
        schedule.stopped.set()
        schedule.join()
        time.sleep(2)  # the ledger writes its last rows
        rows = rows_of(gateway.state / "ledger.db", "SELECT id, answer FROM exchange")
        judge_clients(results, {name: answer for name, answer in rows if answer is not None})
        row(
            "exchanges in the ledger",
            f"{len(rows)}",
            f"at most {REQUESTS}",
            len(rows) <= REQUESTS and len({name for name, _ in rows}) == len(rows),
        )
        judge_links(links, gateway)
        if os.environ.get("LADDER_LOG"):
            Path(os.environ["LADDER_LOG"]).write_text("".join(gateway.log))
            Path(os.environ["LADDER_LOG"] + ".json").write_text(json.dumps(results))
    for server in servers.values():
        server.server.stop()
    for link in links.values():
        link.close()
