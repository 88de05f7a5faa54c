#!/usr/bin/env python3
"""What other servers understand is understood here: paths with a slash too many, a byte order mark,
integers written as 1.0, -1 for no limit, content without parts. What goes on to an upstream is then
in the form that every server reads."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

LOCAL = {"x-tandem-mode": "only-local"}
CLOUD = {"x-tandem-mode": "only-cloud"}
CHAT = {"model": "auto", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 4}


@case
def test_slashes_too_many_do_not_change_a_path():
    with Tandem() as tandem:
        for path in ("/v1/chat/completions/", "//v1/chat/completions", "/v1//chat//completions//"):
            equal((path, tandem.request("POST", path, CHAT, headers=LOCAL).status), (path, 200))
        for path in ("/v1/models/", "//v1/models", "/healthz/", "//", "/v1/models//auto/"):
            equal((path, tandem.get(path).status), (path, 200))
        wrong = tandem.request("POST", "//v1//messages/", {})
        equal((wrong.status, wrong.json["type"]), (400, "error"))  # in that path's dialect
        equal(tandem.request("POST", "/v1/chatcompletions/", CHAT).status, 404)


@case
def test_a_byte_order_mark_before_a_body_is_passed_over():
    with Tandem() as tandem:
        for path in ("/v1/chat/completions", "/v1/messages"):
            body = b"\xef\xbb\xbf" + json.dumps(CHAT).encode()
            equal((path, tandem.request("POST", path, body, headers=LOCAL).status), (path, 200))
        twice = b"\xef\xbb\xbf" * 2 + json.dumps(CHAT).encode()
        equal(tandem.request("POST", "/v1/chat/completions", twice).status, 400)


@case
def test_integers_may_have_a_fraction_of_zero_and_minus_one_is_no_limit():
    cloud = ScriptedCloud(Script(text="Fine."))
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for members, sent in (
            ({"seed": 1.0, "n": 1.0, "max_tokens": 20.0}, {"seed": 1, "n": 1, "max_tokens": 20}),
            ({"max_tokens": -1}, {"max_tokens": None}),
            ({"max_tokens": -1.0, "max_completion_tokens": None}, {"max_tokens": None}),
            ({"max_completion_tokens": -1}, {"max_completion_tokens": None}),
            ({"temperature": 1.0, "top_k": 40.0}, {"temperature": 1, "top_k": 40}),
        ):
            cloud.clear()
            answer = tandem.chat("hi", CLOUD, **members)
            equal((members, answer.status), (members, 200), answer.body)
            for name, value in sent.items():
                got = cloud.calls()[0]["json"].get(name)
                equal((members, name, got), (members, name, value))
                assert name == "temperature" or not isinstance(got, float), members
        for path, body in (
            ("/v1/responses", {"input": "hi", "max_output_tokens": -1}),
            ("/v1/messages", {**CHAT, "max_tokens": -1}),
        ):
            answer = tandem.request("POST", path, body, headers=CLOUD)
            equal((path, answer.status), (path, 200), answer.body)
        for members in ({"seed": 1.5}, {"max_tokens": 2.5}, {"max_tokens": -2}, {"seed": 1e300}):
            answer = tandem.chat("hi", LOCAL, **members)
            name = next(iter(members))
            equal((members, answer.status, answer.json["error"]["param"]), (members, 400, name))


@case
def test_content_without_text_is_an_empty_text():
    with Tandem() as tandem:
        for content in ([], [{"type": "text", "text": ""}], [{"type": "text", "text": ""}] * 2):
            for path in ("/v1/chat/completions", "/v1/messages"):
                messages = [{"role": "user", "content": content}, CHAT["messages"][0]]
                answer = tandem.request("POST", path, {**CHAT, "messages": messages}, headers=LOCAL)
                equal((path, content, answer.status), (path, content, 200), answer.body)


if __name__ == "__main__":
    main()
