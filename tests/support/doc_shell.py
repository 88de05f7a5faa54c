"""A reader of one page: a home and a folder of its own, in which the page's commands run one after
another as in one shell. `tandem serve` runs beside it, as in a second terminal, until the next one
or the page's end. `make` says whether there is such a goal, and `make run` serves."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

from tandem import BINARY, ROOT, clean_environment

COMMAND_SECONDS_MAX = 200
PORTS = ("8080", "8081", "8082")

SERVE = """\
#!/bin/sh
# Serves beside the reader, and shows what it says until it is ready.
case "$1 $*" in serve*--help*) exec {binary} "$@" ;; serve*) ;; *) exec {binary} "$@" ;; esac
if [ -z "$SEVERAL_SERVERS" ] && [ -s {folder}/pids ]; then
  kill $(cat {folder}/pids) 2> /dev/null; : > {folder}/pids
  sleep 0.2
fi
log=$(mktemp {folder}/serve-XXXXXX)
{binary} "$@" > "$log" 2>&1 &
pid=$!
echo $pid >> {folder}/pids
for i in $(seq 300); do
  grep -q "ready" "$log" && break
  kill -0 $pid 2> /dev/null || {{ cat "$log"; exit 1; }}
  sleep 0.05
done
sleep 0.1
cat "$log"
"""

MAKE = """\
#!/bin/sh
/usr/bin/make -n -C {root} "$@" > /dev/null || exit 1
case "$1" in run) exec {folder}/bin/tandem serve ;; esac
"""

# The state of the shell outlives the block: its variables and its folder.
FRAME = """\
set -aeo pipefail
[ ! -f {folder}/variables ] || . {folder}/variables
cd "$(cat {folder}/where)"
trap 'pwd > {folder}/where; export -p > {folder}/variables' EXIT
exec 2>&1 < /dev/null
{command}
"""


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


class Shell:
    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tandem-docs-"))
        self.work = self.folder / "work"
        self.home = self.folder / "home"
        for path in (self.work / "build", self.home, self.folder / "bin"):
            path.mkdir(parents=True)
        self.ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        names = {"binary": Path(BINARY).resolve(), "folder": self.folder, "root": ROOT}
        for name, script in (("tandem", SERVE), ("make", MAKE)):
            path = self.folder / "bin" / name
            path.write_text(script.format(**names))
            path.chmod(0o755)
        (self.work / "build" / "tandem").symlink_to(self.folder / "bin" / "tandem")
        for name in ("examples", "models", "tools", "docs"):
            (self.work / name).symlink_to(ROOT / name)
        (self.folder / "where").write_text(str(self.work))
        search = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        self.env = clean_environment(
            HOME=self.home,
            PATH=search,
            TANDEM_LISTEN=f"127.0.0.1:{self.ports['8080']}",
            TANDEM_ENGINE__THREADS=1,  # several pages run at once
        )
        for name in [name for name in self.env if name.startswith("XDG_")]:
            del self.env[name]
        self.files = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_servers()
        self.files.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def end_servers(self) -> None:
        pids = self.folder / "pids"
        running = [int(pid) for pid in pids.read_text().split()] if pids.exists() else []
        for pid in running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + 5
        while time.monotonic() < until and any(Path(f"/proc/{pid}").exists() for pid in running):
            time.sleep(0.02)

    def with_ports(self, text: str) -> str:
        """The ports of the pages are other ones here."""
        for written, real in self.ports.items():
            text = re.sub(rf"(?<=[:\s=]){written}\b", str(real), text)
        return text

    def without_ports(self, text: str) -> str:
        for written, real in self.ports.items():
            text = text.replace(str(real), written)
        return text.replace(str(self.work) + "/", "").replace(str(self.home), "~")

    def write(self, name: str, text: str) -> None:
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.with_ports(text))

    def run(self, command: str) -> tuple[int, str]:
        """(exit status, what it printed)."""
        text = FRAME.format(folder=self.folder, command=self.with_ports(command))
        log = self.folder / "printed"
        with log.open("w+b") as printed:  # not a pipe: a server that stays would keep it open
            process = subprocess.Popen(
                ["bash", "-c", text],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(COMMAND_SECONDS_MAX)
            except BaseException:  # also of the case's own limit
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
        return code, self.without_ports(log.read_text(errors="replace"))
