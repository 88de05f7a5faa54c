#!/usr/bin/env python3
"""Two nodes with one PostgreSQL and one Redis, under load, while a node, then Redis, then the
database is killed and comes back: no request is lost while a node lives, no limit is exceeded by
more than 5 %, and no exchange that was answered more than a second ago is lost.

TANDEM_NODES_SECONDS makes it longer than its 66 seconds."""

import http.client
import os
import random
import re
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import postgres
import redis_server
from check import Skip, case, equal, main
from postgres import Postgres
from redis_server import Redis
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, clean_environment, edge_first, wait_until

SECONDS = float(os.environ.get("TANDEM_NODES_SECONDS", "66"))
PER_MINUTE = 300
CLIENTS = 6
PAUSE_S = 0.15  # of a client between requests: 35 a second in all, and 5 on a busy machine
SAFE_S = 3  # a second is promised, and a busy machine has its time
CLOUD = {"x-tandem-mode": "only-cloud"}
LIMITS = f"    limits: {{requests_per_minute: {PER_MINUTE}, concurrent: 50}}\n"


def servers() -> tuple[Postgres, Redis]:
    why = postgres.missing() or redis_server.missing()
    if why:
        raise Skip(why)
    return Postgres(), Redis()


def node(name: str, cloud: ScriptedCloud, of: tuple[Postgres, Redis], limits: str) -> Tandem:
    db, redis = of
    config = (
        edge_first(cloud.base_url, limits)
        + f"\nledger:\n  database: {db.url}\ncluster:\n  redis: {redis.url}\n"
    )
    return Tandem(config, env={"TEST_CLOUD_KEY": "k", "TANDEM_NODE": name})


def in_touch(*nodes: Tandem) -> bool:
    return all("limits" not in tandem.get("/readyz").json for tandem in nodes)


class Nodes:
    """Both nodes as a load balancer sees them: who gives no answer is passed over."""

    def __init__(self, nodes: list[Tandem]) -> None:
        self.nodes = nodes
        self.lock = threading.Lock()
        self.answered: list[tuple[float, str, int]] = []  # when, exchange, node
        self.limited = 0
        self.lost: list[str] = []
        self.ends = threading.Event()

    def ask(self) -> None:
        first = random.randrange(2)
        why = []
        for which in (first, 1 - first):
            try:
                answer = self.nodes[which].chat("hello", CLOUD, timeout=60)
            except (OSError, http.client.HTTPException) as fault:
                why.append(f"{which}: {fault!r}")
                continue
            with self.lock:
                if answer.status == 200:
                    self.answered.append((time.time(), answer.tandem["exchange"], which))
                elif answer.status == 429:
                    self.limited += 1
                else:
                    why.append(f"{which}: {answer.status} {answer.body!r}")
                    continue
            return
        with self.lock:
            self.lost.append("; ".join(why))

    def client(self) -> None:
        while not self.ends.is_set():
            self.ask()
            time.sleep(PAUSE_S)


def start_again(tandem: Tandem) -> Tandem:
    """The same node, with the same state folder."""
    environment = {key: value for key, value in tandem.environment.items() if "TANDEM" in key}
    return Tandem(env={**clean_environment(), **environment, "TEST_CLOUD_KEY": "k"})


def told(tandem: Tandem, event: str) -> list[str]:
    """What the log says of it in turn: "away", "back". A machine that is too busy to answer for a
    moment may be away once more, but nothing is said twice."""
    return re.findall(rf"event={event}_(away|back)\b", "".join(tandem.log))


def check_told(tandem: Tandem, event: str) -> None:
    found = told(tandem, event)
    assert found and found == ["away", "back"] * (len(found) // 2), (event, found)


def most_in_a_minute(times: list[float]) -> int:
    times = sorted(times)
    most = begin = 0
    for end, when in enumerate(times):
        while times[begin] <= when - 60:
            begin += 1
        most = max(most, end - begin + 1)
    return most


@case
def test_nodes_have_a_limit_together() -> None:
    of = db, redis = servers()
    cloud = ScriptedCloud(Script(text="Cloud."))
    limits = "    limits: {requests_per_minute: 20}\n"
    with (
        db,
        redis,
        node("a", cloud, of, limits) as a,
        node("b", cloud, of, limits) as b,
    ):
        wait_until(lambda: in_touch(a, b))
        codes = [(a, b)[i % 2].chat("hello", CLOUD).status for i in range(40)]
        equal((codes.count(200), codes.count(429)), (20, 20), str(codes))
        equal(len(cloud.requests), 20)
        redis.kill()
        for tandem in (a, b):
            wait_until(lambda t=tandem: "limits" in t.get("/readyz").json)
            ready = tandem.get("/readyz")
            equal((ready.status, ready.json["limits"]), (200, {"code": "redis_away", "nodes": 2}))
            assert "tandem_limits_alone 1\n" in tandem.get("/metrics").body.decode()
            equal(tandem.chat("hello", CLOUD).status, 429)  # what was used is not forgotten
        redis.start()
        wait_until(lambda: in_touch(a, b))
        equal([tandem.chat("hello", CLOUD).status for tandem in (a, b)], [429, 429])
        equal(len(cloud.requests), 20)
        for tandem in (a, b):
            check_told(tandem, "limits_shared")


@case
def test_a_node_redis_and_the_database_are_killed_under_load() -> None:
    of = db, redis = servers()
    cloud = ScriptedCloud(Script(text="Cloud."))
    with db, redis, node("a", cloud, of, LIMITS) as a, node("b", cloud, of, LIMITS) as b:
        wait_until(lambda: in_touch(a, b))
        both = Nodes([a, b])
        begin = time.time()
        threads = [threading.Thread(target=both.client) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()

        def until(share: float) -> None:
            time.sleep(max(0.0, begin + share * SECONDS - time.time()))

        until(0.10)
        killed_at = time.time()
        b.process.send_signal(signal.SIGKILL)
        b.ended()
        until(0.20)
        both.nodes[1] = start_again(b)
        until(0.30)
        redis.kill()
        until(0.45)
        redis.start()
        until(0.60)
        db.kill()
        until(0.75)
        db.start()
        until(1)
        both.ends.set()
        for thread in threads:
            thread.join()
        try:
            equal(both.lost, [])
            times = [request["time"] for request in cloud.requests]
            most = most_in_a_minute(times)
            print(
                f"{len(both.answered)} answered, {both.limited} limited; at most {most} in a minute"
                f" of {PER_MINUTE}"
            )
            assert most <= PER_MINUTE * 1.05, most
            assert most >= PER_MINUTE * 0.95, most  # the limit was reached, so it was tried
            safe = {
                name
                for when, name, which in both.answered
                if which == 0 or when < killed_at - SAFE_S or when > killed_at
            }
            wait_until(
                lambda: safe <= {row[0] for row in db.query("SELECT id FROM tandem.exchange")}
            )
            wait_until(lambda: in_touch(*both.nodes))
            for tandem in both.nodes:
                for event in ("limits_shared", "ledger_database"):
                    wait_until(lambda t=tandem, e=event: told(t, e)[-1:] == ["back"], what=event)
                    check_told(tandem, event)
                assert "tandem_ledger_dropped_total 0\n" in tandem.get("/metrics").body.decode()
        finally:
            both.nodes[1].stop()


if __name__ == "__main__":
    main()
