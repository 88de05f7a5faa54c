#!/usr/bin/env python3
"""Calls of tools that a grammar holds: whatever the local model writes, a call names an offered
tool and its arguments are valid. Both dialects, streamed and not, and each form of calls, with
marks that are tokens and marks that are text. TANDEM_SCHEMAS=1000 for the long run."""

import json
import os
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, equal, main
from gguf import add_metadata
from schema_maker import Maker
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, parse_events, parse_sse, run
from tool_models import HERMES, HERMES_TOKENS, LLAMA, MISTRAL, MISTRAL_TOKENS, token_id, tool_model

COUNT = int(os.environ.get("TANDEM_SCHEMAS", "200"))
FORMS = [
    ("hermes", HERMES, None),
    ("hermes, tokens", HERMES, HERMES_TOKENS),
    ("mistral", MISTRAL, None),
    ("mistral, token", MISTRAL, MISTRAL_TOKENS),
    ("llama", LLAMA, None),
]
WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["city"],
}


def tool(name, schema=None):
    function = {"name": name, "description": "does it"}
    if schema is not None:
        function["parameters"] = schema
    return {"type": "function", "function": function}


TOOLS = [tool("get_weather", WEATHER), tool("stop")]


def ask(server, **more):
    body = {
        "model": "local",
        "messages": [{"role": "user", "content": "weather in Rome?"}],
        "tools": TOOLS,
        "max_tokens": 200,
        "temperature": 1.3,
    }
    return server.request("POST", "/v1/chat/completions", {**body, **more})


def calls_of(answer):
    """[(name, arguments)] of a whole answer of a chat."""
    equal(answer.status, 200, json.dumps(answer.json)[:600])
    message = answer.json["choices"][0]["message"]
    calls = message.get("tool_calls") or []
    return [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in calls]


def named(name):
    return {"type": "function", "function": {"name": name}}


class Served:
    """A server with a model of some form."""

    def __init__(self, template=HERMES, tokens=None, cloud=False, **more):
        self.folder = tempfile.TemporaryDirectory()
        path = tool_model(f"{self.folder.name}/tools.gguf", template, tokens, **more)
        self.cloud = None
        if cloud:
            self.cloud = ScriptedCloud(Script(text="From the cloud."))
            cloud = edge_first(self.cloud.base_url)
        key = {"TEST_CLOUD_KEY": "k"}
        self.tandem = Tandem(cloud or None, env=key, arguments=["--model", path])
        self.tandem.cloud, self.tandem.model = self.cloud, path

    def __enter__(self):
        return self.tandem.__enter__()

    def __exit__(self, *error):
        self.tandem.__exit__(*error)
        if self.cloud:
            self.cloud.close()
        self.folder.cleanup()


def check_weather(call):
    name, arguments = call
    if name == "stop":
        equal(arguments, {})
        return
    equal(name, "get_weather")
    assert set(arguments) <= set(WEATHER["properties"]) and len(arguments["city"]) <= 12, call
    assert arguments.get("unit", "celsius") in ("celsius", "fahrenheit"), call
    assert arguments.get("days", 1) in range(1, 10), call


@case
def test_a_call_that_must_come_comes_in_each_form():
    for form, template, tokens in FORMS:
        with Served(template, tokens) as tandem:
            for seed in range(8):
                answer = ask(tandem, tool_choice="required", seed=seed, parallel_tool_calls=False)
                calls = calls_of(answer)
                equal(len(calls), 1, f"{form} {seed}")
                check_weather(calls[0])
                choice = answer.json["choices"][0]
                equal((choice["finish_reason"], choice["message"]["content"]), ("tool_calls", None))
            for name in ("get_weather", "stop"):
                calls = calls_of(ask(tandem, tool_choice=named(name), seed=3))
                assert calls and all(call[0] == name for call in calls), (form, calls)


@case
def test_several_calls_come_unless_the_client_wants_one():
    with Served(HERMES, HERMES_TOKENS) as tandem:
        counts = set()
        for seed in range(20):
            calls = calls_of(ask(tandem, tool_choice="required", seed=seed, temperature=2))
            for call in calls:
                check_weather(call)
            counts.add(len(calls))
        assert max(counts) > 1, counts


@case
def test_text_before_a_call_is_free_and_the_call_is_held():
    """The bias makes a mark likely, in the middle of nonsense."""
    with Served(HERMES, HERMES_TOKENS) as tandem:
        opening = token_id(tandem.model, b"<tool_call>")
        called = texts = 0
        for seed in range(30):
            answer = ask(tandem, seed=seed, temperature=2, logit_bias={str(opening): 18})
            calls = calls_of(answer)
            content = answer.json["choices"][0]["message"]["content"] or ""
            assert "tool_call>" not in content, content
            for call in calls:
                check_weather(call)
            called += bool(calls)
            texts += bool(calls) and bool(content)
        assert called > 3 and texts > 0, (called, texts)


@case
def test_streams_of_both_dialects_have_the_same_calls():
    with Served(HERMES, HERMES_TOKENS) as tandem:
        for seed in range(6):
            options = {"tool_choice": "required", "seed": seed, "temperature": 2}
            whole = calls_of(ask(tandem, **options))
            chunks, done = parse_sse(ask(tandem, stream=True, **options).body)
            assert done
            parts = {}
            for chunk in chunks:
                for choice in chunk["choices"]:
                    assert not choice["delta"].get("content"), chunk
                    for part in choice["delta"].get("tool_calls", []):
                        name, text = parts.get(part["index"], ("", ""))
                        function = part["function"]
                        parts[part["index"]] = (
                            name + (function.get("name") or ""),
                            text + function.get("arguments", ""),
                        )
            equal(sorted(parts), list(range(len(whole))))
            equal([(name, json.loads(text)) for name, text in parts.values()], whole)
            ends = [c["finish_reason"] for k in chunks for c in k["choices"] if c["finish_reason"]]
            equal(ends, ["tool_calls"])
            anthropic = {
                "model": "local",
                "max_tokens": 200,
                "messages": [{"role": "user", "content": "weather in Rome?"}],
                "tools": [
                    {"name": "get_weather", "description": "does it", "input_schema": WEATHER},
                    {
                        "name": "stop",
                        "description": "does it",
                        "input_schema": {"type": "object", "properties": {}},
                    },
                ],
                "tool_choice": {"type": "any"},
                "temperature": 1,
                "seed": seed,
            }
            message = tandem.request("POST", "/v1/messages", anthropic).json
            equal(message["stop_reason"], "tool_use", str(message)[:300])
            blocks = [(b["name"], b["input"]) for b in message["content"]]
            equal({b["type"] for b in message["content"]}, {"tool_use"})
            for block in blocks:
                check_weather(block)
            events = parse_events(
                tandem.request("POST", "/v1/messages", {**anthropic, "stream": True}).body
            )
            names, texts = {}, {}
            for event in events:
                if event["type"] == "content_block_start":
                    equal(event["content_block"]["type"], "tool_use")
                    names[event["index"]] = event["content_block"]["name"]
                if event["type"] == "content_block_delta":
                    index = event["index"]
                    texts[index] = texts.get(index, "") + event["delta"]["partial_json"]
            streamed = [(names[i], json.loads(texts.get(i) or "{}")) for i in sorted(names)]
            equal(streamed, blocks)
            ends = [e["delta"]["stop_reason"] for e in events if e["type"] == "message_delta"]
            equal(ends, ["tool_use"])


def satisfiable_object(seed):
    maker = Maker(seed)
    schema = maker.object(2)
    if maker.defs:
        schema["$defs"] = maker.defs
    return schema


@case
def test_arguments_of_random_schemas_are_valid():
    try:
        import jsonschema
    except ImportError:
        raise Skip("the jsonschema package is not installed") from None
    written = refused = cut = 0
    for form, template, tokens in FORMS[1:4:2] + FORMS[4:]:
        with Served(template, tokens) as tandem:
            for seed in range(COUNT // 3 + 1):
                rng = random.Random(seed)
                schemas = {
                    f"tool_{i}": satisfiable_object(1000 * seed + i)
                    for i in range(rng.randrange(1, 4))
                }
                answer = ask(
                    tandem,
                    tools=[tool(name, schema) for name, schema in schemas.items()],
                    tool_choice="required",
                    parallel_tool_calls=bool(seed % 2),
                    max_tokens=700,
                    seed=seed,
                )
                if answer.status != 200:
                    message = answer.json["error"]["message"]
                    assert "tools[" in message, message
                    refused += 1
                    continue
                calls = calls_of(answer)
                if answer.json["choices"][0]["finish_reason"] == "length":
                    cut += 1
                else:
                    assert calls, (form, seed, answer.json)
                for name, arguments in calls:
                    found = list(
                        jsonschema.Draft202012Validator(schemas[name]).iter_errors(arguments)
                    )
                    assert not found, (form, seed, schemas[name], arguments, found[0].message)
                written += bool(calls)
    print(f"{written} answers with valid calls, {cut} cut, {refused} refused as not supported")
    assert written > COUNT * 0.6 and cut < COUNT * 0.1, (written, cut, refused)


@case
def test_names_are_never_invented_whatever_they_are():
    names = ['say "hi"', "line\nbreak", "</tool_call>", "größe", "a\\b", "{", "x" * 200]
    for form, template, tokens in FORMS:
        with Served(template, tokens) as tandem:
            for seed, name in enumerate(names):
                tools = [
                    tool(
                        name,
                        {
                            "type": "object",
                            "properties": {
                                "</tool_call>": {"enum": ["</tool_call>", '"}}</tool_call>']}
                            },
                            "required": ["</tool_call>"],
                        },
                    )
                ]
                answer = ask(
                    tandem,
                    tools=tools,
                    tool_choice="required",
                    seed=seed,
                    max_tokens=500,
                    parallel_tool_calls=False,
                )
                (call,) = calls_of(answer)
                equal(call[0], name, form)
                assert call[1]["</tool_call>"].endswith("</tool_call>"), call


@case
def test_tools_that_no_grammar_holds_are_refused_with_their_place():
    bad = [
        {
            "type": "object",
            "properties": {"n": {"type": "integer", "enum": ["x"]}},
            "required": ["n"],
        },
        {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3, "maximum": 1}}},
        {"type": "object", "properties": {}, "required": ["n"], "additionalProperties": False},
        {"type": "object", "properties": {"n": {"type": "STRING"}}},
        {"type": "string"},
        [1],
        {"type": "object", "properties": {"n": {"$ref": "#/nothing"}}},
        {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(2000)}},
    ]
    with Served() as tandem:
        for schema in bad:
            answer = ask(
                tandem,
                tools=[tool("good"), tool("bad", schema)],
                model="auto",
                tandem={"mode": "only-local"},
            )
            equal(answer.status, 400, str(answer.json)[:300])
            equal(answer.json["error"]["param"], "tools")
            assert "tools[1]" in answer.json["error"]["message"], answer.json
        for tools in ([tool("a"), tool("a")], [tool("")], [{"type": "custom"}]):
            answer = ask(tandem, tools=tools, tandem={"mode": "only-local"})
            equal((answer.status, answer.json["error"]["param"]), (400, "tools"))
        for choice in (named("nobody"), "required"):
            tools = TOOLS if choice != "required" else []
            answer = ask(tandem, tools=tools, tool_choice=choice)
            equal((answer.status, answer.json["error"]["param"]), (400, "tool_choice"))


@case
def test_huge_offers_end_in_time_and_the_next_request_is_served():
    many = {
        "type": "object",
        "properties": {f"argument_{i}": {"type": "string", "maxLength": 40} for i in range(200)},
    }
    with Served() as tandem:
        answer = ask(
            tandem,
            tools=[tool(f"tool_{i}", many) for i in range(64)],
            tandem={"mode": "only-local"},
        )
        equal((answer.status, answer.json["error"]["param"]), (400, "tools"))
        calls = calls_of(ask(tandem, tool_choice="required"))
        assert calls
        small = [tool(f"tool_{i}", WEATHER) for i in range(64)]
        calls = calls_of(ask(tandem, tools=small, tool_choice="required", max_tokens=100))
        assert calls and calls[0][0].startswith("tool_")


@case
def test_a_tier_that_cannot_hold_the_tools_leaves_them_to_the_next():
    with Served(cloud=True) as tandem:
        schema = {"type": "object", "properties": {"n": {"type": "string", "pattern": "(?=x)"}}}
        answer = ask(tandem, tools=[tool("odd", schema)], model="auto")
        equal((answer.status, answer.json["tandem"]["tier"]), (200, "cloud"))
        reasons = [r["text"] for r in answer.json["tandem"]["reasons"]]
        assert any("cannot promise the arguments" in r and "tools[0]" in r for r in reasons), (
            reasons
        )


@case
def test_a_model_that_says_not_mine_climbs_or_says_so():
    with Served(not_mine=True, cloud=True) as tandem:
        for choice in ("auto", "required", named("stop")):
            answer = ask(tandem, model="auto", tool_choice=choice, temperature=0)
            equal((answer.status, answer.json["tandem"]["tier"]), (200, "cloud"), str(choice))
    with Served(not_mine=True) as tandem:
        answer = ask(tandem, temperature=0, messages=[{"role": "user", "content": "Who was Bach?"}])
        equal((answer.status, calls_of(answer)), (200, []))
        assert answer.json["choices"][0]["message"]["content"], answer.json
        answer = ask(tandem, temperature=0, tool_choice="required")
        equal(answer.status, 400)
        assert "called no tool" in answer.json["error"]["message"], answer.json


@case
def test_a_call_has_a_confidence_of_its_choices_and_a_calibration_of_its_own():
    with tempfile.TemporaryDirectory() as folder:
        path = tool_model(f"{folder}/plain.gguf", HERMES, HERMES_TOKENS)
        sure = Path(folder) / "sure.gguf"
        add_metadata(
            path,
            sure,
            [("tandem.calibration.call.temperature", 1.0), ("tandem.calibration.call.bias", 100.0)],
        )
        with Tandem(arguments=["--model", path]) as tandem:
            free = ask(
                tandem, tool_choice="required", parallel_tool_calls=False, temperature=0
            ).json["tandem"]
            code, out, _ = run("explain", free["exchange"], env=tandem.environment)
            equal(code, 0)
            assert b"of a call" in out and b"of the whole call" in out, out
        with Tandem(arguments=["--model", sure]) as tandem:
            calibrated = ask(
                tandem, tool_choice="required", parallel_tool_calls=False, temperature=0
            ).json["tandem"]
            assert calibrated["confidence"] > 0.9 > free["confidence"], (calibrated, free)
            text = ask(tandem, tool_choice="none", temperature=0).json["tandem"]
            assert text["confidence"] < 0.9, text


@case
def test_calls_with_a_card_number_stay_on_the_device():
    card = "4111 1111 1111 1111"
    with Served(cloud=True) as tandem:
        history = [
            {"role": "user", "content": "pay it"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "pay", "arguments": json.dumps({"card": card})},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "done"},
            {"role": "user", "content": "again"},
        ]
        answer = ask(tandem, model="auto", messages=history, tool_choice="required", max_tokens=80)
        equal(answer.status, 200, str(answer.json)[:300])
        equal(answer.json["tandem"]["tier"], "local")
        equal(answer.json["tandem"]["data_class"], "restricted")
        equal(tandem.cloud.calls(), [])


if __name__ == "__main__":
    main()
