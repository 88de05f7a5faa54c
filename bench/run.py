#!/usr/bin/env python3
"""make bench: every figure that the README claims, beside its goal, its peer or its physical limit.

Sections: model (CLINC150 through the endpoint), nano (all that the default model is for), serving
(time to first token, memory, size), engine (tokens/s beside llama.cpp and ik_llama.cpp), streams
(many at once beside llama-server), grammar (its cost), quant (what fewer bits cost, beside
llama.cpp's quantiser), kernels (beside the read bandwidth), privacy
(scan speed), pseudonyms (their cost), egress (its record: what is found when it was changed, and
its cost), router (what it recovers beside published routers, decision time, paraphrases), hedging
(the tail with a slow cloud), together (answers that a cloud checks while they are shown, races),
device (hot phones: speed, heat, forecasts), cache (how often the answer to a similar question is a
wrong one; fetches a model of 83 MB once), gateway (what it adds beside nginx), ladder (faults on
every link, for minutes), agents (what a turn of a day's session costs), clients (what each client
of the APIs can do; only when it is named, as it fetches 1.2 GB), evidence (replay of a ledger),
ledger (a million exchanges: size, backup, pruning, beside a server that answers; named only),
console (first paint, and a page that shows 10,000 exchanges; named only, as it needs a browser).
Name some to run only those. LLAMA_BIN and IK_BIN name the folders of the peers' programs, which
then take turns with ours on the same files; without them figures recorded on a 2-core machine are
printed and marked so.
BENCH_QUICK=1 shortens the engine's part; bench/bench_engine.py says what else does."""

import importlib
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
from table import ROOT, program

NAMES = ROOT / "models" / "names" / "names.bin"


def module(*names: Any) -> Any:
    """Runs these modules; imported only now, because some need packages (numpy) that the others do
    not."""
    return lambda: [importlib.import_module(name).run() for name in names]


SECTIONS = {
    "model": module("bench_model"),
    "nano": module("bench_nano"),
    "serving": module("bench_serving"),
    "engine": module("bench_engine"),
    "grammar": module("bench_grammar"),
    "quant": module("bench_quant"),
    "streams": module("bench_streams"),
    "kernels": lambda: program("bench_kernels", "Kernels"),
    "router": module("bench_router", "bench_consistency", "bench_ramp"),
    "hedging": module("bench_hedging"),
    "device": module("bench_device"),
    "together": module("bench_together"),
    "cache": module("bench_similar_cache"),
    "gateway": module("bench_gateway"),
    "ladder": module("bench_ladder"),
    "agents": module("bench_agent_day"),
    "clients": module("bench_clients"),
    "evidence": module("bench_evidence"),
    "console": module("bench_console"),
    "ledger": module("bench_ledger"),
    "privacy": lambda: program("bench_privacy", "Privacy scan", NAMES),
    "pseudonyms": lambda: program("bench_pseudonyms", "Pseudonyms", NAMES),
    "egress": lambda: program("bench_egress", "Record of what leaves"),
}
NAMED_ONLY = ("clients", "console", "ledger")


def main() -> None:
    wanted = sys.argv[1:] or [name for name in SECTIONS if name not in NAMED_ONLY]
    unknown = [name for name in wanted if name not in SECTIONS]
    if unknown:
        sys.exit(f"unknown section {unknown[0]!r}; there are: {', '.join(SECTIONS)}")
    for name in wanted:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
