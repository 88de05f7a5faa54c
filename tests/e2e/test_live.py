#!/usr/bin/env python3
"""GET /tandem/v1/live: exchanges as they end, to whoever may see them, and what state things are
in."""

import http.client
import json
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import SOON_S, Tandem, edge_first, wait_until

PATH = "/tandem/v1/live"
KEYS = {"a": "key-of-a", "b": "key-of-b", "boss": "key-of-the-operator"}
SERVER = "server: {api_keys_env: KEYS, operator_keys_env: BOSS, workers: 2}\n"
HARD = "Why did the French revolution begin, dear canary?"


def key(who: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KEYS[who]}"} if who else {}


def serve(cloud: ScriptedCloud, more: str = SERVER) -> Tandem:
    env = {"TEST_CLOUD_KEY": "k", "KEYS": f"{KEYS['a']},{KEYS['b']}", "BOSS": KEYS["boss"]}
    return Tandem(edge_first(cloud.base_url) + more, env=env)


class Looker:
    """Reads the stream in a thread."""

    def __init__(self, tandem: Tandem, who: str = "") -> None:
        self.text = ""
        self.events: list[tuple[str, Any]] = []
        self._connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=60)
        self._connection.request("GET", PATH, headers=key(who))
        self.answer = self._connection.getresponse()
        equal(self.answer.status, 200)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        event = ""
        while line := self.answer.readline():
            words = line.decode().rstrip("\n")
            self.text += words + "\n"
            if words.startswith("event: "):
                event = words[7:]
            elif words.startswith("data: "):
                self.events.append((event, json.loads(words[6:])))

    def of(self, kind: str) -> list[Any]:
        return [data for event, data in self.events if event == kind]

    def wait(self, kind: str, count: int) -> list[Any]:
        wait_until(lambda: len(self.of(kind)) >= count, what=f"{count} events: {kind}")
        return self.of(kind)

    def close(self) -> None:
        self._connection.sock and self._connection.sock.shutdown(socket.SHUT_RDWR)


@case
def test_an_exchange_is_told_when_it_ends_with_why_it_was_left_and_no_word_of_it() -> None:
    cloud = ScriptedCloud(Script(text="A canary sang."))
    with serve(cloud, "") as tandem:
        looker = Looker(tandem)
        state = looker.wait("state", 1)[0]
        equal([tier["name"] for tier in state["tiers"]], ["local", "cloud"])
        assert state["device"]["memory_free_bytes"] > 0 and state["left_out"] == 0, state
        equal((state["queue"], state["alarms"]), ({"running": 0, "waiting": 0}, []))
        answer = tandem.chat(HARD)
        event = looker.wait("exchange", 1)[0]
        record = tandem.get(f"/tandem/v1/exchanges/{answer.headers['x-tandem-exchange']}").json
        for name in ("id", "tier", "model", "place", "route", "data_class", "status", "cost_usd"):
            equal((name, event[name]), (name, record[name]))
        assert abs(event["total_ms"] - record["total_ms"]) < 1, (event, record)
        (left,) = event["left"]
        equal((left["from"], left["to"], left["code"]), ("local", "cloud", "left_not_mine"))
        assert "not its task" in left["text"], left
        assert "canary" not in looker.text and "French" not in looker.text, looker.text
        body = {"model": "auto", "input": "canary"}
        equal(tandem.request("POST", "/v1/embeddings", body, {}).status, 200)
        embedded = looker.wait("exchange", 2)[1]
        equal((embedded["tier"], embedded["place"]), ("local", "device"))
        looker.wait("state", 3)  # they go on
        assert "canary" not in looker.text
    cloud.close()


@case
def test_a_tenant_sees_its_own_alone_and_an_operator_all() -> None:
    cloud = ScriptedCloud(Script(text="Because."))
    with serve(cloud) as tandem:
        equal(tandem.get(PATH).status, 401)
        a, b, boss = (Looker(tandem, who) for who in ("a", "b", "boss"))
        for looker in (a, b, boss):
            looker.wait("state", 1)
        ids = {who: tandem.chat(HARD, key(who)).headers["x-tandem-exchange"] for who in KEYS}
        equal({event["id"] for event in boss.wait("exchange", 3)}, set(ids.values()))
        time.sleep(0.6)  # more than a look
        for looker, who in ((a, "a"), (b, "b")):
            equal([event["id"] for event in looker.of("exchange")], [ids[who]])
            state = looker.of("state")[0]
            hidden = [name for name in ("queue", "alarms", "engine_bytes") if name in state]
            equal((hidden, "under_way" in state["tiers"][0]), ([], False))
        assert "alarms" in boss.of("state")[0]
    cloud.close()


@case
def test_a_slow_reader_holds_up_nobody_and_is_told_how_much_it_missed() -> None:
    cloud = ScriptedCloud(Script(text="Because."))
    with serve(cloud, "server: {workers: 1}\n") as tandem:
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", tandem.port))
        slow.sendall(f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{tandem.port}\r\n\r\n".encode())
        fast = Looker(tandem)
        fast.wait("state", 1)
        count = 9000  # some megabytes of events: more than the sockets and the queue hold
        connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=60)
        body = json.dumps({"model": "auto", "input": "x"})
        kind = {"Content-Type": "application/json"}
        for _ in range(count):
            connection.request("POST", "/v1/embeddings", body, kind)
            answer = connection.getresponse()
            answer.read()
            equal(answer.status, 200)
        equal(len(fast.wait("exchange", count)), count)
        equal(fast.of("state")[-1]["left_out"], 0)
        slow.settimeout(20)
        text, told = b"", (0, 0)
        while sum(told) < count:  # what it got, and what it is told that it did not get
            text += slow.recv(1 << 20)
            states = [line for line in text.split(b"\n")[:-1] if line.startswith(b'data: {"at"')]
            missed = json.loads(states[-1][6:])["left_out"]
            told = (text.count(b"event: exchange"), missed)
        equal(sum(told), count, str(told))
        slow.close()
    cloud.close()


@case
def test_streams_of_a_key_are_counted_together_and_end_with_the_server() -> None:
    cloud = ScriptedCloud(Script(text="Because."))
    alone = SERVER.replace("workers: 2", "workers: 1, shutdown_timeout_ms: 100000")
    with serve(cloud, alone) as tandem:
        lookers = [Looker(tandem, "a") for _ in range(10)]
        held = []
        for number in range(7):
            connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=20)
            connection.request("GET", "/tandem/v1/capabilities/events", headers=key("a"))
            answer = connection.getresponse()
            equal((number, answer.status), (number, 200 if number < 6 else 429))
            held.append((connection, answer))
        refused = tandem.get(PATH, headers=key("a"))
        equal(refused.status, 429, refused.body.decode())
        equal(Looker(tandem, "b").answer.status, 200)
        lookers.pop().close()
        wait_until(lambda: opens(tandem, "a"), what="room after one has gone")
        begin = time.monotonic()
        tandem.process.send_signal(signal.SIGTERM)
        tandem.process.wait(2 * SOON_S)
        assert time.monotonic() - begin < SOON_S, "a stream holds up the end"
    cloud.close()


def opens(tandem: Tandem, who: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=20)
    connection.request("GET", PATH, headers=key(who))
    status = connection.getresponse().status
    connection.close()
    return status == 200


if __name__ == "__main__":
    main()
