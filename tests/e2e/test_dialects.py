#!/usr/bin/env python3
"""/v1/messages and /v1/responses go the chat's way through privacy: nothing private reaches the
cloud, and every value is back in the text and in tool calls' arguments, with the cloud's stream cut
at every place. What the official clients make of the answers is tests/clients/test_python.py's."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from private_letter import LETTER, PRIVATE
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, parse_events

PRIVACY = "\nprivacy:\n  pseudonyms: {on: true, classes: [sensitive, restricted]}\n"
MAIL = "mary.smith@acme-corp.com"
CLOUD = {"x-tandem-mode": "only-cloud"}
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


class Messages:
    """Anthropic's dialect: how a text is asked, and what stands in an answer, whole or as
    events."""

    path, two_calls = "/v1/messages", ["tool_use", "tool_use"]

    def ask(self, text, tool=False, **members):
        tools = {"tools": [{"name": "mail", "input_schema": SCHEMA}]} if tool else {}
        return {
            "model": "auto",
            "max_tokens": 400,
            "messages": [{"role": "user", "content": text}],
            **tools,
            **members,
        }

    def blocks(self, answer):
        return answer["content"]

    def streamed(self, events):
        blocks, tandem = [], None
        for event in events:
            if event["type"] == "content_block_start":
                equal(event["index"], len(blocks))
                blocks.append({**event["content_block"], "json": ""})
            elif event["type"] == "content_block_delta":
                delta, block = event["delta"], blocks[event["index"]]
                if delta["type"] == "text_delta":
                    block["text"] += delta["text"]
                else:
                    block["json"] += delta["partial_json"]
            tandem = event.get("tandem", tandem)
        for block in blocks:
            if block["type"] == "tool_use":
                block["input"] = json.loads(block["json"])
        equal(events[-1]["type"], "message_stop")
        return blocks, tandem

    def text(self, blocks):
        return "".join(block["text"] for block in blocks if block["type"] == "text")

    def arguments(self, blocks):
        return [block["input"] for block in blocks if block["type"] == "tool_use"]


class Responses:
    """OpenAI's newer dialect."""

    path, two_calls = "/v1/responses", ["function_call", "function_call"]

    def ask(self, text, tool=False, **members):
        tools = (
            {"tools": [{"type": "function", "name": "mail", "parameters": SCHEMA}]} if tool else {}
        )
        return {"model": "auto", "input": text, **tools, **members}

    def blocks(self, answer):
        return answer["output"]

    def streamed(self, events):
        grown = {}
        for event in events:
            if event["type"] in (
                "response.output_text.delta",
                "response.function_call_arguments.delta",
            ):
                grown[event["output_index"]] = grown.get(event["output_index"], "") + event["delta"]
        equal(events[-1]["type"], "response.completed")
        output = events[-1]["response"]["output"]
        for index, text in grown.items():
            item = output[index]
            equal(
                text,
                (
                    item["arguments"]
                    if item["type"] == "function_call"
                    else item["content"][0]["text"]
                ),
            )
        return output, events[-1]["response"]["tandem"]

    def text(self, output):
        return "".join(
            part["text"] for item in output if item["type"] == "message" for part in item["content"]
        )

    def arguments(self, output):
        return [json.loads(item["arguments"]) for item in output if item["type"] == "function_call"]


DIALECTS = [Messages(), Responses()]


def server(cloud, more=PRIVACY):
    return Tandem(edge_first(cloud.base_url) + more, env={"TEST_CLOUD_KEY": "k"})


def nothing_private(cloud):
    for value in PRIVATE:
        assert value.encode() not in cloud.received, f"{value!r} left the device"


def whole(tandem, dialect, body):
    answer = tandem.request("POST", dialect.path, body, CLOUD)
    equal(answer.status, 200, answer.body)
    return dialect.blocks(answer.json), answer.json["tandem"]


def streamed(tandem, dialect, body):
    answer = tandem.request("POST", dialect.path, {**body, "stream": True}, CLOUD)
    equal(answer.status, 200, answer.body)
    return dialect.streamed(parse_events(answer.body))


@case
def test_an_echo_comes_back_whole_and_nothing_private_left():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        for dialect in DIALECTS:
            for ask in (whole, streamed):
                cloud.script = Script(echo=True)
                blocks, where = ask(tandem, dialect, dialect.ask(LETTER))
                equal(dialect.text(blocks), LETTER)
                equal((where["place"], where["pseudonyms"]["not_restored"]), ("cloud", 0))
                assert where["pseudonyms"]["restored"] >= 8, where
                cloud.script = Script(echo=True, echo_tool=True, finish="tool_calls")
                if ask is streamed:
                    blocks, where = ask(tandem, dialect, dialect.ask(LETTER, tool=True))
                    equal(dialect.arguments(blocks), [{"text": LETTER}])
        nothing_private(cloud)
        assert b"your card" in cloud.received, "the tap does not work"


@case
def test_a_stream_cut_at_every_place_gets_every_value_back():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        for dialect in DIALECTS:
            for tool in (False, True):
                form = Script(echo=True, echo_tool=tool, finish="tool_calls" if tool else "stop")
                cloud.script = form
                streamed(tandem, dialect, dialect.ask(LETTER, tool))
                sent = cloud.requests[-1]["json"]["messages"][-1]["content"]
                places = len(json.dumps({"text": sent}) if tool else sent) - 1
                seen = restored = 0
                for cut in range(1, places + 1):
                    cloud.script = Script(**{**vars(form), "cut_at": cut})
                    blocks, where = streamed(tandem, dialect, dialect.ask(LETTER, tool))
                    got = dialect.arguments(blocks)[0]["text"] if tool else dialect.text(blocks)
                    equal(got, LETTER, f"{dialect.path}, cut before {cut}")
                    seen += where["pseudonyms"]["seen"]
                    restored += where["pseudonyms"]["restored"]
                for script in (
                    {"piece_chars": 1},
                    {"piece_chars": 3, "byte_by_byte": True, "comments": True},
                ):
                    cloud.script = Script(**{**vars(form), **script})
                    blocks, where = streamed(tandem, dialect, dialect.ask(LETTER, tool))
                    equal(
                        dialect.arguments(blocks)[0]["text"] if tool else dialect.text(blocks),
                        LETTER,
                    )
                print(
                    f"{dialect.path}, {'arguments' if tool else 'text'}: cut at each of {places}"
                    f" places, {restored} of {seen} surrogates restored  goal >= 98 % "
                    f" {'met' if restored >= 0.98 * seen else 'MISSED'}"
                )
                equal(restored, seen)
        nothing_private(cloud)


@case
def test_what_is_held_of_a_block_comes_before_the_next_begins():
    """An answer that ends in the middle of what may be a surrogate, then a call, then another."""
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        for dialect in DIALECTS:
            body = dialect.ask(f"I am {MAIL}", tool=True)
            cloud.script = Script(echo=True)
            streamed(tandem, dialect, body)
            name = cloud.requests[-1]["json"]["messages"][-1]["content"].removeprefix("I am ")
            assert name != MAIL, "nothing was replaced"
            calls = [
                {
                    "index": 0,
                    "id": "i",
                    "function": {"name": "mail", "arguments": json.dumps({"text": name})[:-1]},
                },
                {"index": 0, "function": {"arguments": "} "}},
                {
                    "index": 1,
                    "id": "j",
                    "function": {"name": "mail", "arguments": '{"text": "' + name[:4]},
                },
                {"index": 1, "function": {"arguments": name[4:] + '"}'}},
            ]
            for number, piece in enumerate(calls):
                calls[number] = {"tool_calls": [piece]}
            deltas = [{"content": "Dear " + name[:5]}, {"content": name[5:]}, *calls]
            cloud.script = Script(pieces=[""] * len(deltas), finish="tool_calls")
            cloud._delta = lambda script, wants, number, piece: deltas[number]
            blocks, where = streamed(tandem, dialect, body)
            del cloud._delta
            equal([block["type"] for block in blocks][1:], dialect.two_calls)
            equal(dialect.text(blocks), f"Dear {MAIL}")
            equal(dialect.arguments(blocks), [{"text": MAIL}, {"text": MAIL}])
            equal(where["pseudonyms"]["not_restored"], 0)
        nothing_private(cloud)


@case
def test_private_values_in_every_member_are_found():
    cloud = ScriptedCloud(Script(text="Done."))
    mail = {"to": MAIL}
    bodies = {
        "/v1/messages": {
            "model": "auto",
            "max_tokens": 9,
            "system": [{"type": "text", "text": "The user is Mary Smith."}],
            "metadata": {"user_id": MAIL},
            "tools": [
                {
                    "name": "mail",
                    "description": "Mail for Mary Smith",
                    "input_schema": {
                        "type": "object",
                        "properties": {"to": {"type": "string", "default": MAIL}},
                    },
                }
            ],
            "messages": [
                {"role": "user", "content": "Mail Mary Smith."},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "To Mary Smith:"},
                        {"type": "tool_use", "id": "i", "name": "mail", "input": mail},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "i",
                            "content": [
                                {"type": "text", "text": "sent to mary.smith@acme-corp.com"}
                            ],
                        },
                        {"type": "text", "text": "And 4111 1111 1111 1111?"},
                    ],
                },
            ],
        },
        "/v1/responses": {
            "model": "auto",
            "instructions": "The user is Mary Smith.",
            "user": MAIL,
            "metadata": {"owner": "Mary Smith"},
            "tools": [
                {
                    "type": "function",
                    "name": "mail",
                    "description": "Mail for Mary Smith",
                    "parameters": {
                        "type": "object",
                        "properties": {"to": {"type": "string", "default": MAIL}},
                    },
                }
            ],
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "Mail Mary Smith."}]},
                {
                    "type": "function_call",
                    "call_id": "i",
                    "name": "mail",
                    "arguments": json.dumps(mail),
                },
                {
                    "type": "function_call_output",
                    "call_id": "i",
                    "output": "sent to mary.smith@acme-corp.com",
                },
                {"role": "user", "content": "And 4111 1111 1111 1111?"},
            ],
        },
    }
    with server(cloud) as tandem:
        for path, body in bodies.items():
            for stream in (False, True):
                answer = tandem.request("POST", path, {**body, "stream": stream}, CLOUD)
                equal(answer.status, 200, answer.body)
        equal(len(cloud.requests), 4)
        nothing_private(cloud)
        for request in cloud.requests:
            sent = request["json"]
            messages = sent["messages"]
            to = json.loads(messages[2]["tool_calls"][0]["function"]["arguments"])["to"]
            equal(messages[3]["content"], f"sent to {to}")
            for name in ("system", "metadata", "input", "instructions"):
                assert name not in sent, sent
    # Without pseudonyms, the same stays on the device.
    with server(cloud, "") as tandem:
        cloud.clear()
        for path, body in bodies.items():
            answer = tandem.request("POST", path, body, CLOUD)
            equal(answer.status, 503 if answer.status == 503 else 403, answer.body)
        equal(len(cloud.requests), 0)


@case
def test_a_declared_class_keeps_every_dialect_here():
    cloud = ScriptedCloud(Script(text="Done."))
    with server(cloud, "") as tandem:
        for dialect in DIALECTS:
            for headers, members in (
                ({"x-tandem-data-class": "restricted"}, {}),
                ({}, {"tandem": {"data_class": "restricted"}}),
            ):
                answer = tandem.request(
                    "POST", dialect.path, dialect.ask("Hello.", **members), headers
                )
                equal(answer.status, 200, answer.body)
                equal(
                    (answer.json["tandem"]["place"], answer.json["tandem"]["data_class"]),
                    ("device", "restricted"),
                )
        equal(len(cloud.requests), 0)


@case
def test_a_path_that_is_not_there_names_those_that_may_be_meant():
    with Tandem(edge_first("http://127.0.0.1:9/v1")) as tandem:
        for path, first, second in (
            ("/v1/messages/batches", "/v1/messages", "/v1/batches"),
            ("/v1/messages/batches/msgbatch_1/results", "/v1/messages", "/v1/batches"),
            ("/v1/v1/chat/completions", "/v1/chat/completions", None),
            ("/v1/completion", "/v1/completions", None),
            ("/v1/chat/completoins", "/v1/chat/completions", None),
            ("/v1/embedding", "/v1/embeddings", None),
            ("/v1/chat", "/v1/chat/completions", None),
            ("/embed", "/api/embed", None),
        ):
            answer = tandem.get(path)
            equal((path, answer.status), (path, 404))
            said = f"did you mean '{first}'" + (f" or '{second}'?" if second else "")
            assert said in answer.json["error"]["message"], answer.body


@case
def test_hostile_requests_are_refused_in_the_dialects_own_form():
    cloud = ScriptedCloud(Script(text="Done."))
    hostile = [
        b"",
        b"[]",
        b"{",
        b"null",
        b'{"model":"\xff"}',
        b'{"a":1,"a":2}',
        b"[" * 100000,
        b'{"model":"auto","max_tokens":1e400}',
        b'{"messages":[],"input":[]}',
        b'{"max_tokens":9,"input":"\\u0000x","messages":"\\ud800"}',
        b'{"input":' + b"[" * 70 + b"]" * 70 + b',"messages":' + b"[" * 70 + b"]" * 70 + b"}",
        b'{"max_tokens":99999999999999999999,"max_output_tokens":-2,"input":"x","messages":[{"role":"user","content":"x"}]}',
    ]
    with server(cloud, "") as tandem:
        for path in ("/v1/messages", "/v1/messages/count_tokens", "/v1/responses"):
            for body in hostile:
                answer = tandem.request("POST", path, body)
                equal(answer.status, 400, f"{path} {body[:60]}: {answer.body}")
                error = answer.json["error"]
                assert error["message"] and error["type"] == "invalid_request_error", error
                equal(answer.json.get("type"), "error" if "messages" in path else None)
        equal(len(cloud.requests), 0)
        equal(tandem.get("/healthz").status, 200)


if __name__ == "__main__":
    sys.exit(main())
