#!/usr/bin/env python3
"""Counts the instructions of a kernel for each 1,000 products, where no ARM processor is at hand.

    bench/count_instructions.py                      our kernels, every type and kind of processor
    bench/count_instructions.py Q4_0 Q4_K            these types
    bench/count_instructions.py --functions 'ggml_gemm' --products 8388608 PROGRAM ARG...
                                                     any program's functions, for a comparison

The program runs once under qemu, which writes what blocks of code it runs. Their instructions are
named by objdump and sorted into classes. So all that a product needs is counted: the inner loops as
often as they run, what is around them, and unpacking. Needs the tree build-aarch64
(`python3 tools/trees.py build-aarch64 bench/kernel_call`).
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AARCH64_ROOT = ROOT / "build-aarch64-root"
PROGRAM = ROOT / "build-aarch64" / "bench" / "kernel_call"
OURS = r"_(wide|narrow)$|^unpack_|^multiply_|^matmul_|^store_|^tile"
TYPES = ("Q4_0", "Q8_0", "Q4_K", "Q5_K", "Q6_K", "Q2_K")
PROCESSORS = (("i8mm", "max"), ("dotprod", "cortex-a76"), ("plain", "cortex-a53"))
ROWS, COLS, TOKENS = 64, 2048, 256
CLASSES = ("loads", "products", "unpacking", "scaling", "stores", "other")
SCALING = "scvtf ucvtf fcvtl fcvtl2 fmul fmla fmls fadd fsub mla mls mul addp addv movi add saddlp"
UNPACKING = (
    "and orr bic eor shl ushr sshr sli sri tbl sub ushl sshl cmtst zip1 zip2 uzp1 uzp2 trn1 trn2"
    " ext ins sxtl sxtl2 uxtl uxtl2 xtn xtn2 dup shrn smov umov ssra usra rev64 sshll ushll"
)


def class_of(text: str) -> str:
    """The class of an instruction as objdump writes it."""
    name, _, operands = text.partition("\t")
    vector = re.match(r"[{ ]*(v\d+|q\d+)\b", operands) is not None
    if name.startswith("ld"):
        return "loads"
    if name.startswith("st"):
        return "stores"
    if name in ("sdot", "smmla", "usdot", "usmmla", "sadalp"):
        return "products"
    if re.match(r"s(mull|mlal)2?$", name):
        return "products" if re.search(r"\.(8b|16b)", operands) else "scaling"
    if not vector and not (name == "fmov" or name.startswith("f")):
        return "other"
    if name == "mov":  # of a whole register, or of an element
        return "unpacking" if "[" in operands else "scaling"
    if name in UNPACKING.split():
        return "unpacking"
    return "scaling" if name in SCALING.split() or name.startswith("f") else "other"


def disassemble(words: Iterable[int]) -> dict[int, str]:
    """Instructions by their encodings."""
    encoded = sorted(set(words))
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(b"".join(word.to_bytes(4, "little") for word in encoded))
        file.flush()
        listing = subprocess.run(
            ["aarch64-linux-gnu-objdump", "-D", "-b", "binary", "-m", "aarch64", file.name],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    found = re.findall(r"^\s+[0-9a-f]+:\s+([0-9a-f]{8})\s+(.*)$", listing, re.MULTILINE)
    return {int(word, 16): text for word, text in found}


def read_log(log: Path, functions: str) -> Counter[int]:
    """How often each encoding ran in the functions."""
    blocks: dict[int, list[int]] = {}
    runs: Counter[int] = Counter()
    wanted = re.compile(functions)
    block: list[int] = []
    with log.open(errors="replace") as lines:
        for line in lines:
            if line.startswith("IN:"):
                block = []
            elif line.startswith("0x"):
                address, word = line.split()[:2]
                if not block:  # a loop's body may be part of two: entered from above, and again
                    blocks.setdefault(int(address.rstrip(":"), 16), block)
                block.append(int(word, 16))
            elif line.startswith("Trace"):
                found = re.search(r"\[[0-9a-f]+/([0-9a-f]+)/[^]]*\] ?(\S*)", line)
                if found and wanted.search(found[2]):
                    runs[int(found[1], 16)] += 1
    counts: Counter[int] = Counter()
    for start, times in runs.items():
        for instruction in blocks[start]:
            counts[instruction] += times
    return counts


def count(program: list[str], processor: str, functions: str) -> Counter[str]:
    """Instructions by class in one run of the program."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        qemu = ["qemu-aarch64-static", "-cpu", processor, "-L", str(AARCH64_ROOT)]
        subprocess.run(
            [*qemu, "-d", "in_asm,exec,nochain", "-D", str(log), *program],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        counts = read_log(log, functions)
    names = disassemble(counts)
    classes: Counter[str] = Counter()
    for word, times in counts.items():
        classes[class_of(names[word])] += times
    return classes


def print_row(name: str, classes: Counter[str], products: int) -> None:
    cells = [f"{classes[kind] * 1000 / products:.1f}" for kind in CLASSES]
    total = sum(classes.values()) * 1000 / products
    print(f"| {name} | " + " | ".join(cells) + f" | {total:.1f} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--functions", help="a regular expression of their names")
    parser.add_argument("--products", type=int, help="multiply-adds of one run")
    parser.add_argument("--processor", default="max", help="as qemu-aarch64 -cpu has it")
    parser.add_argument("words", nargs="*", help="types, or a program with its arguments")
    arguments = parser.parse_args()
    print(f"| kernel | {' | '.join(CLASSES)} | all |")
    print("|---|" + "---|" * (len(CLASSES) + 1))
    if arguments.functions:
        if not arguments.products or not arguments.words:
            parser.error("--functions needs --products and a program")
        found = count(arguments.words, arguments.processor, arguments.functions)
        print_row(arguments.functions, found, arguments.products)
        return 0
    for label, processor in PROCESSORS:
        for kind in arguments.words or TYPES:
            for tokens in (TOKENS, 1):
                program = [str(PROGRAM), kind, str(ROWS), str(COLS), str(tokens)]
                name = f"{kind}, {label}, {tokens} token" + "s" * (tokens > 1)
                print_row(name, count(program, processor, OURS), ROWS * COLS * tokens)
    return 0


if __name__ == "__main__":
    sys.exit(main())
