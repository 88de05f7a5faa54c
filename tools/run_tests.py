#!/usr/bin/env python3
"""Runs every test and prints one closing line: N passed, N failed, N skipped.

A suite is a command that prints such a line itself; one that dies without it counts as one failure.
Suites: unit tests (release), the same under ASan+UBSan, the threaded ones under TSan, fuzz corpora as
regressions, structure checks, the generators of training examples, end-to-end tests against the real program, the official clients, and on
x86 the aarch64 build with its NEON kernels, run by qemu.
`--only TEXT` runs the suites whose name contains TEXT.
"""
import argparse
import concurrent.futures
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import run_fuzz

ROOT = Path(__file__).resolve().parent.parent
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
THREADED = ("queue", "thread_pool", "background", "scheduler", "embedding_service", "server", "client", "ledger", "loop", "hedge_allowance", "ramp_table")
SANITIZED_E2E = ("bad_requests", "confined", "dialects", "failures", "forget", "privacy")  # what hostile input reaches
SUITE_SECONDS_MAX = 600


class Suite:
    def __init__(self, name, command, env=None, exclusive=False):
        self.name, self.command, self.env = name, command, env or {}
        self.exclusive = exclusive  # measures time or uses both cores: runs alone

    def run(self):
        env = {**os.environ, **self.env}
        begin = time.monotonic()
        try:
            done = subprocess.run(self.command, cwd=ROOT, env=env, text=True, errors="replace",
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=SUITE_SECONDS_MAX)
            output, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            output = (late.stdout or b"").decode(errors="replace") if isinstance(late.stdout, bytes) else (late.stdout or "")
            output += f"\n{self.name}: killed after {SUITE_SECONDS_MAX} s\n"
            code = -1
        found = CLOSING.findall(output)
        if found:
            passed, failed, skipped = (int(x or 0) for x in found[-1])
        else:
            passed, failed, skipped = 0, 1, 0
        if code != 0 and failed == 0:
            failed = 1
        return output, passed, failed, skipped, time.monotonic() - begin


def build(directory, *options, targets=()):
    """Configures (once) and builds; exits when that fails."""
    path = ROOT / directory
    werror = os.environ.get("MESON_FLAGS", "").split()
    if not (path / "build.ninja").exists():
        subprocess.run(["meson", "setup", str(path), *options, *werror], cwd=ROOT, check=True,
                       capture_output=True, text=True)
    subprocess.run(["ninja", "-C", str(path), "--quiet", *targets], cwd=ROOT, check=True)


def unit_suites(directory, label, threaded_only=False, env=None):
    listing = subprocess.run(["meson", "introspect", "--tests", str(ROOT / directory)], cwd=ROOT,
                             check=True, capture_output=True, text=True).stdout
    for test in json.loads(listing):
        if threaded_only and not any(word in test["name"] for word in THREADED):
            continue
        yield Suite(f"{label}/{test['name']}", test["cmd"], {**(env or {}), **test["env"]})


# What the aarch64 build is asked: every kernel on a processor with and one without dot product
# instructions, and the engine above them.
NEON_PROCESSOR = "cortex-a76"
NEON_TESTS = {"kernels/test_kernels": (NEON_PROCESSOR, "cortex-a72"), "kernels/test_kernels_vector": (NEON_PROCESSOR,),
              "kernels/test_kernels_attention": (NEON_PROCESSOR,),
              "base/test_cores": (NEON_PROCESSOR,), "base/test_thread_pool": (NEON_PROCESSOR,),
              "engine/test_gguf": (NEON_PROCESSOR,), "engine/test_golden_logits": (NEON_PROCESSOR,)}


def neon_suites():
    """An aarch64 build of the product, and its tests under qemu; a named skip where that cannot be had."""
    if platform.machine() != "x86_64":
        return  # on aarch64 these are the unit tests; elsewhere there is no cross compiler to expect
    for tool in ("aarch64-linux-gnu-gcc", "qemu-aarch64-static"):
        if not shutil.which(tool):
            yield skipped("neon/all", f"no {tool} (tools/install_packages.sh cross)")
            return
    root = ROOT / "build-aarch64-root"
    if subprocess.run(["tools/aarch64_root.sh", str(root)], cwd=ROOT, stdout=subprocess.DEVNULL).returncode:
        yield skipped("neon/all", "the aarch64 libraries could not be fetched (tools/aarch64_root.sh)")
        return
    programs = {name: f"tests/unit/{name}" for name in NEON_TESTS}
    build("build-aarch64", "--buildtype=release", "--cross-file", str(root / "root.cross"),
          "--cross-file", "tools/aarch64.cross", targets=("product", *programs.values()))
    for name, processors in NEON_TESTS.items():
        for processor in processors:
            command = ["qemu-aarch64-static", "-cpu", processor, "-L", str(root),
                       str(ROOT / "build-aarch64" / programs[name])]
            if name.endswith("golden_logits"):
                command.append("neon")  # the variant; the reference takes minutes there
            yield Suite(f"neon/{name.split('_', 1)[1]} on {processor}", command)
    program = ROOT / "build-aarch64" / "tandem-under-qemu"
    program.write_text(f"#!/bin/sh\nexec qemu-aarch64-static -cpu {NEON_PROCESSOR} -L '{root}' "
                       f"'{ROOT}/build-aarch64/src/app/tandem' \"$@\"\n")
    program.chmod(0o755)
    yield Suite("neon/e2e_answers", [sys.executable, "tests/e2e/test_answers.py"],
                env={"TANDEM_BINARY": str(program)}, exclusive=True)


def skipped(name, why):
    return Suite(name, [sys.executable, "-c", f"print({f'SKIP {name}: {why}'!r}); print('0 passed, 0 failed, 1 skipped')"])


def collect(only):
    """Builds what the asked-for suites need and lists them."""
    suites = []
    wanted = lambda label: only is None or label.startswith(only.split("/")[0]) or only in label

    if wanted("unit"):
        build("build", "--buildtype=release")
        suites += unit_suites("build", "unit")
    if wanted("asan"):
        build("build-asan", "--buildtype=debugoptimized", "-Db_sanitize=address,undefined",
              "-Db_lundef=false")
        asan = {"ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
        suites += unit_suites("build-asan", "asan", env=asan)
        for name in SANITIZED_E2E:
            suites.append(Suite(f"asan/e2e_{name}", [sys.executable, f"tests/e2e/test_{name}.py"],
                                env={"TANDEM_BINARY": str(ROOT / "build-asan/src/app/tandem"), **asan},
                                exclusive=True))
    if wanted("tsan"):
        build("build-tsan", "--buildtype=debugoptimized", "-Db_sanitize=thread", "-Db_lundef=false")
        suites += unit_suites("build-tsan", "tsan", threaded_only=True, env={
            "TSAN_OPTIONS": "halt_on_error=1"})
    if wanted("neon"):
        suites += neon_suites()
    if wanted("fuzz") and shutil.which("clang"):
        run_fuzz.build()  # here, as the others: a build has no time limit, a suite has
        suites.append(Suite("fuzz/regressions", [sys.executable, "tools/run_fuzz.py", "--replay"]))
    for kind in ("structure", "models", "e2e", "clients", "conformance"):
        for script in sorted((ROOT / "tests" / kind).glob("test_*.py")):
            if wanted(kind):
                suites.append(Suite(f"{kind}/{script.stem}", [sys.executable, str(script)],
                                    exclusive=(kind in ("e2e", "clients", "conformance"))))
    if only:
        suites = [suite for suite in suites if only in suite.name]
    return suites


def report(suite, result):
    output, passed, failed, skipped, seconds = result
    mark = "FAIL" if failed else "ok"
    print(f"{mark:4} {suite.name:44} {passed:5} passed {failed:3} failed {skipped:3} skipped {seconds:6.1f} s",
          flush=True)
    for line in output.splitlines():
        if failed or line.startswith("SKIP"):
            print("     " + line)
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="run the suites whose name contains this")
    only = parser.parse_args().only
    try:
        suites = collect(only)
    except subprocess.CalledProcessError as failure:
        print(f"build failed: {' '.join(map(str, failure.cmd))}")
        print("".join(filter(None, [failure.stdout, failure.stderr]))[-4000:])
        print("0 passed, 1 failed")
        return 1
    totals = [0, 0, 0]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        parallel = [suite for suite in suites if not suite.exclusive]
        for suite, result in zip(parallel, pool.map(Suite.run, parallel)):
            totals = [a + b for a, b in zip(totals, report(suite, result))]
    for suite in suites:
        if suite.exclusive:
            totals = [a + b for a, b in zip(totals, report(suite, suite.run()))]
    print("%d passed, %d failed, %d skipped" % tuple(totals))
    return 1 if totals[1] or not suites else 0


if __name__ == "__main__":
    sys.exit(main())
