#!/usr/bin/env python3
"""Members of answers, from recorded answers of providers: member x dialect x streamed or not, on
either side. What a chat has no form for reaches clients of chats as it came; what another dialect
has no form for stands in it under the chat's name."""

import copy
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from recorded_answers import load, members, of_chunks
from said_in_dialects import DIALECTS, expected_in, said_in
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, parse_events, parse_sse

CLOUD = {"x-tandem-mode": "only-cloud"}
RECORDED = load()


def server(cloud, more="", tier=""):
    return Tandem(edge_first(cloud.base_url, tier) + more, env={"TEST_CLOUD_KEY": "k"})


def ask_chat(tandem, request, stream, **more):
    body = {
        "model": "auto",
        "messages": [{"role": "user", "content": "Why are there tides?"}],
        **request,
        **more,
    }
    if not stream:
        answer = tandem.request("POST", "/v1/chat/completions", body, CLOUD)
        equal(answer.status, 200, answer.body)
        return answer.json
    body.update(stream=True, stream_options={"include_usage": True})
    answer = tandem.request("POST", "/v1/chat/completions", body, CLOUD)
    equal(answer.status, 200, answer.body)
    chunks, done = parse_sse(answer.body)
    assert done, answer.body
    return of_chunks(chunks)


def as_bytes(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False).encode()


def with_counts(expected):
    """A usage without details of the prompt gets those that are known."""
    usage = expected["usage"]
    cached = usage.get("prompt_cache_hit_tokens", 0)
    usage.setdefault("prompt_tokens_details", {"cached_tokens": cached})
    return expected


@case
def test_a_chat_gets_every_member_streamed_or_not():
    cloud = ScriptedCloud()
    count = 0
    with server(cloud) as tandem:
        for name, recorded in RECORDED.items():
            expected = with_counts(members(copy.deepcopy(recorded["whole"])))
            for upstream in (True, False):
                cloud.script = Script(recorded=recorded, ignore_stream=not upstream)
                for stream in (True, False):
                    got = members(ask_chat(tandem, recorded["request"], stream))
                    way = f"{name}, streamed here {stream}, upstream {upstream}"
                    for place, value in expected.items():
                        equal(as_bytes(got[place]), as_bytes(value), f"{way}: {place}")
                        count += len(value) if isinstance(value, dict) else 1
    print(f"{len(RECORDED)} answers, {count} members the same")


@case
def test_other_dialects_say_every_member_streamed_or_not():
    """Member x dialect x streamed or not, on either side: in the dialect's own form, or under the
    chat's name."""
    cloud = ScriptedCloud()
    count = 0
    failures = []
    with server(cloud) as tandem:
        for name, recorded in RECORDED.items():
            for dialect, shape in DIALECTS.items():
                expected = expected_in(dialect, copy.deepcopy(recorded["whole"]))
                for upstream in (True, False):
                    cloud.script = Script(recorded=recorded, ignore_stream=not upstream)
                    for stream in (True, False):
                        body = shape.request(recorded["request"])
                        if stream:
                            body["stream"] = True
                        answer = tandem.request("POST", shape.path, body, CLOUD)
                        equal(answer.status, 200, answer.body)
                        got = said_in(dialect, answer, stream)
                        way = f"{name} in {dialect}, here {stream}, upstream {upstream}"
                        for place, value in expected.items():
                            count += 1
                            if as_bytes(got[place]) != as_bytes(value):
                                failures.append(f"{way}: {place}: {got[place]!r} is not {value!r}")
    print(f"{len(RECORDED)} answers in {len(DIALECTS)} dialects, {count} places the same")
    assert not failures, "\n".join(failures)


COMPLETION = {
    "object": "text_completion",
    "model": "m",
    "system_fingerprint": "fp_7",
    "service_tier": "default",
    "choices": [
        {
            "index": 0,
            "text": "the moon",
            "finish_reason": "stop",
            "stop_reason": "END",
            "content_filter_results": {"hate": {"filtered": False}},
        }
    ],
    "usage": {
        "prompt_tokens": 4,
        "completion_tokens": 2,
        "total_tokens": 6,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 0},
    },
}


@case
def test_a_completion_gets_every_member_streamed_or_not():
    last = {name: COMPLETION[name] for name in ("object", "model", "usage")} | {"choices": []}
    body = {name: value for name, value in COMPLETION.items() if name != "usage"}
    recorded = {"whole": COMPLETION, "chunks": [body, last]}
    cloud = ScriptedCloud()
    with server(cloud, tier="    completions: true\n") as tandem:
        for upstream in (True, False):
            cloud.script = Script(recorded=recorded, ignore_stream=not upstream)
            for stream in (True, False):
                asked = {"prompt": "Tides come from", "stream": stream}
                if stream:
                    asked["stream_options"] = {"include_usage": True}
                answer = tandem.request("POST", "/v1/completions", asked, CLOUD)
                equal(answer.status, 200, answer.body)
                chunks = parse_sse(answer.body)[0] if stream else [answer.json]
                got = {"text": ""}
                for chunk in chunks:
                    got.update({k: v for k, v in chunk.items() if v is not None})
                    for choice in chunk["choices"]:
                        got["text"] += choice["text"]
                        got.update({k: v for k, v in choice.items() if k != "text" and v})
                for name in ("system_fingerprint", "service_tier", "usage"):
                    equal(got[name], COMPLETION[name], f"{name}, {stream}, {upstream}")
                for name, value in COMPLETION["choices"][0].items():
                    equal(got.get(name, 0), value, f"{name}, {stream}, {upstream}")


@case
def test_thinking_is_shown_as_the_client_asks():
    recorded = RECORDED["openrouter_claude"]
    thought = recorded["whole"]["choices"][0]["message"]["reasoning"]
    cloud = ScriptedCloud(Script(recorded=recorded))
    rows = [({"thinking": {"type": "enabled", "budget_tokens": 2000}}, True), ({}, False)]
    rows += [({"thinking": {"type": "adaptive", "display": "omitted"}}, False)]
    with server(cloud) as tandem:
        for thinking, shown in rows:
            body = DIALECTS["messages"].request({})
            body.pop("thinking")
            for stream in (False, True):
                more = {**body, **thinking, "stream": stream}
                answer = tandem.request("POST", "/v1/messages", more, CLOUD)
                got = said_in("messages", answer, stream)
                equal(got["reasoning"], thought if shown else "", f"{thinking}, {stream}")
                equal(got["chat"].get("message", {}).get("reasoning"), None if shown else thought)
        for summary, part in ((None, "content"), ("auto", "summary")):
            for stream in (False, True):
                body = DIALECTS["responses"].request({})
                body.update(reasoning={"effort": "low", "summary": summary}, stream=stream)
                answer = tandem.request("POST", "/v1/responses", body, CLOUD)
                equal(said_in("responses", answer, stream)["reasoning"], thought)
                events = parse_events(answer.body) if stream else []
                response = events[-1]["response"] if stream else answer.json
                item = response["output"][0]
                equal((item["type"], item[part][0]["text"]), ("reasoning", thought))
                names = {event["type"] for event in events if "reasoning" in event["type"]}
                if stream and summary:
                    equal(
                        names,
                        {
                            f"response.reasoning_summary_{what}"
                            for what in ("part.added", "text.delta", "text.done", "part.done")
                        },
                    )
                kept = tandem.request("GET", f"/v1/responses/{response['id']}").json
                equal(kept["output"], response["output"])
                equal(kept.get("chat"), response.get("chat"))
                more = {"input": "And then?", "previous_response_id": response["id"]}
                equal(tandem.request("POST", "/v1/responses", more, CLOUD).status, 200)
                sent = cloud.calls()[-1]["json"]["messages"]
                equal([message["role"] for message in sent][:2], ["user", "assistant"])


MAIL = "mary.smith@acme-corp.com"
PRIVACY = "\nprivacy:\n  pseudonyms: {on: true, classes: [sensitive, restricted]}\n"


@case
def test_private_values_in_every_member_are_put_back():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud, PRIVACY) as tandem:
        question = {"messages": [{"role": "user", "content": f"I am {MAIL}"}]}
        ask_chat(tandem, {}, False, **question)
        sent = cloud.calls()[-1]["json"]["messages"][-1]["content"].removeprefix("I am ")
        assert sent != MAIL and MAIL.encode() not in cloud.received, sent
        for name in ("openai", "openrouter_claude", "gemini", "xai"):
            text = json.dumps(RECORDED[name], ensure_ascii=False)
            for word in ("moon", "look it up", "asks about"):
                text = text.replace(word, sent)
            recorded = json.loads(text)
            mended = json.loads(text.replace(sent, MAIL))
            assert recorded != mended, name
            expected = with_counts(members(mended["whole"]))
            for upstream in (True, False):
                cloud.script = Script(recorded=recorded, ignore_stream=not upstream)
                for stream in (True, False):
                    got = members(ask_chat(tandem, recorded["request"], stream, **question))
                    for place in ("message", "choice", "answer"):
                        way = f"{name}, here {stream}, upstream {upstream}: {place}"
                        equal(as_bytes(got[place]), as_bytes(expected[place]), way)


def sent_members(cloud):
    return [
        (call["json"].get("stream"), "stream_options" in call["json"]) for call in cloud.calls()
    ]


@case
def test_an_unstreamed_request_goes_unstreamed_where_the_operator_says_so():
    recorded = RECORDED["openrouter_claude"]
    cloud = ScriptedCloud(Script(recorded=recorded))
    expected = with_counts(members(copy.deepcopy(recorded["whole"])))
    with server(cloud, tier="    stream: as_asked\n") as tandem:
        equal(members(ask_chat(tandem, recorded["request"], False)), expected)
        equal(members(ask_chat(tandem, recorded["request"], True)), expected)
    equal(sent_members(cloud), [(None, False), (True, True)])


@case
def test_a_server_that_refuses_streams_is_asked_without_and_that_is_remembered():
    recorded = RECORDED["openai"]
    cloud = ScriptedCloud(Script(recorded=recorded, refuses_stream=True))
    expected = with_counts(members(copy.deepcopy(recorded["whole"])))
    with server(cloud) as tandem:
        for stream in (False, True, False):
            equal(members(ask_chat(tandem, {}, stream)), expected)
    once = (True, True)
    without = (None, False)
    equal(sent_members(cloud), [once, without, without, without])


@case
def test_a_server_that_refuses_stream_options_is_streamed_without():
    recorded = RECORDED["deepseek"]
    message = "stream_options: Extra inputs are not permitted"
    script = Script(refuses="stream_options", refuse_message=message, refuse_status=422)
    script.recorded = recorded
    cloud = ScriptedCloud(script)
    with server(cloud) as tandem:
        for _ in range(2):
            got = members(ask_chat(tandem, {}, False))
            equal(got["message"], members(copy.deepcopy(recorded["whole"]))["message"])
    equal(sent_members(cloud), [(True, True), (True, False), (True, False)])


if __name__ == "__main__":
    main()
