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
from failure_ladder import CANARY, CLASSES, Machine, documented
from scripted_cloud import Script
from tandem import Answer, wait_until

LONG = "tell me more about it please " * 400


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


@fault("the engine is too hot")
def too_hot() -> Rows:
    root = Path(tempfile.mkdtemp(prefix="tandem-sys-"))
    zone = root / "class/thermal/thermal_zone0"
    zone.mkdir(parents=True)
    said = {"type": "cpu", "temp": "42000"}
    said |= {"trip_point_0_type": "passive", "trip_point_0_temp": "41400"}
    for name, text in said.items():
        (zone / name).write_text(text + "\n")
    machine = Machine(more=f"device: {{root: {root}}}")
    yield lambda data_class: machine.ask("auto", data_class)
    machine.close()
    shutil.rmtree(root)


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
        wait_until(lambda: machine.tandem.get("/readyz").status == 503, what="/readyz")
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
        what="the records",
    )
    machine.close()


# --- the table ---


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
