#!/usr/bin/env python3
"""Anthropic as a tier, against a stand-in that is as strict as its documentation: what every client
of this program says and hears through it."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import WEATHER, Script, ScriptedCloud
from scripted_providers import ScriptedAnthropic
from tandem import Tandem, clean_environment, parse_events, run, stream_text

PIXEL = "iVBORw0KGgoAAAANSUhEUgAA" * 20  # what it shows does not matter here


def config(cloud, model="claude-haiku-4-5", more="", rest=""):
    return f"""
tiers:
  - name: claude
    kind: anthropic
    model: {model}
    base_url: {cloud.root}
    api_key_env: ANTHROPIC_API_KEY
    modalities: [text, image, file]
{more}
routes:
  - {{name: auto, kind: hybrid, tiers: [claude{rest}]}}
"""


def serve(cloud, **options):
    return Tandem(config(cloud, **options), env={"ANTHROPIC_API_KEY": cloud.key})


def sent(cloud):
    return cloud.calls()[-1]["json"]


@case
def test_a_chat_and_its_stream():
    cloud = ScriptedAnthropic(Script(text="Bonjour à tous."))
    cloud.cached = 7
    with serve(cloud) as tandem:
        messages = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi."},
            {"role": "user", "content": "Again"},
        ]
        answer = tandem.chat(messages, max_tokens=50, temperature=1.5, stop=["END"], user="u1")
        equal((answer.status, answer.text), (200, "Bonjour à tous."), str(answer.body))
        equal(answer.json["choices"][0]["finish_reason"], "stop")
        usage = answer.json["usage"]
        equal(usage["prompt_tokens_details"]["cached_tokens"], 7)
        equal(usage["completion_tokens"], 3)
        body = sent(cloud)
        equal(body["system"], [{"type": "text", "text": "Be brief."}])
        equal([m["role"] for m in body["messages"]], ["user", "assistant", "user"])
        equal((body["max_tokens"], body["temperature"]), (50, 1.0))
        equal((body["stop_sequences"], body["metadata"]), (["END"], {"user_id": "u1"}))
        _, _, chunks, done = tandem.stream("Hello")
        equal((stream_text(chunks), done), ("Bonjour à tous.", True))
        equal(sent(cloud)["max_tokens"], 64000)  # the model's own limit, where a chat gives none
        explained = tandem.get("/tandem/v1/exchanges/last").json
        equal(explained["attempts"][0]["tier"], "claude", str(explained)[:300])


@case
def test_every_byte_in_a_packet_of_its_own():
    cloud = ScriptedAnthropic(Script(text="Ünïcödé – süß 🙂 done", byte_by_byte=True))
    with serve(cloud) as tandem:
        equal(tandem.chat("Hello").text, "Ünïcödé – süß 🙂 done")


@case
def test_tools_there_and_back():
    cloud = ScriptedAnthropic(Script(text="I look."))
    cloud.tool_calls = [("weather", '{"city": "Oslo"}'), ("now", "")]
    now = {"type": "function", "function": {"name": "now"}}
    with serve(cloud) as tandem:
        answer = tandem.chat("Weather?", tools=[WEATHER, now], parallel_tool_calls=False)
        message = answer.json["choices"][0]["message"]
        equal(answer.json["choices"][0]["finish_reason"], "tool_calls", str(answer.body))
        equal([c["function"]["name"] for c in message["tool_calls"]], ["weather", "now"])
        arguments = [json.loads(c["function"]["arguments"]) for c in message["tool_calls"]]
        equal(arguments, [{"city": "Oslo"}, {}])
        body = sent(cloud)
        equal(body["tool_choice"], {"type": "auto", "disable_parallel_tool_use": True})
        equal(body["tools"][1], {"name": "now", "input_schema": {"type": "object"}})
        cloud.tool_calls = []
        results = [
            {"role": "tool", "tool_call_id": call["id"], "content": f"result {number}"}
            for number, call in enumerate(message["tool_calls"])
        ]
        history = [{"role": "user", "content": "Weather?"}, message, *results]
        answer = tandem.chat(history, tools=[WEATHER, now])
        equal((answer.status, answer.text), (200, "I look."), str(answer.body))
        turns = sent(cloud)["messages"]
        equal([m["role"] for m in turns], ["user", "assistant", "user"])
        equal([b["type"] for b in turns[1]["content"]], ["text", "tool_use", "tool_use"])
        equal([b["tool_use_id"] for b in turns[2]["content"]], ["toolu_0", "toolu_1"])
        for choice, told in [
            ("required", {"type": "any"}),
            ("none", {"type": "none"}),
            (
                {"type": "function", "function": {"name": "weather"}},
                {"type": "tool", "name": "weather"},
            ),
        ]:
            tandem.chat("Weather?", tools=[WEATHER], tool_choice=choice)
            equal(sent(cloud)["tool_choice"], told)


@case
def test_thoughts_come_and_go_back_with_their_signature():
    cloud = ScriptedAnthropic(Script(text="It is 4."))
    cloud.thought = "Two and two."
    cloud.tool_calls = [("weather", '{"city": "Oslo"}')]
    with serve(cloud) as tandem:
        answer = tandem.chat("2+2?", tools=[WEATHER], reasoning_effort="low", max_tokens=100)
        message = answer.json["choices"][0]["message"]
        equal(message["reasoning"], "Two and two.", str(answer.body))
        equal(message["reasoning_details"][0]["signature"], cloud.signature)
        equal(sent(cloud)["thinking"], {"type": "enabled", "budget_tokens": 4000})
        equal(sent(cloud)["max_tokens"], 4100)
        cloud.tool_calls = []
        result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "ok"}
        history = [{"role": "user", "content": "2+2?"}, message, result]
        answer = tandem.chat(history, tools=[WEATHER], reasoning_effort="low")
        equal(answer.status, 200, str(answer.body))
        thought = sent(cloud)["messages"][1]["content"][0]
        equal((thought["type"], thought["thinking"]), ("thinking", "Two and two."))
        # A client that keeps no thoughts goes on without thinking, instead of being refused.
        del message["reasoning_details"], message["reasoning"]
        answer = tandem.chat(history, tools=[WEATHER], reasoning_effort="low")
        equal((answer.status, "thinking" in sent(cloud)), (200, False), str(answer.body))


@case
def test_thoughts_are_no_reason_to_doubt_a_usage():
    usage = {"output_tokens": 150}  # more than the answer may have, less than with thoughts
    cloud = ScriptedAnthropic(Script(text="It is 4.", usage_members=usage, piece_delay=0.03))
    cloud.thought = "Two and two."
    with serve(cloud) as tandem:
        answer = tandem.chat("2+2?", reasoning_effort="low", max_tokens=100)
        equal(answer.json["usage"]["completion_tokens"], 150, str(answer.body))
        answer = tandem.chat("2+2?", max_tokens=100)
        assert answer.json["usage"]["completion_tokens"] < 100, answer.body


@case
def test_a_model_that_decides_itself_how_much_it_thinks():
    cloud = ScriptedAnthropic(Script(text="Yes."))
    with serve(cloud, model="claude-sonnet-5-5") as tandem:
        answer = tandem.chat("Really?", reasoning_effort="high")
        equal(answer.text, "Yes.", str(answer.body))
        body = sent(cloud)
        equal(body["thinking"], {"type": "adaptive", "display": "summarized"})
        equal(body["output_config"], {"effort": "high"})
        assert "temperature" not in body, body  # this model takes none


@case
def test_images_documents_and_schemas():
    cloud = ScriptedAnthropic(Script(text='{"colour": "red"}'))
    parts = [
        {"type": "text", "text": "What colour?", "cache_control": {"type": "ephemeral"}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PIXEL}"},
        },
    ]
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
    with serve(cloud, more="    no_train: true") as tandem:
        format_ = {"type": "json_schema", "json_schema": {"name": "c", "schema": schema}}
        answer = tandem.chat([{"role": "user", "content": parts}], response_format=format_)
        equal(answer.text, '{"colour": "red"}', str(answer.body))
        body = sent(cloud)
        blocks = body["messages"][0]["content"]
        equal([b["type"] for b in blocks], ["text", "image", "image", "document"])
        equal(blocks[0]["cache_control"], {"type": "ephemeral"})
        equal(blocks[1]["source"], {"type": "base64", "media_type": "image/png", "data": PIXEL})
        equal(blocks[2]["source"], {"type": "url", "url": "https://example.com/a.png"})
        equal(blocks[3]["title"], "a.pdf")
        equal(body["output_config"]["format"], {"type": "json_schema", "schema": schema})
        tandem.chat("Some JSON", response_format={"type": "json_object"})
        assert "JSON object" in sent(cloud)["system"][0]["text"], sent(cloud)


@case
def test_reasons_for_the_end():
    cloud = ScriptedAnthropic(Script(text="Well"))
    with serve(cloud) as tandem:
        for stop, reason in [
            ("end_turn", "stop"),
            ("max_tokens", "length"),
            ("refusal", "content_filter"),
            ("model_context_window_exceeded", "length"),
            ("a_new_one", "stop"),
        ]:
            cloud.stop = stop
            equal(tandem.chat("Hello").json["choices"][0]["finish_reason"], reason, stop)
        cloud.stop = "stop_sequence"
        body = {"model": "auto", "max_tokens": 9, "stop_sequences": ["END"]}
        body["messages"] = [{"role": "user", "content": "Hello"}]
        answer = tandem.request("POST", "/v1/messages", body).json
        equal(
            (answer["stop_reason"], answer["stop_sequence"]), ("stop_sequence", "END"), str(answer)
        )


@case
def test_a_client_of_anthropics_own():
    cloud = ScriptedAnthropic(Script(text="Salut."))
    cloud.tool_calls = [("weather", '{"city": "Oslo"}')]
    with serve(cloud) as tandem:
        body = {"model": "auto", "max_tokens": 99, "stream": True, "system": "Be brief."}
        body["messages"] = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]
        body["tools"] = [{"name": "weather", "input_schema": {"type": "object"}}]
        events = parse_events(tandem.request("POST", "/v1/messages", body).body)
        kinds = [e["content_block"]["type"] for e in events if e["type"] == "content_block_start"]
        equal(kinds, ["text", "tool_use"], str(events))
        (delta,) = [e for e in events if e["type"] == "message_delta"]
        equal(delta["delta"]["stop_reason"], "tool_use")


def message_of(events):
    """The message that the events of a stream make, as Anthropic's own clients put it together."""
    blocks = {}
    for event in events:
        if event["type"] == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event["type"] == "content_block_delta":
            block, delta = blocks[event["index"]], event["delta"]
            kind = delta["type"]
            name = {
                "input_json_delta": "input",
                "thinking_delta": "thinking",
                "signature_delta": "signature",
                "text_delta": "text",
            }[kind]
            had = "" if block[name] == {} else block[name]
            block[name] = had + delta["partial_json" if name == "input" else name]
    for block in blocks.values():
        if block["type"] == "tool_use":
            block["input"] = json.loads(block["input"] or "{}")
    return [blocks[index] for index in sorted(blocks)]


@case
def test_a_client_of_anthropics_own_gets_and_sends_back_what_proves_a_thought():
    tools = [{"name": "weather", "input_schema": {"type": "object"}}]
    for stream, display in ((False, None), (True, None), (False, "omitted"), (True, "omitted")):
        cloud = ScriptedAnthropic(Script(text="I look."))
        cloud.thought, cloud.cipher = "Two and two.", "Y2lwaGVy" * 6
        cloud.tool_calls = [("weather", '{"city": "Oslo"}')]
        thinking = {"type": "enabled", "budget_tokens": 2000}
        if display:
            thinking["display"] = display
        asked = {"role": "user", "content": "Weather?"}
        body = {"model": "auto", "max_tokens": 9000, "tools": tools, "thinking": thinking}
        with serve(cloud) as tandem:
            answer = tandem.request(
                "POST", "/v1/messages", {**body, "messages": [asked], "stream": stream}
            )
            content = message_of(parse_events(answer.body)) if stream else answer.json["content"]
            equal(
                [block["type"] for block in content],
                ["thinking", "redacted_thinking", "text", "tool_use"],
                str(answer.body),
            )
            equal(content[0]["signature"], cloud.signature)
            equal(content[0]["thinking"], "" if display else "Two and two.")
            equal(content[1]["data"], cloud.cipher)
            cloud.tool_calls = []
            result = {"type": "tool_result", "tool_use_id": content[3]["id"], "content": "Rain."}
            history = [asked, {"role": "assistant", "content": content}]
            history.append({"role": "user", "content": [result]})
            answer = tandem.request("POST", "/v1/messages", {**body, "messages": history})
            equal(answer.status, 200, str(answer.body))
            equal(sent(cloud)["messages"][1]["content"], content)
            assert "thinking" in sent(cloud)


@case
def test_marks_of_what_may_be_cached_reach_it():
    mark = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    cloud = ScriptedAnthropic(Script(text="Salut."))
    cloud.cached, cloud.written = 30, 20
    call = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}, **mark}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Rain.", **mark}
    body = {
        "model": "auto",
        "max_tokens": 99,
        "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Yes.", **mark}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hello", **mark}]},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ],
        "tools": [{"name": "weather", "input_schema": {"type": "object"}, **mark}],
        **mark,
    }
    price = "{input_usd_per_mtok: 1, output_usd_per_mtok: 5, cached_input_usd_per_mtok: 0.1}"
    with serve(cloud, more=f"    price: {price}") as tandem:
        answer = tandem.request("POST", "/v1/messages", body)
        equal(answer.status, 200, str(answer.body))
        told = sent(cloud)
        equal(told["cache_control"], mark["cache_control"])
        equal(["cache_control" in block for block in told["system"]], [False, True])
        marked = [told["messages"][i]["content"][0]["cache_control"] for i in range(3)]
        equal(marked, [mark["cache_control"]] * 3)
        equal(told["tools"][0]["cache_control"], mark["cache_control"])
        usage = answer.json["usage"]
        equal((usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]), (30, 20))
        whole = tandem.get("/tandem/v1/exchanges/" + answer.json["tandem"]["exchange"]).json
        (attempt,) = whole["attempts"]
        equal(attempt["cached_tokens"], 30)
        # What is put into its cache costs 1.25 times as much.
        plain = usage["input_tokens"]
        expected = (plain * 1 + 30 * 0.1 + 20 * 1.25 + usage["output_tokens"] * 5) / 1e6
        assert abs(answer.json["tandem"]["cost_usd"] - expected) < 1e-9, (answer.json, expected)


@case
def test_servers_of_chats_get_neither_marks_nor_proofs():
    mark = {"cache_control": {"type": "ephemeral"}}
    cloud = ScriptedCloud(Script(text="Salut."))
    result = {"type": "tool_result", "tool_use_id": "toolu_1"}
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJl" * 4}
    call = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}, **mark}
    body = {
        "model": "auto",
        "max_tokens": 99,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hello", **mark}]},
            {"role": "assistant", "content": [thought, call]},
            {
                "role": "user",
                "content": [{**result, **mark}],
            },
        ],
        "tools": [{"name": "weather", "input_schema": {"type": "object"}, **mark}],
        **mark,
    }
    cloud.root = cloud.base_url
    plain = config(cloud).replace("kind: anthropic", "kind: openai")
    with Tandem(plain, env={"ANTHROPIC_API_KEY": "k"}) as tandem:
        answer = tandem.request("POST", "/v1/messages", body)
        equal(answer.status, 200, str(answer.body))
        told = json.dumps(sent(cloud))
        assert "cache_control" not in told and "c2lnb" not in told, told
        equal(sent(cloud)["messages"][0]["content"], "Hello")


@case
def test_refusals_mean_what_they_mean():
    cloud = ScriptedAnthropic()
    other = ScriptedCloud(Script(text="From the other."))
    more = f"  - {{name: other, kind: openai, base_url: {other.base_url}, model: m}}"
    for status, message, retried in [
        (529, "Overloaded", True),
        (500, "Internal server error", True),
        (429, "rate limited", False),
        (400, "prompt is too long: 300000 tokens > 200000 maximum", False),
    ]:
        cloud.script = Script(
            status=status, error_message=message, retry_after="30" if status == 429 else None
        )
        cloud.clear()
        with serve(cloud, more=more, rest=", other") as tandem:
            answer = tandem.chat("Hello")
            equal(answer.text, "From the other.", f"{status}: {answer.body!r}")
            equal(len(cloud.calls()), 2 if retried else 1, str(status))
    with serve(cloud) as tandem:
        answer = tandem.chat("Hello")
        equal(answer.status, 400, str(answer.body))
        equal(answer.json["error"]["code"], "context_length_exceeded", str(answer.body))
    cloud.script = Script(text="fine")
    wrong = Tandem(config(cloud), env={"ANTHROPIC_API_KEY": "sk-ant-wrong"})
    with wrong as tandem:
        answer = tandem.chat("Hello")
        assert answer.status >= 500 and b"sk-ant-wrong" not in answer.body, answer.body


@case
def test_streams_that_break():
    pieces = ["one ", "two ", "three"]
    for script in [
        Script(pieces=pieces, cut_after=1),
        Script(pieces=pieces, garbage_after=1),
        Script(pieces=pieces, error_after=1, error_message="Overloaded"),
        Script(pieces=pieces, no_done=True),
        Script(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
        Script(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ndata: 1\n\n"),
        Script(raw=b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\ndata: "\xff\xfe"\n\n...'),
        Script(raw=b"HTTP/1.1 200 OK\r\n\r\ndata: " + b"[" * 5000 + b"\n\n"),
        Script(raw=b'HTTP/1.1 200 OK\r\n\r\ndata: {"a":"' + b"x" * 2_000_000 + b'"}\n\n'),
    ]:
        cloud = ScriptedAnthropic(script)
        other = ScriptedCloud(Script(text="one two three"))
        more = f"  - {{name: other, kind: openai, base_url: {other.base_url}, model: m}}"
        with serve(cloud, more=more, rest=", other") as tandem:
            answer = tandem.chat("Count")
            equal(
                (answer.status, answer.text.replace("  ", " ")), (200, "one two three"), str(script)
            )
            assert len(other.calls()) == 1, script


@case
def test_without_a_file_a_key_is_enough():
    cloud = ScriptedAnthropic(Script(text="From Claude."))
    env = {"ANTHROPIC_API_KEY": cloud.key, "ANTHROPIC_BASE_URL": cloud.root}
    with Tandem(None, env=env) as tandem:
        answer = tandem.chat("Hello", headers={"x-tandem-mode": "only-cloud"})
        equal((answer.text, answer.tandem["tier"]), ("From Claude.", "anthropic"), str(answer.body))
    for env, names in [
        ({}, ["local", "openai"]),
        ({"OPENAI_API_KEY": "k"}, ["local", "openai"]),
        ({"ANTHROPIC_API_KEY": "k"}, ["local", "anthropic"]),
        ({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, ["local", "openai", "anthropic"]),
    ]:
        _, out, _ = run("models", "--json", env=clean_environment(**env))
        equal([tier["name"] for tier in json.loads(out)["tiers"]], names)


@case
def test_the_doctor_asks_for_its_models():
    cloud = ScriptedAnthropic(Script(models=["claude-haiku-4-5"]))
    with serve(cloud) as tandem:
        _, out, _ = run("doctor", "--json", "--config", tandem.config, env=tandem.environment)
    (found,) = [row for row in json.loads(out)["checks"] if row["name"] == "tier claude"]
    equal((found["status"], cloud.requests[-1]["path"]), ("ok", "/v1/models"), str(found))


if __name__ == "__main__":
    sys.exit(main())
