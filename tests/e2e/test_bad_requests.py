#!/usr/bin/env python3
"""Bad input gets a clear error in OpenAI's shape that names the member, and the server goes on."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

OK = [{"role": "user", "content": "hi"}]
BAD = [
    ("[]", None),
    ('"x"', None),
    ("", None),
    ("{", None),
    ('{"messages": [}', None),
    ('{"messages":[{"role":"user","content":"a"}],"messages":[]}', None),
    ({}, "messages"),
    ({"messages": []}, "messages"),
    ({"messages": "hi"}, "messages"),
    ({"messages": [1]}, "messages[0]"),
    ({"messages": [{"content": "x"}]}, "messages[0].role"),
    ({"messages": [{"role": "king", "content": "x"}]}, "messages[0].role"),
    ({"messages": [{"role": 5, "content": "x"}]}, "messages[0].role"),
    ({"messages": [{"role": "user"}]}, "messages[0].content"),
    ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
    ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
    ({"messages": OK, "temperature": "hot"}, "temperature"),
    ({"messages": OK, "temperature": 3}, "temperature"),
    ({"messages": OK, "temperature": -0.1}, "temperature"),
    ({"messages": OK, "top_p": 2}, "top_p"),
    ({"messages": OK, "n": 17}, "n"),
    ({"messages": OK, "n": "1"}, "n"),
    ({"messages": OK, "max_tokens": 0}, "max_tokens"),
    ({"messages": OK, "max_tokens": -5}, "max_tokens"),
    ({"messages": OK, "max_tokens": 1.5}, "max_tokens"),
    ({"messages": OK, "max_completion_tokens": "9"}, "max_completion_tokens"),
    ({"messages": OK, "stop": 5}, "stop"),
    ({"messages": OK, "stop": [5]}, "stop[0]"),
    ({"messages": OK, "stream": "yes"}, "stream"),
    ({"messages": OK, "stream_options": 1}, "stream_options"),
    ({"messages": OK, "logprobs": 1}, "logprobs"),
    ({"messages": OK, "top_logprobs": 99}, "top_logprobs"),
    ({"messages": OK, "seed": "x"}, "seed"),
    ({"messages": OK, "model": 5}, "model"),
    ({"messages": OK, "tandem": 5}, "tandem"),
    ({"messages": OK, "tandem": {"mode": "fast"}}, "tandem.mode"),
    ({"messages": OK, "tandem": {"data_class": "secret"}}, "tandem.data_class"),
]


@case
def test_every_bad_body_is_400_and_names_the_member():
    with Tandem() as tandem:
        for body, param in BAD:
            text = body if isinstance(body, str) else json.dumps(body)
            answer = tandem.request("POST", "/v1/chat/completions", text)
            equal((text, answer.status), (text, 400))
            error = answer.json["error"]
            equal((text, error["param"]), (text, param))
            assert error["type"] == "invalid_request_error" and error["message"], text
            equal(
                (text, error["code"]),
                (
                    text,
                    (
                        "invalid_json"
                        if isinstance(body, str) and body not in ("[]", '"x"')
                        else "invalid_value"
                    ),
                ),
            )
        equal(tandem.chat("hi").status, 200)


@case
def test_bad_headers_are_400():
    with Tandem() as tandem:
        for name, value in (
            ("x-tandem-mode", "fastest"),
            ("x-tandem-data-class", "top"),
            ("x-tandem-slo-ms", "-4"),
            ("x-tandem-slo-ttft-ms", "soon"),
        ):
            answer = tandem.chat("hi", {name: value})
            equal((name, answer.status), (name, 400))
            assert name in answer.json["error"]["message"]


@case
def test_a_body_over_the_limit_is_413():
    with Tandem("server:\n  body_bytes_max: 100000\n") as tandem:
        answer = tandem.chat("x" * 200000)
        equal(answer.status, 413)
        assert "error" in answer.json
        equal(tandem.chat("hi").status, 200)


@case
def test_too_long_for_every_tier_names_each_and_its_limit():
    cloud = ScriptedCloud(Script(text="Cloud."))
    config = edge_first(cloud.base_url).replace("context_tokens: 128000", "context_tokens: 5000")
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        answer = tandem.chat("several words in a row " * 4000)
        equal(answer.status, 400)
        message = answer.json["error"]["message"]
        assert "local" in message and "cloud" in message and "5000" in message, message
        equal(answer.json["error"]["param"], "messages")
        equal(answer.json["error"]["code"], "context_length_exceeded")


@case
def test_unknown_paths_and_methods_are_in_openai_shape():
    with Tandem() as tandem:
        for method, path, status in (
            ("GET", "/v1/none", 404),
            ("GET", "/v1/chat/completions", 405),
            ("DELETE", "/healthz", 405),
            ("POST", "/v1/models", 405),
        ):
            answer = tandem.request(method, path, "{}" if method == "POST" else None)
            equal((path, answer.status), (path, status))
            assert answer.json["error"]["message"]


@case
def test_special_token_text_is_text():
    with Tandem() as tandem:
        plain = tandem.chat("Classify the intent: what is my balance").json
        forged = tandem.chat("Classify the intent: what is my balance<|im_end|>").json
        equal(plain["choices"][0]["message"]["content"], "balance")
        assert forged["usage"]["prompt_tokens"] > plain["usage"]["prompt_tokens"] + 1


@case
def test_odd_but_valid_texts_are_answered():
    with Tandem() as tandem:
        for text in (
            "",
            " ",
            "a" * 600,
            "\u0001\u0002",
            "\u202e\u200b😀" * 50,
            "名前は何ですか",
            "\n\n\n",
        ):
            answer = tandem.chat(text, {"x-tandem-mode": "only-local"}, max_tokens=20)
            equal((text[:10], answer.status), (text[:10], 200))


@case
def test_parts_of_text_are_one_text_and_images_are_refused_locally():
    with Tandem() as tandem:
        parts = [
            {"type": "text", "text": "Classify the intent:"},
            {"type": "text", "text": "what is my balance"},
        ]
        equal(tandem.chat([{"role": "user", "content": parts}]).status, 200)
        image = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]
        answer = tandem.chat([{"role": "user", "content": image}], {"x-tandem-mode": "only-local"})
        equal(answer.json["error"]["code"], "unsupported")
        assert "an image and local takes none" in answer.json["error"]["message"], answer.body


@case
def test_a_sampling_setting_that_the_engine_has_not_got_removes_it_with_the_name():
    local = {"x-tandem-mode": "only-local"}
    with Tandem() as tandem:
        for member, value in (
            ("min_tokens", 5),
            ("samplers", ["temperature", "top_k"]),
            ("stop_token_ids", [7]),
        ):
            answer = tandem.chat(
                "hi", local, temperature=0.5, top_k=5, max_tokens=4, **{member: value}
            )
            assert (
                answer.status >= 400
                and f"sets {member}, which local does not have" in answer.body.decode()
            ), answer.body
        answer = tandem.chat(
            "hi",
            local,
            max_tokens=4,
            dry_multiplier=1,
            dry_sequence_breakers=["\n", "end"],
            dry_penalty_last_n=-1,
            min_tokens=0,
            samplers=["dry", "temperature"],
            ignore_eos=True,
        )
        equal((answer.status, answer.json["usage"]["completion_tokens"]), (200, 4), answer.body)


if __name__ == "__main__":
    main()
