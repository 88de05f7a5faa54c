#!/usr/bin/env python3
"""Gemini's API: its requests become chats, its answers and errors have Google's form, and privacy,
keys and limits hold. What Google's own clients make of it is tests/clients/'s."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import kept_bytes
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

CLOUD = {"x-tandem-mode": "only-cloud"}
MODEL = "/v1beta/models/auto:"
PRIVACY = "\nprivacy:\n  pseudonyms: {on: true, classes: [sensitive, restricted]}\n"
MAIL = "mary.smith@acme-corp.com"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SIGNATURE = "c2lnbmF0dXJlKy8r" * 40


def server(cloud, more="", tier="", **env):
    return Tandem(edge_first(cloud.base_url, tier) + more, env={"TEST_CLOUD_KEY": "k", **env})


def ask(text="Hello.", **members):
    return {"contents": [{"role": "user", "parts": [{"text": text}]}], **members}


def events(answer):
    """The objects of a stream, as events or as an array."""
    if answer.headers["content-type"].startswith("application/json"):
        return answer.json
    found = [block for block in answer.body.decode().split("\n\n") if block.strip()]
    assert all(block.strip().startswith("data: ") for block in found), found
    return [json.loads(block.strip().removeprefix("data: ")) for block in found]


def parts(objects):
    return [
        part
        for item in objects
        for candidate in item["candidates"]
        for part in candidate["content"]["parts"]
    ]


def text(objects):
    return "".join(part.get("text", "") for part in parts(objects))


def field(answer):
    """The place that a refusal names."""
    for detail in answer.json["error"]["details"]:
        if "fieldViolations" in detail:
            return detail["fieldViolations"][0]["field"]
    return None


@case
def test_a_request_becomes_the_chat_that_asks_the_same():
    cloud = ScriptedCloud(Script(text="Hello there."))
    body = ask(
        systemInstruction={"parts": [{"text": "Be brief."}]},
        generationConfig={
            "temperature": 0.5,
            "topP": 0.9,
            "topK": 40.0,
            "maxOutputTokens": "50",
            "stopSequences": ["END"],
            "seed": 7,
            "candidateCount": 1,
            "thinkingConfig": {"thinkingBudget": 1024},
        },
    )
    with server(cloud) as tandem:
        answer = tandem.request("POST", MODEL + "generateContent", body, CLOUD)
    equal(answer.status, 200, answer.body.decode())
    sent = cloud.requests[-1]["json"]
    wanted = {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "max_completion_tokens": 50,
        "stop": ["END"],
        "seed": 7,
        "n": 1,
        "reasoning_effort": "low",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello."},
        ],
    }
    equal({name: sent.get(name) for name in wanted}, wanted)
    got = answer.json
    equal(text([got]), "Hello there.")
    candidate = got["candidates"][0]
    equal(
        (candidate["finishReason"], candidate["index"], candidate["content"]["role"]),
        ("STOP", 0, "model"),
    )
    usage = got["usageMetadata"]
    equal(usage["totalTokenCount"], usage["promptTokenCount"] + usage["candidatesTokenCount"])
    equal((got["modelVersion"], got["tandem"]["tier"]), ("scripted", "cloud"))


@case
def test_a_stream_is_events_or_one_array():
    cloud = ScriptedCloud(Script(text="One two three."))
    with server(cloud) as tandem:
        for query in ("?alt=sse", ""):
            for version in ("v1beta", "v1"):
                path = f"/{version}/models/auto:streamGenerateContent{query}"
                answer = tandem.request("POST", path, ask(), CLOUD)
                equal(answer.status, 200, answer.body.decode())
                got = events(answer)
                equal(text(got), "One two three.")
                assert len(got) > 2, got
                reasons = [item["candidates"][0].get("finishReason") for item in got]
                equal(reasons, [None] * (len(got) - 1) + ["STOP"])
                assert "usageMetadata" in got[-1] and "tandem" in got[0], got


@case
def test_a_stream_that_breaks_ends_with_an_error_of_googles_form():
    cloud = ScriptedCloud(Script(text="a b c d e f", cut_after=2))
    with server(cloud) as tandem:
        for query in ("?alt=sse", ""):
            path = MODEL + "streamGenerateContent" + query
            got = events(tandem.request("POST", path, ask(), CLOUD))
            error = got[-1]["error"]
            assert error["code"] >= 500 and error["status"], error


@case
def test_calls_and_answers_go_both_ways_with_their_signatures():
    signed = {"extra_content": {"google": {"thought_signature": SIGNATURE}}}
    calls = {
        "tool_calls": [
            {
                "index": index,
                "id": f"call_{city}",
                "type": "function",
                "function": {"name": "weather", "arguments": json.dumps({"city": city})},
                **more,
            }
            for index, (city, more) in enumerate((("Oslo", signed), ("Rome", {})))
        ]
    }
    declared = {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "OBJECT",
            "properties": {
                "city": {"type": "STRING", "nullable": True},
                "type": {"type": "STRING"},
            },
            "propertyOrdering": ["type", "city"],
            "required": ["city"],
        },
    }
    body = ask(
        "Weather?",
        tools=[{"functionDeclarations": [declared]}, {"googleSearch": {}}],
        toolConfig={"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}},
    )
    cloud = ScriptedCloud(Script(text="", extra_delta=calls, finish="tool_calls"))
    with server(cloud) as tandem:
        whole = tandem.request("POST", MODEL + "generateContent", body, CLOUD)
        equal(whole.status, 200, whole.body.decode())
        equal(whole.headers["x-tandem-not-run"], "googleSearch")
        path = MODEL + "streamGenerateContent?alt=sse"
        streamed = parts(events(tandem.request("POST", path, body, CLOUD)))
        sent = cloud.requests[-1]["json"]
        equal(sent["tool_choice"], "required")
        function = sent["tools"][0]["function"]
        equal(
            function["parameters"],
            {
                "type": "object",
                "properties": {
                    "type": {"type": "string"},
                    "city": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                },
                "required": ["city"],
            },
        )
        equal(list(function["parameters"]["properties"]), ["type", "city"], "order")
        first, second = parts([whole.json])
        equal(streamed, [first, second])
        equal(
            first["functionCall"], {"id": "call_Oslo", "name": "weather", "args": {"city": "Oslo"}}
        )
        equal((first["thoughtSignature"], second.get("thoughtSignature")), (SIGNATURE, None))
        # The next turn, as Google's client for Python writes it: without ids, in base64 of URLs.
        first["thoughtSignature"] = SIGNATURE.replace("+", "-").replace("/", "_")
        for part in (first, second):
            del part["functionCall"]["id"]
        answers = [
            {"functionResponse": {"name": "weather", "response": {"sky": sky}}}
            for sky in ("grey", "blue")
        ]
        cloud.script = Script(text="Grey and blue.")
        turn = {
            **body,
            "toolConfig": {},
            "contents": [
                *body["contents"],
                {"role": "model", "parts": [first, second]},
                {"role": "user", "parts": answers},
            ],
        }
        after = tandem.request("POST", MODEL + "generateContent", turn, CLOUD)
        equal(after.status, 200, after.body.decode())
    _, model, oslo, rome = cloud.requests[-1]["json"]["messages"]
    ids = [call["id"] for call in model["tool_calls"]]
    equal([oslo["tool_call_id"], rome["tool_call_id"]], ids)
    equal(
        [json.loads(item["content"]) for item in (oslo, rome)], [{"sky": "grey"}, {"sky": "blue"}]
    )
    extra = [call.get("extra_content") for call in model["tool_calls"]]
    equal(extra, [{"google": {"thought_signature": SIGNATURE}}, None])


@case
def test_thoughts_are_shown_where_they_are_asked_for():
    cloud = ScriptedCloud(
        Script(text="Yes.", extra_delta={"reasoning_content": "Hm.", "content": ""})
    )
    shown = {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}
    with server(cloud) as tandem:
        for method in ("generateContent", "streamGenerateContent"):
            for config, wanted in (({}, []), (shown, ["Hm."])):
                answer = tandem.request("POST", MODEL + method, ask(**config), CLOUD)
                got = answer.json if isinstance(answer.json, list) else [answer.json]
                thoughts = [part["text"] for part in parts(got) if part.get("thought")]
                equal(thoughts, wanted, method)
                said = [part["text"] for part in parts(got) if not part.get("thought")]
                equal("".join(said), "Yes.")


@case
def test_media_become_parts_of_a_chat():
    cloud = ScriptedCloud()
    tier = "    modalities: [text, image, audio, file]\n"
    media = [
        {"inlineData": {"mimeType": "image/png", "data": PIXEL.replace("+", "-").rstrip("=")}},
        {"inline_data": {"mime_type": "audio/mpeg", "data": "AAAA"}},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "https://example.com/a.pdf"}},
    ]
    with server(cloud, tier=tier) as tandem:
        body = {"contents": [{"parts": media}]}
        answer = tandem.request("POST", MODEL + "generateContent", body, CLOUD)
        equal(answer.status, 200, answer.body.decode())
        image, audio, file = cloud.requests[-1]["json"]["messages"][0]["content"]
        equal(image["image_url"], {"url": "data:image/png;base64," + PIXEL})
        equal(audio["input_audio"], {"data": "AAAA", "format": "mp3"})
        equal(file["file"]["file_data"], "https://example.com/a.pdf")
        for part, place in (
            ({"inlineData": {"mimeType": "image/png", "data": "%%"}}, "inlineData.data"),
            ({"inlineData": {"mimeType": "x", "data": "AAAA"}}, "inlineData.mimeType"),
            ({"inlineData": 3}, "inlineData"),
            ({"fileData": {"fileUri": "gs://bucket/a"}}, "fileData.fileUri"),
        ):
            body = {"contents": [{"parts": [part]}]}
            refused = tandem.request("POST", MODEL + "generateContent", body, CLOUD)
            equal((refused.status, field(refused)), (400, "contents[0].parts[0]." + place))


@case
def test_structured_answers_by_both_kinds_of_schema():
    cloud = ScriptedCloud(Script(text='{"city": "Oslo"}'))
    own = {"type": "OBJECT", "properties": {"city": {"type": "STRING", "minLength": "1"}}}
    standard = {"type": "object", "properties": {"city": {"type": "string", "minLength": 1}}}
    with server(cloud) as tandem:
        for config in (
            {"responseSchema": own},
            {"response_schema": own},
            {"responseJsonSchema": standard},
        ):
            config = {"responseMimeType": "application/json", **config}
            answer = tandem.request(
                "POST", MODEL + "generateContent", ask(generationConfig=config), CLOUD
            )
            equal(answer.status, 200, answer.body.decode())
            equal(cloud.requests[-1]["json"]["response_format"]["json_schema"]["schema"], standard)
        config = {"responseMimeType": "application/json"}
        tandem.request("POST", MODEL + "generateContent", ask(generationConfig=config), CLOUD)
        equal(cloud.requests[-1]["json"]["response_format"], {"type": "json_object"})


@case
def test_what_cannot_be_run_is_named_and_what_would_change_the_answer_is_refused():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        body = ask(
            safetySettings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
            tools=[{"codeExecution": {}}],
            generationConfig={"mediaResolution": "MEDIA_RESOLUTION_LOW"},
        )
        answer = tandem.request("POST", MODEL + "generateContent", body, CLOUD)
        equal(answer.status, 200, answer.body.decode())
        wanted = "codeExecution, safetySettings, mediaResolution"
        equal(answer.headers["x-tandem-not-run"], wanted)
        equal(answer.json["tandem"]["not_run"], wanted)
        odd = {"": 1, "a": 2, "b\r\nx-tandem-tier: c": 3, "d" * 300: 4, "\u00e9\u0001": 5}
        answer = tandem.request("POST", MODEL + "generateContent", ask(generationConfig=odd), CLOUD)
        equal((answer.status, answer.headers["x-tandem-tier"]), (200, "cloud"))
        config = "generationConfig."
        for members, place in (
            ({"cachedContent": "cachedContents/x"}, "cachedContent"),
            ({"generationConfig": {"candidateCount": 2}}, config + "candidateCount"),
            (
                {"generationConfig": {"responseModalities": ["IMAGE"]}},
                config + "responseModalities",
            ),
            (
                {"generationConfig": {"responseMimeType": "text/x.enum"}},
                config + "responseMimeType",
            ),
            ({"generationConfig": {"temperature": "hot"}}, config + "temperature"),
            ({"generationConfig": {"topK": {}}}, config + "topK"),
            ({"generationConfig": {"maxOutputTokens": -5}}, config + "maxOutputTokens"),
            ({"generationConfig": 3}, "generationConfig"),
            ({"contents": []}, "contents"),
            ({"contents": "Hello."}, "contents"),
            ({"contents": [3]}, "contents[0]"),
            ({"contents": [{"parts": 3}]}, "contents[0].parts"),
            ({"contents": [{"parts": [{}]}]}, "contents[0].parts[0]"),
            ({"contents": [{"parts": [{"text": 3}]}]}, "contents[0].parts[0].text"),
            ({"contents": [{"role": "boss", "parts": []}]}, "contents[0].role"),
            ({"contents": [{"role": "model", "parts": [{"text": "Well,"}]}]}, "contents"),
            ({"contents": [{"parts": []}] * 10000}, "contents"),
            ({"tools": [{"functionDeclarations": [{}]}]}, "tools[0].functionDeclarations[0].name"),
            ({"tools": [{}] * 10000}, "tools"),
            ({"systemInstruction": 3}, "systemInstruction.parts"),
        ):
            refused = tandem.request("POST", MODEL + "generateContent", ask(**members), CLOUD)
            equal((refused.status, field(refused)), (400, place), str(members)[:80])
            equal(refused.json["error"]["status"], "INVALID_ARGUMENT")
        refused = tandem.request("POST", MODEL + "generateContent", "{", CLOUD)
        equal((refused.status, refused.json["error"]["code"]), (400, 400))


@case
def test_errors_have_googles_form():
    cloud = ScriptedCloud(Script(status=429, error_code="rate_limit_exceeded", retry_after="7"))
    with server(cloud) as tandem:
        busy = tandem.request("POST", MODEL + "generateContent", ask(), CLOUD)
        equal((busy.status, busy.json["error"]["status"]), (429, "RESOURCE_EXHAUSTED"))
        absent = tandem.request("POST", "/v1beta/models/nope:generateContent", ask(), CLOUD)
        equal((absent.status, absent.json["error"]["status"]), (404, "NOT_FOUND"))
        wrong = tandem.get(MODEL + "generateContent")
        equal(wrong.status, 404)
        for path in ("/v1beta/models/nope", "/v1/models/nope:generateContent"):
            method = "POST" if ":" in path else "GET"
            refused = tandem.request(method, path, ask() if ":" in path else None)
            equal((refused.status, refused.json["error"]["status"]), (404, "NOT_FOUND"), path)
        # OpenAI's own path keeps OpenAI's form.
        equal(tandem.get("/v1/models/nope").json["error"]["code"], "model_not_found")


@case
def test_the_key_comes_by_googles_header_or_in_the_query_and_is_nowhere_afterwards():
    secret = "AIza-the-key-of-a%2Fclient"
    plain = secret.replace("%2F", "/")
    more = "server: {api_keys_env: KEYS}\nledger: {store_prompts: true}\nlog: {level: debug}\n"
    cloud = ScriptedCloud()
    with server(cloud, more, KEYS=plain) as tandem:
        path = MODEL + "generateContent"
        equal(tandem.request("POST", path, ask()).status, 401)
        equal(tandem.request("POST", path, ask()).json["error"]["status"], "UNAUTHENTICATED")
        for query, headers, status in (
            ("", {"x-goog-api-key": plain}, 200),
            ("?key=" + secret, {}, 200),
            ("?alt=json&key=" + secret, {}, 200),
            ("?key=" + secret[:-1], {}, 401),
            ("?key=" + "x" * 5000, {}, 401),
            ("?key=" + secret, {"x-goog-api-key": "wrong"}, 401),
            ("?key=", {}, 401),
        ):
            answer = tandem.request("POST", path + query, ask(), {**CLOUD, **headers})
            equal(answer.status, status, f"{query[:40]} {headers}")
        chat = {"model": "auto", "messages": [{"role": "user", "content": "Hi."}]}
        answer = tandem.request("POST", "/v1/chat/completions?key=" + secret, chat)
        equal(answer.status, 401, "a key in the query of another API")
        state, log = tandem.state, tandem.log
        for file in state.rglob("*"):
            data = kept_bytes(file) if file.is_file() else b""
            assert plain.encode() not in data and secret.encode() not in data, file
        assert not any(plain in line or secret in line for line in log), log
    assert plain.encode() not in cloud.received and b"the-key-of" not in cloud.received


@case
def test_private_values_are_masked_and_come_back():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud, PRIVACY) as tandem:
        for method in ("generateContent", "streamGenerateContent?alt=sse", "streamGenerateContent"):
            answer = tandem.request("POST", MODEL + method, ask(f"Mail {MAIL} now."), CLOUD)
            equal(answer.status, 200, answer.body.decode())
            got = [answer.json] if method == "generateContent" else events(answer)
            equal(text(got), f"Mail {MAIL} now.")
        signed = ask()
        part = {"text": "Well.", "thoughtSignature": "c2ln"}
        signed["contents"] = [
            {"role": "user", "parts": [{"text": "Hello."}]},
            {
                "role": "model",
                "parts": [{"functionCall": {"name": "f", "args": {"a": MAIL}}}, part],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "f", "response": {"b": MAIL}}}],
            },
        ]
        answer = tandem.request("POST", MODEL + "generateContent", signed, CLOUD)
        equal(answer.status, 200, answer.body.decode())
        extra = cloud.requests[-1]["json"]["messages"][1]["extra_content"]
        equal(extra, {"google": {"thought_signature": "c2ln"}})
    assert MAIL.encode() not in cloud.received


@case
def test_tokens_are_counted_and_models_are_listed():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        path = MODEL + "countTokens"
        plain = tandem.request("POST", path, ask("One two three four five."))
        assert plain.json["totalTokens"] > 5, plain.body
        inside = {
            "generateContentRequest": {"model": "models/x", **ask("One two three four five.")}
        }
        equal(tandem.request("POST", path, inside).json, plain.json)
        models = tandem.get("/v1beta/models").json["models"]
        names = [model["name"] for model in models]
        assert {"models/auto", "models/local", "models/cloud"} <= set(names), names
        for model in models:
            equal(tandem.get("/v1beta/" + model["name"]).json, model)
        google = {"x-goog-api-client": "google-genai-sdk/3.4.0"}
        equal(tandem.get("/v1/models", headers=google).json["models"], models)
        equal(tandem.get("/v1/models/auto", headers=google).json["name"], "models/auto")
        absent = tandem.get("/v1/models/nope", headers=google)
        equal((absent.status, absent.json["error"]["status"]), (404, "NOT_FOUND"))
        for model in models:
            assert model["supportedGenerationMethods"], model
    equal(cloud.requests, [])


@case
def test_texts_are_embedded_alone_and_in_batches():
    with Tandem() as tandem:

        def embed(text, **members):
            return {"content": {"parts": [{"text": text}]}, **members}

        plain = tandem.request("POST", "/v1/embeddings", {"model": "auto", "input": ["a b", "c"]})
        vectors = [item["embedding"] for item in plain.json["data"]]
        one = tandem.request("POST", MODEL + "embedContent", embed("a b"))
        equal(one.json["embedding"]["values"], vectors[0])
        batch = {"requests": [embed("a b", model="models/auto"), embed("c", model="models/auto")]}
        both = tandem.request("POST", MODEL + "batchEmbedContents", batch)
        equal([item["values"] for item in both.json["embeddings"]], vectors)
        short = tandem.request("POST", MODEL + "embedContent", embed("a", outputDimensionality=4))
        equal(len(short.json["embedding"]["values"]), 4)
        for method, body, place in (
            ("embedContent", {}, "content.parts"),
            ("embedContent", embed(""), "content"),
            ("embedContent", embed("a", outputDimensionality=0), "outputDimensionality"),
            ("batchEmbedContents", {"requests": []}, "requests"),
            ("batchEmbedContents", {"requests": [3]}, "requests[0].content.parts"),
            ("batchEmbedContents", {"requests": [embed("a")] * 10000}, "requests"),
        ):
            refused = tandem.request("POST", MODEL + method, body)
            equal((refused.status, field(refused)), (400, place), str(body)[:60])


if __name__ == "__main__":
    main()
