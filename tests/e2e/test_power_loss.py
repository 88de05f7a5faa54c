#!/usr/bin/env python3
"""The machine loses power at every barrier (each flush and each change of a name) of a server's
life. The next start opens what the disk had got, and what was acknowledged is there."""

import json
import signal
import sqlite3
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import power_loss
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, run

CLOUD = {"x-tandem-mode": "only-cloud"}
PREFER = {"x-tandem-mode": "prefer-cloud"}
RESTRICTED = {**PREFER, "x-tandem-data-class": "restricted"}
MORE = """
ledger: {durable: %s}
privacy:
  confine: false
  pseudonyms:
    vault:
      file: %s/vaults
      key_env: VAULT_KEY
"""


def later(first):
    return [
        {"role": "user", "content": first},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Write a poem about the sea."},
    ]


class Life:
    """One server's life, written down."""

    def __init__(self, folder, cloud, durable):
        self.cloud, self.durable = cloud, durable
        self.library = power_loss.build(folder)
        self.state, self.log = folder / "state", folder / "log"
        self.boots = [folder / "boot-1", folder / "boot-2"]
        for number, boot in enumerate(self.boots):
            boot.write_text(f"0000000{number}-boot\n")
        self.state.mkdir()
        self.answered, self.left, self.classes = [], [], []

    def env(self, state, boot=0, written=False):
        return {
            "TEST_CLOUD_KEY": "k",
            "VAULT_KEY": "11" * 32,
            "TANDEM_STATE_DIR": state,
            "LD_PRELOAD": self.library,
            "POWER_BOOT": self.boots[boot],
            **(
                {"POWER_ROOT": state, "POWER_LOG": self.log, "POWER_SLOW": "classes.bin"}
                if written
                else {}
            ),
        }

    def config(self, state):
        return edge_first(self.cloud.base_url) + MORE % (self.durable, state)

    def live(self):
        with Tandem(self.config(self.state), env=self.env(self.state)) as before:
            masked = before.chat("Who is Anna Kowalczyk of Gdansk?", CLOUD)  # leaves a vault
            equal(masked.status, 200, masked.body.decode())
            self.first = masked.tandem["exchange"]
            before.process.send_signal(signal.SIGTERM)
            equal(before.ended(), 0)
        assert (self.state / "vaults").exists(), "a clean stop keeps the vaults"
        self.disk = power_loss.Disk(self.state)
        with Tandem(self.config(self.state), env=self.env(self.state, 0, True)) as tandem:
            for i in range(3):
                self.answered.append(tandem.chat(f"hello {i}", max_tokens=2).tandem["exchange"])
                answer = tandem.chat(f"Write poem {i}.", CLOUD)
                equal(answer.status, 200, answer.body.decode())
                self.left.append(answer.tandem["exchange"])
                plan = f"Our merger plan {i}."
                answer = tandem.chat(plan, RESTRICTED, max_tokens=2)
                self.classes.append((plan, answer.tandem["exchange"]))
            tandem.process.send_signal(signal.SIGTERM)
            equal(tandem.ended(), 0)
        self.records = power_loss.read_log(self.log)

    def acknowledged(self):
        """Where each exchange's last byte was sent: index in the log."""
        where = {}
        for index, record in enumerate(self.records):
            if record.op != power_loss.SEND:
                continue
            for name in [*self.answered, *self.left, *(name for _, name in self.classes)]:
                if name.encode() in record.first and b"x-tandem-exchange" not in record.first[:4]:
                    where[name] = index
        return where

    def cuts(self):
        """Before and after each barrier."""
        barriers = (power_loss.SYNC, power_loss.RENAME, power_loss.LINK, power_loss.UNLINK)
        found = set()
        for index, record in enumerate(self.records):
            if record.op in barriers:
                found |= {index, index + 1}
        return sorted(found)


def look(life, state, cut, where, keep):
    """Starts on what is left, and looks for what was acknowledged before the cut."""
    told = f"cut at {cut} of {len(life.records)}, {keep} kept"
    there = {name for name, index in where.items() if index < cut}
    if life.durable == "batch" and keep != "everything":
        there = set()  # nothing was promised; it opens
    try:
        with Tandem(life.config(state), env=life.env(state, 1)) as tandem:
            for plan, name in life.classes:
                if name in there:
                    answer = tandem.chat(later(plan), PREFER, max_tokens=1)
                    equal(answer.tandem["data_class"], "restricted", f"{told}: {plan}")
            equal(tandem.chat("Again?", CLOUD).status, 200, told)
            tandem.process.send_signal(signal.SIGTERM)
            equal(tandem.ended(), 0, told)
            code, out, err = run("egress", "verify", "--json", env=tandem.environment)
            equal((code, json.loads(out or b"{}").get("sound")), (0, True), f"{told}: {err}")
    except RuntimeError as why:
        raise AssertionError(f"{told}: {why}") from why
    with sqlite3.connect(state / "ledger.db") as connection:
        rows = {row[0] for row in connection.execute("select id from exchange")}
    recorded = there if life.durable == "answer" else set()
    equal((recorded | {life.first}) - rows, set(), f"{told}: missing in the ledger")
    entries = (state / "egress" / "entries.jsonl").read_text()
    left = {name for name in life.left if name in there} | {life.first}
    missing = {name for name in left if name not in entries}
    equal(missing, set(), f"{told}: missing in the egress record")


def lose_power_everywhere(durable, keeps, every):
    cloud = ScriptedCloud(Script(text="Cloud."))
    with tempfile.TemporaryDirectory(prefix="tandem-test-power-") as name:
        life = Life(Path(name), cloud, durable)
        life.live()
        where, cuts = life.acknowledged(), life.cuts()
        equal(len(where), 9, "acknowledged exchanges")
        assert len(cuts) > 25, cuts
        jobs = []
        disk, at = life.disk, 0
        for number, cut in enumerate(cuts):
            while at < cut:
                disk.take(life.records[at])
                at += 1
            if number % every:
                continue
            for keep in keeps:
                state = Path(name) / f"{cut}-{keep}"
                disk.lose_power(state, keep, seed=cut)
                jobs.append((state, cut, keep))
        with ThreadPoolExecutor(2) as pool:
            done = [pool.submit(look, life, state, cut, where, keep) for state, cut, keep in jobs]
            for each in done:
                each.result()
        vaults = disk.left("vaults")
        equal(vaults, (life.state / "vaults").read_bytes(), "vaults after a clean stop")
        print(f"{len(jobs)} losses of power at {len(cuts)} points of {len(life.records)} records")


@case
def test_power_lost_at_every_barrier_loses_nothing_that_was_acknowledged():
    lose_power_everywhere("answer", ("nothing", "parts"), 1)


@case
def test_by_default_what_is_left_opens_and_a_kill_loses_no_transfer_and_no_class():
    lose_power_everywhere("batch", ("nothing", "parts", "everything"), 2)


if __name__ == "__main__":
    main()
