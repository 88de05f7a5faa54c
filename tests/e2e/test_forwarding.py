#!/usr/bin/env python3
"""What a server elsewhere is sent of a request, byte by byte: every member as the client wrote it,
in the client's order, less Tandem's own options; and what changes when it is made smaller or
masked."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

CLOUD = {"x-tandem-mode": "only-cloud"}
STREAMED = {"stream_options": {"include_usage": True}, "stream": True}
TOOL = {"type": "function", "function": {"name": "mail", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "mail", "arguments": '{"n":1}'}}
PSEUDONYMS = "\nprivacy:\n  pseudonyms: {on: true, classes: [sensitive, restricted]}\n"
MINIMISE = "\nprivacy:\n  minimise: {turns: 1}\n"


def compact(body):
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)


def parts(*texts):
    return [{"type": "text", "text": text} for text in texts]


def server(cloud, more=""):
    config = edge_first(cloud.base_url, "    completions: true\n") + more
    return Tandem(config, env={"TEST_CLOUD_KEY": "k"})


def sent(tandem, cloud, path, body):
    """The one body that arrives at the cloud, as text."""
    cloud.clear()
    answer = tandem.request("POST", path, body, CLOUD)
    equal(answer.status, 200, answer.body)
    equal(len(cloud.requests), 1)
    return cloud.requests[0]["body"].decode()


@case
def test_a_chats_members_arrive_in_their_order():
    members = {
        "temperature": 0.7,
        "messages": [
            {"content": "Be brief.", "role": "system"},
            {"role": "user", "content": [{"type": "text", "text": "Grüße"}], "name": "x"},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
        ],
        "tools": [TOOL],
        "tool_choice": "auto",
        "model": "auto",
        "unknown": {"deep": [1, 0.1, None, True, {"a": []}]},
        "stop": "END",
        "store": True,
    }
    cloud = ScriptedCloud(Script(text="Hi."))
    with server(cloud) as tandem:
        options = {"tandem": {"tags": ["a"], "priority": "batch"}}
        got = sent(tandem, cloud, "/v1/chat/completions", {**options, **members})
    equal(got, compact({**members, "model": "scripted", **STREAMED}))


@case
def test_a_bound_of_more_than_64_bits_arrives_as_a_number():
    schema = {"type": "integer", "minimum": 0, "maximum": 2**64 - 1}
    tool = {"type": "function", "function": {"name": "paint", "parameters": schema}}
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        body = {"model": "auto", "messages": [{"role": "user", "content": "x"}], "tools": [tool]}
        arrived = json.loads(sent(tandem, cloud, "/v1/chat/completions", body))
        equal(arrived["tools"][0]["function"]["parameters"]["minimum"], 0)
        bound = arrived["tools"][0]["function"]["parameters"]["maximum"]
        assert abs(bound - 2**64) < 2**64 / 1e14, bound


@case
def test_other_dialects_arrive_as_the_chat_that_asks_the_same():
    messages = {
        "model": "auto",
        "max_tokens": 9,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"name": "mail", "input_schema": {"type": "object"}}],
        "stop_sequences": ["END"],
        "unknown": 1,
    }
    responses = {
        "model": "auto",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}],
        "max_output_tokens": 9,
        "text": {"format": {"type": "json_object"}},
    }
    said = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    cloud = ScriptedCloud(Script(text="{}"))
    with server(cloud) as tandem:
        got = json.loads(sent(tandem, cloud, "/v1/messages", messages))
        asked = {"model": "scripted", "messages": said, "max_completion_tokens": 9, **STREAMED}
        equal(got, {**asked, "tools": [TOOL], "stop": ["END"]})
        got = json.loads(sent(tandem, cloud, "/v1/responses", responses))
        equal(got, {**asked, "response_format": {"type": "json_object"}})


@case
def test_each_choice_of_a_completion_is_a_request_of_its_own():
    body = {"n": 2, "seed": 5, "prompt": ["one", "two"], "x": [1], "model": "auto", "echo": False}
    cloud = ScriptedCloud(Script(text="Hi."))
    with server(cloud) as tandem:
        equal(tandem.request("POST", "/v1/completions", body, CLOUD).status, 200)
    expected = [
        {"seed": seed, "x": [1], "model": "scripted", "echo": False, "prompt": prompt, **STREAMED}
        for seed in (5, 6)
        for prompt in ("one", "two")
    ]
    got = sorted(request["body"].decode() for request in cloud.requests)
    equal(got, sorted(compact(one) for one in expected))


@case
def test_a_smaller_request_differs_in_its_messages_alone():
    turns = [
        {"role": "user", "content": "What is a heron?"},
        {"role": "assistant", "content": "A bird."},
        {"role": "user", "content": parts("And", "?")},
    ]
    members = {"seed": 3, "messages": turns, "unknown": "x", "model": "auto"}
    cloud = ScriptedCloud(Script(text="Hi."))
    with server(cloud, MINIMISE) as tandem:
        got = sent(tandem, cloud, "/v1/chat/completions", members)
    equal(got, compact({**members, "messages": turns[2:], "model": "scripted", **STREAMED}))


@case
def test_masking_changes_texts_wherever_they_stand_and_nothing_else():
    mail, marked = "ann@acmeltd.com", "MAIL"
    members = {
        "user": mail,
        "messages": [
            {"role": "user", "content": parts("Hi", mail)},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": mail},
        ],
        "tools": [TOOL],
        "unknown": {"deep": [[mail], 0.1, None]},
        "safety_identifier": "person 7",
        "model": "auto",
    }
    cloud = ScriptedCloud(Script(text="Hi."))
    with server(cloud, PSEUDONYMS) as tandem:
        got = json.loads(sent(tandem, cloud, "/v1/chat/completions", members))
    surrogate = got["unknown"]["deep"][0][0]
    assert surrogate != mail and "@" in surrogate, got
    for name in ("user", "safety_identifier"):
        assert got[name] not in (members[name], surrogate), got
        got[name] = members[name] = marked
    expected = compact({**members, "model": "scripted", **STREAMED})
    equal(compact(got), expected.replace(mail, surrogate))


if __name__ == "__main__":
    sys.exit(main())
