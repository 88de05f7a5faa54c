#!/usr/bin/env python3
"""Gemini, Vertex and Bedrock as tiers, against stand-ins that are as strict as their documentation:
chats, streams, tools, thoughts, media, ends, refusals, and streams that break."""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import WEATHER, Script, ScriptedCloud
from scripted_providers import ScriptedBedrock, ScriptedGemini
from tandem import Tandem, clean_environment, run, stream_text

DATA = "iVBORw0KGgoAAAANSUhEUgAA" * 20  # what it shows does not matter here
CLAUDE = "eu.anthropic.claude-haiku-4-5-20251001-v1:0"


class Cloud:
    """A stand-in, and how it is configured as a tier."""

    def __init__(self, kind, script=None, model=None):
        self.kind = kind
        self.peer = (ScriptedBedrock if kind == "bedrock" else ScriptedGemini)(script)
        self.peer.vertex = kind == "vertex"
        self.model = model or (CLAUDE if kind == "bedrock" else "gemini-2.5-flash")
        self.url = self.peer.root + ("/v1/projects/p/locations/l" if kind == "vertex" else "")
        self.env = {"GEMINI_API_KEY": ScriptedGemini.key}
        if kind == "vertex":
            self.env = {"GOOGLE_OAUTH_ACCESS_TOKEN": ScriptedGemini.key}
        if kind == "bedrock":
            self.env = {"AWS_ACCESS_KEY_ID": self.peer.key_id, "HOME": "/nonexistent"}
            self.env["AWS_SECRET_ACCESS_KEY"] = self.peer.secret

    def serve(self, other=None, **env):
        more = ", api_key_env: GEMINI_API_KEY" if self.kind == "gemini" else ""
        more += f", region: {self.peer.region}" if self.kind == "bedrock" else ""
        config = (
            f"tiers:\n  - {{name: cloud, kind: {self.kind}, model: {json.dumps(self.model)}, "
            f"base_url: {self.url}, modalities: [text, image, audio, file]{more}}}\n"
        )
        names = "cloud"
        if other:
            config += f"  - {{name: other, kind: openai, base_url: {other.base_url}, model: m}}\n"
            names = "cloud, other"
        config += f"routes:\n  - {{name: auto, kind: hybrid, tiers: [{names}]}}\n"
        return Tandem(config, env={**self.env, **env})

    def sent(self):
        return self.peer.calls()[-1]["json"]


KINDS = ("gemini", "vertex", "bedrock")


@case
def test_a_chat_and_its_stream():
    for kind in KINDS:
        cloud = Cloud(kind, Script(text="Grüße an alle."))
        with cloud.serve() as tandem:
            messages = [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hello"},
                {"role": "assistant", "content": "Hi."},
                {"role": "user", "content": "Again"},
            ]
            answer = tandem.chat(messages, max_tokens=50, temperature=0.5, stop=["END"])
            equal((answer.status, answer.text), (200, "Grüße an alle."), f"{kind} {answer.body!r}")
            equal(answer.json["choices"][0]["finish_reason"], "stop")
            equal(answer.json["usage"]["completion_tokens"], 3)
            _, _, chunks, done = tandem.stream("Hello")
            equal((stream_text(chunks), done), ("Grüße an alle.", True), kind)
        body = cloud.peer.calls()[0]["json"]
        if kind == "bedrock":
            equal(cloud.peer.calls()[0]["path"].count("%3A"), 1)  # the colon in the model's name
            equal(body["system"], [{"text": "Be brief."}])
            config = {"maxTokens": 50, "temperature": 0.5, "stopSequences": ["END"]}
            equal(body["inferenceConfig"], config)
            equal(answer.json["usage"]["prompt_tokens_details"]["cached_tokens"], 3)
        else:
            equal(body["systemInstruction"], {"parts": [{"text": "Be brief."}]})
            equal([c["role"] for c in body["contents"]], ["user", "model", "user"])
            config = {"maxOutputTokens": 50, "temperature": 0.5, "stopSequences": ["END"]}
            equal(body["generationConfig"], config)


@case
def test_every_byte_in_a_packet_of_its_own():
    for kind in KINDS:
        cloud = Cloud(kind, Script(text="Ünïcödé – süß 🙂 done", byte_by_byte=True))
        with cloud.serve() as tandem:
            equal(tandem.chat("Hello").text, "Ünïcödé – süß 🙂 done", kind)


@case
def test_tools_there_and_back():
    for kind in KINDS:
        cloud = Cloud(kind, Script(text="I look."))
        cloud.peer.tool_calls = [("weather", '{"city": "Oslo"}'), ("now", "")]
        now = {"type": "function", "function": {"name": "now"}}
        with cloud.serve() as tandem:
            answer = tandem.chat("Weather?", tools=[WEATHER, now], tool_choice="required")
            choice = answer.json["choices"][0]
            equal(choice["finish_reason"], "tool_calls", f"{kind} {answer.body!r}")
            calls = choice["message"]["tool_calls"]
            equal([c["function"]["name"] for c in calls], ["weather", "now"])
            arguments = [json.loads(c["function"]["arguments"]) for c in calls]
            equal(arguments, [{"city": "Oslo"}, {}])
            assert len({call["id"] for call in calls}) == 2, calls
            body = cloud.sent()
            if kind == "bedrock":
                equal(body["toolConfig"]["toolChoice"], {"any": {}})
            else:
                equal(body["toolConfig"]["functionCallingConfig"]["mode"], "ANY")
            cloud.peer.tool_calls = []
            results = [
                {"role": "tool", "tool_call_id": call["id"], "content": '{"degrees": 4}'}
                for call in calls
            ]
            history = [{"role": "user", "content": "Weather?"}, choice["message"], *results]
            answer = tandem.chat(history, tools=[WEATHER, now])
            equal((answer.status, answer.text), (200, "I look."), f"{kind} {answer.body!r}")
            for choice, told in [
                ("none", {"mode": "NONE"}),
                (
                    {"type": "function", "function": {"name": "weather"}},
                    {"mode": "ANY", "allowedFunctionNames": ["weather"]},
                ),
            ]:
                tandem.chat("Weather?", tools=[WEATHER], tool_choice=choice)
                if kind != "bedrock":
                    equal(cloud.sent()["toolConfig"]["functionCallingConfig"], told)
                elif choice == "none":
                    assert "toolConfig" not in cloud.sent(), cloud.sent()


@case
def test_signatures_of_calls_go_back():
    cloud = Cloud("gemini", Script(text="Well."), model="gemini-3.7-flash")
    cloud.peer.tool_calls = [("weather", '{"city": "Oslo"}')]
    with cloud.serve() as tandem:
        message = tandem.chat("Weather?", tools=[WEATHER]).json["choices"][0]["message"]
        call = message["tool_calls"][0]
        signature = call["extra_content"]["google"]["thought_signature"]
        equal(signature, cloud.peer.signature)
        result = {"role": "tool", "tool_call_id": call["id"], "content": "cold"}
        history = [{"role": "user", "content": "Weather?"}, message, result]
        cloud.peer.tool_calls = []
        equal(tandem.chat(history, tools=[WEATHER]).status, 200)
        parts = cloud.sent()["contents"][1]["parts"]
        equal(parts[-1]["thoughtSignature"], cloud.peer.signature)
        equal(
            cloud.sent()["contents"][2]["parts"][0]["functionResponse"],
            {"name": "weather", "response": {"result": "cold"}},
        )
        del call["extra_content"]  # a client that does not keep it
        equal(tandem.chat(history, tools=[WEATHER]).status, 200)


@case
def test_thoughts():
    for kind, model, told in [
        ("gemini", "gemini-2.5-flash", {"thinkingBudget": 1024, "includeThoughts": True}),
        ("gemini", "gemini-3.7-flash", {"thinkingLevel": "low", "includeThoughts": True}),
        ("bedrock", CLAUDE, {"type": "enabled", "budget_tokens": 4000}),
    ]:
        cloud = Cloud(kind, Script(text="It is 4."), model=model)
        cloud.peer.thought = "Two and two."
        cloud.peer.tool_calls = [("weather", "{}")] if kind == "bedrock" else []
        with cloud.serve() as tandem:
            answer = tandem.chat("2+2?", reasoning_effort="low", tools=[WEATHER], max_tokens=100)
            message = answer.json["choices"][0]["message"]
            equal(message["reasoning"], "Two and two.", f"{kind} {answer.body!r}")
            body = cloud.sent()
            if kind == "gemini":
                equal(body["generationConfig"]["thinkingConfig"], told)
                details = answer.json["usage"]["completion_tokens_details"]
                equal(details["reasoning_tokens"], 5)
                continue
            equal(body["additionalModelRequestFields"]["thinking"], told)
            equal(body["inferenceConfig"], {"maxTokens": 4100})
            result = {"role": "tool", "content": "ok"}
            result["tool_call_id"] = message["tool_calls"][0]["id"]
            history = [{"role": "user", "content": "2+2?"}, message, result]
            answer = tandem.chat(history, reasoning_effort="low", tools=[WEATHER])
            equal(answer.status, 200, str(answer.body))
            first = cloud.sent()["messages"][1]["content"][0]["reasoningContent"]
            equal(first["reasoningText"]["text"], "Two and two.")


@case
def test_media_and_formats():
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}
    pdf = {"file_data": f"data:application/pdf;base64,{DATA}", "filename": "a b.pdf"}
    parts = [{"type": "text", "text": "What?"}, image, {"type": "file", "file": pdf}]
    audio = {"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}}
    cloud = Cloud("gemini", Script(text='{"a": 1}'))
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    with cloud.serve() as tandem:
        format_ = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
        content = [{"role": "user", "content": [*parts, audio]}]
        answer = tandem.chat(content, response_format=format_)
        equal(answer.text, '{"a": 1}', str(answer.body))
        told = [p["inlineData"]["mimeType"] for p in cloud.sent()["contents"][0]["parts"][1:]]
        equal(told, ["image/png", "application/pdf", "audio/wav"])
        config = cloud.sent()["generationConfig"]
        equal(config["responseMimeType"], "application/json")
        equal(config["responseJsonSchema"], schema)
    cloud = Cloud("bedrock", Script(text="A picture."))
    with cloud.serve() as tandem:
        parts[0]["cache_control"] = {"type": "ephemeral"}
        answer = tandem.chat([{"role": "user", "content": parts}])
        equal(answer.text, "A picture.", str(answer.body))
        blocks = cloud.sent()["messages"][0]["content"]
        equal([next(iter(b)) for b in blocks], ["text", "cachePoint", "image", "document"])
        equal((blocks[2]["image"]["format"], blocks[3]["document"]["name"]), ("png", "a-b-pdf"))
        # What it has no form for does not go to it.
        answer = tandem.chat("A number", response_format=format_)
        equal((answer.status, len(cloud.peer.calls())), (400, 1), str(answer.body))


@case
def test_reasons_for_the_end():
    for kind, stop, reason in [
        ("gemini", "MAX_TOKENS", "length"),
        ("gemini", "SAFETY", "content_filter"),
        ("gemini", "A_NEW_ONE", "stop"),
        ("bedrock", "max_tokens", "length"),
        ("bedrock", "guardrail_intervened", "content_filter"),
        ("bedrock", "a_new_one", "stop"),
    ]:
        cloud = Cloud(kind, Script(text="Well"))
        cloud.peer.stop = stop
        with cloud.serve() as tandem:
            answer = tandem.chat("Hello")
            equal(answer.json["choices"][0]["finish_reason"], reason, f"{kind} {answer.body!r}")
    cloud = Cloud("gemini", Script(pieces=[]))
    cloud.peer.stop = "MALFORMED_FUNCTION_CALL"
    other = ScriptedCloud(Script(text="From the other."))
    with cloud.serve(other) as tandem:
        equal(tandem.chat("Hello").text, "From the other.")


@case
def test_refusals_mean_what_they_mean():
    other = ScriptedCloud(Script(text="From the other."))
    for kind, status, message, tries in [
        ("gemini", 503, "The model is overloaded.", 2),
        ("gemini", 429, "You exceeded your current quota.", 1),
        ("gemini", 400, "The input token count (9) exceeds the maximum number", 1),
        ("bedrock", 503, "The service is temporarily unavailable.", 2),
        ("bedrock", 400, "Input is too long for requested model.", 1),
    ]:
        cloud = Cloud(kind, Script(status=status, error_message=message))
        with cloud.serve(other) as tandem:
            answer = tandem.chat("Hello")
            equal(answer.text, "From the other.", f"{kind} {status} {answer.body!r}")
            equal(len(cloud.peer.calls()), tries, f"{kind} {status}")
            if status == 429:  # its text says how long to wait, no header does
                tandem.chat("Hello")
                equal(len(cloud.peer.calls()), 1, "it rests")
    for kind in KINDS:
        cloud = Cloud(kind)
        wrong = {name: value + "x" for name, value in cloud.env.items() if name != "HOME"}
        with cloud.serve(**wrong) as tandem:
            answer = tandem.chat("Hello")
            assert answer.status >= 500, (kind, answer.body)
            for value in wrong.values():
                assert value.encode() not in answer.body, (kind, answer.body)


@case
def test_streams_that_break():
    pieces = ["one ", "two ", "three"]
    for kind in ("gemini", "bedrock"):
        for script in [
            Script(pieces=pieces, cut_after=1),
            Script(pieces=pieces, garbage_after=1),
            Script(pieces=pieces, error_after=1, error_message="Overloaded"),
            Script(pieces=pieces, no_done=True),
            Script(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
            Script(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\ndata: 1\n"),
            Script(raw=b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\ndata: "\xff\xfe"\n\n.'),
            Script(raw=b"HTTP/1.1 200 OK\r\n\r\ndata: " + b"[" * 5000 + b"\n\n"),
            Script(raw=b"HTTP/1.1 200 OK\r\n\r\n\x7f\xff\xff\xff" + b"\0" * 2_000_000),
        ]:
            cloud, other = Cloud(kind, script), ScriptedCloud(Script(text="one two three"))
            with cloud.serve(other) as tandem:
                answer = tandem.chat("Count")
                got = (answer.status, answer.text)
                equal(got, (200, "one two three"), f"{kind} {str(script)[:200]}")


@case
def test_credentials_of_aws():
    cloud = Cloud("bedrock", Script(text="Signed."))
    cloud.peer.token = "FwoGZXIvYXdzEXAMPLETOKEN=="
    with cloud.serve(AWS_SESSION_TOKEN=cloud.peer.token) as tandem:
        equal(tandem.chat("Hello").text, "Signed.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ".aws" / "credentials"
        path.parent.mkdir()
        path.write_text(
            "[default]\naws_access_key_id = WRONG\naws_secret_access_key = WRONG\n"
            f"[work]\n# mine\naws_access_key_id={cloud.peer.key_id}\n"
            f"aws_secret_access_key = {cloud.peer.secret}\n"
            f"aws_session_token = {cloud.peer.token}\n"
        )
        cloud.env = {"HOME": folder, "AWS_PROFILE": "work"}
        with cloud.serve() as tandem:
            equal(tandem.chat("Hello").text, "Signed.")
    cloud.peer.bearer = "bedrock-api-key-abc"
    cloud.env = {"AWS_BEARER_TOKEN_BEDROCK": cloud.peer.bearer, "HOME": "/nonexistent"}
    with cloud.serve() as tandem:
        equal(tandem.chat("Hello").text, "Signed.")
    config = "tiers:\n  - {name: b, kind: bedrock, model: m}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.yaml"
        path.write_text(config)
        env = clean_environment(AWS_REGION="eu-west-3", HOME=folder)
        _, out, err = run("models", "--json", "--config", path, env=env)
        said = json.loads(out)["tiers"][0]
        equal(said["base_url"], "https://bedrock-runtime.eu-west-3.amazonaws.com", err)
        equal(said["key"], "missing")
        code, out, err = run("policy", "check", path, env=clean_environment(HOME=folder))
        assert code == 1 and "needs a region" in err + out.decode(), (out, err)


@case
def test_the_doctor_asks_each_in_its_way():
    for kind in KINDS:
        cloud = Cloud(kind, Script(models=["gemini-2.5-flash"]))
        with cloud.serve() as tandem:
            _, out, _ = run("doctor", "--json", "--config", tandem.config, env=tandem.environment)
        (found,) = [row for row in json.loads(out)["checks"] if row["name"] == "tier cloud"]
        equal(found["status"], "ok", f"{kind} {found}")


if __name__ == "__main__":
    sys.exit(main())
