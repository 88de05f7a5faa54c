#!/usr/bin/env python3
"""The service that is installed for systemd: what it may do, and that it can do its work so."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import unit_file
from check import Skip, case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import ROOT, Tandem, edge_first, status_of, wait_until, workers

UNIT = ROOT / "packaging" / "tandem.service.in"
# What the service must not lose: one line a right that is taken.
REQUIRED = {
    "DynamicUser": "yes",
    "StateDirectory": "tandem",
    "StateDirectoryMode": "0700",
    "RuntimeDirectory": "tandem",
    "UMask": "0077",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateMounts": "yes",
    "PrivateDevices": "yes",
    "DevicePolicy": "closed",
    "ProtectProc": "invisible",
    "RemoveIPC": "yes",
    "LimitCORE": "0",
    "MemorySwapMax": "0",
    "MemoryDenyWriteExecute": "yes",
    "KeyringMode": "private",
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "AmbientCapabilities": "",
    "PrivateUsers": "yes",
    "RestrictSUIDSGID": "yes",
    "RestrictRealtime": "yes",
    "RestrictNamespaces": "yes",
    "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
    "LockPersonality": "yes",
    "ProtectClock": "yes",
    "ProtectControlGroups": "yes",
    "ProtectHostname": "yes",
    "ProtectKernelLogs": "yes",
    "ProtectKernelModules": "yes",
    "ProtectKernelTunables": "yes",
    "SystemCallArchitectures": "native",
}
EXPOSURE_MAX = 1.2  # of 10, as docs/operations.md says


@case
def test_every_right_that_is_not_needed_is_taken():
    values = unit_file.read(UNIT)
    equal({key: values.get(key) for key in REQUIRED}, {k: [v] for k, v in REQUIRED.items()})
    equal(values["ExecStart"], ["@bindir@/tandem serve --config /etc/tandem/tandem.yaml"])
    assert not [key for key in values if key.startswith("ExecStart") and key != "ExecStart"]
    assert all(not value.startswith(("+", "!")) for value in values["ExecStart"])


@case
def test_systemd_rates_it_as_the_page_says():
    if not shutil.which("systemd-analyze"):
        raise Skip("systemd-analyze is not here")
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / "tandem.service"
        unit.write_text(re.sub("@[a-z]+@", "/usr/bin", UNIT.read_text()))
        analyze = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
        done = subprocess.run(analyze, capture_output=True, text=True, timeout=60)
        found = re.search(r"Overall exposure level.*: (\d+\.\d)", done.stdout)
        assert found, done.stdout + done.stderr
        assert float(found[1]) <= EXPOSURE_MAX, done.stdout
        checked = subprocess.run(
            ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=60
        )
        other = [line for line in checked.stderr.splitlines() if "not executable" not in line]
        assert not [line for line in other if "tandem.service" in line], checked.stderr
    page = (ROOT / "docs" / "operations.md").read_text()
    assert f"{EXPOSURE_MAX} of 10" in page


TRIES = """
import ctypes, mmap, os, socket, sys
def refused(what):
    try:
        return what() == -1
    except OSError:
        return True
libc = ctypes.CDLL(None)
tries = {
    "write": lambda: open("/etc/tandem-test", "w"),
    "namespace": lambda: libc.unshare(0x10000000),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "packets": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "code": lambda: mmap.mmap(-1, 4096, prot=7),
    "keys": lambda: libc.syscall(248, 0, 0, 0, 0, 0),
    "root": lambda: os.setuid(0),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, -5),
}
print([name for name, what in tries.items() if not refused(what)])
open(sys.argv[1] + "/here", "w").close()
"""


@case
def test_what_it_takes_is_taken():
    """The next case would pass under a unit that takes nothing."""
    if os.geteuid() != 0 or not shutil.which("systemd-analyze"):
        raise Skip("needs root and systemd-analyze")
    with tempfile.TemporaryDirectory(prefix="tandem-unit-") as folder:
        os.chown(folder, unit_file.NOBODY, unit_file.NOBODY)
        before = unit_file.confinement(unit_file.read(UNIT), Path(folder))
        tried = [sys.executable, "-I", "-S", "-c", TRIES, folder]
        if os.path.realpath(sys.executable).startswith("/root/"):  # closed to other users
            tried[0] = "/usr/bin/python3"
        done = subprocess.run(tried, preexec_fn=before, capture_output=True, text=True)
        equal((done.stdout, done.stderr), ("[]\n", ""))
        equal(os.listdir(folder), ["here"])


def told(manager, wanted, seconds=20):
    """Waits for the first message with these words."""
    manager.settimeout(seconds)
    while True:
        message = manager.recv(4096).decode()
        if wanted in message:
            return message


@case
def test_the_service_manager_is_told_what_happens():
    for name in ("@tandem-test-" + os.urandom(8).hex(), ""):
        with (
            tempfile.TemporaryDirectory(prefix="tandem-notify-") as folder,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager,
        ):
            path = name or folder + "/notify"
            manager.bind(path.replace("@", "\0"))
            env = {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "300000", "TEST_CLOUD_KEY": "k"}
            server = Tandem(edge_first("http://127.0.0.1:1/v1"), env=env)
            equal(told(manager, "READY"), "READY=1")
            for _ in range(3):
                equal(told(manager, "WATCHDOG"), "WATCHDOG=1")
            server.process.send_signal(signal.SIGHUP)
            assert re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=\d+", told(manager, "RELOADING"))
            told(manager, "READY=1")
            server.process.send_signal(signal.SIGTERM)
            told(manager, "STOPPING=1")
            server.stop()


@case
def test_a_socket_of_the_service_manager_that_is_no_socket_stops_nothing():
    for name in ("", "x", "/nonexistent", "@" + "x" * 300, "/etc/passwd"):
        env = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "-1", "TEST_CLOUD_KEY": "k"}
        Tandem(edge_first("http://127.0.0.1:1/v1"), env=env).stop()


@case
def test_the_server_and_its_worker_do_their_work_under_it():
    if os.geteuid() != 0 or not shutil.which("systemd-analyze"):
        raise Skip("needs root and systemd-analyze")
    values = unit_file.read(UNIT)
    cloud = ScriptedCloud(Script(text="Cloud."))
    with tempfile.TemporaryDirectory(prefix="tandem-unit-") as folder:
        state = Path(folder)
        config = state / "tandem.yaml"
        config.write_text(edge_first(cloud.base_url.replace("127.0.0.1", "localhost")))
        os.chown(state, unit_file.NOBODY, unit_file.NOBODY)
        config.chmod(0o644)
        env = {"TANDEM_STATE_DIR": state, "TEST_CLOUD_KEY": "k", "HOME": "/"}
        before = unit_file.confinement(values, state)
        with Tandem(env=env, arguments=["--config", str(config)], before=before) as tandem:
            status = status_of(Path(f"/proc/{tandem.process.pid}/status"))
            equal([status[key].strip() for key in ("NoNewPrivs", "Seccomp")], ["1", "2"])
            equal(status["CapEff"].strip(), "0" * 16)
            answer = tandem.chat("What is the weather?", {"x-tandem-mode": "only-local"})
            equal(answer.status, 200, answer.body)
            answer = tandem.chat("Hello", {"x-tandem-mode": "only-cloud"})
            equal((answer.status, answer.text), (200, "Cloud."), answer.body)
            answer = tandem.chat("My card is 4111 1111 1111 1111, what is the weather?")
            equal((answer.status, answer.tandem["data_class"]), (200, "restricted"))
            equal(len(workers(tandem)), 1)
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(lambda: any("config_reloaded" in line for line in tandem.log), what="reload")
            equal(tandem.chat("Hello?", {"x-tandem-mode": "only-local"}).status, 200)
            equal(tandem.get("/tandem/v1/exchanges?limit=9").status, 200)
            assert (state / "ledger.db").stat().st_mode & 0o077 == 0
            equal(tandem.stop(), 0)
        refused = [line for line in tandem.log if "not permitted" in line or "Read-only" in line]
        equal(refused, [])


if __name__ == "__main__":
    main()
