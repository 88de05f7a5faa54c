#!/usr/bin/env python3
"""A PostgreSQL cluster of its own for tests, in a temporary folder, on a free port of 127.0.0.1.

As a program: postgres.py PROGRAM [argument ...] runs the program with the database's URL in
TANDEM_TEST_POSTGRES; 77 (skipped) where PostgreSQL is not installed."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

SKIPPED = 77
# Nothing of a test has to survive a loss of power.
SETTINGS = {"fsync": "off", "full_page_writes": "off", "max_connections": "60"}


def tool(name: str) -> str | None:
    """A program of the newest PostgreSQL that is installed; Debian keeps them beside the path."""
    versions = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"),
        key=lambda path: int(path.parts[-3]) if path.parts[-3].isdigit() else 0,
    )
    return str(versions[-1]) if versions else shutil.which(name)


def missing() -> str | None:
    """Why there can be no cluster here; None where there can."""
    return None if tool("initdb") else "PostgreSQL is not installed (Debian: postgresql)"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Postgres:
    """A running cluster. Use as a context manager."""

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        self.settings = SETTINGS | (settings or {})
        self.folder = Path(tempfile.mkdtemp(prefix="tandem-postgres-", dir="/tmp"))
        self.port = free_port()
        self.url = f"postgresql://tandem@127.0.0.1:{self.port}/postgres"
        # PostgreSQL does not run as root.
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            entry = pwd.getpwnam(self.user)
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)
        self.process: subprocess.Popen[bytes] | None = None
        initdb = [tool("initdb"), "-D", self.data, "-A", "trust", "-U", "tandem", "-E", "UTF8"]
        subprocess.run(
            [*map(str, initdb), "--no-sync", "--locale=C.UTF-8"],
            check=True,
            stdout=subprocess.DEVNULL,
            **self._as_user(),
        )
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def _as_user(self) -> dict[str, Any]:
        return {"user": self.user, "group": self.user, "extra_groups": []} if self.user else {}

    def start(self) -> None:
        settings = {
            **self.settings,
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self.folder),
        }
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    str(tool("postgres")),
                    "-D",
                    str(self.data),
                    *(part for key, value in settings.items() for part in ("-c", f"{key}={value}")),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **self._as_user(),
            )
        end = time.monotonic() + 30
        while time.monotonic() < end:
            done = subprocess.run(
                [str(tool("pg_isready")), "-q", "-h", "127.0.0.1", "-p", str(self.port)],
                check=False,
            )
            if done.returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError("PostgreSQL did not start:\n" + (self.folder / "log").read_text())

    def kill(self) -> None:
        """As a crash: the postmaster and all its children at once, without a word to anybody."""
        assert self.process
        children = subprocess.run(
            ["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False
        ).stdout.split()
        for pid in [self.process.pid, *map(int, children)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.process = None

    @contextlib.contextmanager
    def stalled(self) -> Iterator[None]:
        """It takes connections, and answers nobody."""
        assert self.process
        children = subprocess.run(
            ["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False
        ).stdout.split()
        stopped = [self.process.pid, *map(int, children)]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in reversed(stopped):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def stop(self) -> None:
        if self.process:
            self.process.send_signal(signal.SIGINT)  # "fast": connections are ended
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
            self.process = None

    def query(self, sql: str) -> list[list[str]]:
        done = subprocess.run(
            [str(tool("psql")), "-XAtq", "-v", "ON_ERROR_STOP=1", "-F", "\t", self.url, "-c", sql],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def number(self, sql: str) -> int:
        return int(self.query(sql)[0][0])

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def main() -> int:
    why = missing()
    if why:
        print(f"skipped: {why}")
        return SKIPPED
    with Postgres() as postgres:
        env = {**os.environ, "TANDEM_TEST_POSTGRES": postgres.url}
        return subprocess.run(sys.argv[1:], env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
