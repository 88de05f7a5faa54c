#!/usr/bin/env python3
"""`state: postgresql://`: responses and conversations that one node keeps are read, continued,
cancelled, deleted and forgotten on the others, by the same tenants and nobody else."""

import contextlib
import http.client
import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from key_store import bearer
from scripted_cloud import Script
from shared_nodes import CLOUD, keys, pair, start_again
from tandem import Tandem, parse_events, run, wait_until

CARD = "My card is 4111 1111 1111 1111."


def ask(
    tandem: Tandem, words: str, key: str | None = None, mode: str = "only-cloud", **members: Any
) -> Any:
    headers = {"x-tandem-mode": mode, **(bearer(key) if key else {})}
    body = {"model": "auto", "input": words, **members}
    return tandem.request("POST", "/v1/responses", body, headers)


def asked(tandem: Tandem, words: str, key: str | None = None, **members: Any) -> Any:
    answer = ask(tandem, words, key, **members)
    equal(answer.status, 200, answer.body.decode())
    return answer.json


def read(tandem: Tandem, name: str, key: str | None = None, method: str = "GET") -> Any:
    kind = "conversations" if name.startswith("conv_") else "responses"
    return tandem.request(method, f"/v1/{kind}/{name}", None, bearer(key) if key else {})


def texts(cloud: Any) -> list[str]:
    """What the cloud was asked last."""
    return [one["content"] for one in cloud.calls()[-1]["json"]["messages"]]


def items(tandem: Tandem, name: str) -> list[str]:
    page = tandem.get(f"/v1/conversations/{name}/items?order=asc&limit=100").json["data"]
    return [item["content"][0]["text"] for item in page]


@contextlib.contextmanager
def team(script: Script | None = None) -> Iterator[tuple[Any, ...]]:
    """Two nodes, two keys of one tenant and one of another."""
    with pair(script=script) as (db, cloud, a, b):
        made = [
            keys(a, "add", "shop", "--tenant", "team"),
            keys(a, "add", "lab", "--tenant", "team"),
        ]
        made.append(keys(a, "add", "other"))
        known = [one["key"] for one in made]
        for tandem in (a, b):
            # Before it knows of any key it lets everybody in.
            wait_until(lambda t=tandem: t.get("/v1/models").status == 401)
            for key in known:
                wait_until(
                    lambda t=tandem, k=key: t.get("/v1/models", headers=bearer(k)).status == 200
                )
        yield db, cloud, a, b, *known


@case
def test_a_response_of_one_node_is_read_continued_and_deleted_on_the_other() -> None:
    with team(Script(text="Blue.")) as (db, cloud, a, b, shop, lab, other):
        for i in range(10):  # at once, each time
            first = asked(a, f"Which colour has sky {i}?", shop)
            second = asked(b, "And why?", lab, previous_response_id=first["id"])
            equal(texts(cloud), [f"Which colour has sky {i}?", "Blue.", "And why?"])
        equal(read(b, first["id"], shop).json, first)
        shown = read(b, second["id"] + "/input_items?order=asc", shop).json
        equal([item["content"][0]["text"] for item in shown["data"]][:2], texts(cloud)[:2])
        streamed = ask(a, "Sure?", lab, previous_response_id=second["id"], stream=True)
        done = [
            json.loads(line[6:]) for line in streamed.body.decode().split("\n") if "data: {" in line
        ]
        third = done[-1]["response"]
        asked(b, "Thanks.", shop, previous_response_id=third["id"])
        equal(len(texts(cloud)), 7)
        # By the same rules of tenants.
        for tandem in (a, b):
            equal(read(tandem, first["id"], other).status, 404)
            equal(read(tandem, first["id"], other, "DELETE").status, 404)
            refused = ask(tandem, "more", other, previous_response_id=first["id"])
            equal(
                (refused.status, refused.json["error"]["code"]),
                (400, "previous_response_not_found"),
            )
        equal(read(b, third["id"], lab, "DELETE").status, 200)
        for tandem in (a, b):
            equal(read(tandem, third["id"], shop).status, 404)
            equal(ask(tandem, "more", shop, previous_response_id=third["id"]).status, 400)
        kept = str(db.query("SELECT *, encode(body, 'escape') FROM tandem.kept"))
        kept += str(db.query("SELECT *, encode(items, 'escape') FROM tandem.kept_list"))
        assert "sky" not in kept and "Blue" not in kept and len(kept) > 5000, kept
        db.query(
            "UPDATE tandem.kept SET body = body || 'x'::bytea WHERE id = '" + first["id"] + "'"
        )
        assert read(a, first["id"], shop).status >= 500  # changed by somebody


@case
def test_a_long_conversation_goes_on_from_node_to_node() -> None:
    with pair(script=Script(text="Blue.")) as (db, cloud, a, b):
        last = None
        for i in range(140):  # more than are read at a time
            more = {"previous_response_id": last} if last else {}
            last = asked((a, b)[i % 2], f"Number {i}?", **more)["id"]
        wanted = [text for i in range(139) for text in (f"Number {i}?", "Blue.")]
        equal(texts(cloud), [*wanted, "Number 139?"])
        middle = db.query("SELECT id FROM tandem.kept ORDER BY seq OFFSET 70 LIMIT 1")[0][0]
        equal(read(b, middle, method="DELETE").status, 200)
        for tandem in (a, b):
            equal(ask(tandem, "more", previous_response_id=last).status, 400)


@case
def test_a_response_outlives_its_node() -> None:
    with pair(script=Script(text="Blue.")) as (_, cloud, a, b):
        first = asked(a, "Which colour?")
        a.process.kill()
        a.ended()
        asked(b, "And why?", previous_response_id=first["id"])
        equal(texts(cloud), ["Which colour?", "Blue.", "And why?"])
        again = start_again(a)
        try:
            equal(read(again, first["id"]).json, first)
        finally:
            again.stop()


@case
def test_a_conversation_grows_on_both_nodes_at_once_and_loses_nothing() -> None:
    with pair(script=Script(text="Blue.")) as (db, cloud, a, b):
        made = a.request("POST", "/v1/conversations", {"metadata": {"topic": "sky"}}).json
        name = made["id"]
        equal(read(b, name).json, made)
        asked(b, "One?", conversation=name)
        asked(a, "Two?", conversation=name)
        equal(texts(cloud), ["One?", "Blue.", "Two?"])
        equal(items(b, name), ["One?", "Blue.", "Two?", "Blue."])

        def client(tandem: Tandem, who: int) -> None:
            for i in range(8):
                asked(tandem, f"c{who}-{i}", conversation=name)

        threads = [
            threading.Thread(target=client, args=(tandem, who))
            for who, tandem in enumerate((a, b, a, b))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = items(a, name)
        equal(found, items(b, name))
        equal(len(found), 4 + 2 * 32)
        for who in range(4):  # each client's in its order
            own = [text for text in found if text.startswith(f"c{who}-")]
            equal(own, [f"c{who}-{i}" for i in range(8)])
        more = [{"type": "message", "role": "user", "content": "Three?"}]
        answer = a.request("POST", f"/v1/conversations/{name}/items", {"items": more})
        equal(answer.status, 200, answer.body.decode())
        one = answer.json["first_id"]
        equal(items(b, name)[-1], "Three?")
        equal(b.request("DELETE", f"/v1/conversations/{name}/items/{one}").status, 200)
        equal(items(a, name), found)
        changed = b.request("POST", f"/v1/conversations/{name}", {"metadata": {"topic": "sea"}})
        equal((changed.status, read(a, name).json["metadata"]), (200, {"topic": "sea"}))
        equal(read(a, name, method="DELETE").status, 200)
        equal((read(b, name).status, ask(b, "more", conversation=name).status), (404, 404))
        equal(db.number("SELECT count(*) FROM tandem.kept WHERE id LIKE 'conv%'"), 0)


@case
def test_one_in_the_background_is_asked_for_and_cancelled_on_the_other_node() -> None:
    with pair(script=Script(text="Blue.", first_delay=1)) as (db, cloud, a, b):
        made = asked(a, "Slow?", background=True)
        equal(
            read(b, made["id"]).json["status"],
            "in_progress" if made["status"] != "queued" else "queued",
        )
        wait_until(lambda: read(b, made["id"]).json["status"] == "completed")
        equal(read(a, made["id"]).json, read(b, made["id"]).json)
        cloud.script.first_delay = 30
        made = asked(a, "Slower?", background=True)
        wait_until(lambda: len(cloud.calls()) == 2)
        equal(
            b.request("POST", f"/v1/responses/{made['id']}/cancel", {}).json["status"], "cancelled"
        )
        for tandem in (a, b):
            equal(read(tandem, made["id"]).json["status"], "cancelled")
        wait_until(lambda: cloud.gone_count == 1)  # nobody asks for it any more
        # One whose node is gone has failed.
        made = asked(a, "Slowest?", background=True)
        a.process.kill()
        a.ended()
        db.query("UPDATE tandem.kept SET held_until_s = held_until_s - 30")
        lost = read(b, made["id"]).json
        equal((lost["status"], lost["error"]["code"]), ("failed", "server_error"))


@case
def test_a_response_is_followed_on_another_node_although_the_database_is_away_for_a_while() -> None:
    gate = threading.Event()
    with pair(script=Script(text="Blue.", gate=gate)) as (db, _, a, b):
        name = asked(a, "Slow?", background=True)["id"]
        clients = [http.client.HTTPConnection("127.0.0.1", at.port, timeout=60) for at in (a, b)]
        for client in clients:
            client.request("GET", f"/v1/responses/{name}?stream=true")
        wait_until(lambda: read(b, name).status == 200)
        db.kill()
        wait_until(lambda: read(b, name).status == 503)
        time.sleep(3)  # it is looked for each 1.5 s
        db.start()
        gate.set()
        for client in clients:
            events = parse_events(client.getresponse().read())
            equal(events[-1]["type"], "response.completed")


@case
def test_following_a_response_of_the_own_node_waits_for_no_database() -> None:
    gate = threading.Event()
    with pair("server: {workers: 1}\n", Script(text="Blue.", gate=gate)) as (db, _, a, b):
        name = asked(a, "Slow?", background=True)["id"]
        wait_until(lambda: read(b, name).status == 200)
        client = http.client.HTTPConnection("127.0.0.1", a.port, timeout=60)
        client.request("GET", f"/v1/responses/{name}?stream=true")
        equal(a.get("/health").status, 200)  # so the other one is read
        with db.stalled():
            slowest = 0.0
            for _ in range(8):
                begun = time.monotonic()
                equal(a.get("/health").status, 200)
                slowest = max(slowest, time.monotonic() - begun)
                time.sleep(0.1)
            assert slowest < 1.2, slowest  # a query would wait for 2 s
        gate.set()
        events = parse_events(client.getresponse().read())
        equal(events[-1]["type"], "response.completed")


@case
def test_a_user_is_forgotten_with_responses_of_all_nodes() -> None:
    with pair(script=Script(text="Blue.")) as (db, _, a, b):
        of_ann = [asked(tandem, "Which?", user="ann")["id"] for tandem in (a, b)]
        of_bob = asked(a, "Which?", user="bob")["id"]
        name = a.request("POST", "/v1/conversations", {}).json["id"]
        asked(b, "One?", conversation=name, user="ann", store=False)
        done = a.request("POST", "/tandem/v1/forget", {"user": "ann"})
        equal((done.status, done.json["responses"]), (200, 3), done.body.decode())
        for tandem in (a, b):
            for gone in (*of_ann, name):
                equal(read(tandem, gone).status, 404)
            equal(read(tandem, of_bob).status, 200)
        db.kill()
        refused = a.request("POST", "/tandem/v1/forget", {"user": "bob"})
        assert refused.status >= 500, refused.body
        db.start()
        for tandem in (a, b):
            tandem.process.terminate()
            tandem.ended()
        code, out, err = run("forget", "bob", "--json", env=a.environment)
        equal((code, json.loads(out)["responses"]), (0, 1), err)
        equal(db.number("SELECT count(*) FROM tandem.kept"), 0)


@case
def test_what_is_restricted_stays_in_the_memory_of_its_node() -> None:
    with pair() as (db, _, a, b):
        first = asked(a, CARD, mode="only-local")
        equal((read(a, first["id"]).status, read(b, first["id"]).status), (200, 404))
        name = a.request("POST", "/v1/conversations", {}).json["id"]
        asked(b, "One?", mode="only-local", conversation=name, user="ann")
        before = items(a, name)
        asked(b, CARD, mode="only-local", conversation=name)
        equal(items(b, name)[:2], before)
        equal((len(items(b, name)), read(a, name).status), (4, 404))
        equal(b.request("POST", "/tandem/v1/forget", {"user": "ann"}).json["responses"], 2)
        equal(read(b, name).status, 404)
        equal(db.number("SELECT count(*) FROM tandem.kept"), 0)


@case
def test_while_the_database_is_away_answers_are_given_and_kept_until_it_is_back() -> None:
    with pair(script=Script(text="Blue.")) as (db, _, a, b):
        begun = time.monotonic()
        first = asked(a, "Before?")
        usual = time.monotonic() - begun
        db.kill()
        begun = time.monotonic()
        kept = [asked(a, f"Away {i}?") for i in range(20)]
        away = time.monotonic() - begun
        assert away < 8 + 10 * usual, (away, usual)
        equal(read(a, kept[3]["id"]).json, kept[3])  # its own node has it
        refused = read(b, first["id"])
        equal(refused.status, 503, refused.body.decode())  # and not 404: it may be there
        refused = ask(b, "more", previous_response_id=first["id"])
        equal(refused.status, 503, refused.body.decode())
        equal(a.chat("hello", CLOUD).status, 200)
        db.start()
        wait_until(lambda: read(b, kept[-1]["id"]).status == 200)
        for one in (first, *kept):
            equal(read(b, one["id"]).json, one)
        assert "responses_database_away" in "".join(a.log)
        wait_until(lambda: "responses_database_back" in "".join(a.log))
        with db.stalled():
            begun = time.monotonic()
            asked(a, "Stalled?")
            stalled = time.monotonic() - begun
            assert stalled < 5 + 10 * usual, (stalled, usual)


@case
def test_what_is_kept_has_limits_over_all_nodes() -> None:
    limits = "responses: {keep_s: 4, caller_count_max: 5}\n"
    with pair(limits, Script(text="Blue.")) as (db, _, a, b):
        made = [asked((a, b)[i % 2], f"Number {i}?")["id"] for i in range(12)]
        wait_until(lambda: db.number("SELECT count(*) FROM tandem.kept") <= 5)
        equal([read(b, name).status for name in made[:7]], [404] * 7)
        wait_until(lambda: db.number("SELECT count(*) FROM tandem.kept") == 0)


if __name__ == "__main__":
    main(at_once=4)
