"""The evidence for a policy: how long a replay of 10,000 decisions takes."""

import json
import shutil
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

from scripted_cloud import Script, ScriptedCloud
from table import heading, row
from tandem import Tandem, clean_environment, edge_first
from tandem import run as tandem_run

EXCHANGES = 10_000


def policy(base_url: str, confidence_min: float) -> Any:
    return (
        edge_first(base_url)
        + f"    gates:\n      g2: {{tokens: 0}}\n      g3: {{confidence_min: {confidence_min}}}\n  "
        "    commit_tokens: all\n"
    )


def columns(ledger: Any, table: Any, without: Any) -> str:
    return ", ".join(
        name for _, name, *_ in ledger.execute(f"PRAGMA table_info({table})") if name not in without
    )


def multiply(path: Any) -> None:
    """The recorded exchanges again and again under other ids, until there are enough."""
    ledger = sqlite3.connect(path)
    of_exchange, of_attempt = (
        columns(ledger, "exchange", ("seq", "id")),
        columns(ledger, "attempt", ("exchange",)),
    )
    recorded = ledger.execute("SELECT seq, id FROM exchange").fetchall()
    for number in range(len(recorded), EXCHANGES):
        seq, name = recorded[number % len(recorded)]
        new = ledger.execute(
            f"INSERT INTO exchange (id, {of_exchange}) SELECT ?, {of_exchange} FROM exchange WHERE"
            " seq = ?",
            (f"{name}_{number}", seq),
        ).lastrowid
        ledger.execute(
            f"INSERT INTO attempt (exchange, {of_attempt}) SELECT ?, {of_attempt} FROM attempt"
            " WHERE exchange = ?",
            (new, seq),
        )
    ledger.commit()
    ledger.close()


def make_ledger(cloud: Any, folder: Any) -> None:
    with Tandem(policy(cloud.base_url, 0.6), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for number in range(20):
            tandem.chat(f"set an alarm for {number}")
            tandem.chat(f"prove lemma {number}")
        time.sleep(1)  # the ledger commits a moment later
        source, target = (
            sqlite3.connect(tandem.state / "ledger.db"),
            sqlite3.connect(folder / "ledger.db"),
        )
        source.backup(target)
        source.close()
        target.close()
    multiply(folder / "ledger.db")


def run() -> None:
    heading("Evidence for a policy")
    folder = Path(tempfile.mkdtemp(prefix="tandem-bench-"))
    cloud = ScriptedCloud(Script(text="Done."))
    try:
        make_ledger(cloud, folder)
        (folder / "other.yaml").write_text(policy(cloud.base_url, 0.9))
        seconds = []
        for _ in range(5):
            code, out, err = tandem_run(
                "replay",
                "--policy",
                folder / "other.yaml",
                "--since",
                "all",
                "--json",
                env=clean_environment(TANDEM_STATE_DIR=folder),
            )
            report = json.loads(out) if code == 0 else {}
            if report.get("exchanges") != EXCHANGES:
                print(f"  the replay failed: {err}")
                return
            seconds.append(report["seconds"])
        row(
            "replay of 10,000 decisions under another policy",
            f"{min(seconds):.2f} s",
            "goal <= 1 s",
            min(seconds) <= 1,
        )
    finally:
        cloud.close()
        shutil.rmtree(folder, ignore_errors=True)
