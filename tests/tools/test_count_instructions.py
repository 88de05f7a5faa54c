#!/usr/bin/env python3
"""bench/count_instructions.py counts what ran, as often as it ran."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "bench")]
from check import case, equal, main
from count_instructions import class_of, read_log

# As qemu writes it: a function of five instructions whose last three are a loop. The way in and the
# first round are one block of code, each further round is another, which begins inside the first.
ENTRY, ROUND = 0x5500001000, 0x5500001008
WORDS = (0xA1, 0xA2, 0xB1, 0xB2, 0xB3)


def block(begin: int) -> str:
    lines = [
        f"0x{ENTRY + 4 * i:010x}:  {word:08x}  OBJD-T\n"
        for i, word in enumerate(WORDS)
        if ENTRY + 4 * i >= begin
    ]
    return "----------------\nIN: kernel\n" + "".join(lines) + "\n"


def run(begin: int, function: str = "kernel") -> str:
    return f"Trace 0: 0x7f00 [0000000000001001/{begin:016x}/00000001/00000200] {function}\n"


def counted(log: str) -> dict[int, int]:
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(log)
        file.flush()
        return dict(read_log(Path(file.name), "^kernel$"))


@case
def a_further_round_of_a_loop_is_counted_without_the_way_into_it() -> None:
    log = block(ENTRY) + run(ENTRY) + block(ROUND) + 9 * run(ROUND)
    equal(counted(log), {0xA1: 1, 0xA2: 1, 0xB1: 10, 0xB2: 10, 0xB3: 10})


@case
def other_functions_are_not_counted() -> None:
    log = block(ENTRY) + run(ENTRY) + block(ROUND) + run(ROUND, "kernel_of_another")
    equal(counted(log), dict.fromkeys(WORDS, 1))


@case
def instructions_are_sorted_into_classes() -> None:
    for text, kind in (
        ("ld1\t{v0.h}[1], [x8], #2", "loads"),
        ("sdot\tv3.4s, v8.16b, v24.16b", "products"),
        ("and\tv8.16b, v28.16b, v1.16b", "unpacking"),
        ("fmla\tv2.4s, v3.4s, v0.4s", "scaling"),
        ("str\tq18, [x0]", "stores"),
        ("prfm\tpldl1keep, [x2, x5]", "other"),
    ):
        equal(class_of(text), kind, text)


main()
