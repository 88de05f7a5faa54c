#!/usr/bin/env python3
"""Simulates the queues between nodes and their database: batches of a tenth of a second, commits
that take what was measured, an outage, and the file in which records wait.

    python3 bench/scale.py > scale.json && python3 tools/simulate_queues.py scale.json

Each node has one writer. The database has so many cores; a commit takes the processor time of its
records, and its round trip. Time goes in steps of a tenth of a second. It prints a table of loads,
and for each what is full, what waits, and how long it takes until nothing waits any more."""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

STEP_S = 0.1  # the window of a batch (src/ledger/record/ledger.c)
ROUND_TRIP_S = 0.001
FILE_BYTES_MAX = 1 << 30  # WAITING_BYTES_MAX of src/cluster/postgres_commit.c


@dataclass
class Node:
    waiting: float = 0  # records in its file
    lost: float = 0
    most: float = 0


@dataclass
class Outcome:
    busy: float  # of the database's cores, before the outage
    most_waiting: float  # records of one node
    file_share: float  # of its file
    lost: float
    back_s: float | None  # after the outage, until nothing waits; None = never


def simulate(
    per_s: float, nodes: int, cores: int, outage_s: float, cost: dict[str, float]
) -> Outcome:
    record_s = cost["database_cpu_us"] / 1e6
    room = FILE_BYTES_MAX / cost["waiting_bytes"]
    all_nodes = [Node() for _ in range(nodes)]
    each = per_s / nodes * STEP_S
    out_from, out_to, end = 20.0, 20.0 + outage_s, 20.0 + outage_s + 3600
    now, back = 0.0, None
    while now < end:
        away = out_from <= now < out_to
        budget = 0.0 if away else cores * STEP_S  # seconds of the database's processors
        share = budget / nodes
        for node in all_nodes:
            # One writer is one connection, which is one processor at most, less its round trip.
            can = min(share, STEP_S - ROUND_TRIP_S) / record_s if not away else 0.0
            drained = min(node.waiting, can)
            node.waiting -= drained
            direct = each if node.waiting == 0 and can - drained >= each else 0.0
            node.waiting += each - direct
            if node.waiting > room:
                node.lost += node.waiting - room
                node.waiting = room
            node.most = max(node.most, node.waiting)
        now += STEP_S
        if now >= out_to and back is None and all(node.waiting == 0 for node in all_nodes):
            back = now - out_to
            break
    most = max(node.most for node in all_nodes)
    return Outcome(
        busy=per_s * record_s / cores,
        most_waiting=most,
        file_share=most / room,
        lost=sum(node.lost for node in all_nodes),
        back_s=back,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("costs", type=Path, help="what bench/scale.py wrote")
    parser.add_argument("--cores", type=int, default=16, help="of the database")
    parser.add_argument("--outage", type=float, default=60, help="seconds")
    parser.add_argument("--per-node", type=float, default=2000, help="requests/s of a node")
    options = parser.parse_args()
    cost = json.loads(options.costs.read_text())
    print(
        f"{'requests/s':>10} {'nodes':>5} {'database busy':>13} {'most waiting':>12}"
        f" {'of the file':>11} {'lost':>9} {'back after':>10}"
    )
    for per_s in (1000, 2000, 5000, 10000, 20000, 50000, 100000):
        nodes = max(2, round(per_s / options.per_node))
        found = simulate(per_s, nodes, options.cores, options.outage, cost)
        back = "never" if found.back_s is None else f"{found.back_s:.0f} s"
        print(
            f"{per_s:>10} {nodes:>5} {found.busy:>13.0%} {found.most_waiting:>12.0f}"
            f" {found.file_share:>11.1%} {found.lost:>9.0f} {back:>10}"
        )


if __name__ == "__main__":
    main()
