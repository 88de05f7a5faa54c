#!/usr/bin/env python3
"""The C library as its users meet it: installed, found by pkg-config, linked by the examples."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))
import library_size
from check import Skip, case, equal, main
from installed import Installed
from tandem import NANO, ROOT

LINES_MAX = 60
OTHER_LINES_MAX = 65  # Rust has no C headers: it declares what it calls


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


def built_by(tool, installed, command, example):
    """A toolchain of a language is hundreds of megabytes: it is used where it is, not installed."""
    if not shutil.which(tool):
        raise Skip(f"{tool} is not installed")
    # In a place of its own each time: go remembers by the folder what pkg-config said, and the
    # library is elsewhere now.
    folder = Path(installed.folder.name) / example
    shutil.copytree(ROOT / "examples" / example, folder)
    for source in (*folder.rglob("*.go"), *folder.rglob("*.rs")):
        assert len(source.read_text().splitlines()) < OTHER_LINES_MAX, source
    env = {**installed.env, "GOFLAGS": "-buildvcs=false", "GOTOOLCHAIN": "local"}
    done = subprocess.run(
        [tool, *command], cwd=folder, env=env, capture_output=True, text=True, timeout=200
    )
    equal(done.returncode, 0, done.stdout + done.stderr)


@case
def test_a_go_program_answers():
    with Installed() as installed:
        program = installed.library.parent / "chat"
        built_by("go", installed, ["build", "-o", program, "."], "go")
        code, out, err = installed.run(program, NANO, "What can you do?")
        equal(code, 0, err)
        assert len(out) > 20 and re.search(r"tokens: \d+\n$", err), (out, err)
        code, out, err = installed.run(program, "/no/such.gguf", "hello")
        assert code == 1 and "not_found /no/such.gguf" in err, err


@case
def test_a_rust_program_labels():
    with Installed() as installed:
        target = installed.library.parent / "rust"
        command = ["build", "--offline", "--locked", "--quiet", "--target-dir", target]
        built_by("cargo", installed, command, "rust")
        program = target / "debug" / "labels"
        savings = "move 20 dollars to my savings"
        code, out, err = installed.run(program, NANO, "intents", savings)
        assert code == 0 and re.fullmatch(r"transfer 0\.9\d\n|transfer 1\.00\n", out), (out, err)
        code, out, err = installed.run(program, NANO, "nothing", savings)
        assert code == 1 and "no set of labels 'nothing'" in err, err


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
