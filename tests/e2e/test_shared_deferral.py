#!/usr/bin/env python3
"""Questions that wait, where nodes share their state: each is asked by one node, answered once, in
order, and known to all; what a node was asking when it died another asks."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from key_store import bearer
from scripted_cloud import Script
from shared_nodes import keys, knows, pair, start_again
from tandem import Tandem, wait_until

QUEUE = "/tandem/v1/deferred"
ONLY = {"x-tandem-defer": "only", "x-tandem-mode": "only-cloud"}
FAST = "deferral: {per_minute: 60000}\n"


def defer(tandem: Tandem, words: str, headers: dict[str, str] | None = None) -> str:
    answer = tandem.chat(words, {**ONLY, **(headers or {})})
    equal(answer.status, 202, answer.body.decode())
    return answer.json["id"]


def look(tandem: Tandem, name: str, headers: dict[str, str] | None = None) -> Any:
    return tandem.get(f"{QUEUE}/{name}", headers=headers).json


def ended(tandem: Tandem) -> list[Any]:
    return tandem.get(f"{QUEUE}?status=answered&limit=100").json["data"]


@case
def test_a_question_of_one_node_is_read_cancelled_and_forgotten_on_the_other() -> None:
    with pair(FAST, Script(first_delay=3)) as (db, cloud, a, b):
        first = defer(a, "a canary in the queue")
        wait_until(lambda: look(b, first)["status"] == "running")
        second = defer(b, "another canary")
        third = defer(a, "of a user", {"x-tandem-user": "ann"})
        for tandem in (a, b):
            equal(look(tandem, second)["status"], "waiting")
        rows = str(db.query("SELECT * FROM tandem.deferred"))
        assert "canary" not in rows and "ann'" not in rows, rows
        equal(a.request("DELETE", f"{QUEUE}/{second}").json["status"], "cancelled")
        equal(look(b, second)["status"], "cancelled")
        equal(b.request("POST", "/tandem/v1/forget", {"user": "ann"}).json["deferred"], 1)
        equal(a.get(f"{QUEUE}/{third}").status, 404)
        wait_until(lambda: look(b, first)["status"] == "answered")
        assert "the cloud's answer" in str(look(b, first)["response"]["body"])
        equal(len(cloud.calls()), 1)
        equal(db.query("SELECT waiting FROM tandem.tally"), [["0"], ["0"]])


@case
def test_questions_asked_of_both_nodes_are_answered_once_and_in_order() -> None:
    with pair(FAST, Script(echo=True, first_delay=0.02)) as (_, cloud, a, b):
        names = [defer((a, b)[i % 2], f"number {i:02}") for i in range(40)]
        wait_until(lambda: len(ended(b)) == len(names), 60)
        said = [look(a, name)["response"]["body"] for name in names]
        equal(
            [one["choices"][0]["message"]["content"][-2:] for one in said],
            [f"{i:02}" for i in range(40)],
        )
        asked = [call["json"]["messages"][-1]["content"] for call in cloud.calls()]
        equal(asked, [f"number {i:02}" for i in range(40)])


@case
def test_what_a_node_was_asking_when_it_died_another_asks() -> None:
    with pair(FAST, Script(echo=True, first_delay=0.5)) as (_, cloud, a, b):
        names = [defer(a, f"number {i}") for i in range(4)]
        wait_until(lambda: look(b, names[0])["status"] == "running")
        # Whichever node asks is killed.
        asker = a if "deferred_asked" in "".join(a.log) else b
        other = b if asker is a else a
        cloud.script = Script(echo=True)
        asker.process.kill()
        asker.ended()
        wait_until(lambda: len(ended(other)) == len(names), 60)
        asked = [call["json"]["messages"][-1]["content"] for call in cloud.calls()]
        equal(list(dict.fromkeys(asked)), [f"number {i}" for i in range(4)])
        assert len(asked) <= 5, asked
        again = start_again(asker)
        try:
            equal([look(again, name)["status"] for name in names], ["answered"] * 4)
        finally:
            again.stop()


@case
def test_tenants_see_their_own_on_every_node() -> None:
    with pair(FAST) as (_, _, a, b):
        one, two = (keys(a, "add", name, "--tenant", name) for name in ("one", "two"))
        for tandem in (a, b):
            wait_until(lambda t=tandem: knows(t, two["key"]))
        name = defer(a, "mine", bearer(one["key"]))
        equal(b.get(f"{QUEUE}/{name}", headers=bearer(two["key"])).status, 404)
        wait_until(lambda: look(b, name, bearer(one["key"]))["status"] == "answered")


@case
def test_a_database_that_is_away_refuses_questions_and_loses_none() -> None:
    with pair(FAST, Script(echo=True, first_delay=0.5)) as (db, _, a, b):
        names = [defer(a, f"number {i}") for i in range(3)]
        db.kill()
        answer = a.chat("later", ONLY)
        equal(answer.status // 100, 5, answer.body.decode())
        db.start()
        wait_until(lambda: len(ended(b)) == len(names), 60)
        equal(a.chat("now", ONLY).status, 202)


if __name__ == "__main__":
    main()
