#!/usr/bin/env python3
"""What the device knows of its network and battery counts without a rule."""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import gguf
from check import case, equal, main
from intents import CLEAR
from scripted_cloud import Script, ScriptedCloud
from tandem import NANO, Tandem, edge_first, run, wait_until

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


def started(machine: Machine, base_url: str, more: str = "", tier: str = "") -> Tandem:
    config = edge_first(base_url, "    allow_http: true\n" + tier)
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
    patient = "    timeouts: {connect_ms: 100000}\n"
    with started(machine, ELSEWHERE, tier=patient) as tandem:
        begin = time.monotonic()
        answer = tandem.chat("Good morning!", CLOUDY)
        assert time.monotonic() - begin < 50, "it waited for a connection"
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
        assert "tandem_device_thread_share 0.5" in tandem.get("/metrics").body.decode()


HOT = {
    "thermal/thermal_zone0/type": "cpu",
    "thermal/thermal_zone0/temp": "42000",
    "thermal/thermal_zone0/trip_point_0_type": "passive",
    "thermal/thermal_zone0/trip_point_0_temp": "41400",
}


def capable(tandem: Tandem):
    return tandem.get("/tandem/v1/capabilities").json["device"]


@case
def test_a_hot_device_answers_only_what_nobody_else_may():
    machine = Machine()
    machine.put(HOT)
    cloud = ScriptedCloud(Script(text="Cloud."))
    with started(machine, cloud.base_url) as tandem:
        answer = tandem.chat(CLEAR)
        equal(answer.tandem["tier"], "cloud")
        texts = {reason["code"]: reason["text"] for reason in answer.tandem["reasons"]}
        assert "42.0" in texts["chosen_device"] and "41.4" in texts["removed_device"], texts
        explained = tandem.get(f"/tandem/v1/exchanges/{answer.headers['x-tandem-exchange']}")
        assert b"removed_device" in explained.body, explained.body
        secret = {"x-tandem-data-class": "restricted"}
        equal(tandem.chat(CLEAR, secret).tandem["tier"], "local")
        equal(tandem.chat(CLEAR, {"x-tandem-mode": "only-local"}).tandem["tier"], "local")
        state = capable(tandem)
        equal((state["level"], state["cause"]), ("wall", "heat"))
        equal((state["heat"]["temperature_c"], state["heat"]["throttled"]), (42.0, True))
        metrics = tandem.get("/metrics").body.decode()
        assert "tandem_device_level 3" in metrics, metrics
        assert "tandem_device_temperature_celsius 42" in metrics, metrics
        wait_until(lambda: any("device_level" in line for line in tandem.log))


LADDER = """
tiers:
  - {{name: local, kind: local, model: "{large}"}}
  - {{name: small, kind: local, model: "{small}"}}
  - {{name: cloud, kind: openai, base_url: "{cloud}", api_key_env: TEST_CLOUD_KEY, model: m}}
routes:
  - {{name: auto, kind: hybrid, tiers: [local, small, cloud]}}
device: {{root: {root}}}
"""


@case
def test_what_stays_on_a_hot_device_is_asked_of_its_smallest_model():
    machine = Machine()
    machine.put(HOT)
    large = machine.root / "large.gguf"
    gguf.add_metadata(NANO, large, [("test.padding", b"x" * (3 << 20))])
    cloud = ScriptedCloud(Script(text="Cloud."))
    config = LADDER.format(large=large, small=NANO, cloud=cloud.base_url, root=machine.root)
    secret = {"x-tandem-data-class": "restricted"}
    with Tandem(config, env=KEYS) as tandem:
        equal(tandem.chat(CLEAR).tandem["tier"], "cloud")
        for _ in range(3):
            answer = tandem.chat(CLEAR, secret)
            equal((answer.tandem["tier"], codes(answer).count("chosen_device")), ("small", 1))
        record = tandem.get("/tandem/v1/exchanges/last").json["signals"]["plan"]
        size = record["tiers"]["local"]["model_bytes"]
        equal((record["spares_power"], size), (True, large.stat().st_size))
        machine.put({"thermal/thermal_zone0/temp": "20000"})
        # A level lasts at least a minute: it does not go to and fro.
        time.sleep(3)
        equal(tandem.chat(CLEAR, secret).tandem["tier"], "small")
    machine.put({"thermal/thermal_zone0/temp": "20000"})
    with Tandem(config, env=KEYS) as tandem:
        equal(tandem.chat(CLEAR, secret).tandem["tier"], "local")
    cloud.close()


@case
def test_heat_that_nothing_is_to_be_done_about_changes_nothing():
    machine = Machine()
    machine.put(HOT)
    cloud = ScriptedCloud(Script(text="Cloud."))
    config = edge_first(cloud.base_url, "    allow_http: true\n")
    device = f"device: {{root: {machine.root}, heat: false}}\n"
    with Tandem(config + device, env=KEYS) as tandem:
        equal(tandem.chat(CLEAR).tandem["tier"], "local")
        equal(capable(tandem)["level"], "usual")


@case
def test_a_cool_device_is_as_usual_and_looks_beside_the_requests():
    machine = Machine()
    machine.put({**HOT, "thermal/thermal_zone0/temp": "25000"})
    cloud = ScriptedCloud(Script(text="Cloud."))
    with started(machine, cloud.base_url) as tandem:
        equal(tandem.chat(CLEAR).tandem["tier"], "local")
        equal(capable(tandem)["level"], "usual")
        machine.put(HOT)
        wait_until(lambda: capable(tandem)["level"] == "wall")
        equal(tandem.chat(CLEAR).tandem["tier"], "cloud")


@case
def test_short_memory_sends_new_requests_to_the_next_rung():
    machine = Machine()
    for name, text in {
        "sys/class/none": "",
        "proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 100000 kB",
    }.items():
        path = machine.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    cloud = ScriptedCloud(Script(text="Cloud."))
    with started(machine, cloud.base_url) as tandem:
        answer = tandem.chat(CLEAR)
        equal(answer.tandem["tier"], "cloud")
        assert "memory is short" in str(answer.tandem["reasons"]), answer.tandem
        equal(capable(tandem)["cause"], "memory")
        secret = {"x-tandem-data-class": "restricted"}
        equal(tandem.chat(CLEAR, secret).tandem["tier"], "local")


@case
def test_files_that_are_none_are_no_device_and_logged_once():
    machine = Machine()
    machine.put({**HOT, "thermal/thermal_zone0/temp": "7" * 100000})
    cloud = ScriptedCloud(Script(text="Cloud."))
    with started(machine, cloud.base_url) as tandem:
        time.sleep(5)
        equal(tandem.chat(CLEAR).tandem["tier"], "local")
        equal(capable(tandem)["heat"], None)
        equal(sum("device_file_malformed" in line for line in tandem.log), 1)


@case
def test_doctor_shows_the_device():
    machine = Machine()
    machine.put(HOT)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write(f"device: {{root: {machine.root}}}\n")
        config.flush()
        _, out, _ = run("doctor", "--offline", "--config", config.name)
        text = out.decode()
        assert "42.0" in text and "41.4" in text, text


if __name__ == "__main__":
    main()
