#!/usr/bin/env python3
"""What the device knows of its network and battery counts without a rule."""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from intents import CLEAR
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

KEYS = {"TEST_CLOUD_KEY": "k"}
CLOUDY = {"x-tandem-mode": "prefer-cloud"}
# Addresses of this network lead nowhere (RFC 5737).
ELSEWHERE = "http://192.0.2.1:9/v1"


class Machine:
    """A folder that looks like sysfs."""

    def __init__(self, **entries: str) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="tandem-sys-"))
        self.put(entries)

    def put(self, entries: dict[str, str]) -> None:
        for name, text in entries.items():
            path = self.root / "class" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")


def started(machine: Machine, base_url: str, more: str = "") -> Tandem:
    config = edge_first(base_url, "    allow_http: true\n")
    return Tandem(f"{config}{more}device: {{root: {machine.root}}}\n", env=KEYS)


def codes(answer):
    return [reason["code"] for reason in answer.tandem["reasons"]]


UNPLUGGED = {
    "net/eth0/operstate": "down",
    "net/eth0/device/vendor": "",
    "net/docker0/operstate": "up",
    "net/docker0/bridge/bridge_id": "",
}


@case
def test_without_a_link_nothing_is_sent_although_a_bridge_is_up():
    machine = Machine()
    machine.put(UNPLUGGED)
    with started(machine, ELSEWHERE) as tandem:
        begin = time.monotonic()
        answer = tandem.chat("Good morning!", CLOUDY)
        assert time.monotonic() - begin < 4, "it waited for a connection"
        equal((answer.tandem["tier"], answer.tandem["degraded"]), ("local", True))
        assert "the device is offline" in answer.tandem["disclosure"], answer.tandem
        equal(codes(answer).count("removed_offline"), 1)
        answer = tandem.chat("Good morning!", {"x-tandem-mode": "only-cloud"})
        equal(answer.status, 503)
        assert "offline" in answer.json["error"]["message"], answer.body


@case
def test_a_server_on_this_machine_needs_no_network():
    machine = Machine()
    machine.put(UNPLUGGED)
    cloud = ScriptedCloud(Script(text="Cloud."))
    with started(machine, cloud.base_url) as tandem:
        equal(tandem.chat("Good morning!", CLOUDY).tandem["tier"], "cloud")


@case
def test_a_metered_network_is_used_only_for_what_needs_it():
    machine = Machine()
    machine.put({"net/wwan0/operstate": "up", "net/wwan0/device/vendor": ""})
    cloud = ScriptedCloud(Script(text="Cloud."))
    with started(machine, cloud.base_url, "    start: cloud\n") as tandem:
        answer = tandem.chat("Good morning!")
        equal((codes(answer)[0], answer.tandem["reasons"][0]["tier"]), ("chosen_device", "local"))
        equal(tandem.chat("Good morning!", CLOUDY).tandem["tier"], "cloud")
        headers = {"x-tandem-network": "online"}  # the caller knows its own network
        equal(tandem.chat("Good morning!", headers).tandem["tier"], "cloud")


@case
def test_a_battery_that_is_nearly_empty_is_spared():
    machine = Machine()
    battery = {
        "power_supply/BAT0/type": "Battery",
        "power_supply/BAT0/capacity": "3",
        "power_supply/BAT0/status": "Discharging",
    }
    machine.put(battery)
    cloud = ScriptedCloud(Script(text="Cloud."))
    with started(machine, cloud.base_url) as tandem:
        answer = tandem.chat(CLEAR)
        equal((answer.tandem["tier"], codes(answer)[0]), ("cloud", "chosen_device"))
        assert "3 %" in answer.tandem["reasons"][0]["text"], answer.tandem
        secret = {"x-tandem-data-class": "restricted"}
        equal(tandem.chat(CLEAR, secret).tandem["tier"], "local")


if __name__ == "__main__":
    main()
