#!/usr/bin/env python3
"""What a client gets when something of this machine, of a tier elsewhere or of the disk fails, for
each class of data: each cell of the table in docs/failures.md.

The ladder is the device, a server of the house and a cloud. So public data may go on anywhere,
sensitive and contractual data to the house, and restricted data nowhere."""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, equal, main
from engine_process import engines
from scripted_cloud import Script, ScriptedCloud, unused_port
from tandem import ROOT, Answer, Tandem, wait_until

CLASSES = ("public", "sensitive", "contractual", "restricted")
TIMES = "timeouts: {connect_ms: 800, first_ms: 700, idle_ms: 700}"
KEPT = "gates: {g0: {gain_over: 0, p_local_under: 0}, g2: {tokens: 0}, g3: {confidence_min: 0}}"
CANARY = "Zanzibar"
LONG = "tell me more about it please " * 400


class Machine:
    """A server with its two tiers elsewhere. more: further sections; away: addresses that no link
    leads to, in the place of the two."""

    def __init__(
        self,
        script: Script | None = None,
        more: str = "",
        local: str = "",
        away: bool = False,
        refused: bool = False,
        **env: str,
    ) -> None:
        self.house = ScriptedCloud(script or Script(text="House."))
        self.cloud = ScriptedCloud(script or Script(text="Cloud."))
        urls = [self.house.base_url, self.cloud.base_url]
        if away:
            urls = ["https://192.0.2.1/v1", "https://192.0.2.2/v1"]
        if refused:
            urls = [f"http://127.0.0.1:{unused_port()}/v1"] * 2
        config = f"""
{more}
tiers:
  - {{name: local, kind: local{local}}}
  - {{name: house, kind: openai, place: premises, model: h, base_url: "{urls[0]}", {TIMES}}}
  - {{name: cloud, kind: openai, place: cloud, model: c, api_key_env: KEY, base_url: "{urls[1]}",
     {TIMES}}}
routes:
  - {{name: auto, kind: hybrid, tiers: [local, house, cloud], {KEPT}}}
  - {{name: elsewhere, kind: hybrid, tiers: [local, house, cloud], start: house, {KEPT}}}
"""
        self.tandem = Tandem(config, env={"KEY": "k", **env})

    def close(self) -> None:
        self.tandem.stop(signal.SIGKILL)
        self.house.close()
        self.cloud.close()

    def ask(self, model: str, data_class: str, words: str = "Hello", **members: Any) -> Answer:
        headers = {"x-tandem-data-class": data_class}
        body = {"model": model, "max_tokens": 8, **members}
        return self.tandem.chat(f"{words} {CANARY}-{data_class}", headers, **body)


def told(answer: Answer) -> str:
    """What a client got, in the words of the table. A second best answer says so; an error names
    what failed."""
    if answer.status != 200:
        error = answer.json["error"]
        assert error["message"], error
        return f"{answer.status} `{error['code']}`"
    own = answer.tandem
    if not own["degraded"]:
        return f"{own['tier']}"
    assert own["disclosure"] and answer.headers["x-tandem-disclosure"], own
    return f"{own['tier']}, disclosed"


Rows = Iterator[Callable[[str], Answer]]
FAULTS: dict[str, Callable[[], Any]] = {}


def fault(name: str) -> Callable[[Callable[[], Rows]], Callable[[], Rows]]:
    def register(function: Callable[[], Rows]) -> Callable[[], Rows]:
        FAULTS[name] = contextmanager(function)
        return function

    return register


# --- the device ---


@fault("the engine is killed (out of memory)")
def killed() -> Rows:
    machine = Machine(more="engine: {isolated: true, threads: 1}")

    def ask(data_class: str) -> Answer:
        equal(machine.ask("local", data_class).status, 200)  # its process runs
        (engine,) = engines(machine.tandem)
        got: list[Answer] = []
        thread = threading.Thread(
            target=lambda: got.append(
                machine.ask("auto", data_class, max_tokens=2000, ignore_eos=True)
            )
        )
        thread.start()
        time.sleep(0.3)  # what the kernel does when memory is short
        os.kill(engine, signal.SIGKILL)
        thread.join(60)
        return got[0]

    yield ask
    machine.close()


@fault("the model cannot be loaded")
def unloaded() -> Rows:
    folder = Path(tempfile.mkdtemp(prefix="tandem-broken-"))
    (folder / "broken.gguf").write_bytes(b"GGUF" + bytes(100))
    machine = Machine(local=f", model: {folder}/broken.gguf")
    yield lambda data_class: machine.ask("auto", data_class)
    machine.close()
    shutil.rmtree(folder)


@fault("the prompt is longer than the context")
def overflow() -> Rows:
    machine = Machine()
    yield lambda data_class: machine.ask("auto", data_class, LONG * 3)
    machine.close()


# --- elsewhere ---


def elsewhere(script: Script | None = None, **options: Any) -> Rows:
    """Each class asks a machine of its own: what rests after one would hide the next."""
    machines: list[Machine] = []

    def ask(data_class: str) -> Answer:
        machines.append(Machine(script, **options))
        return machines[-1].ask("elsewhere", data_class)

    yield ask
    for machine in machines:
        for server in (machine.house, machine.cloud):
            assert f"{CANARY}-restricted".encode() not in server.received
        assert f"{CANARY}-contractual".encode() not in machine.cloud.received
        machine.close()


@fault("no answer in time")
def timeout() -> Rows:
    yield from elsewhere(Script(first_delay=30))


@fault("HTTP 429")
def limited() -> Rows:
    yield from elsewhere(Script(status=429))


@fault("HTTP 5xx")
def broken() -> Rows:
    yield from elsewhere(Script(status=503))


@fault("a malformed answer")
def malformed() -> Rows:
    yield from elsewhere(Script(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{["))


@fault("cut off in the middle")
def cut() -> Rows:
    yield from elsewhere(Script(text="one two three four five six", cut_after=3, piece_delay=0.01))


@fault("no server is there")
def nobody() -> Rows:
    yield from elsewhere(refused=True)


@fault("the device is offline")
def offline() -> Rows:
    root = Path(tempfile.mkdtemp(prefix="tandem-sys-"))
    for folder in ("class/power_supply", "class/net/eth0/device"):
        (root / folder).mkdir(parents=True)
    (root / "class/net/eth0/operstate").write_text("down\n")
    yield from elsewhere(away=True, more=f"device: {{root: {root}}}")
    shutil.rmtree(root)


# --- the disk ---


@fault("the disk is full")
def full() -> Rows:
    folder = tempfile.mkdtemp(prefix="tandem-full-")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], capture_output=True
    )
    if mounted.returncode != 0:
        os.rmdir(folder)
        raise Skip("no file system of a certain size can be mounted here")
    machine = Machine(TANDEM_STATE_DIR=folder)
    try:
        equal(machine.ask("local", "public").status, 200)
        with contextlib.suppress(OSError), open(f"{folder}/filler", "wb", buffering=0) as filler:
            while filler.write(bytes(4096)):
                pass
        # The egress record may have room left in a page that it has already.
        for number in range(200):
            if machine.ask("elsewhere", "public", f"Number {number}").tandem["degraded"]:
                break
        before = len(machine.house.received) + len(machine.cloud.received)
        yield lambda data_class: machine.ask("elsewhere", data_class)
        equal(len(machine.house.received) + len(machine.cloud.received), before, "unrecorded")
        wait_until(lambda: machine.tandem.get("/readyz").status == 503, 10, "/readyz")
    finally:
        machine.close()
        subprocess.run(["umount", "-l", folder], check=True)
        os.rmdir(folder)


@fault("the ledger is locked")
def locked() -> Rows:
    machine = Machine()
    equal(machine.ask("local", "public").status, 200)
    held = sqlite3.connect(machine.tandem.state / "ledger.db", isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    yield lambda data_class: machine.ask("elsewhere", data_class)
    held.execute("ROLLBACK")
    wait_until(
        lambda: len(machine.tandem.get("/tandem/v1/exchanges?limit=50").json["data"]) == 5,
        30,
        "the records",
    )
    machine.close()


# --- the table ---


def documented() -> dict[str, list[str]]:
    text = (ROOT / "docs" / "failures.md").read_text()
    table = text[text.index("| what fails |") :].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {row[0]: row[1:5] for row in rows[2:]}


@case
def test_each_cell_is_as_documented() -> None:
    seen: dict[str, list[str]] = {}
    table = documented()
    for name, begin in FAULTS.items():
        try:
            with begin() as ask:
                seen[name] = [told(ask(data_class)) for data_class in CLASSES]
        except Skip as why:
            print(f"  {name}: {why}")
            seen[name] = table[name]
    equal(sorted(table), sorted(seen), "the rows of docs/failures.md")
    for name, cells in seen.items():
        equal(cells, table[name], name)


if __name__ == "__main__":
    main()
