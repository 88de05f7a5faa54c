"""The Python side of tests/test.h: cases by decorator, one closing line.

A case that fails, ends the program or never ends loses only itself: the others run and are counted.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

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


def main() -> NoReturn:
    """Runs every registered case (or those named on the command line) and exits."""
    wanted = sys.argv[1:]
    passed = failed = skipped = 0
    signal.signal(signal.SIGALRM, _too_long)
    for function in _cases:
        if wanted and not any(word in function.__name__ for word in wanted):
            continue
        begin = time.monotonic()
        signal.alarm(CASE_SECONDS_MAX)
        try:
            function()
            passed += 1
            if wanted:
                print(f"ok   {function.__name__} {time.monotonic() - begin:.2f} s")
        except Skip as why:
            skipped += 1
            print(f"SKIP {function.__name__}: {why}")
        except KeyboardInterrupt:
            raise
        except BaseException:  # SystemExit too: a case that ends the program has failed
            failed += 1
            print(f"FAIL {function.__name__}")
            traceback.print_exc(file=sys.stdout)
        finally:
            signal.alarm(0)
            sys.stdout.flush()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or passed + skipped == 0 else 0)
