#!/usr/bin/env python3
"""POST /v1/embeddings over the wire: shapes, limits, the record, and that nothing leaves the
device."""

import base64
import json
import re
import signal
import struct
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import has_card
from scripted_cloud import ScriptedCloud
from tandem import NANO, Tandem, edge_first, run, wait_until


def server(config="", **options):
    cloud = ScriptedCloud()
    return cloud, Tandem(
        edge_first(cloud.base_url) + config, env={"TEST_CLOUD_KEY": "sk-test"}, **options
    )


def embed(tandem, body, **options):
    return tandem.request("POST", "/v1/embeddings", body, **options)


@case
def test_vectors_are_those_of_the_command_line():
    cloud, tandem = server()
    texts = ["set a timer for ten minutes", "play some jazz"]
    with tandem:
        answer = embed(tandem, {"model": "auto", "input": texts})
        equal(answer.status, 200)
        equal(answer.headers["x-tandem-tier"], "local")
        equal([row["index"] for row in answer.json["data"]], [0, 1])
        code, out, err = run("embed", "-m", NANO, "--json", *texts)
        equal(code, 0, err)
        wanted = json.loads(out)
        for row, other in zip(answer.json["data"], wanted["data"]):
            assert max(abs(a - b) for a, b in zip(row["embedding"], other["embedding"])) < 1e-6
        equal(
            answer.json["usage"],
            {"prompt_tokens": wanted["tokens"], "total_tokens": wanted["tokens"]},
        )
        packed = embed(
            tandem, {"model": "local", "input": texts[0], "encoding_format": "base64"}
        ).json["data"][0]
        raw = base64.b64decode(packed["embedding"])
        floats = struct.unpack(f"<{len(raw) // 4}f", raw)
        assert max(abs(a - b) for a, b in zip(floats, answer.json["data"][0]["embedding"])) < 1e-6
        code, out, _ = run("tokenize", "-m", NANO, "--json", "-p", texts[0])
        by_ids = embed(tandem, {"model": "tandem-nano", "input": json.loads(out)}).json["data"][0][
            "embedding"
        ]
        assert max(abs(a - b) for a, b in zip(floats, by_ids)) < 1e-6
    equal(len(cloud.requests), 0, "requests that reached the cloud")


@case
def test_restricted_texts_are_embedded_here_and_recorded_without_the_text():
    cloud, tandem = server()
    with tandem:
        answer = embed(
            tandem, {"model": "auto", "input": "My card is 4111 1111 1111 1111.", "user": "u7"}
        )
        equal(answer.status, 200)
        code, told, err = run(
            "explain", answer.headers["x-tandem-exchange"], env=tandem.environment
        )
        assert code == 0 and b"Route embeddings" in told and b"?" not in told, (told, err)
        found = tandem.request("GET", "/tandem/v1/exchanges/" + answer.headers["x-tandem-exchange"])
        equal(found.status, 200)
        record = found.json
        equal(
            (record["route"], record["data_class"], record["status"], record["user"]),
            ("embeddings", "restricted", "ok", "u7"),
        )
        assert record["prompt_tokens"] > 0 and not has_card(json.dumps(record))
        metrics = tandem.request("GET", "/metrics").body.decode()
        assert re.search(
            r'tandem_exchanges_total\{tier="local",route="embeddings",status="ok"\} 1',
            metrics,
        ), metrics
        assert re.search(r"^tandem_exchanges_in_flight 0$", metrics, re.MULTILINE), metrics
    equal(len(cloud.requests), 0, "requests that reached the cloud")


CLASSES = ("public", "sensitive", "contractual", "restricted")
TEXTS = {
    "public": "set a timer",
    "sensitive": "write to ann.lee@acmeltd.com",
    "restricted": "My card is 4111 1111 1111 1111.",
}


@case
def test_the_class_is_the_highest_of_server_caller_and_texts():
    for of_server in CLASSES:
        _, tandem = server(f"\nprivacy: {{data_class: {of_server}}}\n")
        with tandem:
            for declared in (None, *CLASSES):
                for of_text, text in TEXTS.items():
                    answer = embed(
                        tandem,
                        {"model": "auto", "input": ["hello", text]},
                        headers={"x-tandem-data-class": declared} if declared else {},
                    )
                    equal(answer.status, 200)
                    found = tandem.request(
                        "GET", "/tandem/v1/exchanges/" + answer.headers["x-tandem-exchange"]
                    ).json
                    highest = max(CLASSES.index(of_server), CLASSES.index(of_text))
                    if declared:
                        highest = max(highest, CLASSES.index(declared))
                    equal(
                        found["data_class"],
                        CLASSES[highest],
                        f"server {of_server}, caller {declared}, text {of_text}",
                    )


@case
def test_a_reload_gives_texts_the_class_of_the_new_configuration():
    cloud, tandem = server("\nprivacy: {data_class: public}\n")
    with tandem:
        for number, data_class in enumerate((None, "sensitive", "public"), 0):
            if data_class:
                config = edge_first(cloud.base_url) + f"\nprivacy: {{data_class: {data_class}}}\n"
                tandem.config.write_text(config)
                tandem.process.send_signal(signal.SIGHUP)
                wait_until(lambda: "".join(tandem.log).count("event=config_reloaded") == number)
            answer = embed(tandem, {"model": "auto", "input": ["hello"]})
            id_of = answer.headers["x-tandem-exchange"]
            found = tandem.request("GET", "/tandem/v1/exchanges/" + id_of).json
            equal(found["data_class"], data_class or "public")


@case
def test_refusals_name_the_place():
    _, tandem = server()
    with tandem:
        for body, status, param in (
            ({"input": "x"}, 400, "model"),
            ({"model": "auto", "input": ["a", ""]}, 400, "input[1]"),
            ({"model": "tandem-nano", "input": [10**7]}, 400, "input"),
            ({"model": "auto", "input": [1, 2]}, 400, "input"),
            ({"model": "local", "input": ["a", [1, 2]]}, 400, "input"),
            ({"model": "auto", "input": "x", "dimensions": 10**6}, 400, "dimensions"),
            ({"model": "cloud", "input": "x"}, 404, "model"),
            ({"model": "auto", "input": "word " * 20000}, 400, "input"),
        ):
            answer = embed(tandem, body)
            equal((answer.status, answer.json["error"]["param"]), (status, param), str(body)[:80])
        equal(tandem.request("GET", "/v1/embeddings").status, 405)


@case
def test_many_requests_at_once_are_all_answered():
    _, tandem = server()
    with tandem:
        one = embed(tandem, {"model": "auto", "input": "play some jazz"}).json["data"][0][
            "embedding"
        ]
        answers = [None] * 12

        def ask(i):
            answers[i] = embed(tandem, {"model": "auto", "input": ["play some jazz"] * (i + 1)})

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(answers))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i, answer in enumerate(answers):
            equal((answer.status, len(answer.json["data"])), (200, i + 1))
            for row in answer.json["data"]:
                equal(row["embedding"], one)


@case
def test_other_names_stand_for_the_model_where_the_operator_says_so():
    config = 'engine:\n  embedding_aliases: ["text-embedding-*", gte]\n'
    for more, served in (("", ()), (config, ("text-embedding-3-small", "gte"))):
        cloud, tandem = server(more)
        with tandem:
            own = embed(tandem, {"model": "auto", "input": "play"}).json
            for model in ("text-embedding-3-small", "gte", "gte-large"):
                answer = embed(tandem, {"model": model, "input": "play"})
                equal((model, answer.status), (model, 200 if model in served else 404))
                if model in served:
                    equal(answer.json["data"], own["data"])
                    equal(answer.json["model"], own["model"])
                    equal(embed(tandem, {"model": model, "input": [1, 2]}).status, 400)
                else:
                    assert "engine.embedding_aliases" in answer.json["error"]["message"]
        equal(cloud.connections, 0)


if __name__ == "__main__":
    main()
