"""Google's official client for Python (google-genai, pinned in requirements.txt) against the real
program: run by test_python.py inside the environment that has it."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from google import genai
from google.genai import errors, types
from pydantic import BaseModel

from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

SIGNATURE = "c2lnbmF0dXJlKy8r"
CALL = {
    "tool_calls": [
        {
            "index": 0,
            "id": "call_7",
            "type": "function",
            "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
            "extra_content": {"google": {"thought_signature": SIGNATURE}},
        }
    ]
}


class City(BaseModel):
    name: str
    people: int


def server(cloud, more=""):
    return Tandem(edge_first(cloud.base_url) + more, env={"TEST_CLOUD_KEY": "k", "KEYS": "secret"})


clients = []  # a client that nobody holds closes its connections


def connect(tandem, key="any", mode="only-cloud"):
    options = types.HttpOptions(base_url=tandem.url, headers={"x-tandem-mode": mode})
    clients.append(genai.Client(api_key=key, http_options=options))
    return clients[-1]


def sent(cloud):
    return cloud.requests[-1]["json"]


@case
def test_a_whole_answer_and_a_stream():
    cloud = ScriptedCloud(Script(text="Hello there, you."))
    config = types.GenerateContentConfig(
        system_instruction="Be brief.", temperature=0.2, top_k=4, max_output_tokens=50
    )
    with server(cloud) as tandem:
        models = connect(tandem).models
        answer = models.generate_content(model="auto", contents="Say hello.", config=config)
        equal((answer.text, answer.model_version), ("Hello there, you.", "scripted"))
        equal(answer.candidates[0].finish_reason, types.FinishReason.STOP)
        assert answer.usage_metadata.total_token_count > 0, answer
        wanted = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Say hello."},
        ]
        equal((sent(cloud)["messages"], sent(cloud)["top_k"]), (wanted, 4))
        chunks = list(models.generate_content_stream(model="auto", contents="Again."))
        equal("".join(chunk.text or "" for chunk in chunks), "Hello there, you.")
        assert len(chunks) > 2 and chunks[-1].usage_metadata.total_token_count > 0, chunks
        local = connect(tandem, mode="only-local").models
        chunks = list(local.generate_content_stream(model="auto", contents="Hello."))
        assert chunks[-1].candidates[0].finish_reason, chunks


@case
def test_a_silent_stream_is_kept_alive_in_a_way_that_the_client_reads():
    cloud = ScriptedCloud(Script(text="Late.", first_delay=11))
    with server(cloud) as tandem:
        chunks = list(
            connect(tandem).models.generate_content_stream(model="auto", contents="Hello.")
        )
        equal("".join(chunk.text or "" for chunk in chunks), "Late.")


@case
def test_a_function_is_called_by_the_client_itself_over_two_turns():
    cloud = ScriptedCloud(Script(text="", extra_delta=CALL, finish="tool_calls"))

    def weather(city: str) -> str:
        """The weather of a city."""
        cloud.script = Script(text=f"Rain in {city}.")
        return "rain"

    config = types.GenerateContentConfig(tools=[weather])
    with server(cloud) as tandem:
        answer = connect(tandem).models.generate_content(
            model="auto", contents="Weather in Oslo?", config=config
        )
    equal(answer.text, "Rain in Oslo.")
    first, second = (request["json"] for request in cloud.requests)
    parameters = first["tools"][0]["function"]["parameters"]
    equal((parameters["type"], parameters["properties"]["city"]["type"]), ("object", "string"))
    _, model, tool = second["messages"]
    (call,) = model["tool_calls"]
    equal(call["extra_content"], {"google": {"thought_signature": SIGNATURE}})
    equal((call["id"], tool["tool_call_id"]), ("call_7", "call_7"))
    equal(json.loads(tool["content"]), {"result": "rain"})


@case
def test_a_chat_remembers_its_turns_and_streams_calls():
    cloud = ScriptedCloud(Script(text="First."))
    with server(cloud) as tandem:
        chat = connect(tandem).chats.create(model="auto")
        equal(chat.send_message("One.").text, "First.")
        cloud.script = Script(text="", extra_delta=CALL, finish="tool_calls")
        calls = [
            call
            for chunk in chat.send_message_stream("Two.")
            for call in chunk.function_calls or []
        ]
        equal([(call.name, call.args) for call in calls], [("weather", {"city": "Oslo"})])
        roles = [message["role"] for message in sent(cloud)["messages"]]
        equal(roles, ["user", "assistant", "user"])


@case
def test_a_structured_answer_is_parsed():
    cloud = ScriptedCloud(Script(text='{"name": "Oslo", "people": 700000}'))
    config = types.GenerateContentConfig(
        response_mime_type="application/json", response_schema=City
    )
    with server(cloud) as tandem:
        answer = connect(tandem).models.generate_content(
            model="auto", contents="Oslo?", config=config
        )
    equal(answer.parsed, City(name="Oslo", people=700000))
    schema = sent(cloud)["response_format"]["json_schema"]["schema"]
    equal(schema["properties"]["people"]["type"], "integer")


@case
def test_an_image_is_passed_on():
    cloud = ScriptedCloud()
    more = "    modalities: [text, image]\n"
    with Tandem(edge_first(cloud.base_url, more), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        image = types.Part.from_bytes(data=b"\xff\xfe\xfd?>", mime_type="image/png")
        connect(tandem).models.generate_content(model="auto", contents=["What?", image])
    _, part = sent(cloud)["messages"][0]["content"]
    equal(part["image_url"]["url"], "data:image/png;base64,//79Pz4=")


@case
def test_errors_have_their_classes():
    cloud = ScriptedCloud(Script(status=429, error_code="rate_limit_exceeded"))
    with server(cloud, "server: {api_keys_env: KEYS}\n") as tandem:
        for key, model, code, status in (
            ("wrong", "auto", 401, "UNAUTHENTICATED"),
            ("secret", "nope", 404, "NOT_FOUND"),
            ("secret", "auto", 429, "RESOURCE_EXHAUSTED"),
        ):
            for method in ("generate_content", "generate_content_stream"):
                try:
                    list(getattr(connect(tandem, key).models, method)(model=model, contents="x"))
                    raise AssertionError("no error")
                except errors.ClientError as error:
                    equal((error.code, error.status), (code, status), method)
    cloud.script = Script(text="a b c d", cut_after=2)
    with server(cloud) as tandem:
        try:
            list(connect(tandem).models.generate_content_stream(model="auto", contents="x"))
            raise AssertionError("no error")
        except errors.APIError as error:
            assert error.code >= 500, error


@case
def test_models_tokens_and_vectors():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        models = connect(tandem).models
        names = [model.name for model in models.list()]
        assert "models/auto" in names, names
        assert models.get(model="cloud").input_token_limit == 128000
        counted = models.count_tokens(model="auto", contents="One two three.")
        assert counted.total_tokens > 3, counted
        found = models.embed_content(model="auto", contents=["a b", "c"])
        equal(len(found.embeddings), 2)
        assert len(found.embeddings[0].values) > 8, found


if __name__ == "__main__":
    main()
