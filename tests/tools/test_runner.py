#!/usr/bin/env python3
"""The tools of the tests tell the truth: a crash loses one case; a wrong name and a copied build
tree are errors."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "tools")]
import lint
import run_tests
import trees
from check import case, equal, main

CRASHING = """
#include "test.h"

static void test_that_passes(void) { CHECK(1 + 1 == 2); }
static void test_that_fails(void) { CHECK(1 + 1 == 3); }
static void test_that_crashes(void) { abort(); }
static void test_that_ends_the_program(void) { exit(0); }

int main(void)
{
    RUN(test_that_passes);
    RUN(test_that_crashes);
    SKIP("test_that_lacks_data", "no data");
    RUN(test_that_fails);
    RUN(test_that_ends_the_program);
    RUN(test_that_passes);
    %s
    return test_finish();
}
"""

CASES = """
import os, sys, time
sys.path.insert(0, {support!r})
from check import Skip, case, main

@case
def passes():
    pass

@case
def ends_the_program():
    sys.exit(0)

@case
def never_ends():
    while True:
        try:
            time.sleep(0.01)
        except Exception:
            pass

@case
def lacks_data():
    raise Skip("no data")

@case
def passes_too():
    pass

main()
"""


def c_program(folder, last="", flags=()):
    """Builds CRASHING with a last statement and answers the program's path."""
    source, program = Path(folder) / "crashing.c", Path(folder) / "crashing"
    source.write_text(CRASHING % last)
    subprocess.run(
        ["cc", "-D_GNU_SOURCE", f"-I{ROOT / 'tests'}", *flags, source, "-o", program], check=True
    )
    return program


def counts(command, **environment):
    """(passed, failed, skipped) as run_tests.py counts the command, and its output."""
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **environment},
    )
    result = run_tests.counted(done.stdout, done.returncode, 0)
    return (result.passed, result.failed, result.skipped), done.stdout


def runner(*arguments):
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "run_tests.py"), *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


@case
def a_crash_in_c_loses_one_case():
    with tempfile.TemporaryDirectory() as folder:
        got, said = counts([c_program(folder)])
        equal(got, (2, 3, 1), said)
        assert "FAIL test_that_crashes: crashed: Aborted" in said, said
        assert "FAIL test_that_ends_the_program: ended the program" in said, said


@case
def a_sanitizers_report_loses_one_case():
    with tempfile.TemporaryDirectory() as folder:
        write = "char *p = malloc(1); free(p); *(volatile char *)p = 1;"
        program = c_program(folder, f"{{ {write} }}", ("-fsanitize=address",))
        got, said = counts([program])
        equal(got, (2, 4, 1), said)  # the last is outside of the cases
        assert "FAIL outside of the cases" in said, said


@case
def without_the_fork_a_crash_is_where_it_happens():
    with tempfile.TemporaryDirectory() as folder:
        got, said = counts([c_program(folder)], TEST_NO_FORK="1")
        equal(got, (0, 1, 0), said)


@case
def a_python_case_that_ends_or_never_ends_loses_only_itself():
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "cases.py"
        script.write_text(CASES.format(support=str(ROOT / "tests" / "support")))
        got, said = counts([sys.executable, script], TEST_CASE_SECONDS="1")
        equal(got, (2, 2, 1), said)


@case
def a_suite_without_a_closing_line_has_failed():
    equal(run_tests.counted("3 passed, 0 failed", 0, 0)[1:4], (3, 0, 0))
    equal(run_tests.counted("3 passed, 0 failed, 2 skipped\n", 1, 0)[1:4], (3, 1, 2))
    equal(run_tests.counted("Segmentation fault", -11, 0)[1:4], (0, 1, 0))


@case
def a_name_that_matches_nothing_is_an_error_with_the_nearest():
    done = runner("--only", "e2e/test_anwsers")
    equal(done.returncode, 2, done.stderr)
    assert "e2e/test_answers" in done.stderr, done.stderr
    assert "passed" not in done.stdout, done.stdout


@case
def several_names_choose_the_suites_of_each():
    only = ["structure/test_docs", "e2e/test_c_api"]
    suites = run_tests.chosen(run_tests.catalogue({}), only, False)
    equal([suite.name for suite in suites], only)
    done = runner("--only", "structure/test_docs", "--only", "e2e/test_anwsers")
    equal(done.returncode, 2, done.stderr)  # none is left out without a word


@case
def every_suite_says_what_must_be_built_before_it():
    for suite in run_tests.catalogue({"aarch64": "root"}):
        if not suite.command[-1].startswith("print("):
            assert suite.tree in trees.OPTIONS and suite.target, suite.name


@case
def the_lists_name_suites_that_exist():
    names = [suite.name for suite in run_tests.catalogue({"aarch64": "root"})]
    listed = [f"unit/{name}" for name in run_tests.SLOW]
    listed += [*run_tests.SMOKE, *run_tests.TIMED_E2E]
    listed += [f"e2e/test_{name}" for name in run_tests.SANITIZED_E2E + run_tests.RACED_E2E]
    equal([name for name in listed if name not in names], [])
    equal([word for word in run_tests.THREADED if not any(word in name for name in names)], [])


@case
def what_one_suite_needs_is_built_before_it():
    built = []
    real = trees.configure, trees.build
    trees.configure = lambda tree: None
    trees.build = lambda tree, targets=(): built.append((tree, list(targets)))
    try:
        suites = [run_tests.Suite("e2e/test_x", [], tree="build", target="product")]
        run_tests.build_all(suites)
    finally:
        trees.configure, trees.build = real
    equal(built, [("build", ["product"])])


def shaky(folder, number, phase, passes):
    """A suite that fails when it is first run, and passes from then on or never."""
    mark = Path(folder) / f"mark{number}"
    program = (
        f"import pathlib; mark = pathlib.Path({str(mark)!r}); seen = mark.exists(); mark.touch();"
        f" ok = seen and {passes}; print(f'{{int(ok)}} passed, {{int(not ok)}} failed')"
    )
    return run_tests.Suite(f"e2e/{number}", [sys.executable, "-c", program], phase=phase)


def failed_of(suites):
    """The names of those that have failed when all is over."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        results = run_tests.run_all(suites)
        run_tests.run_again(suites, results)
    return [name for name, result in results.items() if result.failed], said.getvalue()


@case
def what_failed_beside_others_is_asked_once_more_alone():
    with tempfile.TemporaryDirectory() as folder:
        failed, said = failed_of([shaky(folder, 1, 1, True), shaky(folder, 2, 2, False)])
        equal(failed, ["e2e/2"], said)  # what fails twice has failed
        equal(said.count("again, alone"), 2, said)
    with tempfile.TemporaryDirectory() as folder:
        equal(failed_of([shaky(folder, 1, 0, True)])[0], ["e2e/1"])  # computes: it fails the same
    with tempfile.TemporaryDirectory() as folder:
        many = [shaky(folder, number, 1, True) for number in range(run_tests.AGAIN_MAX + 1)]
        equal(len(failed_of(many)[0]), len(many))  # so many are no accident


@case
def a_copied_build_tree_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        info = Path(folder) / "build" / "meson-info" / "meson-info.json"
        info.parent.mkdir(parents=True)
        info.write_text(json.dumps({"directories": {"source": str(ROOT)}}))
        try:
            trees.check_is_ours("build", Path(folder))
        except trees.TreeError as refusal:
            assert str(ROOT) in str(refusal) and "make clean" in str(refusal), refusal
        else:
            raise AssertionError("it was not refused")
    trees.check_is_ours("build")


@case
def only_tables_have_wide_lines():
    with tempfile.TemporaryDirectory() as folder:
        wide = "    " + '"words", ' * 12
        path = Path(folder) / "table.c"
        path.write_text(
            f"{wide}\n/* clang-format off */\n{wide}\n/* clang-format on */\n{wide}\nint f(void)\n"
            "/* clang-format off */\n{\n}\n/* clang-format on */\n"
        )
        lines = [problem.split(":")[-2] for problem in lint.wide_lines([path])]
        equal(lines, ["1", "5"])
        equal(len(list(lint.code_in_tables([path]))), 1)


main()
