#!/usr/bin/env python3
"""Breaks C files in one place at a time and says which breaks no unit test notices.

mutate.py FILE... [--tests NAME,...] [--sample N] [--seed S], with files of src/.

Each break, a mutant, is a copy of the file: a comparison moved by one, an operator or a boolean
exchanged, a statement deleted, a condition forced, a number or a returned status changed. It is
compiled alone and linked before the library into the unit tests that use the file: those of the
same room, or those that --tests names. A survivor is a line that no test holds, or a change without
consequence: a person has to tell which. The tree is never written to, but for the build.
"""

import argparse
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import trees
from mutants import mutants_of
from trees import ROOT

BUILD = ROOT / "build"
# A broken program may allocate and write without end.
MEMORY_BYTES_MAX = 16 << 30
FILE_BYTES_MAX = 1 << 30
# It may also end every process of its user: kill(-1). So it reaches those of its session only.
GUARD = """#include <signal.h>
#include <unistd.h>
#define kill(pid, number) \\
    ((pid) > 0 && getsid(pid) == getsid(0) ? kill(pid, number) : -1)
"""
SECONDS_MAX = 120  # of a test, before anything is broken


class Failure(Exception):
    """Why a file cannot be tried."""


class Program(NamedTuple):
    """A unit test, and the command that links it."""

    name: str
    link: list[str]


def limit() -> None:
    """Bounds what a test may take. The hard limits stay, because some tests set limits, too."""
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES_MAX),
        (resource.RLIMIT_FSIZE, FILE_BYTES_MAX),
    ):
        resource.setrlimit(what, (most, resource.getrlimit(what)[1]))


def linked(program: Program, place: Path, *more: str) -> str:
    """Links the test as `place`/test, with more arguments first; returns what the linker says."""
    at = program.link.index("-o")
    gold = ["-fuse-ld=gold"] if shutil.which("ld.gold") else []
    command = [*program.link[:at], *gold, "-o", str(place / "test"), *more, *program.link[at + 2 :]]
    done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{program.name} cannot be linked:\n{done.stderr[-1000:]}")
    return done.stdout


def passes(place: Path, seconds: float) -> bool:
    """Runs `place`/test, which has this long."""
    process = subprocess.Popen(
        [str(place / "test")],
        cwd=ROOT,
        env={**os.environ, "TEST_NO_FORK": "1", "TMPDIR": str(place)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=limit,
    )
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what it started goes with it
        except ProcessLookupError:
            pass
        process.wait()


def ninja(*arguments: str) -> list[str]:
    command = ["ninja", "-C", str(BUILD), "-t", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def concerned(entry: dict[str, str], names: list[str], place: Path) -> list[Program]:
    """The tests of the file's room, or those of these names, that take the file from its library;
    those that are named like it come first. All are built before."""
    file = (BUILD / entry["file"]).resolve()
    room = file.relative_to(ROOT / "src").parts[0]
    targets = {}  # by name: ROOM/NAME
    for line in ninja("targets", "all"):
        found = re.fullmatch(r"(tests/unit/(\w+)/test_(?:\2_)?(\w+)): c_LINKER", line)
        if found:
            targets[f"{found[2]}/{found[3]}"] = found[1]
    wanted = [name if "/" in name else f"{room}/{name}" for name in names]
    wanted = wanted or [name for name in targets if name.startswith(f"{room}/")]
    unknown = [name for name in wanted if name not in targets]
    if unknown:
        raise Failure(f"no unit test is called {', '.join(unknown)}")
    trees.build("build", [targets[name] for name in wanted])
    programs = []
    for name in wanted:
        link = shlex.split(ninja("commands", targets[name])[-1].removeprefix("ccache "))
        library = entry["output"].partition(".p/")[0]
        member = f"({entry['output']})"
        program = Program(name, link)
        if library in link and member in linked(program, place, "-Wl,-t"):
            programs.append(program)

    def strangeness(program: Program) -> int:
        words = program.name.partition("/")[2]
        return 0 if words == file.stem else 1 if words in file.stem or file.stem in words else 2

    return sorted(programs, key=strangeness)


def compiler(entry: dict[str, str], place: Path) -> list[str]:
    """The command that compiles `place`/FILE as the build compiles FILE, without optimization."""
    words = iter(shlex.split(entry["command"].removeprefix("ccache ")))
    kept = []
    for word in words:
        if word in ("-o", "-c", "-MQ", "-MF"):
            next(words)
        elif not re.match(r"-O|-g|-flto|-MD|-Werror", word):
            kept.append(word)
    source = Path(entry["file"])
    kept += ["-O0", "-w", "-iquote", str(source.parent), "-include", str(place / "guard.h")]
    return [*kept, "-c", str(place / source.name), "-o", str(place / "mutant.o")]


def try_file(entry: dict[str, str], arguments: argparse.Namespace, place: Path) -> tuple[int, int]:
    """Tries the mutants of one file and prints the survivors; returns how many of how many."""
    file = (BUILD / entry["file"]).resolve()
    name = file.relative_to(ROOT)
    text = file.read_text()
    compile_it = compiler(entry, place)
    (place / "guard.h").write_text(GUARD)

    def compiles(changed: str) -> bool:
        (place / file.name).write_text(changed)
        return subprocess.run(compile_it, cwd=BUILD, capture_output=True).returncode == 0

    programs = concerned(entry, arguments.tests, place)
    if not programs:
        raise Failure(f"{name}: no unit test uses it")
    print(f"{name}: {', '.join(program.name for program in programs)}", flush=True)
    if not compiles(text):
        raise Failure(f"{name} does not compile: {shlex.join(compile_it)}")
    seconds = {}  # that a test may take, by its name
    for program in programs:
        begin = time.monotonic()
        linked(program, place, str(place / "mutant.o"))
        if not passes(place, SECONDS_MAX):
            raise Failure(f"{program.name} fails before anything is broken")
        seconds[program.name] = 5 + 5 * (time.monotonic() - begin)
    mutants = mutants_of(text)
    if arguments.sample and arguments.sample < len(mutants):
        mutants = sorted(random.Random(arguments.seed).sample(mutants, arguments.sample))
    tried = survived = 0
    for mutant in mutants:
        if not compiles(mutant.of(text)):
            continue
        tried += 1
        for program in programs:
            linked(program, place, str(place / "mutant.o"))
            if not passes(place, seconds[program.name]):
                programs.sort(key=lambda other: other is not program)  # it may catch the next, too
                break
        else:
            survived += 1
            print(f"{name}:{mutant.described(text)}", flush=True)
    return tried, survived


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help="a C file of src/")
    parser.add_argument(
        "--tests",
        default=[],
        type=lambda text: text.split(","),
        metavar="NAME,...",
        help="the unit tests to run: NAME in the room of the file, or ROOM/NAME",
    )
    parser.add_argument("--sample", type=int, metavar="N", help="try N mutants of each file")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which N; 1 by default")
    arguments = parser.parse_args()
    tried = survived = 0
    try:
        trees.configure("build")
        entries = {}
        for entry in json.loads((BUILD / "compile_commands.json").read_text()):
            entries[(BUILD / entry["file"]).resolve()] = entry
        for file in map(Path, arguments.files):
            if file.resolve() not in entries or ROOT / "src" not in file.resolve().parents:
                raise Failure(f"{file} is no C file of src/ that the build compiles")
            with tempfile.TemporaryDirectory() as place:
                counts = try_file(entries[file.resolve()], arguments, Path(place))
            tried, survived = tried + counts[0], survived + counts[1]
    except (Failure, trees.TreeError) as failure:
        print(failure, file=sys.stderr)
        return 2
    print(f"{tried} mutants, {tried - survived} caught, {survived} survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
