"""The library as its users have it: installed in a prefix of its own, and programs built against
it."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Self

from check import equal
from tandem import ROOT


class Installed:
    """`env` lets pkg-config, the loader and the bindings find it."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="tandem-c-")
        root = Path(self.folder.name) / "root"
        install = ["meson", "install", "-C", str(ROOT / "build"), "--no-rebuild", "--quiet"]
        done = subprocess.run(
            [*install, "--destdir", str(root)], capture_output=True, text=True, check=False
        )
        equal(done.returncode, 0, "meson install: " + done.stderr.strip())
        found = list(root.rglob("tandem.pc"))
        equal(len(found), 1, "tandem.pc files")
        self.library = next(root.rglob("libtandem.so.0"))
        self.env = {
            **os.environ,
            "PKG_CONFIG_PATH": str(found[0].parent),
            "PKG_CONFIG_SYSROOT_DIR": str(root),
            "LD_LIBRARY_PATH": str(self.library.parent),
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()

    def flags(self) -> list[str]:
        return subprocess.run(
            ["pkg-config", "--cflags", "--libs", "tandem"],
            env=self.env,
            check=True,
            text=True,
            capture_output=True,
        ).stdout.split()

    def build(self, source: Path) -> Path:
        program = Path(self.folder.name) / source.stem
        strict = ["-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        command = ["cc", *strict, str(source), "-o", str(program), *self.flags(), "-lm"]
        subprocess.run(command, env=self.env, check=True)
        return program

    def run(self, program: Path, *arguments: object) -> tuple[int, str, str]:
        done = subprocess.run(
            [str(program), *map(str, arguments)],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr
