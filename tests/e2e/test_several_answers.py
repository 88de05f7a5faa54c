#!/usr/bin/env python3
"""`n` of a chat: several answers in one reply, each an exchange of its own."""

import json
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, parse_sse, wait_until

ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
QUESTION = {"model": "auto", "messages": [{"role": "user", "content": "Why are there tides?"}]}
CARD = "My card is 4111 1111 1111 1111."


def serve(cloud, more=""):
    return Tandem(edge_first(cloud.base_url) + more, env={"TEST_CLOUD_KEY": "k"})


def ask(tandem, n, words=None, headers=ONLY_CLOUD, **members):
    body = {**QUESTION, "n": n, **members}
    if words:
        body["messages"] = [{"role": "user", "content": words}]
    return tandem.request("POST", "/v1/chat/completions", body, headers)


@case
def test_each_answer_is_an_exchange_and_a_choice():
    cloud = ScriptedCloud(Script(text="The moon."))
    with serve(cloud) as tandem:
        answer = ask(tandem, 6, seed=7)
        equal(answer.status, 200, answer.body.decode())
        choices = answer.json["choices"]
        equal([choice["index"] for choice in choices], list(range(6)))
        equal({choice["message"]["content"] for choice in choices}, {"The moon."})
        equal({choice["finish_reason"] for choice in choices}, {"stop"})
        equal(len(cloud.calls()), 6)
        equal(sorted(call["json"]["seed"] for call in cloud.calls()), list(range(7, 13)))
        assert not any("n" in call["json"] for call in cloud.calls())
        names = answer.json["tandem"]["exchanges"]
        equal(len(set(names)), 6)
        for name in names:
            equal(tandem.get(f"/tandem/v1/exchanges/{name}").status, 200)
        one = ask(tandem, 1).json["usage"]
        equal(answer.json["usage"]["prompt_tokens"], 6 * one["prompt_tokens"])
        equal(answer.json["usage"]["completion_tokens"], 6 * one["completion_tokens"])


@case
def test_a_stream_has_all_choices_and_the_usage_that_was_asked_for():
    with serve(ScriptedCloud(Script(text="The moon."))) as tandem:
        got = ask(tandem, 3, stream=True, stream_options={"include_usage": True})
        equal(got.status, 200)
        chunks, done = parse_sse(got.body)
        assert done, got.body
        texts = dict.fromkeys(range(3), "")
        ends = {}
        for chunk in chunks:
            equal(chunk["object"], "chat.completion.chunk")
            for choice in chunk["choices"]:
                texts[choice["index"]] += choice["delta"].get("content") or ""
                ends[choice["index"]] = choice["finish_reason"]
        equal(texts, dict.fromkeys(range(3), "The moon."))
        equal(ends, dict.fromkeys(range(3), "stop"))
        assert chunks[-1]["choices"] == [] and chunks[-1]["usage"]["total_tokens"] > 0


@case
def test_what_is_wrong_is_said_once_and_nothing_private_leaves():
    cloud = ScriptedCloud(Script(text="The moon."))
    with serve(cloud) as tandem:
        for wrong in (0, -1, 1.5, "2", 17, 1e9):
            answer = ask(tandem, wrong)
            equal((answer.status, answer.json["error"]["param"]), (400, "n"), str(wrong))
        answer = ask(tandem, 3, temperature=9)
        equal((answer.status, answer.json["error"]["param"]), (400, "temperature"))
        equal(ask(tandem, 3, CARD).status, 403)
        equal(cloud.calls(), [])
        equal(len(ask(tandem, 2, CARD, {}).json["choices"]), 2)
        equal(cloud.calls(), [])
        cloud.script = Script(
            status=429, error_message="too many", error_code="rate_limit_exceeded"
        )
        equal(ask(tandem, 5).status, 429)


@case
def test_a_client_that_leaves_ends_all():
    cloud = ScriptedCloud(Script(text="The moon.", stall_after=1))
    with serve(cloud) as tandem:
        body = json.dumps({**QUESTION, "n": 4}).encode()
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}"
        )
        with socket.create_connection(("127.0.0.1", tandem.port)) as client:
            client.sendall(f"{head}\r\nx-tandem-mode: only-cloud\r\n\r\n".encode() + body)
            wait_until(lambda: len(cloud.calls()) == 4, what="all were asked")
        wait_until(lambda: cloud.gone_count == len(cloud.calls()) > 0, what="all were left")


if __name__ == "__main__":
    main()
