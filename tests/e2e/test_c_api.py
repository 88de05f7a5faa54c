#!/usr/bin/env python3
"""The C library as its users meet it: installed, found by pkg-config, linked by the examples."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))
import library_size
from check import Skip, case, equal, main
from tandem import NANO, ROOT

LINES_MAX = 60


class Installed:
    """The library in a prefix of its own, and programs built against it."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tandem-c-")
        root = Path(self.folder.name)
        done = subprocess.run(
            [
                "meson",
                "install",
                "-C",
                str(ROOT / "build"),
                "--no-rebuild",
                "--quiet",
                "--destdir",
                str(root / "root"),
            ],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise Skip("build/ is not there to be installed: " + done.stderr.strip())
        found = list((root / "root").rglob("tandem.pc"))
        equal(len(found), 1, "tandem.pc files")
        self.env = {
            **os.environ,
            "PKG_CONFIG_PATH": str(found[0].parent),
            "PKG_CONFIG_SYSROOT_DIR": str(root / "root"),
        }
        self.library = next(path for path in (root / "root").rglob("libtandem.so.0"))
        self.env["LD_LIBRARY_PATH"] = str(self.library.parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def flags(self):
        return subprocess.run(
            ["pkg-config", "--cflags", "--libs", "tandem"],
            env=self.env,
            check=True,
            text=True,
            capture_output=True,
        ).stdout.split()

    def build(self, source):
        program = Path(self.folder.name) / source.stem
        subprocess.run(
            [
                "cc",
                "-std=c17",
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
                str(source),
                "-o",
                str(program),
                *self.flags(),
                "-lm",
            ],
            env=self.env,
            check=True,
        )
        return program

    def run(self, program, *arguments):
        done = subprocess.run(
            [str(program), *map(str, arguments)],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stdout, done.stderr


@case
def test_the_examples_are_short_and_answer_from_an_installed_library():
    with Installed() as installed:
        for source in sorted((ROOT / "examples" / "c").glob("*.c")):
            assert len(source.read_text().splitlines()) < LINES_MAX, source
        generate = installed.build(ROOT / "examples" / "c" / "generate.c")
        code, out, err = installed.run(generate, NANO, "hello")
        equal(code, 0, err)
        assert re.search(r"\n\d+ tokens after \d+ in \d+ ms\n$", out), out
        equal(
            installed.run(generate, NANO, "hello")[1].rsplit("\n", 2)[0],
            out.rsplit("\n", 2)[0],
            "the same text",
        )
        chat = installed.build(ROOT / "examples" / "c" / "chat.c")
        code, out, err = installed.run(
            chat, NANO, "Extract the e-mail address: write to ann@example.org today."
        )
        equal(code, 0, err)
        found = re.search(
            r"\nconfidence (\d\.\d\d), smallest margin (\d\.\d\d), (\d+) tokens\n$", out
        )
        assert found and 0 < float(found[1]) <= 1 and int(found[3]) >= 1, out
        code, out, err = installed.run(generate, "/no/such.gguf", "hello")
        assert code == 1 and "/no/such.gguf" in err, err
        code, out, err = installed.run(chat)
        equal(code, 2, err)


@case
def test_the_library_needs_no_server_client_or_database():
    with Installed() as installed:
        dynamic = subprocess.run(
            ["readelf", "-d", str(installed.library)], capture_output=True, text=True, check=True
        ).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[([^\]]+)\]", dynamic))
        loaders = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
        assert needed <= {"libc.so.6", "libm.so.6", "libjansson.so.4", *loaders}, needed


@case
def test_the_library_is_small():
    size = library_size.stripped_bytes(ROOT / "build" / "src" / "libtandem.so")
    assert size <= library_size.LIMIT_BYTES, (
        f"{size} bytes stripped, at most {library_size.LIMIT_BYTES}"
    )


@case
def test_what_is_exported_is_declared_and_explained():
    out = subprocess.run(
        ["nm", "-D", "--defined-only", str(ROOT / "build" / "src" / "libtandem.so")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    exported = {line.split()[-1] for line in out.splitlines()}
    explained = set()
    for header in ("engine.h", "types.h"):
        lines = (ROOT / "include" / "tandem" / header).read_text().splitlines()
        for at, line in enumerate(lines):
            if not line.startswith("TD_PUBLIC"):
                continue
            # A declaration goes on until its semicolon; its comment stands before it, before its
            # group, or behind.
            name = re.search(r"\b(td_\w+)\(", " ".join(lines[at : at + 3]))[1]
            before = at - 1
            while lines[before].startswith("TD_PUBLIC") or (
                lines[before] and not lines[before].endswith("*/")
            ):
                before -= 1
            behind = "/*" in line
            assert behind or lines[before].endswith("*/"), f"{header}: {name} is not explained"
            explained.add(name)
    equal(sorted(exported), sorted(explained))


if __name__ == "__main__":
    main()
