#!/usr/bin/env python3
"""What an upstream refuses keeps its meaning on the way to the client: status, code, member and
waiting time, in every dialect, streamed or not. It says nothing that the upstream might have put
there: only codes and members that clients know."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

HARD = "Explain in three sentences why the French revolution began."
ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
ONLY_LOCAL = {"x-tandem-mode": "only-local"}
CHAT = [{"role": "user", "content": HARD}]
WAYS = {
    "/v1/chat/completions": {"model": "auto", "messages": CHAT},
    "/v1/completions": {"model": "auto", "prompt": HARD, "max_tokens": 20},
    "/v1/messages": {"model": "auto", "messages": CHAT, "max_tokens": 20},
    "/v1/responses": {"model": "auto", "input": HARD},
}


def server(cloud):
    config = edge_first(cloud.base_url, "    completions: true\n")
    return Tandem(config, env={"TEST_CLOUD_KEY": "sk-very-secret"})


def refusal(status, code=None, param=None, **more):
    return Script(status=status, error_code=code, error_param=param, **more)


# upstream's answer: (status, code, param, retry-after) of the client's; ... = any
MEANINGS = [
    (
        refusal(400, "context_length_exceeded", "messages"),
        (400, "context_length_exceeded", "messages", None),
    ),
    (
        refusal(400, 400, error_type="exceed_context_size_error"),
        (400, "context_length_exceeded", ..., None),
    ),
    (
        refusal(400, error_message="This model's maximum context length is 2048 tokens."),
        (400, "context_length_exceeded", ..., None),
    ),
    (
        refusal(429, "rate_limit_exceeded", retry_after="30"),
        (429, "rate_limit_exceeded", None, "30"),
    ),
    (refusal(429, retry_after="30"), (429, "rate_limit_exceeded", None, "30")),
    (refusal(429, "insufficient_quota"), (429, "insufficient_quota", None, None)),
    (refusal(403, "insufficient_quota"), (429, "insufficient_quota", None, None)),
    (refusal(402, "insufficient_quota"), (402, "insufficient_quota", None, None)),
    (refusal(400, "content_filter", "prompt"), (400, "content_filter", "prompt", None)),
    (refusal(400, "invalid_value", "temperature"), (400, "invalid_value", "temperature", None)),
    (refusal(422, None, "stop"), (422, "invalid_value", "stop", None)),
    # Neither codes nor members of the upstream's own invention.
    (refusal(400, "see-10.1.2.3", "http://10.1.2.3/"), (400, "invalid_value", None, None)),
    (refusal(400, None, "messages[0].sk-very-secret"), (400, "invalid_value", None, None)),
    (
        refusal(400, None, "messages[0].content"),
        (400, "invalid_value", "messages[0].content", None),
    ),
]


def check_meaning(tandem, script, path, body, wanted):
    """Unstreamed first: a tier that was asked to wait rests by the second request."""
    status, code, param, retry_after = wanted
    for stream in (False, True):
        answer = tandem.request("POST", path, {**body, "stream": stream}, headers=ONLY_CLOUD)
        where = (script.status, script.error_code, script.error_param, path, stream)
        if stream and status == 429:
            assert answer.status in (429, 503), (where, answer.body)
            continue
        equal((where, answer.status), (where, status), answer.body)
        error = answer.json["error"]
        equal((where, error["code"]), (where, code))
        if param is not ... and path in ("/v1/chat/completions", "/v1/completions"):
            equal((where, error.get("param")), (where, param))
        if retry_after:
            equal((where, answer.headers.get("retry-after")), (where, retry_after))
        assert "10.1.2.3" not in str(error["code"]) + str(error.get("param")), where
        assert "sk-very-secret" not in answer.body.decode(), where


@case
def test_a_refusal_keeps_status_code_member_and_waiting_time_in_every_dialect():
    for script, (status, code, param, retry_after) in MEANINGS:
        for path, body in WAYS.items():
            cloud = ScriptedCloud(script)
            with server(cloud) as tandem:
                check_meaning(tandem, script, path, body, (status, code, param, retry_after))
            cloud.close()


WRONG = {
    "no code": refusal(400),
    "a filter": refusal(400, "content_filter"),
    "a value": refusal(400, "invalid_value", "tools[0].function.parameters"),
    "422": refusal(422),
}
FOR_ANOTHER = {
    "too long for this model": refusal(400, "context_length_exceeded"),
    "a parameter that it lacks": refusal(400, "unsupported_parameter", "temperature"),
    "an old server": refusal(400, error_message="unknown field"),
    "no such skill": refusal(400, error_message="this model does not support tools"),
    "our model name": refusal(400, None, "model"),
    "our bill": refusal(400, "billing_hard_limit_reached"),
}


@case
def test_a_request_that_an_upstream_finds_wrong_climbs_no_further_and_costs_no_health():
    for name, script in WRONG.items():
        cloud = ScriptedCloud(script)
        with server(cloud) as tandem:
            for _ in range(5):
                answer = tandem.chat(HARD, {"x-tandem-mode": "prefer-cloud"})
                equal((name, answer.status), (name, script.status), answer.body)
                equal((name, answer.headers.get("x-should-retry")), (name, "false"))
            equal((name, len(cloud.calls())), (name, 5))
            cloud.script = Script(text="Fine.")
            equal((name, tandem.chat(HARD, ONLY_CLOUD).text), (name, "Fine."))
        cloud.close()


@case
def test_a_request_that_one_tier_cannot_serve_is_asked_of_the_next():
    for name, script in FOR_ANOTHER.items():
        cloud = ScriptedCloud(script)
        with server(cloud) as tandem:
            answer = tandem.chat(HARD, {"x-tandem-mode": "prefer-cloud"})
            equal((name, answer.status), (name, 200), answer.body)
            equal((name, answer.tandem["tier"]), (name, "local"))
        cloud.close()


@case
def test_an_error_in_a_stream_before_its_first_text_is_the_same_refusal():
    event = b'data: {"error": {"message": "no", "code": "content_filter", "param": null}}\n\n'
    cloud = ScriptedCloud(Script(garbage_after=0, garbage=event))
    with server(cloud) as tandem:
        for stream in (False, True):
            answer = tandem.chat(HARD, ONLY_CLOUD, stream=stream)
            equal((answer.status, answer.json["error"]["code"]), (400, "content_filter"))


@case
def test_a_missing_capability_is_400_and_a_policy_403():
    image = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    rows = [
        (ONLY_LOCAL, {"messages": [{"role": "user", "content": image}]}, 400, "messages"),
        (ONLY_LOCAL, {"messages": CHAT, "min_tokens": 5}, 400, "min_tokens"),
        (ONLY_CLOUD, {"messages": CHAT, "grammar": 'root ::= "a"'}, 400, "grammar"),
        (ONLY_LOCAL, {"messages": CHAT, "tools": [tool], "tool_choice": {"a": 1}}, 400, "tools"),
        ({**ONLY_CLOUD, "x-tandem-data-class": "restricted"}, {"messages": CHAT}, 403, None),
        ({**ONLY_CLOUD, "x-tandem-no-train": "true"}, {"messages": CHAT}, 403, None),
    ]
    with server(ScriptedCloud()) as tandem:
        for headers, body, status, param in rows:
            answer = tandem.request("POST", "/v1/chat/completions", body, headers=headers)
            equal((headers, body, answer.status), (headers, body, status), answer.body)
            code = "unsupported" if status == 400 else "refused_by_policy"
            equal((answer.json["error"]["code"], answer.json["error"]["param"]), (code, param))


@case
def test_a_prompt_that_is_too_long_is_told_in_words_that_clients_look_for():
    """LangChain and LiteLLM know this error by its message, each provider's by other words."""
    known = ("prompt is too long", "exceeds the available context size", "maximum context length")
    cloud = ScriptedCloud(refusal(400, "context_length_exceeded"))
    with server(cloud) as tandem:
        for headers, text in ((ONLY_LOCAL, "one two three " * 2000), (ONLY_CLOUD, HARD)):
            answer = tandem.chat(text, headers)
            equal((answer.status, answer.json["error"]["code"]), (400, "context_length_exceeded"))
            for words in known:
                assert words in answer.json["error"]["message"], answer.body


if __name__ == "__main__":
    main()
