"""Tokens per second beside llama.cpp on the same files: synthetic weights of real shapes, alternating runs."""
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from table import ROOT, heading, row
from tandem import run as tandem_run

PREFILL, DECODE, ROUNDS = 512, 128, int(os.environ.get("BENCH_ROUNDS", "3"))
CACHE = Path(os.environ.get("TANDEM_BENCH_DIR", ROOT / "build" / "synthetic"))

SHAPES = {"135M": "smollm2-135m", "1B": "llama-3.2-1b"}
# llama.cpp of September 2026 on a 2-core AVX-512 VNNI machine: (prefill 512, decode 128) tokens/s by threads.
RECORDED = {("135M", "Q4_0"): {1: (294, 65.9), 2: (580, 116)}, ("135M", "Q8_0"): {1: (235, 50.1), 2: (425, 83.5)},
            ("1B", "Q4_0"): {1: (44.5, 9.65), 2: (85.7, 18.0)},
            ("1B", "Q8_0"): {1: (29.3, 6.17), 2: (61.1, 11.95)},
            ("1B", "Q4_K_M"): {1: (44.8, 9.63), 2: (90.6, 17.4)}}


def model_file(shape, kind):
    path = CACHE / f"synthetic-{shape}-{kind}.gguf"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, str(ROOT / "bench" / "make_synthetic_gguf.py"), SHAPES[shape], kind.lower(),
                        str(path)], check=True)
    return path


def ours(path, threads):
    _, out, err = tandem_run("bench", "engine", "-m", path, "-p", PREFILL, "-n", DECODE, "-t", threads, "--json",
                             timeout=600)
    got = json.loads(out)
    return got["prefill_tokens_per_s"], got["decode_tokens_per_s"]


def peer(program, path, threads):
    out = subprocess.run([program, "-m", str(path), "-p", str(PREFILL), "-n", str(DECODE), "-t", str(threads),
                          "-r", "1", "-o", "json"], capture_output=True, text=True, check=True).stdout
    rates = {("pp" if entry["n_prompt"] else "tg"): entry["avg_ts"] for entry in json.loads(out)}
    return rates["pp"], rates["tg"]


def run():
    program = os.environ.get("LLAMA_BENCH")
    heading(f"Engine beside llama.cpp ({'measured alternately' if program else 'recorded figures'}), median of {ROUNDS}")
    shapes = os.environ.get("BENCH_SHAPES", "135M 1B").split()
    for (shape, kind), recorded in RECORDED.items():
        if shape not in shapes:
            continue
        path = model_file(shape, kind)
        for threads in (1, 2):
            mine, theirs = [], []
            for _ in range(ROUNDS):
                mine.append(ours(path, threads))
                if program:
                    theirs.append(peer(program, path, threads))
            other = [statistics.median(column) for column in zip(*theirs)] if theirs else recorded[threads]
            prefill, decode = (statistics.median(column) for column in zip(*mine))
            row(f"{shape} {kind} {threads} thread(s): decode {DECODE}", f"{decode:.1f} tok/s",
                f"llama.cpp {other[1]:.1f}, ratio {decode / other[1]:.2f}, goal >= 0.7", decode / other[1] >= 0.7)
            row(f"{shape} {kind} {threads} thread(s): prefill {PREFILL}", f"{prefill:.1f} tok/s",
                f"llama.cpp {other[0]:.1f}, ratio {prefill / other[0]:.2f}")
