"""The official Anthropic client for Python (pinned in requirements.txt) against the real program:
run by test_python.py inside the environment that has it."""

import base64
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import anthropic

from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

CLOUD = {"x-tandem-mode": "only-cloud"}
HELLO = [{"role": "user", "content": "Say hello."}]
TOOL = {
    "name": "weather",
    "description": "The weather of a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}
CALL = {
    "tool_calls": [
        {
            "index": 0,
            "id": "call_7",
            "type": "function",
            "function": {"name": "weather", "arguments": '{"city": '},
        }
    ]
}
REST = {"tool_calls": [{"index": 0, "function": {"arguments": '"Oslo"}'}}]}


def connect(tandem, **options):
    return anthropic.Anthropic(
        base_url=tandem.url, api_key="any", max_retries=0, default_headers=CLOUD, **options
    )


def server(cloud, more="", env=None):
    return Tandem(edge_first(cloud.base_url) + more, env={"TEST_CLOUD_KEY": "k", **(env or {})})


def sent(cloud):
    return cloud.requests[-1]["json"]


@case
def test_a_whole_message():
    cloud = ScriptedCloud(Script(text="Hello there.", usage=True))
    with server(cloud) as tandem:
        raw = connect(tandem).messages.with_raw_response.create(
            model="auto",
            max_tokens=50,
            system="Be brief.",
            messages=HELLO,
            stop_sequences=["END"],
            metadata={"user_id": "u1"},
            extra_body={"temperature": 0.2, "top_k": 5},
        )
        message = raw.parse()
        equal(message.content[0].type, "text")
        equal(message.content[0].text, "Hello there.")
        equal(
            (message.type, message.role, message.stop_reason, message.stop_sequence),
            ("message", "assistant", "end_turn", None),
        )
        assert (
            message.id.startswith("msg_")
            and message.usage.output_tokens == 2
            and message.usage.input_tokens > 0
        )
        equal(message.tandem["place"], "cloud")
        equal(raw.headers["x-tandem-tier"], "cloud")
        assert message._request_id.startswith("req_"), message._request_id
        body = sent(cloud)
        equal(
            body["messages"],
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say hello."}],
        )
        equal(
            (body["max_completion_tokens"], body["stop"], body["temperature"], body["user"]),
            (50, ["END"], 0.2, "u1"),
        )
        for name in ("system", "max_tokens", "stop_sequences", "metadata"):
            assert name not in body, body


@case
def test_a_stream_has_the_sequence_of_events():
    cloud = ScriptedCloud(Script(text="Hello there you."))
    with server(cloud) as tandem:
        client = connect(tandem)
        events = [
            event.type
            for event in client.messages.create(
                model="auto", max_tokens=50, messages=HELLO, stream=True
            )
        ]
        equal(
            events[:2] + events[-3:],
            [
                "message_start",
                "content_block_start",
                "content_block_stop",
                "message_delta",
                "message_stop",
            ],
        )
        equal(set(events[2:-3]), {"content_block_delta"})
        with client.messages.stream(model="auto", max_tokens=50, messages=HELLO) as stream:
            equal("".join(stream.text_stream), "Hello there you.")
            message = stream.get_final_message()
        equal(message.stop_reason, "end_turn")
        equal(message.usage.output_tokens, 3)
        assert message.usage.input_tokens > 0, message.usage
        raw = tandem.request(
            "POST",
            "/v1/messages",
            {"model": "auto", "max_tokens": 5, "messages": HELLO, "stream": True},
            CLOUD,
        )
        names = [
            line.split(": ")[1]
            for line in raw.body.decode().split("\n")
            if line.startswith("event: ")
        ]
        equal(names[:3], ["message_start", "ping", "content_block_start"])
        assert "[DONE]" not in raw.body.decode()


@case
def test_tools_there_and_back():
    cloud = ScriptedCloud(Script(text="", pieces=[""], extra_delta=CALL, finish="tool_calls"))
    cloud._delta = lambda script, wants, number, piece: REST
    with server(cloud) as tandem:
        client = connect(tandem)
        for streamed in (False, True):
            ask = {
                "model": "auto",
                "max_tokens": 50,
                "messages": HELLO,
                "tools": [TOOL],
                "tool_choice": {"type": "any"},
            }
            if streamed:
                with client.messages.stream(**ask) as stream:
                    kinds = [
                        event.type for event in stream if event.type not in ("input_json", "text")
                    ]
                    message = stream.get_final_message()
                equal(
                    kinds,
                    [
                        "message_start",
                        "content_block_start",
                        "content_block_delta",
                        "content_block_delta",
                        "content_block_stop",
                        "message_delta",
                        "message_stop",
                    ],
                )
            else:
                message = client.messages.create(**ask)
            call = message.content[0]
            equal(
                (call.type, call.id, call.name, call.input),
                ("tool_use", "call_7", "weather", {"city": "Oslo"}),
            )
            equal(message.stop_reason, "tool_use")
        equal(
            sent(cloud)["tools"],
            [
                {
                    "type": "function",
                    "function": {
                        "name": "weather",
                        "description": TOOL["description"],
                        "parameters": TOOL["input_schema"],
                    },
                }
            ],
        )
        equal(sent(cloud)["tool_choice"], "required")
        del cloud._delta
        cloud.script = Script(text="Rain.")
        turns = HELLO + [
            {"role": "assistant", "content": message.content},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "call_7",
                        "content": [{"type": "text", "text": "rain"}],
                    },
                    {"type": "text", "text": "So?"},
                ],
            },
        ]
        answer = client.messages.create(model="auto", max_tokens=50, messages=turns, tools=[TOOL])
        equal(answer.content[0].text, "Rain.")
        equal(
            sent(cloud)["messages"][1:],
            [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "call_7",
                            "type": "function",
                            "function": {"name": "weather", "arguments": '{"city":"Oslo"}'},
                        }
                    ],
                },
                {"role": "tool", "content": "rain", "tool_call_id": "call_7"},
                {"role": "user", "content": "So?"},
            ],
        )


@case
def test_errors_are_the_clients_own():
    cloud = ScriptedCloud(Script(status=500))
    with server(cloud) as tandem:
        client = connect(tandem)

        def refused(kind, needle, **ask):
            try:
                client.messages.create(
                    **{"model": "auto", "max_tokens": 50, "messages": HELLO, **ask}
                )
            except anthropic.APIStatusError as error:
                assert isinstance(error, kind), error
                equal(error.body["type"], "error")
                assert needle in error.body["error"]["message"], error.body
                return error.body["error"]
            raise AssertionError("no error")

        image = {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "AA=="},
        }
        bad = anthropic.BadRequestError
        # A server without a tier that takes images.
        refused(
            bad,
            "an image",
            messages=[{"role": "user", "content": [image]}],
        )
        refused(bad, "prefill", messages=HELLO + [{"role": "assistant", "content": "I"}])
        refused(bad, "max_tokens", max_tokens=0)
        equal(refused(bad, "user", metadata={"user_id": "x" * 300})["param"], "metadata.user_id")
        equal(refused(anthropic.NotFoundError, "nobody", model="nobody")["type"], "not_found_error")
        equal(
            refused(anthropic.APIStatusError, "", extra_headers=CLOUD)["type"], "overloaded_error"
        )
        missing = tandem.request("POST", "/v1/messages", {"model": "auto", "messages": HELLO})
        equal((missing.status, missing.json["error"]["type"]), (400, "invalid_request_error"))
        try:
            client.messages.batches.create(requests=[])
            raise AssertionError("no error")
        except anthropic.NotFoundError as error:
            equal(error.body["error"]["type"], "not_found_error")
            assert "'/v1/batches'" in error.body["error"]["message"], error.body
    with server(cloud, "server: {api_keys_env: TEST_KEYS}\n", {"TEST_KEYS": "sesame"}) as tandem:
        try:
            connect(tandem).messages.create(model="auto", max_tokens=5, messages=HELLO)
            raise AssertionError("no error")
        except anthropic.AuthenticationError as error:
            equal(error.body["error"]["type"], "authentication_error")
        cloud.script = Script(text="In.")
        opened = anthropic.Anthropic(
            base_url=tandem.url, api_key="sesame", max_retries=0, default_headers=CLOUD
        )
        equal(
            opened.messages.create(model="auto", max_tokens=5, messages=HELLO).content[0].text,
            "In.",
        )


@case
def test_an_image_and_a_document_reach_a_tier_that_takes_them():
    cloud = ScriptedCloud(Script(text="A cat."))
    content = base64.b64encode(random.Random(7).randbytes(20_000)).decode()
    blocks = [
        {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": content}}
        for kind, media_type in (("image", "image/png"), ("document", "application/pdf"))
    ]
    tier = "    modalities: [text, image, file]\n"
    config = edge_first(cloud.base_url, tier)
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        message = connect(tandem).messages.create(
            model="auto", max_tokens=50, messages=[{"role": "user", "content": blocks}]
        )
        equal(message.content[0].text, "A cat.")
    image, document = sent(cloud)["messages"][-1]["content"]
    equal(image["image_url"]["url"], f"data:image/png;base64,{content}")
    equal(document["file"]["file_data"], f"data:application/pdf;base64,{content}")


@case
def test_a_failure_in_a_stream_is_an_error_event():
    cloud = ScriptedCloud(Script(text="a b c d", cut_after=2))
    with server(cloud) as tandem:
        got = ""
        try:
            with connect(tandem).messages.stream(
                model="auto", max_tokens=50, messages=HELLO
            ) as stream:
                for text in stream.text_stream:
                    got += text
            raise AssertionError("no error")
        except anthropic.APIStatusError as error:
            equal(error.body["type"], "error")
        equal(got, "a b")


@case
def test_a_client_that_leaves_stops_the_work():
    cloud = ScriptedCloud(Script(text="a b c d", stall_after=2))
    with server(cloud) as tandem:
        with connect(tandem).messages.stream(model="auto", max_tokens=50, messages=HELLO) as stream:
            next(iter(stream.text_stream))
        wait_until(lambda: cloud.gone_count == 1, what="the cloud noticed that its client left")


@case
def test_the_local_model_answers_and_counts():
    cloud = ScriptedCloud(Script(status=500))
    with server(cloud) as tandem:
        client = anthropic.Anthropic(
            base_url=tandem.url,
            api_key="any",
            max_retries=0,
            default_headers={"x-tandem-mode": "only-local"},
        )
        count = client.messages.count_tokens(model="auto", messages=HELLO, system="Be brief.")
        message = client.messages.create(
            model="auto", max_tokens=8, messages=HELLO, system="Be brief."
        )
        equal(message.tandem["place"], "device")
        usage = message.usage
        equal(usage.input_tokens + usage.cache_read_input_tokens, count.input_tokens)
        schema = {
            "type": "object",
            "properties": {"n": {"type": "integer"}},
            "required": ["n"],
            "additionalProperties": False,
        }
        formed = client.messages.create(
            model="auto",
            max_tokens=60,
            messages=HELLO,
            output_config={"format": {"type": "json_schema", "schema": schema}},
        )
        assert isinstance(json.loads(formed.content[0].text)["n"], int), formed
        equal(len(cloud.requests), 0)


if __name__ == "__main__":
    sys.exit(main())
