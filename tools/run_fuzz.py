#!/usr/bin/env python3
"""Builds tests/fuzz with clang's libFuzzer in build-fuzz and runs every target.

--replay runs each target once over its corpus in the tree (a regression test: prints
"N passed, N failed"); otherwise each target searches for --seconds, or until it has had
--cpu-seconds of processor time (the fair measure on a busy machine), and adds what it finds
interesting to build-fuzz/corpus, never to the tree. --only NAME picks one target.
"""

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import trees
from trees import ROOT

BUILD = ROOT / "build-fuzz"
CORPUS = ROOT / "tests" / "fuzz" / "corpus"


def search(
    command: Sequence[str], seconds: float, cpu_seconds: float
) -> tuple[subprocess.CompletedProcess[str], float]:
    """Runs the command, again and again until cpu_seconds were spent; returns the last run."""

    def used() -> float:
        return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])

    begin = used()
    while True:
        done = subprocess.run(
            [*command, f"-max_total_time={seconds}"],
            cwd=BUILD,
            env={**os.environ, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"},
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        spent = used() - begin
        if done.returncode != 0 or spent >= cpu_seconds:
            return done, spent


def main() -> Any:
    parser = argparse.ArgumentParser()
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--cpu-seconds", type=int, default=0)
    parser.add_argument("--only")
    args = parser.parse_args()
    try:
        trees.build("build-fuzz", ["fuzz"])
    except trees.TreeError as failure:
        print(f"{failure}\n0 passed, 1 failed")
        return 1
    passed = failed = 0
    for target in sorted((BUILD / "tests" / "fuzz").glob("fuzz_*")):
        if not os.access(target, os.X_OK) or target.is_dir():
            continue
        if args.only and target.name != f"fuzz_{args.only}":
            continue
        seeds = CORPUS / target.name.removeprefix("fuzz_")
        inputs = sorted(str(path) for path in seeds.glob("*"))
        if args.replay:
            command = [str(target), "-runs=1", "-rss_limit_mb=2048", *inputs]
            done, spent = search(command, 0, 0)
        else:
            found = BUILD / "corpus" / target.name
            found.mkdir(parents=True, exist_ok=True)
            command = [str(target), "-rss_limit_mb=2048", "-timeout=10", str(found), str(seeds)]
            done, spent = search(command, args.seconds, args.cpu_seconds)
        ok = done.returncode == 0 and (not args.replay or inputs)
        passed, failed = passed + bool(ok), failed + (not ok)
        if not ok:
            print(f"FAIL {target.name} ({len(inputs)} inputs)")
            print(done.stdout[-4000:])
        elif not args.replay:
            print(
                f"ok   {target.name}, {spent:.0f} CPU seconds: "
                + done.stdout.strip().splitlines()[-1]
            )
    if passed + failed == 0:
        failed = 1
        print("no fuzz target was built")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
