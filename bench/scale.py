#!/usr/bin/env python3
"""What a request costs a node, PostgreSQL and Redis: processor time, rows and bytes. docs/scale.md
multiplies them out; tools/simulate_queues.py takes what this writes.

    TANDEM_BINARY=build/tandem python3 bench/scale.py [requests] > scale.json"""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
import postgres
import redis_server
from postgres import Postgres
from redis_server import Redis
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

CLOUD = {"x-tandem-mode": "only-cloud"}
CLIENTS = 8
BODY_BYTES = 2048
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """User and system time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(fields[at]) for at in (11, 12, 13, 14)) / TICKS


def children(pid: int) -> list[int]:
    done = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in done.stdout.split()]


def postgres_cpu_s(db: Postgres) -> float:
    assert db.process
    total = 0.0
    for pid in [db.process.pid, *children(db.process.pid)]:
        try:
            total += cpu_s(pid)
        except OSError:
            pass
    return total


def ask_all(tandem: Tandem, count: int) -> None:
    text = "w" * BODY_BYTES
    left = [count]
    lock = threading.Lock()

    def client() -> None:
        while True:
            with lock:
                if left[0] == 0:
                    return
                left[0] -= 1
            answer = tandem.chat(text, CLOUD)
            assert answer.status == 200, answer.body

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def exchanges(db: Postgres) -> int:
    return db.number("SELECT count(*) FROM tandem.exchange")


def measure_database(cloud: ScriptedCloud, count: int) -> dict[str, Any]:
    """Without limits: the node, and what it writes."""
    with Postgres({"fsync": "on", "full_page_writes": "on"}) as db:
        config = edge_first(cloud.base_url) + f"\nledger:\n  database: {db.url}\n"
        with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
            ask_all(tandem, 200)  # what is done once is done
            wait_until(lambda: exchanges(db) == 200, 30)
            node, base = cpu_s(tandem.process.pid), postgres_cpu_s(db)
            wal = db.number("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
            ask_all(tandem, count)
            wait_until(lambda: exchanges(db) == count + 200, 60)
            node, base = cpu_s(tandem.process.pid) - node, postgres_cpu_s(db) - base
            wal = db.number("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn") - wal
            sessions = db.number(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tandem'"
            )
            # Records that waited go out as fast as the database takes them.
            db.kill()
            ask_all(tandem, count)
            waiting = (tandem.state / "ledger-waiting.jsonl").stat().st_size
            db.start()
            begin = time.monotonic()
            wait_until(lambda: exchanges(db) == 2 * count + 200, 300)
            drained = time.monotonic() - begin
        db.query("VACUUM ANALYZE")
        stored = db.number(
            "SELECT sum(pg_total_relation_size(format('tandem.%I', relname)::regclass))"
            " FROM pg_stat_user_tables WHERE schemaname = 'tandem'"
        )
        total = exchanges(db)
        rows = total + db.number("SELECT count(*) FROM tandem.attempt")
    return {
        "node_cpu_us": node / count * 1e6,
        "database_cpu_us": base / count * 1e6,
        "wal_bytes": wal / count,
        "stored_bytes": stored / total,
        "rows": rows / total,
        "waiting_bytes": waiting / count,
        "drained_per_s": count / drained,
        "database_sessions": sessions,
    }


def take_script() -> str:
    """The script of src/cluster/share_scripts.h, as C would read its text."""
    header = (ROOT / "src/cluster/share_scripts.h").read_text()
    text = header.partition("take_script[] =")[2].partition(";\n\n")[0]
    return "".join(json.loads(f'"{part}"') for part in re.findall(r'"((?:[^"\\]|\\.)*)"', text))


class Connection:
    """Just enough of the protocol."""

    def __init__(self, redis: Redis) -> None:
        self.file = socket.create_connection(("127.0.0.1", redis.port)).makefile("rwb")

    def call(self, *words: object) -> Any:
        texts = [str(word).encode() for word in words]
        self.file.write(b"*%d\r\n" % len(texts))
        for text in texts:
            self.file.write(b"$%d\r\n%s\r\n" % (len(text), text))
        self.file.flush()
        return self._read()

    def _read(self) -> Any:
        line = self.file.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self._read() for _ in range(int(rest))]
        assert kind != b"-", rest
        return int(rest) if kind == b":" else rest


def measure_redis(count: int, nodes: int = 50) -> dict[str, Any]:
    """One message, where so many nodes have taken something in each second of the last minute."""
    with Redis() as redis:
        connection = Connection(redis)
        sha = connection.call("SCRIPT", "LOAD", take_script()).decode()
        now = int(connection.call("TIME")[0])
        keys = ["bench:requests", "bench:tokens", "bench:slots", "bench:nodes"]
        for node in range(nodes):
            for second in range(60):
                connection.call("HSET", keys[0], f"n{node}:{now - second}", 1)
        assert redis.process
        before, begin = cpu_s(redis.process.pid), time.monotonic()
        numbers = [1, 0, 10**9, 0, 0, 0, 0, 0]
        for _ in range(count):
            answer = connection.call("EVALSHA", sha, 4, *keys, "n0", *numbers)
            assert answer[0] == 0, answer
        took = time.monotonic() - begin
        used = cpu_s(redis.process.pid) - before
    return {"take_nodes": nodes, "take_cpu_us": used / count * 1e6, "take_us": took / count * 1e6}


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    why = postgres.missing() or redis_server.missing()
    if why:
        print(why, file=sys.stderr)
        return 77
    cloud = ScriptedCloud(Script(text="This is the answer of the cloud."))
    found = {"requests": count, "body_bytes": BODY_BYTES}
    found |= measure_database(cloud, count)
    found |= measure_redis(min(count, 2000))
    print(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
