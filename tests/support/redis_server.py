#!/usr/bin/env python3
"""A Redis or Valkey of its own for tests, on a free port of 127.0.0.1, which forgets all when it
ends.

As a program: redis_server.py PROGRAM [argument ...] runs the program with the server's URL in
TANDEM_TEST_REDIS; 77 (skipped) where neither is installed."""

import os
import shutil
import socket
import subprocess
import sys
import time
from typing import Self

from postgres import SKIPPED, free_port


def tool() -> str | None:
    return shutil.which("valkey-server") or shutil.which("redis-server")


def missing() -> str | None:
    """Why there can be no server here; None where there can."""
    return None if tool() else "neither Valkey nor Redis is installed (Debian: redis-server)"


class Redis:
    """A running server. Use as a context manager."""

    def __init__(self, password: str | None = None) -> None:
        self.port = free_port()
        self.password = password
        self.url = f"redis://127.0.0.1:{self.port}/1"
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        options = [
            "--bind",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--save",
            "",
            "--appendonly",
            "no",
        ]
        if self.password:
            options += ["--requirepass", self.password]
        self.process = subprocess.Popen(
            [str(tool()), *options], stdout=subprocess.DEVNULL, cwd="/tmp"
        )
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1):
                    return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("Redis did not start")

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def main() -> int:
    why = missing()
    if why:
        print(f"skipped: {why}")
        return SKIPPED
    with Redis() as redis:
        env = {**os.environ, "TANDEM_TEST_REDIS": redis.url}
        return subprocess.run(sys.argv[1:], env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
