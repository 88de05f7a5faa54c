#!/usr/bin/env python3
"""Bodies that no client sends on purpose, to each endpoint that takes one: a 400 (or 413) in that
API's shape, and nothing of them reaches a server."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from foreign_bodies import BODIES
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

# Endpoints that are the operator's, or of servers of one's own; those of tenants are in BODIES.
MORE = {
    "/tandem/v1/keys": {"name": "x", "operator": True},
    "/tandem/v1/tenants/*": {"usd_per_day": 1},
    "/tokenize": {"content": "hi"},
    "/detokenize": {"tokens": [1]},
    "/apply-template": {"messages": [{"role": "user", "content": "hi"}]},
    "/v1/messages/count_tokens": {"messages": [{"role": "user", "content": "hi"}]},
}
# A body is no JSON there, none is needed, or the object in the path is looked for first.
OTHERWISE = ("/v1/files", "/v1/batches/*", "/v1/conversations", "/v1/responses/*")
WRONG = [True, -1, 1.5, 10**18, {}, {"a": {"b": 1}}, [1], [[]], [None], [{}], "x" * 300]


def endpoints():
    for path, body in {**{p: b("nobody") for p, b in BODIES.items()}, **MORE}.items():
        if not path.startswith(OTHERWISE):
            path = path.replace("/v1/deployments", "/openai/deployments")
            yield path.replace("/*", "/auto", 1), body


# Without a tier of people, theirs is no endpoint of this server.
PEOPLE = "  - {name: people, kind: review}\n"


def malformed(body):
    """Texts that are no such body, whatever their members say."""
    text, first = json.dumps(body), next(iter(body))
    return {
        "twice": f"{text[:-1]}, {json.dumps(first)}: 1}}".encode(),
        "half a surrogate": f'{text[:-1]}, "x": "\\ud800"}}'.encode(),
        "nested": f'{text[:-1]}, "x": {"[" * 100000}{"]" * 100000}}}'.encode(),
        "a number of 5000 digits": f'{text[:-1]}, "x": 1{"0" * 5000}}}'.encode(),
        "a list": b"[1]",
        "a number": b"5",
        "cut": text[:-1].encode(),
        "more behind it": f"{text} {text}".encode(),
        "a zero byte": f"{text}\0".encode(),
        "no UTF-8": f'{text[:-1]}, "x": "\xff"}}'.encode("latin-1"),
    }


def shape_of(path, error):
    """The message of an error in the form of that API, and what it says is wrong."""
    if path.startswith("/api/"):
        return error["error"], None
    if path.startswith("/v1/messages"):
        equal(error["type"], "error")
    return error["error"]["message"], error["error"].get("param")


@case
def test_what_is_no_body_of_json_is_refused_by_each_endpoint():
    cloud = ScriptedCloud(Script(text="x"))
    count = 0
    with Tandem(edge_first(cloud.base_url, PEOPLE), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for path, body in endpoints():
            for name, text in malformed(body).items():
                answer = tandem.request("POST", path, text)
                equal(answer.status, 400, f"{path}, {name}: {answer.body[:200]!r}")
                message, _ = shape_of(path, answer.json)
                assert isinstance(message, str) and message, answer.body
                count += 1
        equal(cloud.calls(), [])
        equal(tandem.get("/healthz").status, 200)
    print(f"{count} bodies")


@case
def test_a_nul_in_a_text_or_a_name_is_said_in_the_same_words_by_each_endpoint():
    said = "the text that ends here has a \\u0000: remove it"
    with Tandem(edge_first("http://127.0.0.1:9/v1", PEOPLE)) as tandem:
        for path, body in endpoints():
            for wrong in ({**body, "x": "a\0b"}, {**body, "x\0": 1}):
                answer = tandem.request("POST", path, json.dumps(wrong).encode())
                message, _ = shape_of(path, answer.json)
                equal(answer.status, 400, path)
                assert "the body: unusable JSON at line 1, column " in message, (path, message)
                assert message.endswith(said), (path, message)


@case
def test_no_wrong_type_of_a_member_is_a_fault_of_the_server():
    cloud = ScriptedCloud(Script(text="x"))
    count = refused = 0
    with Tandem(edge_first(cloud.base_url, PEOPLE), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for path, body in endpoints():
            for member in body:
                for value in WRONG:
                    wrong = {**body, member: value}
                    answer = tandem.request("POST", path, json.dumps(wrong).encode())
                    where = f"{path}, {member}: {value!r}: {answer.status} {answer.body[:200]!r}"
                    assert answer.status < 500, where
                    count += 1
                    if answer.status == 400 and "text" in (answer.headers.get("content-type", "")):
                        raise AssertionError(where)
                    if answer.status == 400:
                        message, _ = shape_of(path, answer.json)
                        assert isinstance(message, str) and message, where
                        refused += 1
        equal(tandem.get("/healthz").status, 200)
    print(f"{count} members, {refused} refused")


if __name__ == "__main__":
    sys.exit(main())
