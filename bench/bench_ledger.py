"""A ledger of a million exchanges: its size, and what a client feels while it is copied and pruned
beside a server that answers."""

import json
import os
import shutil
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from scripted_cloud import Script, ScriptedCloud
from table import program, row
from tandem import Tandem, edge_first
from tandem import run as tandem_run

EXCHANGES = 20_000 if os.environ.get("BENCH_QUICK") else 1_000_000
DAYS = 30
KEEP_DAYS = 3
PRUNE_S, BLOCK_MS = 60, 50


class Asking:
    """A client that asks all the time, each question when the one before is answered."""

    def __init__(self, tandem: Any) -> None:
        self.tandem, self.ended = tandem, threading.Event()
        self.took_ms: list[float] = []
        self.thread = threading.Thread(target=self.ask)

    def ask(self) -> None:
        while not self.ended.is_set():
            begin = time.perf_counter()
            answer = self.tandem.chat("Hi.", {"x-tandem-mode": "only-cloud"})
            assert answer.status == 200, answer.body
            self.took_ms.append(1000 * (time.perf_counter() - begin))
            time.sleep(0.005)

    def __enter__(self) -> "Asking":
        self.thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.ended.set()
        self.thread.join()

    def __str__(self) -> str:
        ordered = sorted(self.took_ms)
        p99 = ordered[int(0.99 * (len(ordered) - 1))]
        return f"{statistics.median(ordered):.1f} / {p99:.1f} / {ordered[-1]:.1f} ms"


def timed(tandem: Any, *arguments: str) -> tuple[float, Any]:
    """Seconds of a verb beside the server, and what it says as JSON."""
    begin = time.perf_counter()
    code, out, err = tandem_run(
        "ledger", *arguments, "--json", env=tandem.environment, timeout=1800
    )
    assert code == 0, (out, err)
    return time.perf_counter() - begin, json.loads(out)


def beside(tandem: Any, alone: Asking, what: str, *arguments: str) -> tuple[float, Any]:
    with Asking(tandem) as asking:
        seconds, said = timed(tandem, *arguments)
    late_ms = max(asking.took_ms) - max(alone.took_ms)
    row(f"answers meanwhile, p50 / p99 / slowest: {what}", str(asking))
    row(
        "the slowest, over the slowest alone",
        f"{max(late_ms, 0):.1f} ms",
        f"goal <= {BLOCK_MS} ms",
        late_ms <= BLOCK_MS,
    )
    return seconds, said


def measure(tandem: Any, folder: Path) -> None:
    with Asking(tandem) as alone:
        time.sleep(10)
    row("answers alone, p50 / p99 / slowest", str(alone))
    backup = folder / "copy.db"
    seconds, copied = beside(tandem, alone, "backup", "backup", str(backup))
    row("backup, and the copy read whole", f"{seconds:.1f} s")
    seconds, pruned = beside(tandem, alone, "prune", "prune", "--older-than", f"{KEEP_DAYS}d")
    row(
        f"prune of {pruned['exchanges']} exchanges",
        f"{seconds:.1f} s",
        f"goal <= {PRUNE_S} s",
        seconds <= PRUNE_S,
    )
    row("the file afterwards", f"{(folder / 'ledger.db').stat().st_size / 1e6:.0f} MB")
    tandem.process.terminate()
    tandem.ended(60)
    seconds, restored = timed(tandem, "restore", str(backup), "--replace")
    same = restored["exchanges"] == copied["exchanges"]
    row("restore, read whole twice", f"{seconds:.1f} s", "goal: all exchanges", same)
    seconds, checked = timed(tandem, "check")
    row(
        "check of every page, text and signature",
        f"{seconds:.1f} s",
        "goal: sound",
        checked["sound"],
    )


def run() -> None:
    folder = Path(tempfile.mkdtemp(prefix="tandem-bench-", dir=os.environ.get("BENCH_FOLDER")))
    cloud = ScriptedCloud(Script(text="Fine."))
    path = folder / "ledger.db"
    try:
        program("bench_ledger", f"A ledger of {EXCHANGES} exchanges", path, EXCHANGES, DAYS)
        row("the file", f"{path.stat().st_size / 1e6:.0f} MB")
        config = edge_first(cloud.base_url) + f"ledger: {{path: {path}}}\n"
        with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
            measure(tandem, folder)
    finally:
        shutil.rmtree(folder)
