#!/usr/bin/env python3
"""POST /tandem/v1/classify over the wire, and tandem classify: labels, limits, the record, and that
nothing leaves the device."""

import json
import math
import re
import socket
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import has_card
from scripted_cloud import ScriptedCloud
from tandem import NANO, Tandem, edge_first, run, wait_until, workers

PATH = "/tandem/v1/classify"
RESTRICTED = {"x-tandem-data-class": "restricted"}
SECRET = "My card is 4111 1111 1111 1111."

# Written for this test: what people say, and the label of CLINC150 that it has.
SAID = {
    "move fifty bucks from checking to savings please": "transfer",
    "how much money do i have in my account": "balance",
    "set an alarm for six in the morning": "alarm",
    "start a timer for twelve minutes": "timer",
    "is it going to rain in boston tomorrow": "weather",
    "what's the exchange rate between yen and euros": "exchange_rate",
    "my credit card was stolen on the train": "report_lost_card",
    "put milk on my grocery list": "shopping_list_update",
    "reserve a table for four at an italian place": "restaurant_reservation",
    "tell me a joke": "tell_joke",
    "flip a coin for me": "flip_coin",
    "how do you say good night in french": "translate",
    "when is my phone bill due": "bill_due",
    "play some jazz": "play_music",
    "turn the volume up": "change_volume",
    "i need directions to the nearest airport": "directions",
    "how many calories are in a banana": "calories",
    "what is the definition of ephemeral": "definition",
    "book me a hotel room in chicago for friday": "book_hotel",
    "i forgot my pin number": "pin_change",
}
FOREIGN = [
    "why did the roman empire fall",
    "write a python function that reverses a linked list",
    "who painted the ceiling of the sistine chapel",
    "what is the airspeed of a swallow",
    "explain the second law of thermodynamics",
]


def server(config="", **options):
    cloud = ScriptedCloud()
    return cloud, Tandem(
        edge_first(cloud.base_url) + config, env={"TEST_CLOUD_KEY": "sk-test"}, **options
    )


def classify(tandem, headers=None, **body):
    return tandem.request("POST", PATH, body, headers or {})


def rows(answer):
    equal(answer.status, 200, answer.body.decode()[:300])
    return answer.json["data"]


@case
def test_intents_are_told_and_what_is_none_is_said_to_be():
    cloud, tandem = server()
    with tandem:
        answer = classify(tandem, texts=[*SAID, *FOREIGN], set="intents", top=3)
        found = rows(answer)
        equal([row["index"] for row in found], list(range(len(SAID) + len(FOREIGN))))
        inside, outside = found[: len(SAID)], found[len(SAID) :]
        right = sum(row["label"] == label for row, label in zip(inside, SAID.values()))
        assert right >= 17, [row["label"] for row in inside]
        for row in found:
            equal(len(row["scores"]), 3)
            equal(row["scores"][0], {"label": row["label"], "score": row["score"]})
            assert 0 <= row["not_mine"] <= 1 and 0 < row["mass"] <= 1.0001
            # The first token is a label, "not mine" or something else.
            assert row["mass"] + row["not_mine"] < 1.0001
        middle = sorted(row["not_mine"] for row in inside)[len(inside) // 2]
        assert sum(row["not_mine"] > 0.5 for row in outside) >= 4, outside
        assert middle < 0.05, middle
        equal(answer.json["model"], "tandem-nano")
        assert answer.json["usage"]["prompt_tokens"] > 200
        everything = rows(classify(tandem, text="tell me a joke", set="intents", top=150))[0]
        assert math.isclose(sum(s["score"] for s in everything["scores"]), 1, abs_tol=1e-4)
    equal(len(cloud.requests), 0, "requests that reached the cloud")


@case
def test_the_other_sets_are_asked_in_their_own_words():
    _, tandem = server()
    with tandem:
        for name, text, label in (
            ("banking", "my top-up has not gone through yet", "pending_top_up"),
            ("sentiment", "I love this so much, what a great day", "positive"),
            ("language", "Ich habe heute leider keine Zeit, vielleicht morgen.", "German"),
        ):
            equal(rows(classify(tandem, text=text, set=name))[0]["label"], label)
        shown = tandem.get(PATH).json
        counts = {row["set"]: len(row["labels"]) for row in shown["data"]}
        equal(counts, {"intents": 150, "banking": 77, "sentiment": 3, "language": 10})
        equal({(row["model"], row["tier"]) for row in shown["data"]}, {("tandem-nano", "local")})


@case
def test_labels_of_the_caller_compete_with_the_model_they_are_given_to():
    """A label that another one continues, labels of several tokens, one label, many labels."""
    _, tandem = server()
    with tandem:
        text = "my card was stolen yesterday"
        labels = ["card", "card_lost", "card lost abroad", "a long label of many words", "weather"]
        whole = rows(classify(tandem, text=text, labels=labels))[0]
        equal({score["label"] for score in whole["scores"]}, set(labels))
        assert math.isclose(sum(s["score"] for s in whole["scores"]), 1, abs_tol=1e-4)
        again = rows(classify(tandem, text=text, labels=labels))[0]
        equal(again, whole, "from the cache")
        instructed = rows(classify(tandem, text=text, labels=labels, instruction="Be exact."))[0]
        assert instructed["scores"] != whole["scores"]
        one = rows(classify(tandem, text=text, labels=["weather"]))[0]
        equal((one["label"], one["score"]), ("weather", 1))
        many = [f"x{i}" for i in range(120)]
        found = rows(classify(tandem, texts=[text, "hello"], labels=many, top=120))
        for row in found:
            equal({score["label"] for score in row["scores"]}, set(many))
            assert math.isclose(sum(s["score"] for s in row["scores"]), 1, abs_tol=1e-3)


@case
def test_the_command_says_the_same():
    _, tandem = server()
    texts = ["tell me a joke", "my card is gone"]
    labels = ["joke", "card", "card_lost", "some other thing"]
    with tandem:
        answer = classify(tandem, texts=texts, labels=labels, top=4)
        code, out, err = run(
            "classify", "-m", NANO, "--labels", ", ".join(labels), "--top", "4", "--json", *texts
        )
        equal(code, 0, err)
        told = json.loads(out)
        equal(told["usage"], answer.json["usage"])
        for row, other in zip(told["data"], rows(answer)):
            equal([s["label"] for s in row["scores"]], [s["label"] for s in other["scores"]])
            for mine, theirs in zip(row["scores"], other["scores"]):
                assert math.isclose(mine["score"], theirs["score"], rel_tol=1e-4)
            assert math.isclose(row["not_mine"], other["not_mine"], rel_tol=1e-4)
    code, out, err = run(
        "classify", "-m", NANO, "--set", "intents", stdin=b"tell me a joke\n\nflip a coin\n"
    )
    equal(code, 0, err)
    lines = [line.split("\t") for line in out.decode().splitlines()]
    equal([line[2] for line in lines], ["tell_joke", "flip_coin"])
    assert all(re.fullmatch(r"[01]\.\d{4}", number) for line in lines for number in line[:2])
    for arguments, says in (
        (["x"], "--labels or --set"),
        (["--set", "moods", "x"], "intents, banking, sentiment, language"),
        (["--labels", "a,,b", "x"], "label 1 is empty"),
        (["--labels", "a,b,a", "x"], "labels 0 and 2"),
    ):
        code, _, err = run("classify", "-m", NANO, *arguments)
        assert code != 0 and says in err, (arguments, err)


@case
def test_private_texts_get_the_same_labels_from_the_confined_worker():
    _, tandem = server()
    with tandem:
        plain = rows(classify(tandem, texts=list(SAID), set="intents"))
        labels = ["card", "card_lost", "card lost abroad", "money"]
        words = rows(classify(tandem, text="my card is lost", labels=labels))
        equal(workers(tandem), [], "public texts need none")
        equal(rows(classify(tandem, RESTRICTED, texts=list(SAID), set="intents")), plain)
        equal(len(workers(tandem)), 1)
        equal(rows(classify(tandem, RESTRICTED, text="my card is lost", labels=labels)), words)
        found = classify(tandem, text=SECRET, set="banking", user="u7")
        equal(rows(found)[0]["index"], 0)
        told = "/tandem/v1/exchanges/" + found.headers["x-tandem-exchange"]
        wait_until(lambda: tandem.get(told).status == 200, what="the record")
        record = tandem.get(told).json
        equal(
            (record["route"], record["data_class"], record["status"], record["user"]),
            ("classify", "restricted", "ok", "u7"),
        )
        equal(record["prompt_tokens"], found.json["usage"]["prompt_tokens"])
        assert not has_card(json.dumps(record))
        metrics = tandem.get("/metrics").body.decode()
        assert re.search(
            r'tandem_exchanges_total\{tier="local",route="classify",status="ok"\} 5', metrics
        ), metrics


@case
def test_refusals_name_the_place():
    _, tandem = server()
    two = ["a", "b"]
    with tandem:
        for body, status, param in (
            ({}, 400, "text"),
            ({"text": "x"}, 400, "labels"),
            ({"text": "x", "texts": ["y"], "labels": two}, 400, "text"),
            ({"text": "x", "labels": two, "set": "intents"}, 400, "set"),
            ({"text": "x", "set": "moods"}, 400, "set"),
            ({"text": 7, "labels": two}, 400, "text"),
            ({"text": " \n", "labels": two}, 400, "text"),
            ({"text": "y" * (1 << 20) + "y", "labels": two}, 400, "text"),
            ({"texts": [], "labels": two}, 400, "texts"),
            ({"texts": ["x"] * 1025, "labels": two}, 400, "texts"),
            ({"texts": ["x", ""], "labels": two}, 400, "texts[1]"),
            ({"texts": ["x", None], "labels": two}, 400, "texts[1]"),
            ({"texts": ["x", "word " * 3000], "labels": two}, 400, "texts[1]"),
            ({"text": "word " * 3000, "labels": two}, 400, "text"),
            ({"text": "x", "labels": []}, 400, "labels"),
            ({"text": "x", "labels": "a"}, 400, "labels"),
            ({"text": "x", "labels": [f"l{i}" for i in range(1025)]}, 400, "labels"),
            ({"text": "x", "labels": ["a", 3]}, 400, "labels[1]"),
            ({"text": "x", "labels": ["a", " "]}, 400, "labels[1]"),
            ({"text": "x", "labels": ["a", "b", "a"]}, 400, "labels[2]"),
            ({"text": "x", "labels": ["a", "z" * 257]}, 400, "labels[1]"),
            ({"text": "x", "labels": ["a", "\U0001f525" * 60]}, 400, "labels"),
            ({"text": "x", "labels": two, "top": 0}, 400, "top"),
            ({"text": "x", "labels": two, "top": 1.5}, 400, "top"),
            ({"texts": ["x"] * 1000, "set": "intents", "top": 150}, 400, "top"),
            ({"text": "x", "labels": two, "instruction": 3}, 400, "instruction"),
            ({"text": "x", "labels": two, "instruction": "i" * 4097}, 400, "instruction"),
            ({"text": "x", "labels": two, "model": "cloud"}, 404, "model"),
            ({"text": "x", "labels": two, "model": 3}, 400, "model"),
        ):
            answer = tandem.request("POST", PATH, body)
            equal((answer.status, answer.json["error"]["param"]), (status, param), str(body)[:80])
        for raw in (
            b'{"text": "a\\u0000b", "labels": ["a"]}',
            b'{"text": "\xff", "labels": ["a"]}',
        ):
            equal(tandem.request("POST", PATH, raw).status, 400, str(raw))
        answer = classify(tandem, {"x-tandem-data-class": "odd"}, text="x", labels=two)
        equal((answer.status, answer.json["error"]["param"]), (400, "x-tandem-data-class"))
        equal(tandem.request("DELETE", PATH).status, 405)
        equal(rows(classify(tandem, text="tell me a joke", set="intents"))[0]["label"], "tell_joke")


@case
def test_many_calls_at_once_are_answered_or_told_that_the_queue_is_full():
    _, tandem = server("engine: {slots: 2, queue: 4}\n")
    with tandem:
        said = list(SAID)
        wanted = {text: classify(tandem, text=text, set="intents").json["data"][0] for text in said}
        answers = [None] * 12

        def ask(i):
            texts = (said[i:] + said)[: 1 + 3 * i]
            while answers[i] is None or answers[i][1].status == 429:
                answers[i] = texts, classify(tandem, texts=texts, set="intents")

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(answers))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for texts, answer in answers:
            for number, (text, row) in enumerate(zip(texts, rows(answer), strict=True)):
                equal(row, {**wanted[text], "index": number})


@case
def test_a_call_keeps_its_deadline():
    _, tandem = server()
    with tandem:
        texts = [f"{said} " * 30 for said in SAID] * 50
        answer = classify(tandem, {"x-tandem-slo-ms": "300"}, texts=texts, set="intents")
        equal((answer.status, answer.json["error"]["code"]), (504, "timeout"))
        told = "/tandem/v1/exchanges/" + answer.headers["x-tandem-exchange"]
        wait_until(lambda: tandem.get(told).status == 200, what="the record")
        equal(tandem.get(told).json["status"], "failed")
        equal(classify(tandem, text="x", set="intents").status, 200)
        equal(classify(tandem, {"x-tandem-slo-ms": "soon"}, text="x", set="intents").status, 400)
        for value, status in (("batch", 200), ("interactive", 200), ("late", 400)):
            answer = classify(tandem, {"x-tandem-priority": value}, text="x", set="intents")
            equal(answer.status, status, value)


@case
def test_a_client_that_leaves_frees_its_place():
    _, tandem = server("engine: {slots: 2, queue: 4}\n")
    with tandem:
        body = json.dumps(
            {"texts": [f"{said} " * 30 for said in SAID] * 50, "set": "intents"}
        ).encode()
        for _ in range(3):
            sock = socket.create_connection(("127.0.0.1", tandem.port))
            head = f"POST {PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
            sock.sendall(head.encode() + body)
            wait_until(lambda: in_flight(tandem) == 1, what="the call")
            sock.close()
            wait_until(lambda: in_flight(tandem) == 0, what="its end")
        # The engine gives the places back between two passes.
        wait_until(lambda: classify(tandem, text="x", set="intents").status == 200)


def in_flight(tandem):
    metrics = tandem.get("/metrics").body.decode()
    found = re.search(r"^tandem_exchanges_in_flight (\d+)", metrics, re.MULTILINE)
    return int(found[1]) if found else 0


if __name__ == "__main__":
    main()
