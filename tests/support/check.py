"""The Python side of tests/test.h: cases by decorator, one closing line.

A case that fails, ends the program or never ends loses only itself: the others run and are counted.
"""

import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import IO, NoReturn

CASE_SECONDS_MAX = int(os.environ.get("TEST_CASE_SECONDS", "240"))

Case = Callable[[], object]
_cases: list[Case] = []


class Skip(Exception):
    """A case that needs what is not here; its text says what."""


class TooLong(BaseException):
    """Raised in a case that ran for CASE_SECONDS_MAX. No `except Exception` of the case stops
    it."""


def case(function: Case) -> Case:
    """Registers a test case; its name is its behaviour."""
    _cases.append(function)
    return function


def equal(got: object, expected: object, what: str = "") -> None:
    if got != expected:
        raise AssertionError(f"{what or 'value'}: got {got!r}, expected {expected!r}")


def _too_long(_number: int, _frame: FrameType | None) -> None:
    raise TooLong(f"not done after {CASE_SECONDS_MAX} s")


def _outcome(function: Case, says_time: bool) -> int:
    """Runs one case, prints what it has to say, and gives 0 = passed, 1 = failed, 2 =
    skipped."""
    begin = time.monotonic()
    signal.alarm(CASE_SECONDS_MAX)
    try:
        function()
        if says_time:
            print(f"ok   {function.__name__} {time.monotonic() - begin:.2f} s")
        return 0
    except Skip as why:
        print(f"SKIP {function.__name__}: {why}")
        return 2
    except KeyboardInterrupt:
        raise
    except BaseException:  # SystemExit too: a case that ends the program has failed
        print(f"FAIL {function.__name__}")
        traceback.print_exc(file=sys.stdout)
        return 1
    finally:
        signal.alarm(0)
        sys.stdout.flush()


def _in_child(function: Case, says_time: bool) -> tuple[int, IO[str]]:
    """Starts the case in a process of its own: gives its id and the file that has its output."""
    output = tempfile.TemporaryFile("w+")
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.dup2(output.fileno(), sys.stdout.fileno())
        code = 1
        try:
            code = _outcome(function, says_time)
        finally:
            os._exit(code)  # what the suite cleans up at its end is the parent's
    return child, output


def _side_by_side(functions: list[Case], at_once: int, says_time: bool) -> Iterator[int]:
    waiting, running = list(functions), dict[int, IO[str]]()
    while waiting or running:
        while waiting and len(running) < at_once:
            child, output = _in_child(waiting.pop(0), says_time)
            running[child] = output
        child, status = os.wait()
        if child not in running:
            continue  # a process that a case of this suite's own module started
        with running.pop(child) as output:
            output.seek(0)
            sys.stdout.write(output.read())
        sys.stdout.flush()
        code = os.waitstatus_to_exitcode(status)
        yield code if code in (0, 1, 2) else 1


def main(at_once: int = 1) -> NoReturn:
    """Runs every registered case (or those named on the command line) and exits.

    A suite whose cases mostly wait may run several `at_once`, each in a process of its own; they
    then share nothing but what the module made before.
    """
    wanted = sys.argv[1:]
    signal.signal(signal.SIGALRM, _too_long)
    chosen = [f for f in _cases if not wanted or any(word in f.__name__ for word in wanted)]
    if at_once > 1:
        outcomes = list(_side_by_side(chosen, at_once, bool(wanted)))
    else:
        outcomes = [_outcome(function, bool(wanted)) for function in chosen]
    passed, failed, skipped = (outcomes.count(kind) for kind in range(3))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or passed + skipped == 0 else 0)
