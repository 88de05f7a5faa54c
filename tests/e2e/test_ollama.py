#!/usr/bin/env python3
"""Ollama's API and llama-server's own endpoints: requests of their documentation are answered in
their form, from the same tiers and under the same rules as a chat. What the official clients make
of Ollama's answers is shown by tests/clients/test_python.py."""

import base64
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from private_letter import LETTER, PRIVATE
from scripted_cloud import WEATHER, Script, ScriptedCloud
from tandem import Tandem, edge_first, parse_sse

ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
ONLY_LOCAL = {"x-tandem-mode": "only-local"}
HI = [{"role": "user", "content": "Say hello."}]
SECOND_NS = 1_000_000_000
PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0\x90wS\xde"
).decode()


def server(cloud, more="", **env):
    return Tandem(edge_first(cloud.base_url) + more, env={"TEST_CLOUD_KEY": "k", **env})


def post(tandem, path, body, headers=ONLY_CLOUD):
    return tandem.request("POST", path, body, headers)


def lines(answer):
    equal(answer.headers["content-type"], "application/x-ndjson")
    assert answer.body.endswith(b"\n"), answer.body
    return [json.loads(line) for line in answer.body.decode().splitlines()]


def sent(cloud):
    return cloud.requests[-1]["json"]


def check_times(last, seconds=60):
    """Durations are those of this request, and fit together."""
    whole, first, rest = (
        last[name] for name in ("total_duration", "prompt_eval_duration", "eval_duration")
    )
    assert 0 < first <= whole < seconds * SECOND_NS, last
    assert abs(whole - first - rest) <= 1000, last
    equal(last["load_duration"], 0)


# --- /api/chat ---


@case
def test_a_chat_is_lines_of_json_unless_stream_is_false():
    cloud = ScriptedCloud(Script(text="Hello there, you.", usage=True, piece_chars=5))
    with server(cloud) as tandem:
        got = lines(post(tandem, "/api/chat", {"model": "auto", "messages": HI}))
        assert len(got) > 2, got
        equal({line["done"] for line in got[:-1]}, {False})
        equal("".join(line["message"]["content"] for line in got), "Hello there, you.")
        equal({line["message"]["role"] for line in got}, {"assistant"})
        last = got[-1]
        equal((last["done"], last["done_reason"]), (True, "stop"))
        assert last["prompt_eval_count"] > 0 < last["eval_count"], last
        check_times(last)
        equal(last["tandem"]["tier"], "cloud")
        whole = post(tandem, "/api/chat", {"model": "auto", "messages": HI, "stream": False})
        equal(whole.headers["content-type"], "application/json")
        equal(whole.json["message"], {"role": "assistant", "content": "Hello there, you."})
        check_times(whole.json)
        local = post(tandem, "/api/chat", {"model": "local", "messages": HI}, {})
        equal(lines(local)[-1]["tandem"]["place"], "device")


@case
def test_times_are_measured():
    cloud = ScriptedCloud(Script(text="a b c d", piece_delay=0.1))
    with server(cloud) as tandem:
        last = lines(post(tandem, "/api/chat", {"model": "auto", "messages": HI}))[-1]
        assert last["eval_duration"] > 0.2 * SECOND_NS, last
        check_times(last)


@case
def test_options_format_and_think_reach_the_tier():
    cloud = ScriptedCloud(Script(text='{"a": 1}'))
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    options = {
        "temperature": 0.5,
        "num_predict": 40.0,
        "stop": ["END"],
        "seed": 7,
        "top_p": 0.9,
        "num_ctx": 8192,
        "num_gpu": 1,
    }
    body = {
        "model": "auto",
        "messages": HI,
        "stream": False,
        "format": schema,
        "options": options,
        "think": "low",
        "keep_alive": "5m",
    }
    with server(cloud) as tandem:
        equal(post(tandem, "/api/chat", body).status, 200)
        asked = sent(cloud)
        equal(
            {name: asked.get(name) for name in ("temperature", "stop", "seed", "top_p")},
            {"temperature": 0.5, "stop": ["END"], "seed": 7, "top_p": 0.9},
        )
        equal(asked.get("max_completion_tokens", asked.get("max_tokens")), 40)
        equal(asked["response_format"]["json_schema"]["schema"], schema)
        equal(asked["reasoning_effort"], "low")
        for name in ("options", "format", "think", "keep_alive", "num_ctx", "num_gpu"):
            assert name not in asked, asked
        equal(post(tandem, "/api/chat", {**body, "format": "json"}).status, 200)
        equal(sent(cloud)["response_format"], {"type": "json_object"})
        unlimited = {**body, "options": {"num_predict": -1}, "format": ""}
        equal(post(tandem, "/api/chat", unlimited).status, 200)
        assert "response_format" not in sent(cloud), sent(cloud)


def call_of(number, city):
    arguments = json.dumps({"city": city})
    return {
        "index": number,
        "id": f"call_{city}",
        "function": {"name": "weather", "arguments": arguments},
    }


@case
def test_tools_over_two_turns():
    calls = {"tool_calls": [call_of(0, "Oslo"), call_of(1, "Rome")]}
    cloud = ScriptedCloud(Script(pieces=[""], extra_delta=calls, finish="tool_calls"))
    ask = {"model": "auto", "messages": HI, "tools": [WEATHER]}
    with server(cloud) as tandem:
        whole = post(tandem, "/api/chat", {**ask, "stream": False}).json["message"]
        streamed = lines(post(tandem, "/api/chat", ask))
        found = [line["message"] for line in streamed if "tool_calls" in line["message"]]
        equal(len(found), 1)
        for message in (whole, found[0]):
            equal(
                [call["function"]["arguments"] for call in message["tool_calls"]],
                [{"city": "Oslo"}, {"city": "Rome"}],
            )
        equal(streamed[-1]["done_reason"], "stop")
        equal(sent(cloud)["tools"], [WEATHER])
        cloud.script = Script(text="Sunny.")
        bare = [{"function": call["function"]} for call in whole["tool_calls"]]
        turn = [
            *HI,
            {"role": "assistant", "content": "", "tool_calls": bare},
            {"role": "tool", "content": "sun", "tool_name": "weather"},
            {"role": "tool", "content": "rain", "tool_name": "weather"},
        ]
        equal(post(tandem, "/api/chat", {**ask, "messages": turn, "stream": False}).status, 200)
        messages = sent(cloud)["messages"]
        ids = [call["id"] for call in messages[1]["tool_calls"]]
        equal(len(set(ids)), 2)
        equal([message["tool_call_id"] for message in messages[2:]], ids)
        equal(
            [json.loads(call["function"]["arguments"]) for call in messages[1]["tool_calls"]],
            [{"city": "Oslo"}, {"city": "Rome"}],
        )


@case
def test_reasoning_is_thinking_unless_it_is_not_wanted():
    thought = {"reasoning_content": "Let me see."}
    cloud = ScriptedCloud(Script(pieces=["Yes."], extra_delta=thought))
    ask = {"model": "auto", "messages": HI}
    with server(cloud) as tandem:
        for think, wanted in ((None, "Let me see."), (True, "Let me see."), (False, "")):
            body = {**ask, **({} if think is None else {"think": think})}
            whole = post(tandem, "/api/chat", {**body, "stream": False}).json["message"]
            equal(whole.get("thinking", ""), wanted, f"think: {think}")
            got = lines(post(tandem, "/api/chat", body))
            equal("".join(line["message"].get("thinking", "") for line in got), wanted)
            equal("".join(line["message"]["content"] for line in got), "Yes.")


@case
def test_images_in_base64_become_parts_with_their_type():
    cloud = ScriptedCloud(Script(text="A dot."))
    body = {
        "model": "cloud",
        "messages": [{"role": "user", "content": "What is it?", "images": [PNG]}],
        "stream": False,
    }
    takes = edge_first(cloud.base_url, "    modalities: [text, image]\n")
    with Tandem(takes, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        answer = post(tandem, "/api/chat", body)
        equal(answer.status, 200, answer.body.decode())
        parts = sent(cloud)["messages"][0]["content"]
        equal(parts[1]["image_url"]["url"], "data:image/png;base64," + PNG)
        body["messages"][0]["images"] = ["bm8gaW1hZ2U="]
        refused = post(tandem, "/api/chat", body)
        equal((refused.status, refused.json["param"]), (400, "messages[0].images[0]"))


# --- /api/generate ---


@case
def test_generate_is_a_system_and_a_prompt():
    cloud = ScriptedCloud(Script(text="Blue because of air."))
    ask = {"model": "auto", "prompt": "Why is the sky blue?", "system": "Be brief."}
    with server(cloud) as tandem:
        got = lines(post(tandem, "/api/generate", ask))
        equal("".join(line["response"] for line in got), "Blue because of air.")
        check_times(got[-1])
        equal(
            sent(cloud)["messages"],
            [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Why is the sky blue?"},
            ],
        )
        whole = post(tandem, "/api/generate", {**ask, "stream": False})
        equal(whole.json["response"], "Blue because of air.")
        for name, value in (("suffix", 7), ("template", "x"), ("context", [1, 2])):
            refused = post(tandem, "/api/generate", {**ask, name: value})
            equal((refused.status, refused.json["param"]), (400, name))
        equal(
            post(
                tandem, "/api/generate", {**ask, "suffix": "", "context": [], "stream": False}
            ).status,
            200,
        )


@case
def test_a_raw_prompt_is_completed_as_it_is():
    ask = {"model": "local", "prompt": "Tell me", "raw": True, "options": {"num_predict": 4}}
    with Tandem() as tandem:
        raw = post(tandem, "/api/generate", {**ask, "stream": False}, ONLY_LOCAL)
        equal(raw.status, 200, raw.body.decode())
        equal(raw.json["eval_count"], 4)
        body = {"model": "local", "prompt": ask["prompt"], "max_tokens": 4, "temperature": 0}
        plain = tandem.request("POST", "/v1/completions", body).json
        equal(raw.json["prompt_eval_count"], plain["usage"]["prompt_tokens"])
        greedy = {**ask, "options": {"num_predict": 4, "temperature": 0}}
        streamed = lines(post(tandem, "/api/generate", greedy, ONLY_LOCAL))
        equal("".join(line["response"] for line in streamed), plain["choices"][0]["text"])
        equal(streamed[-1]["done_reason"], "length")


@case
def test_a_request_without_words_loads_a_model():
    with Tandem() as tandem:
        for body, reason in (
            ({"model": "local"}, "load"),
            ({"model": "local", "prompt": "", "keep_alive": 0}, "unload"),
        ):
            answer = post(tandem, "/api/generate", body, {})
            equal((answer.json["done"], answer.json["done_reason"]), (True, reason))
        chat = post(tandem, "/api/chat", {"model": "local", "messages": []}, {}).json
        equal((chat["done_reason"], chat["message"]["content"]), ("load", ""))


# --- the same rules ---


@case
def test_nothing_private_leaves_by_these_doors():
    cloud = ScriptedCloud(Script(echo=True))
    more = "\nprivacy:\n  pseudonyms: {on: true, classes: [sensitive, restricted]}\n"
    with server(cloud, more) as tandem:
        for path, body in (
            ("/api/chat", {"messages": [{"role": "user", "content": LETTER}]}),
            ("/api/generate", {"prompt": LETTER}),
            ("/api/generate", {"prompt": "Go on.", "system": LETTER}),
        ):
            got = lines(post(tandem, path, {"model": "auto", **body}))
            assert got[-1]["done"], got[-1]
        for request in cloud.requests:
            text = json.dumps(request["json"], ensure_ascii=False)
            for value in PRIVATE:
                assert value not in text, value
    card = "My card is 4111 1111 1111 1111."
    with server(cloud) as tandem:
        for path, body in (
            ("/api/chat", {"messages": [{"role": "user", "content": card}]}),
            ("/api/generate", {"prompt": card}),
            ("/api/generate", {"prompt": card, "raw": True}),
            ("/completion", {"prompt": card}),
            (
                "/api/chat",
                {
                    "messages": [
                        *HI,
                        {
                            "role": "assistant",
                            "tool_calls": [
                                {"function": {"name": "pay", "arguments": {"card": card}}}
                            ],
                        },
                        {"role": "tool", "content": "ok", "tool_name": "pay"},
                    ]
                },
            ),
        ):
            before = len(cloud.requests)
            answer = post(tandem, path, {"model": "auto", **body})
            equal(answer.status, 403, answer.body.decode())
            equal(len(cloud.requests), before)


@case
def test_faults_are_ollamas_and_name_the_place():
    cloud = ScriptedCloud(Script(status=500))
    with server(cloud) as tandem:
        for body, param in (
            ({"messages": HI, "options": {"temperature": "hot"}}, "options.temperature"),
            ({"messages": HI, "options": {"num_predict": 1.5}}, "options.num_predict"),
            ({"messages": HI, "options": []}, "options"),
            ({"messages": HI, "stream": 1}, "stream"),
            ({"messages": HI, "format": "yaml"}, "format"),
            ({"messages": HI, "format": 3}, "format"),
            ({"messages": HI, "think": 3}, "think"),
            ({"messages": "x"}, "messages"),
            ({"messages": [{"role": "king", "content": "x"}]}, "messages[0].role"),
            ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
            ({"messages": [{"role": "user", "images": "x"}]}, "messages[0].images"),
            ({"messages": [{"role": "user", "images": [3]}]}, "messages[0].images[0]"),
            ({"messages": [{"role": "assistant", "tool_calls": 3}]}, "messages[0].tool_calls"),
            (
                {"messages": [{"role": "assistant", "tool_calls": [{}]}]},
                "messages[0].tool_calls[0].function.name",
            ),
            ({"messages": HI * 5000}, "messages"),
        ):
            answer = post(tandem, "/api/chat", {"model": "auto", **body})
            equal(answer.status, 400, json.dumps(body)[:200])
            assert isinstance(answer.json["error"], str), answer.body
            equal(answer.json["param"], param, answer.body.decode())
        none = post(tandem, "/api/chat", {"model": "none-such", "messages": HI})
        equal((none.status, none.json["code"]), (404, "model_not_found"))
        failed = post(tandem, "/api/chat", {"model": "auto", "messages": HI})
        assert failed.status >= 500 and isinstance(failed.json["error"], str), failed.body


@case
def test_a_stream_that_breaks_ends_with_a_line_that_says_so():
    cloud = ScriptedCloud(Script(text="a b c d", cut_after=2, piece_delay=0.05))
    with server(cloud) as tandem:
        got = lines(post(tandem, "/api/chat", {"model": "auto", "messages": HI}))
        assert "error" in got[-1] or got[-1]["tandem"]["tier"] == "local", got[-1]


@case
def test_lines_are_padded_where_the_server_pads():
    cloud = ScriptedCloud(Script(text="Hello there, you.", piece_chars=3))
    with server(cloud, "server: {pad_stream_bytes: 512}\n") as tandem:
        answer = post(tandem, "/api/chat", {"model": "auto", "messages": HI})
        lengths = {len(line) + 1 for line in answer.body.split(b"\n")[:-2]}
        equal(lengths, {512})
        text = "".join(line["message"]["content"] for line in lines(answer))
        equal(text, "Hello there, you.")


# --- models ---


@case
def test_models_are_listed_and_shown():
    cloud = ScriptedCloud(Script(text="x"))
    with server(cloud) as tandem:
        rows = {row["name"]: row for row in tandem.get("/api/tags").json["models"]}
        for name in ("auto", "local", "cloud"):
            equal(rows[name]["model"], name)
        shown = post(tandem, "/api/show", {"model": "local"}, {}).json
        equal(shown["details"]["format"], "gguf")
        assert rows["local"]["size"] > 1000 and shown["details"]["quantization_level"], shown
        assert "completion" in shown["capabilities"], shown
        for name in ("auto:latest", "cloud", "auto"):
            equal(post(tandem, "/api/show", {"name": name}, {}).status, 200)
        missing = post(tandem, "/api/show", {"model": "none-such"}, {})
        equal(missing.status, 404)
        assert "none-such" in missing.json["error"], missing.body
        for body in ({}, {"model": 3}, {"model": ""}, [], {"model": "a\0b"}):
            equal(post(tandem, "/api/show", body, {}).status, 400, str(body))
        running = tandem.get("/api/ps").json["models"]
        assert running and running[0]["context_length"] > 0, running
        version = tandem.get("/api/version").json["version"]
        assert tuple(map(int, version.split("."))) >= (0, 6, 4), version
        equal(tandem.request("HEAD", "/").status, 200)


@case
def test_pull_says_what_is_there_and_how_to_get_what_is_not():
    with Tandem() as tandem:
        there = post(tandem, "/api/pull", {"model": "local"}, {})
        equal(lines(there), [{"status": "success"}])
        whole = post(tandem, "/api/pull", {"model": "local", "stream": False}, {})
        equal(whole.json, {"status": "success"})
        missing = post(tandem, "/api/pull", {"model": "llama3.2"}, {})
        equal(missing.status, 404)
        assert "tandem models pull" in missing.json["error"], missing.body
    with Tandem("server: {api_keys_env: KEYS}\n", env={"KEYS": "key-of-a,key-of-b"}) as tandem:
        key = {"Authorization": "Bearer key-of-a"}
        refused = post(tandem, "/api/pull", {"model": "local"}, key)
        equal((refused.status, refused.json["code"]), (403, "operator_only"))


@case
def test_embeddings_in_both_of_ollamas_forms():
    with Tandem() as tandem:
        body = {"model": "auto:latest", "input": ["set a timer", "play some jazz"]}
        answer = post(tandem, "/api/embed", body, {}).json
        equal(len(answer["embeddings"]), 2)
        assert 0 < answer["total_duration"] < 60 * SECOND_NS, answer["total_duration"]
        assert answer["prompt_eval_count"] > 0
        one = post(tandem, "/api/embed", {"model": "auto", "input": "set a timer"}, {}).json
        old = post(tandem, "/api/embeddings", {"model": "auto", "prompt": "set a timer"}, {}).json
        equal(one["embeddings"][0], old["embedding"])
        short = {"model": "auto", "input": "x", "dimensions": 16}
        equal(len(post(tandem, "/api/embed", short, {}).json["embeddings"][0]), 16)
        for path, body, param in (
            ("/api/embed", {"model": "auto"}, "input"),
            ("/api/embed", {"model": "auto", "input": [1, "x"]}, "input"),
            ("/api/embed", {"model": "auto", "input": {}}, "input"),
            ("/api/embeddings", {"model": "auto", "input": "x"}, "prompt"),
            ("/api/embeddings", {"model": "auto", "prompt": ["x"]}, "prompt"),
        ):
            refused = post(tandem, path, body, {})
            equal((refused.status, refused.json["param"]), (400, param), refused.body.decode())


# --- llama-server ---


@case
def test_llama_servers_completion():
    ask = {"prompt": "Tell me", "n_predict": 4, "temperature": 0, "cache_prompt": True}
    with Tandem() as tandem:
        whole = post(tandem, "/completion", ask, {}).json
        equal((whole["stop"], whole["stop_type"], whole["tokens_predicted"]), (True, "limit", 4))
        assert whole["timings"]["predicted_n"] == 4 and whole["timings"]["prompt_ms"] > 0, whole
        events, done = parse_sse(post(tandem, "/completion", {**ask, "stream": True}, {}).body)
        equal(done, False)
        equal([event["stop"] for event in events[-2:]], [False, True])
        equal("".join(event["content"] for event in events), whole["content"])
        held = {**ask, "grammar": 'root ::= "yes" | "no"', "n_predict": -1}
        assert post(tandem, "/completion", held, {}).json["content"] in ("yes", "no")
        schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
        held = {**ask, "json_schema": schema, "n_predict": 40}
        got = post(tandem, "/completion", held, {})
        equal(got.status, 200, got.body.decode())
        equal(list(json.loads(got.json["content"])), ["a"])
        for more, param in (
            ({"prompt": ""}, "prompt"),
            ({"prompt": None}, "prompt"),
            ({"prompt": ["one", "two"]}, "prompt"),
            ({"prompt": [10**9]}, "prompt"),
            ({"prompt": [1, -1]}, "prompt"),
            ({"prompt": [1, {}]}, "prompt[1]"),
            ({"n_predict": "x"}, "n_predict"),
            ({"n_probs": 1000}, "n_probs"),
            ({"n_probs": 3, "post_sampling_probs": True}, "post_sampling_probs"),
            ({"json_schema": 3}, "json_schema"),
            ({"temperature": "x"}, "temperature"),
        ):
            refused = post(tandem, "/completion", {**ask, **more}, {})
            equal((refused.status, refused.json["error"]["param"]), (400, param))


@case
def test_llama_servers_completion_goes_on_from_token_ids():
    text = "What is 5 km in m? Tell me"
    ask = {"n_predict": 6, "temperature": 0}
    cloud = ScriptedCloud(Script(text="Never."))
    with fills(cloud) as tandem:
        tokens = post(tandem, "/tokenize", {"content": text, "add_special": True}, {}).json[
            "tokens"
        ]
        plain = post(tandem, "/completion", {**ask, "prompt": text}, ONLY_LOCAL).json
        rest = post(tandem, "/detokenize", {"tokens": tokens[-3:]}, {}).json["content"]
        for prompt in (tokens, [*tokens[:-3], rest]):
            answer = post(tandem, "/completion", {**ask, "prompt": prompt}, {})
            equal(answer.status, 200, answer.body.decode())
            equal(answer.json["content"], plain["content"])
            equal(answer.json["tokens_evaluated"], plain["tokens_evaluated"])
        refused = post(tandem, "/completion", {**ask, "prompt": tokens})
        equal(refused.status, 400, refused.body.decode())
        equal(refused.json["error"]["param"], "prompt")
    equal(len(cloud.requests), 0, "requests with token ids at the cloud")


@case
def test_llama_servers_probabilities_are_those_of_the_tokens():
    ask = {"prompt": "Tell me", "n_predict": 4, "temperature": 0, "n_probs": 2}
    with Tandem() as tandem:
        whole = post(tandem, "/completion", ask, {}).json
        events, _ = parse_sse(post(tandem, "/completion", {**ask, "stream": True}, {}).body)
    told = whole["completion_probabilities"]
    equal(len(told), whole["tokens_predicted"])
    for token in told:
        assert token["logprob"] <= 0 and len(token["top_logprobs"]) == 2, token
        equal(token["top_logprobs"][0]["token"], token["token"])
    streamed = [token for event in events for token in event["completion_probabilities"]]
    equal([token["token"] for token in streamed], [token["token"] for token in told])
    columns = {
        "tokens": [" a", " b"],
        "token_logprobs": [-0.5, -0.25],
        "top_logprobs": [{" a": -0.5, " c": -1.0}, {" b": -0.25}],
        "text_offset": [0, 2],
    }
    cloud = ScriptedCloud(Script(pieces=[" a b"], logprobs=columns))
    with fills(cloud) as tandem:
        far = post(tandem, "/completion", ask).json["completion_probabilities"]
    equal([(token["token"], token["logprob"]) for token in far], [(" a", -0.5), (" b", -0.25)])
    equal([len(token["top_logprobs"]) for token in far], [2, 1])


@case
def test_llama_servers_embedding():
    with Tandem() as tandem:
        one = post(tandem, "/embedding", {"content": "set a timer"}, {})
        equal(one.status, 200, one.body.decode())
        equal((len(one.json), len(one.json[0]["embedding"])), (1, 1))
        asked = {"model": "auto", "input": "set a timer"}
        equal(
            one.json[0]["embedding"][0],
            post(tandem, "/v1/embeddings", asked, {}).json["data"][0]["embedding"],
        )
        two = post(tandem, "/embedding", {"content": ["set a timer", "hi"]}, {}).json
        equal([row["index"] for row in two], [0, 1])
        equal(two[0], one.json[0])
        for body, param in (
            ({}, "content"),
            ({"content": 3}, "content"),
            ({"content": ""}, "content"),
            ({"content": "x", "embd_normalize": 1}, "embd_normalize"),
        ):
            refused = post(tandem, "/embedding", body, {})
            equal((refused.status, refused.json["error"]["param"]), (400, param), str(body))


@case
def test_llama_servers_tokens_and_template():
    text = "Héllo, world! 你好"
    with Tandem() as tandem:
        tokens = post(tandem, "/tokenize", {"content": text}, {}).json["tokens"]
        assert len(tokens) > 2, tokens
        equal(post(tandem, "/detokenize", {"tokens": tokens}, {}).json["content"], text)
        pieces = post(tandem, "/tokenize", {"content": text, "with_pieces": True}, {}).json
        equal([token["id"] for token in pieces["tokens"]], tokens)
        spelled = b"".join(
            piece.encode() if isinstance(piece, str) else bytes(piece)
            for piece in (token["piece"] for token in pieces["tokens"])
        )
        equal(spelled.decode(), text)
        equal(post(tandem, "/tokenize", {}, {}).json["tokens"], [])
        prompt = post(tandem, "/apply-template", {"messages": HI}, {}).json["prompt"]
        assert "Say hello." in prompt and prompt != "Say hello.", prompt
        props = tandem.get("/props").json
        assert props["default_generation_settings"]["n_ctx"] > 0, props
        assert props["total_slots"] > 0 and "/" not in props["model_path"], props
        slots = tandem.get("/slots").json
        equal(slots[0]["is_processing"], False)
        for path, body, param in (
            ("/tokenize", {"content": 3}, "content"),
            ("/tokenize", {"content": "x", "with_pieces": 3}, "with_pieces"),
            ("/detokenize", {"tokens": "x"}, "tokens"),
            ("/detokenize", {"tokens": [10**9]}, "tokens"),
            ("/detokenize", {"tokens": [-1]}, "tokens"),
            ("/detokenize", {"tokens": ["x"]}, "tokens"),
            ("/apply-template", {"messages": "x"}, "messages"),
            ("/apply-template", {"messages": HI, "tools": 3}, "tools"),
        ):
            refused = post(tandem, path, body, {})
            equal((refused.status, refused.json["error"]["param"]), (400, param), str(body))
        equal(tandem.request("POST", "/tokenize", "[]").status, 400)


GAPS = (
    ("/infill", {"input_prefix": "def add(a, b):", "input_suffix": "return c", "n_predict": 9}),
    ("/v1/completions", {"prompt": "def add(a, b):", "suffix": "return c", "max_tokens": 9}),
    (
        "/api/generate",
        {"model": "auto", "prompt": "def add(a, b):", "suffix": "return c", "stream": False},
    ),
)


def fills(cloud):
    config = edge_first(cloud.base_url, "    completions: true\n")
    return Tandem(config, env={"TEST_CLOUD_KEY": "k"})


@case
def test_a_gap_is_filled_by_a_server_that_can():
    cloud = ScriptedCloud(Script(text=" c = a + b;"))
    with fills(cloud) as tandem:
        for path, ask in GAPS:
            answer = post(tandem, path, ask, {})
            equal((path, answer.status), (path, 200), answer.body.decode())
            assert b" c = a + b;" in answer.body, answer.body
            equal((sent(cloud)["prompt"], sent(cloud)["suffix"]), ("def add(a, b):", "return c"))
            equal(cloud.requests[-1]["path"], "/v1/completions")
        files = [{"filename": "sums.py", "text": "def sub(a, b): pass"}]
        more = {**GAPS[0][1], "input_extra": files, "prompt": "\n    "}
        equal(post(tandem, "/infill", more, {}).status, 200)
        equal(sent(cloud)["prompt"], "sums.py\ndef sub(a, b): pass\ndef add(a, b):\n    ")
        events, done = parse_sse(post(tandem, "/infill", {**GAPS[0][1], "stream": True}, {}).body)
        equal((events[-1]["stop"], done), (True, False))


@case
def test_a_gap_that_nobody_fills_is_400_and_what_is_private_in_it_stays():
    with Tandem() as tandem:
        for path, ask in GAPS:
            refused = post(tandem, path, ask, {})
            assert refused.status == 400 and b"suffix" in refused.body, refused.body
        plain = post(tandem, "/infill", {"input_prefix": "Tell me", "n_predict": 2}, {})
        equal((plain.status, plain.json["tokens_predicted"]), (200, 2), plain.body.decode())
        for body, param in (
            ({}, "input_prefix"),
            ({"input_prefix": "", "input_suffix": "x"}, "input_prefix"),
            ({"input_prefix": "a", "input_extra": {}}, "input_extra"),
            ({"input_prefix": "a", "input_extra": [7]}, "input_extra[0]"),
            ({"input_prefix": "a", "input_extra": [{"text": 7}]}, "input_extra[0].text"),
            ({"input_prefix": "a", "input_extra": [{"filename": []}]}, "input_extra[0].filename"),
        ):
            refused = post(tandem, "/infill", body, {})
            equal((refused.status, refused.json["error"]["param"]), (400, param), str(body))
    cloud = ScriptedCloud(Script(text="Never."))
    with fills(cloud) as tandem:
        for path, ask in GAPS:
            for name in ("suffix", "input_suffix", "input_prefix", "prompt"):
                if name in ask:
                    assert post(tandem, path, {**ask, name: LETTER}, {}).status >= 400, path
        extra = {**GAPS[0][1], "input_extra": [{"filename": LETTER, "text": "x"}]}
        assert post(tandem, "/infill", extra, {}).status >= 400
    equal(bytes(cloud.received), b"")


@case
def test_llama_servers_counts_adapters_and_control():
    with Tandem() as tandem:
        chat = {"model": "auto", "messages": HI}
        whole = tandem.request("POST", "/v1/chat/completions", chat, ONLY_LOCAL).json
        for path, body in (
            ("/v1/chat/completions/input_tokens", chat),
            ("/v1/responses/input_tokens", {"model": "auto", "input": HI[0]["content"]}),
        ):
            counted = post(tandem, path, body, {})
            equal(
                counted.json,
                {
                    "object": "response.input_tokens",
                    "input_tokens": whole["usage"]["prompt_tokens"],
                },
                path,
            )
            equal(post(tandem, path, {"model": "auto"}, {}).status, 400, path)
        equal(tandem.get("/v1/health").status, 200)
        equal(tandem.get("/lora-adapters").json, [])
        control = {"id": "chatcmpl-1", "action": "reasoning_end"}
        answer = post(tandem, "/v1/chat/completions/control", control, {})
        equal((answer.status, answer.json["success"]), (200, False))
        for more, param in (({"id": 7}, "id"), ({"action": "stop"}, "action")):
            refused = post(tandem, "/v1/chat/completions/control", {**control, **more}, {})
            equal((refused.status, refused.json["error"]["param"]), (400, param))


if __name__ == "__main__":
    main()
