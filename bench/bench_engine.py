#!/usr/bin/env python3
"""make bench-engine: the engine beside llama.cpp and ik_llama.cpp on the same files, with its
goals.

Synthetic weights of real shapes (made once under build/synthetic, or where TANDEM_BENCH_DIR
points). LLAMA_BIN and IK_BIN name the folders of the peers' programs (llama-bench,
llama-completion); the programs take turns, the median counts. A peer that is not given stands with
figures recorded on another day, marked "recorded": those ratios say something about this machine,
too.

    BENCH_QUICK=1          135M, 2 threads, one round, no depth: two minutes
    BENCH_SHAPES="135M"    BENCH_TYPES="Q4_0 Q8_0"    BENCH_THREADS="2"    BENCH_ROUNDS=5
    BENCH_DEPTH=4096       0 leaves out the runs behind that many tokens
    BENCH_CPU=avx2         our kernels of that level, beside peers that were built for it: LLAMA_BIN
                           and IK_BIN are then such builds, nothing recorded is compared with, and
                           start and memory are left out
"""

import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
import peers
from table import ROOT, heading, row
from tandem import SHARED
from tandem import run as tandem_run

QUICK = os.environ.get("BENCH_QUICK", "") not in ("", "0")
PREFILL, DECODE = 512, 128
DEPTH_DECODE = 32
CACHE = Path(os.environ.get("TANDEM_BENCH_DIR", ROOT / "build" / "synthetic"))
# At least this many times llama.cpp's and ik_llama.cpp's, by our kernels ("" = the best).
GOALS = {"": ((2.3, 1.4), (1.3, 1.1)), "avx2": ((2.0, 1.2), (1.2, 1.05))}
PREFILL_GOALS, DECODE_GOALS = GOALS.get(peers.CPU, GOALS[""])
SHAPES = {"135M": "smollm2-135m", "1B": "llama-3.2-1b"}


def setting(name: str, quick: Any, full: Any) -> Any:
    return os.environ.get(name, quick if QUICK else full)


def model_file(shape: str, kind: str) -> Path:
    path = CACHE / f"synthetic-{shape}-{kind}.gguf"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        subprocess.run(
            [
                sys.executable,
                str(ROOT / "bench" / "make_synthetic_gguf.py"),
                SHAPES[shape],
                kind.lower(),
                str(fresh),
            ],
            check=True,
        )
        fresh.rename(path)
    return path


def medians(rows: Any) -> list:
    return [statistics.median(column) for column in zip(*rows)]


class Peer:
    """Figures of a peer: measured in turn with ours, or recorded."""

    def __init__(self, name: str, folder: Any, measure: Any, recorded: Any) -> None:
        self.name, self.folder, self.measure, self.recorded, self.rows = (
            name,
            folder,
            measure,
            recorded,
            [],
        )

    def take(self, *arguments: Any) -> None:
        if self.folder:
            self.rows.append(self.measure(*arguments))

    def figures(self, key: Any) -> Any:
        """([prefill, decode], how it is marked)"""
        if self.rows:
            return medians(self.rows), ""
        return (list(self.recorded[key]), " recorded") if key in self.recorded else (None, "")


def ratio_text(mine: Any, peer: Any, value: str, mark: Any) -> Any:
    return f"{peer}{mark} {value:.1f} ({mine / value:.2f}x)" if value else f"{peer} not measured"


def print_pair(
    what: str, mine: Any, llama: Any, ik: Any, llama_goal: Any, ik_goal: Any, instead: Any = None
) -> Any:
    """One line: ours, both peers with ratios, the goal. instead: (fraction, goal) that counts as
    well."""
    (llama_value, llama_mark), (ik_value, ik_mark) = llama, ik
    good = (
        bool(llama_value)
        and mine >= llama_goal * llama_value
        and (not ik_value or mine >= ik_goal * ik_value)
    )
    goal = f"goal {llama_goal}x" + (f" and {ik_goal}x" if ik_value else "")
    if instead:
        good |= instead[0] >= instead[1]
        goal += f" or {instead[1]:.0%} of bandwidth ({instead[0]:.0%})"
    text = ratio_text(mine, "llama.cpp", llama_value, llama_mark)
    if ik_value is not None:
        text += "; " + ratio_text(mine, "ik", ik_value, ik_mark)
    row(what, f"{mine:.1f} tok/s", f"{text}; {goal}", good if llama_value else None)
    return good or not llama_value


def pick(figures: Any, index: Any) -> tuple:
    values, mark = figures
    return (values[index] if values else None), mark


def speed(shape: str, kind: str, threads: int, rounds: int) -> Any:
    """Prefill and decode from an empty cache."""
    path, key = model_file(shape, kind), (shape, kind, threads)
    mine, roofline = [], None
    recorded = ({}, {}) if peers.CPU else (peers.RECORDED_LLAMA, peers.RECORDED_IK)
    llama = Peer("llama.cpp", peers.LLAMA_BIN, peers.llama, recorded[0])
    ik = Peer("ik_llama.cpp", peers.IK_BIN, peers.ik, recorded[1])
    for index in range(rounds):
        prefill, decode, found = peers.ours(
            path, threads, PREFILL, DECODE, roofline=index == rounds - 1
        )
        mine.append((prefill, decode))
        roofline = found or roofline
        llama.take(path, threads, PREFILL, DECODE)
        ik.take(path, threads, PREFILL, DECODE)
    assert roofline
    prefill, decode = medians(mine)
    of_read = decode * roofline["bytes_per_token"] / roofline["read_bytes_per_s"]
    of_peak = prefill * roofline["ops_per_token"] / roofline["peak_ops_per_s"]
    name = f"{shape} {kind} {threads} thread{'s' if threads > 1 else ''}"
    good = print_pair(
        f"{name}: prefill {PREFILL}",
        prefill,
        pick(llama.figures(key), 0),
        pick(ik.figures(key), 0),
        *PREFILL_GOALS,
    )
    good &= print_pair(
        f"{name}: decode {DECODE}",
        decode,
        pick(llama.figures(key), 1),
        pick(ik.figures(key), 1),
        *DECODE_GOALS,
        (of_read, 0.85),
    )
    row(
        "  of the machine",
        f"{of_peak:.0%} of peak",
        f"{of_read:.0%} of {roofline['read_bytes_per_s'] / 1e9:.1f} GB/s read;"
        f" {roofline['peak_ops_per_s'] / 1e9:.0f} GOP/s {roofline['peak']}; bound by"
        f" {roofline['prefill']['bottleneck']} and {roofline['decode']['bottleneck']}",
    )
    return good


def speed_at_depth(shape: str, kind: str, threads: int, depth: int, rounds: int) -> Any:
    path, mine = model_file(shape, kind), []
    llama = Peer("llama.cpp", peers.LLAMA_BIN, peers.llama, {})
    for _ in range(rounds):
        mine.append(peers.ours(path, threads, PREFILL, DEPTH_DECODE, depth)[:2])
        llama.take(path, threads, PREFILL, DEPTH_DECODE, depth)
    figures, none = llama.figures(None), (None, "")
    prefill, decode = medians(mine)
    name = f"{shape} {kind} {threads} thread{'s' if threads > 1 else ''} behind {depth}"
    good = print_pair(f"{name}: prefill {PREFILL}", prefill, pick(figures, 0), none, 1.2, 0)
    return good & print_pair(
        f"{name}: decode {DEPTH_DECODE}", decode, pick(figures, 1), none, 1.2, 0
    )


def start(shape: str, kind: str, rounds: int) -> Any:
    """From the start of the process to the first token, and the peak of memory."""
    path = model_file(shape, kind)
    mine, theirs = [], []
    for _ in range(max(rounds, 3)):
        first, peak = peers.start_ours(path, 1)[0], peers.start_ours(path, 32)[1]
        mine.append((first, peak))
        if peers.LLAMA_BIN and (peers.LLAMA_BIN / "llama-completion").exists():
            theirs.append((peers.start_llama(path, 1)[0], peers.start_llama(path, 32)[1]))
    first, peak = medians(mine)
    mark = "" if theirs else " recorded"
    other = medians(theirs) if theirs else peers.RECORDED_START.get((shape, kind))
    if other is None:
        row(f"{shape} {kind}: start to first token", f"{first:.0f} ms")
        row(f"{shape} {kind}: peak memory", f"{peak:.0f} MiB")
        return True
    goal_first = first <= 0.7 * other[0]
    row(
        f"{shape} {kind}: start to first token",
        f"{first:.0f} ms",
        f"llama.cpp{mark} {other[0]:.0f} ms ({first / other[0]:.2f}x); goal 0.7x on the 135M",
        goal_first if shape == "135M" else None,
    )
    row(
        f"{shape} {kind}: peak memory",
        f"{peak:.0f} MiB",
        f"llama.cpp{mark} {other[1]:.0f} MiB ({peak / other[1]:.2f}x); goal 0.8x",
        peak <= 0.8 * other[1],
    )
    return (goal_first or shape != "135M") and peak <= 0.8 * other[1]


def vocabulary(rounds: int) -> bool:
    """A vocabulary of 128 256 tokens and 280 147 merges, from start to the ids of a word."""
    packed = SHARED / "golden" / "tokenizer" / "llama-bpe.gguf.gz"
    if not packed.exists():
        row("vocabulary of 128k tokens", "not here", "needs golden/tokenizer/llama-bpe.gguf.gz")
        return True
    with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
        file.write(gzip.decompress(packed.read_bytes()))
        file.flush()
        times = []
        for _ in range(max(rounds, 3) + 2):
            begin = time.monotonic()
            code, _, err = tandem_run("tokenize", "-m", file.name, "--json", stdin=b"hello")
            times.append((time.monotonic() - begin) * 1000)
            if code:
                raise RuntimeError(err)
    took = statistics.median(times)
    row(
        "vocabulary of 128k tokens, whole process",
        f"{took:.0f} ms",
        f"llama-tokenize recorded {peers.RECORDED_VOCABULARY_MS} ms; goal 60 ms",
        took <= 60,
    )
    return took <= 60


def run() -> bool:
    rounds = int(setting("BENCH_ROUNDS", "1", "5"))
    shapes = setting("BENCH_SHAPES", "135M", "135M 1B").split()
    kinds = setting("BENCH_TYPES", "Q4_0 Q4_K_M Q8_0", "Q4_0 Q4_K_M Q8_0").split()
    threads = [int(n) for n in setting("BENCH_THREADS", "2", "1 2").split()]
    depth = int(setting("BENCH_DEPTH", "0", "4096"))
    absent = "not given" if peers.CPU else "recorded"
    beside = [
        f"{name} {'measured in turn' if folder else absent}"
        for name, folder in (("llama.cpp", peers.LLAMA_BIN), ("ik_llama.cpp", peers.IK_BIN))
    ]
    level = f" ({peers.CPU})" if peers.CPU else ""
    heading(f"Engine{level}: {', '.join(beside)}; median of {rounds}")
    met = [
        speed(shape, kind, count, rounds) for shape in shapes for kind in kinds for count in threads
    ]
    if depth:
        # A depth costs a prefill of as many tokens each time: a round of the larger shape is
        # enough.
        heading(f"Behind {depth} tokens of context")
        met += [
            speed_at_depth(shape, kind, count, depth, rounds if shape == "135M" else 1)
            for shape in shapes
            for kind in kinds
            for count in threads
        ]
    if not peers.CPU:
        heading("Start and memory, 2 threads")
        met += [start(shape, kind, rounds) for shape in shapes for kind in kinds]
        met.append(vocabulary(rounds))
    print(f"\n{sum(met)} of {len(met)} groups of goals met")
    return all(met)


if __name__ == "__main__":
    sys.exit(0 if run() else 1)
