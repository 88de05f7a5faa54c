#!/usr/bin/env python3
"""The default model calls tools on the device: its weights for tools answer requests that bring
some, in each dialect, streamed, and in the confined worker; all other requests are the main
weights'."""

import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from tandem import NANO, Tandem, parse_sse


def tool(name, about, required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {
        "type": "function",
        "function": {"name": name, "description": about, "parameters": schema},
    }


CITY = {"type": "string", "description": "The city"}
MINUTES = {"type": "integer", "description": "How many minutes"}
WEATHER = tool("get_weather", "Get the weather of a city.", ["city"], city=CITY)
TIMER = tool("set_timer", "Set a timer.", ["minutes"], minutes=MINUTES)
TOOLS = [WEATHER, TIMER]
OSLO = "What is the weather in Oslo?"
RESTRICTED = {"x-tandem-class": "restricted"}


def ask(tandem, text, tools=TOOLS, headers=None, **more):
    body = {"model": "auto", "messages": [{"role": "user", "content": text}], **more}
    return tandem.request("POST", "/v1/chat/completions", {**body, "tools": tools}, headers or {})


def calls_of(answer):
    equal(answer.status, 200, answer.body.decode())
    calls = answer.json["choices"][0]["message"].get("tool_calls") or []
    return [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in calls]


@case
def test_a_tool_is_called_on_the_device_and_its_result_is_told():
    with Tandem() as tandem:
        for headers in ({}, RESTRICTED):
            equal(calls_of(ask(tandem, OSLO, headers=headers)), [("get_weather", {"city": "Oslo"})])
            timer = ask(tandem, "set a timer for 10 minutes", headers=headers)
            equal(calls_of(timer), [("set_timer", {"minutes": 10})])
            equal(timer.json["tandem"]["tier"], "local")
            assert timer.json["tandem"]["confidence"] > 0, timer.json["tandem"]
        message = timer.json["choices"][0]["message"]
        turns = [
            {"role": "user", "content": "set a timer for 10 minutes"},
            message,
            {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "ok"},
        ]
        told = ask(tandem, "", messages=turns)
        equal(told.json["choices"][0]["message"]["content"], "Done.")


@case
def test_a_stream_and_other_dialects_have_the_same_call():
    named = {"name": "get_weather", "description": "Get the weather of a city."}
    schema = WEATHER["function"]["parameters"]
    with Tandem() as tandem:
        chunks, _ = parse_sse(ask(tandem, OSLO, stream=True).body)
        deltas = [c["choices"][0]["delta"] for c in chunks if c["choices"]]
        calls = [call["function"] for d in deltas for call in d.get("tool_calls") or []]
        equal("".join(call.get("name") or "" for call in calls), "get_weather")
        text = "".join(call.get("arguments") or "" for call in calls)
        equal(json.loads(text), {"city": "Oslo"})
        body = {"model": "auto", "max_tokens": 80, "messages": [{"role": "user", "content": OSLO}]}
        blocks = tandem.request(
            "POST", "/v1/messages", {**body, "tools": [{**named, "input_schema": schema}]}
        ).json["content"]
        equal([(b["name"], b["input"]) for b in blocks], [("get_weather", {"city": "Oslo"})])
        items = tandem.request(
            "POST",
            "/v1/responses",
            {
                "model": "auto",
                "input": OSLO,
                "tools": [{"type": "function", **named, "parameters": schema}],
            },
        ).json["output"]
        called = [(item["name"], json.loads(item["arguments"])) for item in items]
        equal(called, [("get_weather", {"city": "Oslo"})])


@case
def test_a_choice_is_kept():
    with Tandem() as tandem:
        forced = {"type": "function", "function": {"name": "set_timer"}}
        for choice in ("required", forced):
            calls = calls_of(ask(tandem, "set a timer for 10 minutes", tool_choice=choice))
            equal(calls, [("set_timer", {"minutes": 10})])
        equal(calls_of(ask(tandem, OSLO, tool_choice="none")), [])


@case
def test_a_sum_is_computed_although_tools_are_offered():
    with Tandem() as tandem:
        for headers in ({}, RESTRICTED):
            for stream in (False, True):
                answer = ask(tandem, "what is 12*7", headers=headers, stream=stream)
                texts = [answer.text] if not stream else []
                for chunk in parse_sse(answer.body)[0] if stream else []:
                    texts += [c["delta"].get("content") or "" for c in chunk["choices"]]
                equal("".join(texts), "84")


@case
def test_requests_without_tools_are_the_main_weights():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(NANO, f"{folder}/nano.gguf")
        alone = {"TANDEM_MODEL": f"{folder}/nano.gguf"}
        texts = ("12*7", "Classify the intent: play some music", "set a timer for 10 minutes")
        answers = []
        for env in ({}, alone):
            with Tandem(env=env) as tandem:
                answers.append([tandem.chat(text).text for text in texts])
        equal(answers[0], answers[1])
        with Tandem(env=alone) as tandem:  # without the weights for tools, no tier can call
            refused = ask(tandem, OSLO)
            assert refused.status in (400, 503) and b"tools" in refused.body, refused.body
        shutil.copy(NANO.with_name("nano-tools.gguf"), folder)  # which has no such file itself
        (Path(folder) / "nano-tools-tools.gguf").write_bytes(b"GGUF of no use")
        with Tandem(env=alone) as tandem:
            equal(calls_of(ask(tandem, OSLO)), [("get_weather", {"city": "Oslo"})])
            assert not any("tools_model_not_used" in line for line in tandem.log), tandem.log
        (Path(folder) / "nano-tools.gguf").write_bytes(b"GGUF of no use")
        with Tandem(env=alone) as tandem:
            assert ask(tandem, OSLO).status in (400, 503)
            equal(tandem.chat("12*7").text, "84")
            assert any("tools_model_not_used" in line for line in tandem.log), tandem.log


if __name__ == "__main__":
    main()
