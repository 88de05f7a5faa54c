"""Ramps on simulated traffic with the configuration's defaults (steps of 1, 5, 20, 50 and 100 %, 20
% may differ, 5 points of loss, a tenth of the exchanges in the shadow): the share of good
candidates that is stopped by mistake, of bad ones that is stopped, and how soon."""

import json
import subprocess

from table import ROOT, heading, row

RAMPS = 400


def run() -> None:
    heading("Ramps: candidates that are as good and worse, simulated")
    subprocess.run(["ninja", "-C", ROOT / "build", "--quiet", "bench/bench_ramp"], check=True)
    done = subprocess.run(
        [ROOT / "build" / "bench" / "bench_ramp", str(RAMPS)], stdout=subprocess.PIPE, check=True
    )
    for line in done.stdout.splitlines():
        found = json.loads(line)
        good = found["name"].startswith("as good")
        bound = found["name"].startswith("at the bound")
        what = (
            f"{100 * found['stopped']:.2f} % stopped, {100 * found['ended']:.1f} % at the last step"
        )
        soon = (
            f"median {found['exchanges_median']} exchanges, {found['taken_median']} of them taken,"
            f" p95 {found['exchanges_p95']}"
        )
        if good or bound:
            row(found["name"], what, f"at most 5 % stopped; {soon}", found["stopped"] <= 0.05)
        else:
            row(
                found["name"],
                what,
                f"at most 5 % go up a step: {100 * found['passed']:.2f} %; {soon}",
                found["stopped"] >= 0.95 and found["passed"] <= 0.05,
            )


if __name__ == "__main__":
    run()
