#!/usr/bin/env python3
"""Builds what the tests need, runs them and prints one closing line: N passed, N failed, N skipped.

A suite is a command that prints such a line itself; one that ends without it counts as one failure.
Suites: unit tests (release), the same under ASan+UBSan, the threaded ones under TSan, fuzz corpora
as regressions, checks of structure and tools, the generators of training examples, end-to-end tests
against the real program, the official clients, the console in a browser, and on x86 the aarch64
build with its NEON kernels, run by qemu.

A suite that waits for real processes and fails is asked once more, alone; both runs are printed,
and the second counts.

`--only TEXT` runs the suites whose name contains TEXT, and builds what they need before that. Given
several times, it runs those of each.
`--quick` leaves out what takes long: it is for `make check`.
"""

import argparse
import concurrent.futures
import difflib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import trees
from trees import AARCH64_ROOT, ROOT

CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
THREADED = (
    *("queue", "thread_pool", "background", "scheduler", "embedding_service", "server"),
    *("client", "ledger", "loop", "hedge_allowance", "exchange/money", "ramp_table", "scanner"),
)
# What hostile input reaches.
SANITIZED_E2E = ("bad_requests", "confined", "dialects", "failures", "forget", "privacy", "storm")
# What has several workers and everything that they share.
RACED_E2E = ("storm",)
# End-to-end suites that judge how long something took: nothing else runs beside them.
TIMED_E2E = (
    *("e2e/test_confined", "e2e/test_deadlines", "e2e/test_failures", "e2e/test_hedging"),
    *("e2e/test_load", "e2e/test_wire_tap"),
)
# Unit tests of more than two seconds each, and what stands for the end-to-end tests, in --quick.
SLOW = (
    *("app_probe_fit", "architectures", "constrained", "embedding", "golden_logits", "jinja"),
    *("golden_tensors", "json_schema", "kernels", "ledger egress_log", "ledger ledger"),
    *(
        "net client",
        "net server",
        "privacy scan",
        "router/ramp_statistics",
        "sampler",
        "sampler_draw",
    ),
    *("scheduler_company", "speculation", "tokenizer"),
)
SMOKE = ("e2e/test_answers", "e2e/test_privacy", "e2e/test_scan")
SUITE_SECONDS_MAX = 600
AT_ONCE = 2
# Suites against real processes share the machine with whatever else it does. So many of them may be
# asked again, alone, before a failure counts; more than that is a fault of the program.
AGAIN_MAX = 2

ASAN = {"ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
TSAN = {"TSAN_OPTIONS": "halt_on_error=1"}

# What the aarch64 build is asked: every kernel on a processor without dot product instructions,
# with them, and with matrix instructions ("max" has all), and the engine above them.
NEON_PROCESSOR = "cortex-a76"
NEON_TESTS = {
    "kernels/test_kernels": ("cortex-a53", NEON_PROCESSOR, "max"),
    "kernels/test_kernels_vector": (NEON_PROCESSOR,),
    "kernels/test_kernels_attention": (NEON_PROCESSOR,),
    "base/test_cores": (NEON_PROCESSOR,),
    "base/test_thread_pool": (NEON_PROCESSOR,),
    "engine/test_gguf": (NEON_PROCESSOR,),
    "engine/test_golden_logits": ("max",),
}


class Result(NamedTuple):
    output: str
    passed: int
    failed: int
    skipped: int
    seconds: float


class Suite:
    """A command that counts its own tests, and what must be built before it."""

    def __init__(
        self,
        name: str,
        command: list[str],
        env: dict[str, str] | None = None,
        tree: str | None = None,
        target: str | None = None,
        phase: int = 0,
    ) -> None:
        self.name, self.command, self.env = name, command, env or {}
        self.tree, self.target = tree, target
        self.phase = phase  # 0: beside others that compute; 1: beside others that wait; 2: alone

    def run(self) -> Result:
        begin = time.monotonic()
        process = subprocess.Popen(
            self.command,
            cwd=ROOT,
            env={**os.environ, **self.env},
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=SUITE_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # what it started goes with it
            output, _ = process.communicate()
            output += f"\n{self.name}: ended after {SUITE_SECONDS_MAX} s\n"
        return counted(output, process.returncode, time.monotonic() - begin)


def counted(output: str, code: int, seconds: float) -> Result:
    """What a suite's output and exit status say; without a closing line it is one failure."""
    found = CLOSING.findall(output)
    passed, failed, skipped = (int(x or 0) for x in found[-1]) if found else (0, 1, 0)
    if code != 0 and failed == 0:
        failed = 1
    return Result(output, passed, failed, skipped, seconds)


def unit_suites(
    label: str,
    tree: str,
    tests: list[dict],
    env: dict[str, str] | None = None,
) -> Iterator[Suite]:
    """The unit tests, whose names and programs Meson lists for build/, in one of its trees."""
    for test in tests:
        # A script that starts a server for the test gets the test's own program as its last word.
        *before, program = [str((ROOT / "build" / part).resolve()) for part in test["cmd"]]
        target = str(Path(program).relative_to(ROOT / "build"))
        command = [*before, str(ROOT / tree / target)]
        yield Suite(
            f"{label}/{test['name']}", command, {**(env or {}), **test["env"]}, tree, target
        )


def skipped(name: str, why: str) -> Suite:
    words = f"SKIP {name}: {why}"
    program = f"print({words!r}); print('0 passed, 0 failed, 1 skipped')"
    return Suite(name, [sys.executable, "-c", program])


def neon_suites(found: dict[str, str]) -> Iterator[Suite]:
    """An aarch64 build and its tests under qemu; a named skip where that cannot be had."""
    if "aarch64" not in found:
        if platform.machine() == "x86_64":  # on aarch64 these are the unit tests
            yield skipped("neon/all", found.get("why not", "no aarch64 libraries"))
        return
    for name, processors in NEON_TESTS.items():
        target = f"tests/unit/{name}"
        for processor in processors:
            qemu = ["qemu-aarch64-static", "-cpu", processor, "-L", str(AARCH64_ROOT)]
            command = [*qemu, str(ROOT / "build-aarch64" / target)]
            if name.endswith("golden_logits"):
                command.append("neon")  # the variant; the reference takes minutes there
            short = name.split("_", 1)[1]
            yield Suite(
                f"neon/{short} on {processor}", command, tree="build-aarch64", target=target
            )
    yield Suite(
        "neon/e2e_answers",
        [sys.executable, "tests/e2e/test_answers.py"],
        {"TANDEM_BINARY": str(ROOT / "tools" / "tandem_under_qemu.sh")},
        "build-aarch64",
        "product",
        phase=1,
    )


def cross_tools() -> dict[str, str]:
    """The aarch64 compiler, qemu and libraries: installed where they can be had."""
    if platform.machine() != "x86_64":
        return {}
    subprocess.run(["tools/install_packages.sh", "cross"], cwd=ROOT)
    for tool in ("aarch64-linux-gnu-gcc", "qemu-aarch64-static"):
        if not shutil.which(tool):
            return {"why not": f"no {tool} (tools/install_packages.sh cross)"}
    fetched = subprocess.run(
        ["tools/aarch64_root.sh", str(AARCH64_ROOT)], cwd=ROOT, stdout=subprocess.DEVNULL
    )
    if fetched.returncode:
        return {"why not": "the aarch64 libraries could not be fetched (tools/aarch64_root.sh)"}
    return {"aarch64": str(AARCH64_ROOT)}


def script_suites() -> Iterator[Suite]:
    for kind in ("structure", "tools", "models", "e2e", "clients", "console"):
        for script in sorted((ROOT / "tests" / kind).glob("test_*.py")):
            name = f"{kind}/{script.stem}"
            suite = Suite(name, [sys.executable, str(script)], tree="build", target="product")
            if kind in ("e2e", "clients", "console"):
                suite.phase = 2 if name in TIMED_E2E else 1
            yield suite


def sanitized_e2e(label: str, names: tuple[str, ...], env: dict[str, str]) -> Iterator[Suite]:
    """End-to-end tests against the program of a sanitized tree."""
    tree = f"build-{label}"
    environment = {"TANDEM_BINARY": str(ROOT / tree / "src/app/tandem"), **env}
    for name in names:
        phase = 2 if f"e2e/test_{name}" in TIMED_E2E else 1
        script = [sys.executable, f"tests/e2e/test_{name}.py"]
        yield Suite(f"{label}/e2e_{name}", script, environment, tree, "product", phase)


def catalogue(cross: dict[str, str]) -> list[Suite]:
    """Every suite, those that compute longest first: what starts last decides when all is over."""
    trees.configure("build")
    listing = subprocess.run(
        ["meson", "introspect", "--tests", "build"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    tests = json.loads(listing)
    threaded = [test for test in tests if any(word in test["name"] for word in THREADED)]
    suites = list(unit_suites("asan", "build-asan", tests, ASAN))
    suites += unit_suites("tsan", "build-tsan", threaded, TSAN)
    suites += neon_suites(cross)
    if shutil.which("clang"):
        replay = [sys.executable, "tools/run_fuzz.py", "--replay"]
        suites.append(Suite("fuzz/regressions", replay, tree="build-fuzz", target="fuzz"))
    suites += unit_suites("unit", "build", tests)
    suites += script_suites()
    suites += sanitized_e2e("asan", SANITIZED_E2E, ASAN)
    suites += sanitized_e2e("tsan", RACED_E2E, TSAN)
    return suites


def nearest(text: str, names: list[str]) -> list[str]:
    """Names that someone who wrote `text` may have meant."""
    whole = {name.lower(): name for name in names}
    parts = {part.lower(): name for name in names for part in re.split(r"[/ ]", name)}
    close = difflib.get_close_matches(text.lower(), [*whole, *parts], n=5, cutoff=0.5)
    return list(dict.fromkeys(whole.get(word) or parts[word] for word in close))


def chosen(suites: list[Suite], only: list[str], quick: bool) -> list[Suite]:
    """The suites that were asked for; exits with the nearest names where there are none."""
    if quick:
        quiet = [f"unit/{name}" for name in SLOW]
        suites = [
            suite
            for suite in suites
            if (suite.name.startswith("unit/") and suite.name not in quiet) or suite.name in SMOKE
        ]
    if not only:
        return suites
    for text in only:
        if any(text in suite.name for suite in suites):
            continue
        names = nearest(text, [suite.name for suite in suites])
        print(f"no suite has '{text}' in its name", file=sys.stderr)
        if names:
            print(f"the nearest: {', '.join(names)}", file=sys.stderr)
        sys.exit(2)
    return [suite for suite in suites if any(text in suite.name for text in only)]


def build_all(suites: Iterable[Suite]) -> None:
    """Builds, tree by tree, what the suites need; the next tree is configured meanwhile."""
    wanted: dict[str, dict[str, None]] = {}
    for suite in suites:
        if suite.tree and suite.target:
            wanted.setdefault(suite.tree, {})[suite.target] = None
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as pool:
        configured = {tree: pool.submit(trees.configure, tree) for tree in sorted(wanted)}
        for tree in sorted(wanted):
            begin = time.monotonic()
            configured[tree].result()
            trees.build(tree, wanted[tree])
            print(f"built {tree} in {time.monotonic() - begin:.0f} s", flush=True)


def report(suite: Suite, result: Result) -> None:
    mark = "FAIL" if result.failed else "ok"
    print(
        f"{mark:4} {suite.name:44} {result.passed:5} passed {result.failed:3} failed"
        f" {result.skipped:3} skipped {result.seconds:6.1f} s",
        flush=True,
    )
    for line in result.output.splitlines():
        if result.failed or line.startswith("SKIP"):
            print("     " + line)


def run_all(suites: list[Suite]) -> dict[str, Result]:
    """Runs the phases in turn: what computes, what waits, what runs alone."""
    results = {}
    for phase, workers in ((0, AT_ONCE), (1, AT_ONCE), (2, 1)):
        now = [suite for suite in suites if suite.phase == phase]
        with concurrent.futures.ThreadPoolExecutor(max_workers=workers) as pool:
            for suite, result in zip(now, pool.map(Suite.run, now)):
                report(suite, result)
                results[suite.name] = result
    return results


def run_again(suites: list[Suite], results: dict[str, Result]) -> None:
    """Asks those once more, alone, that failed beside others and wait more than they compute."""
    doubtful = [suite for suite in suites if suite.phase > 0 and results[suite.name].failed]
    if not 0 < len(doubtful) <= AGAIN_MAX:
        return
    for suite in doubtful:
        print(f"again, alone: {suite.name}", flush=True)
        results[suite.name] = suite.run()
        report(suite, results[suite.name])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--only",
        metavar="TEXT",
        action="append",
        default=[],
        help="run the suites whose name contains this; may be given several times",
    )
    parser.add_argument("--quick", action="store_true", help="leave out what takes long")
    arguments = parser.parse_args()
    cross: dict[str, str] = {}
    needs_cross = not arguments.quick and (
        not arguments.only or any("neon" in text for text in arguments.only)
    )
    fetching = threading.Thread(target=lambda: cross.update(cross_tools()), daemon=True)
    if needs_cross:
        fetching.start()
    try:
        if needs_cross:
            trees.build("build", ["product"])  # meanwhile: it is needed in any case
            fetching.join()
        suites = chosen(catalogue(cross), arguments.only, arguments.quick)
        build_all(suites)
    except trees.TreeError as failure:
        print(f"{failure}\n0 passed, 1 failed")
        return 1
    results = run_all(suites)
    run_again(suites, results)
    passed, failed, missing = (
        sum(getattr(result, count) for result in results.values())
        for count in ("passed", "failed", "skipped")
    )
    print(f"{passed} passed, {failed} failed, {missing} skipped")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
