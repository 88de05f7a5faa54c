#!/usr/bin/env python3
"""tools/mutate.py breaks what a test can notice, and leaves alone what none can."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "tools")]
from check import case, equal, main
from mutants import mutants_of
from mutate import GUARD, compiler


def described(text):
    return [mutant.described(text) for mutant in mutants_of(text)]


def inside(body):
    """What is made of the body of a function, without the numbers of the lines."""
    return [line.partition(": ")[2] for line in described(f"void f(void)\n{{\n    {body}\n}}\n")]


@case
def each_kind_of_break_is_made():
    for body, broken in (
        ("int x = a < b;", "int x = a <= b;"),
        ("int x = a >= b;", "int x = a > b;"),
        ("bool x = a == b;", "bool x = a != b;"),
        ("bool x = a && b;", "bool x = a || b;"),
        ("int x = a + b;", "int x = a - b;"),
        ("int x = a % b;", "int x = a / b;"),
        ("bool x = true;", "bool x = false;"),
        ("bool x = !a;", "bool x = a;"),
        ("double x = 1e-9;", "double x = (1e-9 + 1);"),
        ("run(a);", ";"),
        ("*out = (struct s){.a = a};", ";"),
        ("return status;", "return TD_OK;"),
        ("return TD_LIMIT;", "return TD_OK;"),
        ("return TD_OK;", "return TD_IO;"),
    ):
        equal(inside(body), [f"{body} => {broken}"], body)
    equal(
        inside("if (ready(a,\n              b))\n        return;"),
        [
            "if (ready(a, b)) => if ((ready(a, b)) && false)",
            "if (ready(a, b)) => if ((ready(a, b)) || true)",
        ],
    )


@case
def a_statement_of_several_lines_and_one_in_a_loop_are_deleted():
    equal(inside("run(a,\n        b);"), ["run(a, b); => ;"])
    equal(
        inside("for (;;)\n        run(a);\n    a->b++;"),
        ["run(a); => ;", "a->b++; => ;"],
    )


@case
def what_no_test_can_notice_is_left_alone():
    for body in (
        "/* a < 1 &&\n     * !b */",
        "// a == true",
        'const char *x = "a < 1 /* \\" && 2";',
        "char x = '1';",
        "assert(a < 1 &&\n           !b);",
        'log_event("x", 1, a == b);',
        "free(a);",
        "buf_deinit(&a->b);",
        "pthread_mutex_lock(&a->lock);",
        "struct s *x;",
        "char x[16 + 1];",
        "int **x = y;",
        "void (*done)(int code);",
        "goto out;",
    ):
        equal(inside(body), [], body)


@case
def of_the_directives_only_plain_numbers_are_changed():
    text = (
        '#include "a.h" /* 1 */\n#if A > 1\n#define MAX 16u /* of 20 */\n#endif\n'
        "#define TWICE(x) \\\n    ((x) * 2)\n#define BYTES (1 << 4)\n"
    )
    equal(
        described(text),
        [
            "3: #define MAX 16u /* of 20 */ => #define MAX (16u + 1) /* of 20 */",
            "7: #define BYTES (1 << 4) => #define BYTES ((1 + 1) << 4)",
            "7: #define BYTES (1 << 4) => #define BYTES (1 >> 4)",
            "7: #define BYTES (1 << 4) => #define BYTES (1 << (4 + 1))",
        ],
    )


@case
def a_mutant_changes_one_place_of_the_text():
    text = "int f(int a)\n{\n    return a < 7;\n}\n"
    equal(
        [mutant.of(text) for mutant in mutants_of(text)],
        [text.replace("<", "<="), text.replace("7", "(7 + 1)")],
    )


@case
def a_mutant_is_compiled_as_the_file_is_but_quickly():
    entry = {
        "file": "../src/a/b.c",
        "command": "ccache gcc -I../src -Os -g '-DX=\"1\"' -MD -MQ b.o -MF b.d"
        " -o b.o -c ../src/a/b.c",
    }
    equal(
        compiler(entry, Path("/place")),
        ["gcc", "-I../src", '-DX="1"', "-O0", "-w", "-iquote", "../src/a"]
        + ["-include", "/place/guard.h", "-c", "/place/b.c", "-o", "/place/mutant.o"],
    )


@case
def a_mutant_ends_no_process_but_those_of_its_session():
    program = """int main(void)
{
    pid_t child = fork();
    if (child == 0)
        pause();
    /* Signal 0 only asks. The parent of this program belongs to another session. */
    int others = kill(-1, 0) == 0 || kill(0, 0) == 0 || kill(getppid(), 0) == 0;
    return kill(child, SIGKILL) != 0 || others;
}
"""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "program"
        compile_it = ["gcc", "-x", "c", "-D_GNU_SOURCE", "-o", str(made), "-"]
        subprocess.run(compile_it, input=GUARD + program, text=True, check=True)
        equal(subprocess.run([made], start_new_session=True, timeout=60).returncode, 0)


@case
def a_file_that_the_build_does_not_compile_is_an_error():
    done = subprocess.run(
        [sys.executable, "tools/mutate.py", "tests/test.h"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    equal(done.returncode, 2, done.stderr)
    assert "tests/test.h is no C file of src/" in done.stderr, done.stderr


main()
