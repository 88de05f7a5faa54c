#!/usr/bin/env python3
"""What a request costs a node, PostgreSQL and Redis: processor time, rows and bytes. docs/scale.md
multiplies them out; tools/simulate_queues.py takes what this writes.

    TANDEM_BINARY=build/tandem python3 bench/scale.py [requests] > scale.json"""

import json
import os
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
LIMITS = "    limits: {requests_per_minute: 1000000}\n"
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


def measure_redis(cloud: ScriptedCloud, count: int) -> dict[str, Any]:
    with Redis() as redis:
        config = edge_first(cloud.base_url, LIMITS) + f"\ncluster:\n  redis: {redis.url}\n"
        with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
            wait_until(lambda: "limits" not in tandem.get("/readyz").json, 20)
            ask_all(tandem, 100)
            assert redis.process
            before = cpu_s(redis.process.pid)
            begin = time.monotonic()
            ask_all(tandem, count)
            took = time.monotonic() - begin
            used = cpu_s(redis.process.pid) - before
            time.sleep(took)  # the same time without a request
            idle = cpu_s(redis.process.pid) - before - used
    return {
        "redis_cpu_us": max(0.0, used - idle) / count * 1e6,
        "redis_idle_cpu_us_per_s": idle / took * 1e6,
        "redis_measured_at_per_s": count / took,
    }


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    why = postgres.missing() or redis_server.missing()
    if why:
        print(why, file=sys.stderr)
        return 77
    cloud = ScriptedCloud(Script(text="This is the answer of the cloud."))
    found = {"requests": count, "body_bytes": BODY_BYTES}
    found |= measure_database(cloud, count)
    found |= measure_redis(cloud, count)
    print(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
