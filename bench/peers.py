"""Programs that run the same model files: ours, llama.cpp and ik_llama.cpp, each as (prefill,
decode) tokens a second."""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tandem import BINARY, clean_environment
from tandem import run as tandem_run

LLAMA_BIN, IK_BIN = (
    Path(os.environ[name]) if os.environ.get(name) else None for name in ("LLAMA_BIN", "IK_BIN")
)

CPU = os.environ.get("BENCH_CPU", "")  # our kernels; "" = the best that the processor has

# Recorded on 2 cores of an AVX-512 VNNI machine in September 2026, llama.cpp and ik_llama.cpp (the
# better of -rtr 0 and 1) one after another within an hour: (prefill of 512, decode of 128) tokens/s
# by shape, type and threads.
RECORDED_LLAMA = {
    ("135M", "Q4_0", 1): (358, 69),
    ("135M", "Q4_0", 2): (664, 127),
    ("135M", "Q8_0", 1): (244, 50),
    ("135M", "Q8_0", 2): (469, 88),
    ("135M", "Q4_K_M", 1): (215, 56),
    ("135M", "Q4_K_M", 2): (423, 98),
    ("1B", "Q4_0", 1): (52.0, 10.1),
    ("1B", "Q4_0", 2): (99.6, 18.2),
    ("1B", "Q8_0", 1): (33.6, 6.4),
    ("1B", "Q8_0", 2): (64.8, 12.4),
    ("1B", "Q4_K_M", 1): (48.8, 9.5),
    ("1B", "Q4_K_M", 2): (95.3, 17.7),
}
RECORDED_IK = {
    ("135M", "Q4_0", 1): (436, 80),
    ("135M", "Q4_0", 2): (817, 142),
    ("135M", "Q8_0", 1): (444, 61),
    ("135M", "Q8_0", 2): (862, 113),
    ("135M", "Q4_K_M", 1): (469, 70),
    ("135M", "Q4_K_M", 2): (869, 128),
    ("1B", "Q4_0", 1): (71.8, 11.5),
    ("1B", "Q4_0", 2): (141.7, 21.7),
    ("1B", "Q8_0", 1): (73.6, 7.5),
    ("1B", "Q8_0", 2): (145.1, 14.2),
    ("1B", "Q4_K_M", 1): (70.1, 10.3),
    ("1B", "Q4_K_M", 2): (135.3, 19.5),
}
# Milliseconds from start to the first token, and MiB, of llama-completion on the 135M and 1B with 2
# threads.
RECORDED_START = {
    ("135M", "Q4_0"): (338, 187),
    ("135M", "Q8_0"): (283, 181),
    ("135M", "Q4_K_M"): (287, 151),
    ("1B", "Q4_0"): (1470, 1335),
    ("1B", "Q8_0"): (1383, 1347),
}
RECORDED_VOCABULARY_MS = 527  # llama-tokenize, Llama 3's 128 256 tokens


def ours(
    path: Any, threads: int, prefill: Any, decode: Any, depth: int = 0, roofline: bool = False
) -> tuple:
    """(prefill, decode, roofline or None)"""
    more = [] if roofline else ["--no-roofline"]
    more += [f"--cpu={CPU}"] if CPU else []
    code, out, err = tandem_run(
        "bench",
        "engine",
        "-m",
        path,
        "-p",
        prefill,
        "-n",
        decode,
        "-t",
        threads,
        "-r",
        1,
        "--depth",
        depth,
        "--json",
        *more,
        timeout=1800,
    )
    if code:
        raise RuntimeError(err)
    got = json.loads(out)
    return got["prefill_tokens_per_s"], got["decode_tokens_per_s"], got.get("roofline")


def llama_bench(
    folder: Any, path: Any, threads: int, prefill: Any, decode: Any, depth: int = 0, more: Any = ()
) -> tuple:
    command = [
        str(folder / "llama-bench"),
        "-m",
        str(path),
        "-p",
        str(prefill),
        "-n",
        str(decode),
        "-t",
        str(threads),
        "-r",
        "1",
        "-o",
        "json",
        *(["-d", str(depth)] if depth else []),
        *more,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=True)
    rates = {
        ("pp" if entry["n_prompt"] else "tg"): entry["avg_ts"] for entry in json.loads(done.stdout)
    }
    return rates.get("pp", 0), rates.get("tg", 0)


def llama(path: Any, threads: int, prefill: Any, decode: Any, depth: int = 0) -> Any:
    return llama_bench(LLAMA_BIN, path, threads, prefill, decode, depth)


def ik(path: Any, threads: int, prefill: Any, decode: Any) -> tuple:
    """The better of both ways to keep the weights, for each figure."""
    plain = llama_bench(IK_BIN, path, threads, prefill, decode)
    repacked = llama_bench(IK_BIN, path, threads, prefill, decode, more=("-rtr", "1"))
    return tuple(max(pair) for pair in zip(plain, repacked))


def first_output(command: Sequence[object]) -> tuple:
    """Milliseconds from start to the first byte of the answer, and the peak of memory in MiB."""
    begin = time.monotonic()
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=clean_environment(),
    )
    assert process.stdout
    first = process.stdout.read(1)
    took = time.monotonic() - begin
    process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or not first:
        raise RuntimeError(f"{command[0]} failed")
    return took * 1000, usage.ru_maxrss / 1024


def start_ours(path: Any, tokens: Any) -> Any:
    return first_output(
        [
            BINARY,
            "generate",
            "-m",
            path,
            "-p",
            "hello",
            "-n",
            tokens,
            "-t",
            2,
            "--temp",
            0,
            "--ignore-eos",
        ]
    )


def start_llama(path: Any, tokens: Any) -> Any:
    assert LLAMA_BIN
    return first_output(
        [
            LLAMA_BIN / "llama-completion",
            "-m",
            path,
            "-p",
            "hello",
            "-n",
            tokens,
            "-t",
            2,
            "--temp",
            0,
            "-no-cnv",
            "--no-display-prompt",
            "--ignore-eos",
            "-c",
            "4096",
        ]
    )
