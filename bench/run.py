#!/usr/bin/env python3
"""make bench: every figure that the README claims, beside its goal, its peer or its physical limit.

Sections: model (CLINC150 through the endpoint), nano (all that the default model is for), serving (time to first token,
memory, size), engine (tokens/s beside llama.cpp and ik_llama.cpp), streams (many at once beside llama-server), grammar
(its cost), kernels (beside the read bandwidth), privacy (scan speed), egress (its record), router (what it recovers
beside published routers, decision time, paraphrases), hedging (the tail with a slow cloud), evidence (replay of a ledger). Name some to run only those. LLAMA_BIN and IK_BIN name the folders of the peers'
programs, which then take turns with ours on the same files; without them figures recorded on a 2-core machine are
printed and marked so. BENCH_QUICK=1 shortens the engine's part; bench/bench_engine.py says what else does.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
import bench_consistency
import bench_engine
import bench_evidence
import bench_grammar
import bench_hedging
import bench_model
import bench_nano
import bench_ramp
import bench_router
import bench_serving
import bench_streams
from table import program

SECTIONS = {
    "model": bench_model.run,
    "nano": bench_nano.run,
    "serving": bench_serving.run,
    "engine": bench_engine.run,
    "grammar": bench_grammar.run,
    "streams": bench_streams.run,
    "kernels": lambda: program("bench_kernels", "Kernels"),
    "router": lambda: (bench_router.run(), bench_consistency.run(), bench_ramp.run()),
    "hedging": bench_hedging.run,
    "evidence": bench_evidence.run,
    "privacy": lambda: program("bench_privacy", "Privacy scan"),
    "egress": lambda: program("bench_egress", "Record of what leaves"),
}


def main():
    wanted = sys.argv[1:] or list(SECTIONS)
    unknown = [name for name in wanted if name not in SECTIONS]
    if unknown:
        sys.exit(f"unknown section {unknown[0]!r}; there are: {', '.join(SECTIONS)}")
    for name in wanted:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
