"""Hot phones: what the device does about its heat, and how good its forecasts are. Two phones of
published runs as folders that look like theirs, half an hour of simulated time each: answers of 256
tokens, a second apart, beside a cloud of 40 tokens/s. Heat, trip point and throttling are those of
the phone; reading, learning, forecasting and deciding are the program's own."""

import json
import subprocess
from typing import Any

from table import ROOT, heading, row

LEARNING_S = 300  # the first minutes teach
WRONG = 0.6  # answers that take so much longer than at the peak


def errors(run: dict[str, Any]) -> list[tuple[float, float]]:
    """By how much longer or shorter answers took than was forecast, as a share of the forecast:
    of ours, and of the one by the peak."""
    return [
        (abs(took / forecast - 1), abs(took / peak - 1))
        for begin, took, forecast, peak in run["answers"]
        if begin >= LEARNING_S
    ]


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def measure() -> dict[tuple[str, str], dict[str, Any]]:
    subprocess.run(
        ["ninja", "-C", str(ROOT / "build"), "--quiet", "bench/bench_device"], check=True
    )
    done = subprocess.run(
        [str(ROOT / "build" / "bench" / "bench_device")], capture_output=True, text=True, check=True
    )
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    return {(run["phone"], run["how"]): run for run in runs}


def show(phone: str, runs: dict[tuple[str, str], dict[str, Any]]) -> None:
    plain, eased, alone = (runs[phone, how] for how in ("plain", "eased", "alone"))
    all_errors = errors(plain)
    wrong = [pair for pair in all_errors if pair[1] >= WRONG]
    ours, peak = mean([pair[0] for pair in all_errors]), mean([pair[1] for pair in all_errors])
    row(f"phone {phone}: forecast error, all answers", f"{ours:.1%}", "<= 20 %", ours <= 0.2)
    row(f"phone {phone}: of the forecast by the peak", f"{peak:.1%}")
    if wrong:
        ours = mean([pair[0] for pair in wrong])
        row(
            f"phone {phone}: forecast error where the peak errs by 60 %",
            f"{ours:.1%} of {len(wrong)}",
            "<= 20 %",
            ours <= 0.2,
        )
    better = 1 - eased["p95_ms"] / plain["p95_ms"]
    row(f"phone {phone}: p95 of a token's time, as usual", f"{plain['p95_ms']:.0f} ms")
    row(
        f"phone {phone}: with heat heeded",
        f"{eased['p95_ms']:.0f} ms ({better:.0%} better)",
        ">= 25 % better",
        better >= 0.25,
    )
    row(f"phone {phone}: below the trip point, as usual", f"{plain['below']:.1%}")
    for what, run in (("with heat heeded", eased), ("the same, and nothing may leave", alone)):
        row(
            f"phone {phone}: {what}",
            f"{run['below']:.1%}",
            ">= 90 %",
            run["below"] >= 0.9,
        )
    often, least = eased["switches"] / eased["minutes"], eased["shortest_s"]  # -1: no two changes
    row(
        f"phone {phone}: changes of the level a minute",
        f"{often:.2f}" + (f" (at least {least:.0f} s)" if least > 0 else ""),
        "<= 1",
        often <= 1 and not 0 <= least < 60,
    )
    share = eased["tokens"] / (eased["tokens"] + eased["cloud_tokens"])
    row(f"phone {phone}: tokens made on the device", f"{share:.0%}")
    row(
        f"phone {phone}: energy of a token, as usual and heeded",
        f"{plain['joules'] / plain['tokens']:.3f} J, {eased['joules'] / eased['tokens']:.3f} J",
    )


def run() -> None:
    heading("Hot phones")
    runs = measure()
    for phone in ("A", "B"):
        show(phone, runs)


if __name__ == "__main__":
    run()
