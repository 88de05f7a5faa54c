"""The official OpenAI client for Python (pinned in requirements.txt), its Responses API, against
the real program: run by test_python.py inside the environment that has it."""

import base64
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import openai
from pydantic import BaseModel

from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

CLOUD = {"x-tandem-mode": "only-cloud"}
TOOL = {
    "type": "function",
    "name": "weather",
    "description": "The weather of a city.",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
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
WHOLE = "response.completed"
REST = {"tool_calls": [{"index": 0, "function": {"arguments": '"Oslo"}'}}]}


def connect(tandem, headers=CLOUD):
    return openai.OpenAI(
        base_url=f"{tandem.url}/v1", api_key="any", max_retries=0, default_headers=headers
    )


def server(cloud, tier=""):
    return Tandem(edge_first(cloud.base_url, tier), env={"TEST_CLOUD_KEY": "k"})


def sent(cloud):
    return cloud.requests[-1]["json"]


@case
def test_a_whole_response():
    cloud = ScriptedCloud(Script(text="Hello there.", logprob=-0.5))
    with server(cloud) as tandem:
        raw = connect(tandem).responses.with_raw_response.create(
            model="auto",
            instructions="Be brief.",
            input="Say hello.",
            max_output_tokens=50,
            temperature=0.2,
            user="u1",
            metadata={"a": "b"},
            include=["message.output_text.logprobs"],
            store=True,
            reasoning={"effort": "low"},
        )
        response = raw.parse()
        equal(response.output_text, "Hello there.")
        equal(
            (response.object, response.status, response.error, response.store),
            ("response", "completed", None, True),
        )
        equal(
            (response.instructions, response.metadata, response.temperature),
            ("Be brief.", {"a": "b"}, 0.2),
        )
        assert response.id.startswith("resp_") and response.output[0].id.startswith("msg_")
        equal(
            (response.usage.output_tokens, response.usage.total_tokens),
            (2, response.usage.input_tokens + 2),
        )
        equal(response.tandem["place"], "cloud")
        equal(raw.headers["x-tandem-tier"], "cloud")
        equal([entry.logprob for entry in response.output[0].content[0].logprobs], [-0.5, -0.5])
        body = sent(cloud)
        equal(
            body["messages"],
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say hello."}],
        )
        equal(
            (
                body["max_completion_tokens"],
                body["temperature"],
                body["user"],
                body["reasoning_effort"],
            ),
            (50, 0.2, "u1", "low"),
        )
        for name in (
            "instructions",
            "input",
            "max_output_tokens",
            "store",
            "include",
            "metadata",
            "reasoning",
        ):
            assert name not in body, body


@case
def test_a_stream_has_the_sequence_of_events():
    cloud = ScriptedCloud(Script(text="Hello there."))
    with server(cloud) as tandem:
        client = connect(tandem)
        events = list(client.responses.create(model="auto", input="Say hello.", stream=True))
        equal(
            [event.type for event in events],
            [
                "response.created",
                "response.in_progress",
                "response.output_item.added",
                "response.content_part.added",
                "response.output_text.delta",
                "response.output_text.delta",
                "response.output_text.done",
                "response.content_part.done",
                "response.output_item.done",
                "response.completed",
            ],
        )
        equal([event.sequence_number for event in events], list(range(len(events))))
        equal(events[6].text, "Hello there.")
        with client.responses.stream(model="auto", input="Say hello.") as stream:
            final = next(event.response for event in stream if event.type == "response.completed")
        equal(
            (final.output_text, final.status, final.usage.output_tokens),
            ("Hello there.", "completed", 2),
        )
        equal(final.tandem["tier"], "cloud")
        cloud.script = Script(text="Hello there.", finish="length")
        last = list(client.responses.create(model="auto", input="Say hello.", stream=True))[-1]
        equal(
            (
                last.type,
                last.response.status,
                last.response.incomplete_details.reason,
                last.response.output[0].status,
            ),
            ("response.incomplete", "incomplete", "max_output_tokens", "incomplete"),
        )
        raw = tandem.request(
            "POST", "/v1/responses", {"model": "auto", "input": "x", "stream": True}, CLOUD
        )
        assert b"[DONE]" not in raw.body


@case
def test_tools_there_and_back():
    cloud = ScriptedCloud(Script(text="", pieces=[""], extra_delta=CALL, finish="tool_calls"))
    cloud._delta = lambda script, wants, number, piece: REST
    with server(cloud) as tandem:
        client = connect(tandem)
        for streamed in (False, True):
            ask = {
                "model": "auto",
                "input": "Rain?",
                "tools": [TOOL],
                "tool_choice": "required",
                "parallel_tool_calls": False,
            }
            if streamed:
                with client.responses.stream(**ask) as stream:
                    kinds = [event.type for event in stream]
                    response = stream.get_final_response()
                equal(
                    kinds,
                    [
                        "response.created",
                        "response.in_progress",
                        "response.output_item.added",
                        "response.function_call_arguments.delta",
                        "response.function_call_arguments.delta",
                        "response.function_call_arguments.done",
                        "response.output_item.done",
                        "response.completed",
                    ],
                )
            else:
                response = client.responses.create(**ask)
            call = response.output[0]
            equal(
                (call.type, call.call_id, call.name, call.status),
                ("function_call", "call_7", "weather", "completed"),
            )
            equal(json.loads(call.arguments), {"city": "Oslo"})
        equal(
            sent(cloud)["tools"],
            [
                {
                    "type": "function",
                    "function": {
                        name: TOOL[name] for name in ("name", "description", "parameters", "strict")
                    },
                }
            ],
        )
        equal((sent(cloud)["tool_choice"], sent(cloud)["parallel_tool_calls"]), ("required", False))
        del cloud._delta
        cloud.script = Script(text="Rain.")
        turns = [
            {"role": "user", "content": "Rain?"},
            *response.output,
            {"type": "function_call_output", "call_id": "call_7", "output": "rain"},
        ]
        answer = client.responses.create(model="auto", input=turns, tools=[TOOL])
        equal(answer.output_text, "Rain.")
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
                            "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
                        }
                    ],
                },
                {"role": "tool", "content": "rain", "tool_call_id": "call_7"},
            ],
        )
        client.responses.create(
            model="auto",
            input=[
                *turns,
                *answer.output,
                {"role": "user", "content": [{"type": "input_text", "text": "Sure?"}]},
            ],
        )
        equal(
            sent(cloud)["messages"][3:],
            [{"role": "assistant", "content": "Rain."}, {"role": "user", "content": "Sure?"}],
        )


@case
def test_a_conversation_is_compacted_and_goes_on():
    cloud = ScriptedCloud(Script(text="They met in Oslo."))
    with server(cloud) as tandem:
        client = connect(tandem)
        turns = [
            {"role": "user", "content": "They met in a town."},
            {"role": "assistant", "content": "Which?"},
            {"role": "user", "content": "Oslo."},
        ]
        compacted = client.responses.compact(model="auto", input=turns)
        equal((compacted.object, compacted.output[-1].type), ("response.compaction", "compaction"))
        client.responses.create(
            model="auto", input=[*compacted.output, {"role": "user", "content": "Who?"}]
        )
        read = [message["content"] for message in sent(cloud)["messages"]]
        equal((len(read), read[0], read[1], read[3]), (4, "They met in a town.", "Oslo.", "Who?"))
        assert read[2].endswith("They met in Oslo."), read


@case
def test_errors_are_the_clients_own():
    cloud = ScriptedCloud(Script(status=500))
    with server(cloud) as tandem:
        client = connect(tandem)

        def refused(kind, needle, **ask):
            try:
                client.responses.create(**{"model": "auto", "input": "x", **ask})
            except openai.APIStatusError as error:
                assert isinstance(error, kind), error
                assert needle in error.body["message"], error.body
                return error.body["param"]
            raise AssertionError("no error")

        bad = openai.BadRequestError
        image = {"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}
        equal(refused(bad, "data:TYPE", input=[image]), "input[0].content[0].image_url")
        equal(refused(bad, "not found", previous_response_id="resp_1"), "previous_response_id")
        item = {"type": "item_reference", "id": "msg_1"}
        equal(refused(openai.NotFoundError, "not found", input=[item]), "input")
        equal(refused(bad, "store is false", background=True, store=False), "background")
        equal(refused(bad, "from 1", max_output_tokens=0), "max_output_tokens")
        refused(openai.NotFoundError, "nobody", model="nobody")
        refused(openai.InternalServerError, "no tier")
        try:
            client.responses.retrieve("resp_1")
        except openai.NotFoundError as error:
            equal(error.body["param"], "id")
    cloud.script = Script(text="a b c d", cut_after=2)
    with server(cloud) as tandem:
        events = list(connect(tandem).responses.create(model="auto", input="x", stream=True))
        equal((events[-1].type, events[-1].response.status), ("response.failed", "failed"))
        assert events[-1].response.error.message, events[-1]
        equal(
            "".join(event.delta for event in events if event.type == "response.output_text.delta"),
            "a b",
        )


@case
def test_an_image_and_a_file_reach_a_tier_that_takes_them():
    cloud = ScriptedCloud(Script(text="A cat."))
    content = base64.b64encode(random.Random(7).randbytes(20_000)).decode()
    png, pdf = f"data:image/png;base64,{content}", f"data:application/pdf;base64,{content}"
    held = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": png, "detail": "low"}},
        {"type": "file", "file": {"filename": "plan.pdf", "file_data": pdf}},
    ]
    parts = [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": png, "detail": "low"},
        {"type": "input_file", "filename": "plan.pdf", "file_data": pdf},
    ]
    with server(cloud, "    modalities: [text, image, file]\n") as tandem:
        client = connect(tandem)
        answer = client.responses.create(model="auto", input=[{"role": "user", "content": parts}])
        equal(answer.output_text, "A cat.")
        equal(sent(cloud)["messages"][-1]["content"], held)
        chat = client.chat.completions.create(
            model="auto", messages=[{"role": "user", "content": held}]
        )
        equal(chat.choices[0].message.content, "A cat.")
        equal(sent(cloud)["messages"][-1]["content"], held)


@case
def test_a_client_that_leaves_stops_the_work():
    cloud = ScriptedCloud(Script(text="a b c d", stall_after=2))
    with server(cloud) as tandem:
        with connect(tandem).responses.create(model="auto", input="x", stream=True) as stream:
            for event in stream:
                if event.type == "response.output_text.delta":
                    break
        wait_until(lambda: cloud.gone_count == 1, what="the cloud noticed that its client left")


@case
def test_a_response_in_the_background_is_gone_on_with_as_a_stream():
    cloud = ScriptedCloud(Script(text="one two three four", piece_delay=0.4))
    with server(cloud) as tandem:
        client = connect(tandem)
        begun = client.responses.create(model="auto", input="Count.", background=True, stream=True)
        seen = []
        for event in begun:
            seen.append(event)
            if event.type == "response.output_text.delta":
                break
        begun.close()
        name = seen[0].response.id
        at = seen[-1].sequence_number
        rest = list(client.responses.retrieve(name, stream=True, starting_after=at))
        assert all(event.sequence_number > at for event in rest[:-1]), rest
        equal((rest[-1].type, rest[-1].response.output_text), (WHOLE, "one two three four"))
        with client.responses.stream(response_id=name) as stream:
            equal(stream.get_final_response().output_text, "one two three four")


@case
def test_files_are_uploaded_listed_read_and_deleted():
    cloud = ScriptedCloud(Script(text="A plan."))
    data = random.Random(11).randbytes(200_000)
    with server(cloud, "    modalities: [text, image, audio, file]\n") as tandem:
        client = connect(tandem)
        made = client.files.create(
            file=("plan.pdf", data),
            purpose="user_data",
            expires_after={"anchor": "created_at", "seconds": 7200},
        )
        equal((made.object, made.filename, made.bytes), ("file", "plan.pdf", len(data)))
        equal(made.expires_at - made.created_at, 7200)
        equal(client.files.retrieve(made.id), made)
        equal([file.id for file in client.files.list(purpose="user_data")], [made.id])
        equal(client.files.content(made.id).read(), data)
        equal(client.files.wait_for_processing(made.id).status, "processed")
        answer = client.responses.create(
            model="auto",
            input=[{"role": "user", "content": [{"type": "input_file", "file_id": made.id}]}],
        )
        equal(answer.output_text, "A plan.")
        held = sent(cloud)["messages"][0]["content"][0]["file"]
        coded = base64.b64encode(data).decode()
        equal(held, {"file_data": f"data:application/pdf;base64,{coded}", "filename": "plan.pdf"})
        equal(client.files.delete(made.id).deleted, True)
        try:
            client.files.retrieve(made.id)
            raise AssertionError("a file that was deleted is there")
        except openai.NotFoundError as error:
            equal(error.param, "id")


@case
def test_a_batch_is_made_watched_and_read():
    cloud = ScriptedCloud(Script(text="Yes."))
    with server(cloud) as tandem:
        client = connect(tandem)
        body = {"model": "auto", "messages": [{"role": "user", "content": "Hi"}]}
        lines = [
            {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}
            for name in ("one", "two")
        ]
        text = "\n".join(map(json.dumps, lines)).encode()
        file = client.files.create(file=("in.jsonl", text), purpose="batch")
        made = client.batches.create(
            input_file_id=file.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={"team": "x"},
        )
        equal((made.status, made.metadata), ("validating", {"team": "x"}))
        wait_until(lambda: client.batches.retrieve(made.id).status == "completed", what="the end")
        ended = client.batches.retrieve(made.id)
        counts = ended.request_counts
        equal((counts.total, counts.completed, counts.failed), (2, 2, 0))
        rows = [json.loads(row) for row in client.files.content(ended.output_file_id).iter_lines()]
        equal([row["custom_id"] for row in rows], ["one", "two"])
        equal([batch.id for batch in client.batches.list(limit=1)], [made.id])
        try:
            client.batches.cancel(made.id)
            raise AssertionError("a batch that has ended was cancelled")
        except openai.ConflictError:
            pass


class Number(BaseModel):
    n: int


@case
def test_the_local_model_answers_in_a_schema():
    cloud = ScriptedCloud(Script(status=500))
    with server(cloud) as tandem:
        client = connect(tandem, {"x-tandem-mode": "only-local"})
        parsed = client.responses.parse(
            model="auto", input="Say 7.", text_format=Number, max_output_tokens=60
        )
        assert isinstance(parsed.output_parsed.n, int)
        equal(parsed.tandem["place"], "device")
        with client.responses.stream(
            model="auto", input="Say 7.", text_format=Number, max_output_tokens=60
        ) as stream:
            assert isinstance(stream.get_final_response().output_parsed.n, int)
        answer = client.responses.create(
            model="auto",
            input="Say 7.",
            text={"format": {"type": "json_object"}},
            max_output_tokens=60,
        )
        assert isinstance(json.loads(answer.output_text), dict), answer.output_text
        equal(len(cloud.requests), 0)


@case
def test_azures_client_asks_by_its_deployment():
    cloud = ScriptedCloud(Script(text="Hello there."))
    keys = "server: {api_keys_env: KEYS}\n"
    config = edge_first(cloud.base_url) + keys
    with Tandem(config, env={"TEST_CLOUD_KEY": "k", "KEYS": "secret"}) as tandem:
        options = {"azure_endpoint": tandem.url, "api_version": "2024-10-21", "max_retries": 0}
        client = openai.AzureOpenAI(api_key="secret", **options)
        hello = [{"role": "user", "content": "Hello."}]
        answer = client.chat.completions.create(model="cloud", messages=hello)
        equal(answer.choices[0].message.content, "Hello there.")
        stream = client.chat.completions.create(model="cloud", messages=hello, stream=True)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
        equal(text, "Hello there.")
        equal(client.responses.create(model="cloud", input="Hi.").output_text, "Hello there.")
        assert client.embeddings.create(model="auto", input="a b").data[0].embedding
        assert client.completions.create(model="local", prompt="One", max_tokens=2).choices
        assert "cloud" in [model.id for model in client.models.list()]
        for key, model, error in (
            ("wrong", "cloud", openai.AuthenticationError),
            ("secret", "nope", openai.NotFoundError),
        ):
            try:
                openai.AzureOpenAI(api_key=key, **options).chat.completions.create(
                    model=model, messages=hello
                )
                raise AssertionError("no error")
            except error:
                pass


@case
def test_moderations_are_parsed():
    with Tandem() as tandem:
        texts = ["I am mary.smith@acme-corp.com", "The sky is blue."]
        answer = connect(tandem).moderations.create(input=texts)
        first, second = answer.results
        equal((first.flagged, second.flagged), (True, False))
        categories = first.categories.to_dict()
        assert categories["pii"] and categories["pii/EMAIL_ADDRESS"], categories
        assert "hate" not in categories and second.category_scores.to_dict() == {}, second


if __name__ == "__main__":
    sys.exit(main())
