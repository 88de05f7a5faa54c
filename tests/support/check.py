"""The Python side of tests/test.h: cases by decorator, one closing line."""

import sys
import time
import traceback

_cases = []


class Skip(Exception):
    """A case that needs what is not here; its text says what."""


def case(function):
    """Registers a test case; its name is its behaviour."""
    _cases.append(function)
    return function


def equal(got, expected, what=""):
    if got != expected:
        raise AssertionError(f"{what or 'value'}: got {got!r}, expected {expected!r}")


def main():
    """Runs every registered case (or those named on the command line) and exits."""
    wanted = sys.argv[1:]
    passed = failed = skipped = 0
    for function in _cases:
        if wanted and not any(word in function.__name__ for word in wanted):
            continue
        begin = time.monotonic()
        try:
            function()
            passed += 1
            if wanted:
                print(f"ok   {function.__name__} {time.monotonic() - begin:.2f} s")
        except Skip as why:
            skipped += 1
            print(f"SKIP {function.__name__}: {why}")
        except Exception:
            failed += 1
            print(f"FAIL {function.__name__}")
            traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or passed + skipped == 0 else 0)
