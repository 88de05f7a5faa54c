#!/usr/bin/env python3
"""What each client can do with the program: the table of docs/clients.md.

    make bench-clients      (or: python3 bench/run.py clients; CLIENTS=word,word for some of them)

The clients, what they must do and how it is judged are those of tests/clients. Packages that are
not there are fetched, 1.2 GB in all, in the versions and with the hashes that tests/clients pins;
CLIENTS_INSTALL=0 leaves that out. What cannot be tried is named, with the reason."""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "clients"))
import test_agents
from abilities import ABILITIES, Bench, judge
from clients import CLIENTS, Client, Missing, result_row, table_row
from table import heading

INSTALL = os.environ.get("CLIENTS_INSTALL", "1") != "0"
WORDS = [word for word in os.environ.get("CLIENTS", "").split(",") if word]


def wanted(title: str) -> bool:
    return not WORDS or any(word in title for word in WORDS)


def try_client(client: Client, bench: Bench, problems: list[str]) -> None:
    missing = client.missing(INSTALL)
    if missing:
        problems.append(f"SKIP {client.title}: {missing}")
        return
    for tier, results in judge(client, bench).items():
        version = client.version()
        row = result_row(client.name, version, client.api, tier, ABILITIES, results)
        print(row, flush=True)
        for ability, (mark, why) in results.items():
            if mark == "no":
                problems.append(f"FAIL {client.title}, {tier}, {ability}: {why}")


def try_agents(problems: list[str]) -> None:
    """Each does one task: it streams, calls its shell and goes on with what that said."""
    wanted_agents = [agent for agent in test_agents.TRIED if wanted(agent.title)]
    try:
        if wanted_agents:
            test_agents.install(INSTALL)
    except Missing as why:
        problems += [f"SKIP {agent.title}: {why}" for agent in wanted_agents]
        return
    for agent in wanted_agents:
        results = dict.fromkeys(("chat", "stream", "tools"), ("yes", ""))
        try:
            agent.task()
        except (AssertionError, subprocess.TimeoutExpired) as why:
            results = dict.fromkeys(results, ("no", ""))
            problems.append(f"FAIL {agent.title}: {why}")
        print(result_row(agent.name, agent.version(), agent.api, "cloud", ABILITIES, results))


def run() -> None:
    heading("Clients: what each can do, on each tier")
    print(table_row(["client", "API", "tier", *ABILITIES]))
    print(table_row(["---"] * (3 + len(ABILITIES))))
    problems: list[str] = []
    with Bench() as bench:
        for client in CLIENTS:
            if wanted(client.title):
                try_client(client, bench, problems)
    try_agents(problems)
    print("\n".join(["", *problems]), flush=True)


if __name__ == "__main__":
    run()
