#!/usr/bin/env python3
"""Members of requests: member x dialect -> what happens. Each reaches the server, in the form that
a chat has for it; or the answer names it in x-tandem-not-run; or it is a 400 that names it; or it
is meant for this server."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

CLOUD = {"x-tandem-mode": "only-cloud"}
DIALECTS = {
    "chat": "/v1/chat/completions",
    "completions": "/v1/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
}
TURN = [{"role": "user", "content": "Why are there tides?"}]
TOOL = {"type": "object", "properties": {"q": {"type": "string"}}}
CHAT_TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": TOOL}} for name in ("f", "g")
]
ASKED = {
    "chat": {"messages": TURN},
    "completions": {"prompt": "Why are there tides? Because"},
    "messages": {"messages": TURN, "max_tokens": 90},
    "responses": {"input": "Why are there tides?"},
}
# Offered where a member is about tools.
TOOLS = {
    "chat": {"tools": CHAT_TOOLS},
    "completions": {},
    "messages": {"tools": [{"name": name, "input_schema": TOOL} for name in ("f", "g")]},
    "responses": {
        "tools": [{"type": "function", "name": name, "parameters": TOOL} for name in ("f", "g")]
    },
}


class Sent(dict):
    """These members reach the server; None: the member is not there."""


class Named(str):
    """The answer names it."""


class Refused(str):
    """A 400 with this param."""


class Here(str):
    """This server does what it says."""


AS_IT_IS = object()
ONLY_CHATS = {"chat": AS_IT_IS, "completions": AS_IT_IS}


def named_elsewhere(name):
    return {**ONLY_CHATS, "messages": Named(name), "responses": Named(name)}


def everywhere(**more):
    return dict.fromkeys(DIALECTS, AS_IT_IS) | more


def effort(value):
    return Sent(reasoning_effort=value)


ONE_STOP = Sent(stop=["END"])
NARROWED = Sent(tools=CHAT_TOOLS[1:], tool_choice="required")
PIXEL = {"type": "base64", "media_type": "image/png", "data": "x"}

# (name, value): what happens to it. A dialect's own member that a chat does not know reaches the
# server of a chat as it is: it may know more than this program.
ROWS = [
    ("service_tier", "flex", everywhere()),
    ("service_tier", "standard_only", everywhere(messages=Sent(service_tier="default"))),
    ("service_tier", "auto", everywhere()),
    ("prompt_cache_key", "app-7", everywhere(messages=Named("prompt_cache_key"))),
    ("prompt_cache_retention", "24h", everywhere(messages=Named("prompt_cache_retention"))),
    (
        "metadata",
        {"topic": "tides"},
        {**ONLY_CHATS, "messages": Named("metadata"), "responses": Here("metadata")},
    ),
    (
        "metadata",
        {"user_id": "u-7"},
        {**ONLY_CHATS, "messages": Sent(user="u-7", metadata=None), "responses": Here("metadata")},
    ),
    (
        "thinking",
        {"type": "enabled", "budget_tokens": 4000},
        {**ONLY_CHATS, "messages": effort("low"), "responses": Named("thinking")},
    ),
    (
        "thinking",
        {"type": "enabled", "budget_tokens": 10000},
        {**ONLY_CHATS, "messages": effort("medium"), "responses": Named("thinking")},
    ),
    (
        "thinking",
        {"type": "enabled", "budget_tokens": 31999},
        {**ONLY_CHATS, "messages": effort("high"), "responses": Named("thinking")},
    ),
    (
        "thinking",
        {"type": "disabled"},
        {**ONLY_CHATS, "messages": Named("thinking"), "responses": Named("thinking")},
    ),
    (
        "output_config",
        {"effort": "medium"},
        {**ONLY_CHATS, "messages": effort("medium"), "responses": Named("output_config")},
    ),
    (
        "output_config",
        {"effort": "max"},
        {**ONLY_CHATS, "messages": effort("high"), "responses": Named("output_config")},
    ),
    (
        "reasoning",
        {"effort": "low"},
        {**ONLY_CHATS, "messages": Named("reasoning"), "responses": effort("low")},
    ),
    ("reasoning_effort", "low", named_elsewhere("reasoning_effort")),
    ("verbosity", "low", named_elsewhere("verbosity")),
    (
        "text",
        {"verbosity": "low"},
        {**ONLY_CHATS, "messages": Named("text"), "responses": Sent(verbosity="low")},
    ),
    ("user", "u-7", everywhere(messages=Named("user"))),
    ("safety_identifier", "s-7", everywhere(messages=Named("safety_identifier"))),
    (
        "store",
        True,
        {**ONLY_CHATS, "messages": Named("store"), "responses": Here("store")},
    ),
    (
        "store",
        False,
        {**ONLY_CHATS, "messages": Named("store"), "responses": Here("store")},
    ),
    ("top_k", 40, everywhere()),
    ("seed", 7, everywhere()),
    ("seed", 7.0, everywhere(**{name: Sent(seed=7) for name in DIALECTS})),
    ("logit_bias", {"1734": -100}, everywhere()),
    (
        "logit_bias",
        [[1734, False], [9, 2.5]],
        {name: Sent(logit_bias={"1734": -100, "9": 2.5}) for name in DIALECTS},
    ),
    ("prediction", {"type": "content", "content": "Tides"}, named_elsewhere("prediction")),
    (
        "audio",
        {"voice": "alloy", "format": "wav"},
        {
            **named_elsewhere("audio"),
            "chat": Refused("messages"),
        },
    ),
    ("modalities", ["text"], named_elsewhere("modalities")),
    (
        "modalities",
        ["text", "audio"],
        {**named_elsewhere("modalities"), "chat": Refused("messages")},
    ),
    ("stop", "END", everywhere(messages=Named("stop"))),
    ("stop", ["END", "FIN"], everywhere(messages=Named("stop"))),
    ("stop", ["END", ""], {**dict.fromkeys(DIALECTS, ONE_STOP), "messages": Named("stop")}),
    ("stop", "", {name: Sent(stop=None) for name in DIALECTS}),
    ("stop", None, {name: Sent(stop=None) for name in DIALECTS}),
    (
        "stop_sequences",
        ["END"],
        {**ONLY_CHATS, "messages": Sent(stop=["END"]), "responses": Named("stop_sequences")},
    ),
    ("n", 1, named_elsewhere("n") | {"completions": Sent(n=None)}),
    ("n", 2, named_elsewhere("n") | {"chat": Sent(n=None), "completions": Sent(n=None)}),
    ("parallel_tool_calls", False, everywhere(messages=Named("parallel_tool_calls"))),
    (
        "tool_choice",
        {
            "type": "allowed_tools",
            "allowed_tools": {
                "mode": "required",
                "tools": [{"type": "function", "function": {"name": "g"}}],
            },
        },
        {
            "chat": NARROWED,
            "completions": AS_IT_IS,
            "messages": Refused("tool_choice"),
            "responses": Refused("tool_choice.tools"),
        },
    ),
    (
        "tool_choice",
        {
            "type": "allowed_tools",
            "mode": "required",
            "tools": [{"type": "function", "name": "g"}, {"type": "web_search"}],
        },
        {
            "chat": Refused("tool_choice.allowed_tools.mode"),
            "completions": AS_IT_IS,
            "messages": Refused("tool_choice"),
            "responses": NARROWED,
        },
    ),
    (
        "tool_choice",
        {"type": "tool", "name": "g", "disable_parallel_tool_use": True},
        {
            "chat": AS_IT_IS,
            "completions": AS_IT_IS,
            "messages": Sent(
                tool_choice={"type": "function", "function": {"name": "g"}},
                parallel_tool_calls=False,
            ),
            "responses": Refused("tool_choice"),
        },
    ),
    ("mcp_servers", [{"type": "url", "url": "https://mcp.test"}], named_elsewhere("mcp_servers")),
    ("container", "container_7", named_elsewhere("container")),
    ("container", {"skills": [{"type": "anthropic"}]}, named_elsewhere("container")),
    (
        "context_management",
        {"edits": [{"type": "clear_tool_uses_20250919"}]},
        {**named_elsewhere("context_management"), "responses": Refused("context_management")},
    ),
    (
        "context_management",
        [{"type": "compaction", "compact_threshold": 9}],
        {**named_elsewhere("context_management"), "messages": Refused("context_management")},
    ),
    (
        "cache_control",
        {"type": "ephemeral"},
        {**named_elsewhere("cache_control"), "messages": Sent(cache_control=None)},
    ),
    ("inference_geo", "us", named_elsewhere("inference_geo")),
    (
        "truncation",
        "auto",
        named_elsewhere("truncation"),
    ),
    (
        "include",
        ["reasoning.encrypted_content"],
        {
            **ONLY_CHATS,
            "messages": Named("include"),
            "responses": Named("reasoning.encrypted_content"),
        },
    ),
    ("max_tool_calls", 3, named_elsewhere("max_tool_calls")),
    (
        "prompt",
        {"id": "pmpt_7"},
        {
            "chat": AS_IT_IS,
            "completions": Refused("prompt"),
            "messages": Named("prompt"),
            "responses": Refused("prompt"),
        },
    ),
    ("anything_new", {"a": [1]}, named_elsewhere("anything_new")),
]


def server(cloud):
    config = edge_first(cloud.base_url, "    completions: true\n")
    return Tandem(config, env={"TEST_CLOUD_KEY": "k"})


def ask(tandem, dialect, more, headers=CLOUD):
    body = {"model": "auto", **ASKED[dialect], **more}
    return tandem.request("POST", DIALECTS[dialect], body, headers)


def names_of(answer):
    return answer.headers.get("x-tandem-not-run", "").split(", ")


def param_of(answer):
    return answer.json["error"].get("param")


def check_row(tandem, cloud, dialect, name, value, wanted):
    tools = TOOLS[dialect] if name == "tool_choice" or name == "parallel_tool_calls" else {}
    cloud.clear()
    answer = ask(tandem, dialect, {**tools, name: value})
    if isinstance(wanted, Refused):
        equal((answer.status, param_of(answer)), (400, str(wanted)), answer.body)
        equal(cloud.calls(), [])
        return
    equal(answer.status, 200, answer.body)
    sent = cloud.calls()[-1]["json"]
    if isinstance(wanted, Named):
        assert str(wanted) in names_of(answer), answer.headers
        assert wanted in answer.json["tandem"]["not_run"]
        assert name not in sent, sent
        return
    assert names_of(answer) == [""], answer.headers
    if isinstance(wanted, Here):
        equal(answer.json[wanted], value)
        assert name not in sent, sent
        return
    for member, expected in (wanted if isinstance(wanted, Sent) else {name: value}).items():
        equal(sent.get(member), expected, member)


@case
def test_each_member_arrives_or_is_named_or_refused_in_each_dialect():
    cloud = ScriptedCloud(Script(text="The moon."))
    failures = []
    with server(cloud) as tandem:
        for name, value, by_dialect in ROWS:
            equal(sorted(by_dialect), sorted(DIALECTS), f"{name}: a row has each dialect")
            for dialect, wanted in by_dialect.items():
                try:
                    check_row(tandem, cloud, dialect, name, value, wanted)
                except AssertionError as error:
                    failures.append(f"{name} = {value!r} in {dialect}: {error}")
    print(f"{len(ROWS)} members in {len(DIALECTS)} dialects")
    assert not failures, "\n".join(failures)


# What a member of each dialect may not be, by its path; the fault names the path, or where it is.
WRONG = {
    "chat": {
        "service_tier": 5,
        "prompt_cache_key": {},
        "prompt_cache_retention": 5,
        "metadata": "x",
        "reasoning_effort": 5,
        "verbosity": [],
        "user": 5,
        "safety_identifier": 5,
        "store": "yes",
        "top_k": "x",
        "seed": "x",
        "logit_bias": "x",
        "prediction": "x",
        "audio": 5,
        "modalities": "text",
        "stop": 5,
        "n": "x",
        "parallel_tool_calls": "x",
        "tool_choice": 5,
        "tools": {},
        "functions": {},
        "function_call": 5,
        "web_search_options": 5,
        "stream": "x",
        "stream_options": 5,
        "temperature": "x",
        "max_tokens": "x",
        "logprobs": "x",
        "response_format": 5,
        "messages": 5,
        "model": 5,
        "tandem": 5,
    },
    "completions": {
        "service_tier": 5,
        "metadata": "x",
        "user": 5,
        "store": "yes",
        "top_k": "x",
        "seed": "x",
        "logit_bias": "x",
        "stop": 5,
        "n": "x",
        "best_of": "x",
        "echo": "x",
        "logprobs": "x",
        "max_tokens": "x",
        "suffix": 5,
        "stream": "x",
        "prompt": {},
    },
    "messages": {
        "service_tier": 5,
        "metadata": "x",
        "metadata.user_id": 5,
        "thinking": "x",
        "thinking.type": 5,
        "thinking.budget_tokens": "x",
        "output_config": "x",
        "output_config.effort": 5,
        "output_config.format": "x",
        "mcp_servers": {},
        "container": 5,
        "context_management": "x",
        "cache_control": "x",
        "stop_sequences": "x",
        "tools": {},
        "tool_choice": 5,
        "tool_choice.disable_parallel_tool_use": "x",
        "top_k": "x",
        "seed": "x",
        "temperature": "x",
        "max_tokens": "x",
        "stream": "x",
        "system": 5,
        "messages": 5,
        "model": 5,
        "tandem": 5,
    },
    "responses": {
        "service_tier": 5,
        "prompt_cache_key": {},
        "safety_identifier": 5,
        "metadata": "x",
        "reasoning": "x",
        "reasoning.effort": 5,
        "reasoning.summary": 5,
        "text": "x",
        "text.verbosity": 5,
        "text.format": "x",
        "user": 5,
        "store": "x",
        "background": "x",
        "previous_response_id": 5,
        "conversation": 5,
        "truncation": 5,
        "include": "x",
        "max_tool_calls": "x",
        "max_output_tokens": "x",
        "prompt": {"id": "x"},
        "parallel_tool_calls": "x",
        "tool_choice": 5,
        "tools": {},
        "instructions": 5,
        "input": 5,
        "top_logprobs": "x",
        "stream": "x",
        "stream_options": 5,
        "context_management": "x",
        "top_k": "x",
        "model": 5,
        "tandem": 5,
    },
}


def at_path(path, value):
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


@case
def test_what_a_client_would_rather_lose_is_left_out_and_named():
    cases = (
        ({"additional_drop_params": ["seed", "nothing"], "seed": 7}, ["seed"]),
        ({"drop_params": True, "response_format": {"key": 1}}, ["response_format"]),
        ({"drop_params": True, "response_format": {"type": "text"}}, []),
        (
            {"drop_params": True, "response_format": "x", "additional_drop_params": ["top_p"]},
            ["response_format"],
        ),
    )
    cloud = ScriptedCloud(Script(usage=True))
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        path = DIALECTS["chat"]
        for more, dropped in cases:
            answer = tandem.request("POST", path, {**ASKED["chat"], **more}, CLOUD)
            equal(answer.status, 200, answer.body.decode())
            equal(names_of(answer), dropped or [""])
            gone = {"drop_params", "additional_drop_params", *dropped}
            equal(gone & set(cloud.requests[-1]["body"]), set())
        kept = {"response_format": {"key": 1}, "drop_params": False}
        refused = tandem.request("POST", path, {**ASKED["chat"], **kept}, CLOUD)
        equal((refused.status, refused.json["error"]["param"]), (400, "response_format"))


@case
def test_a_wrong_type_is_a_400_that_names_the_member():
    cloud = ScriptedCloud()
    failures = []
    with server(cloud) as tandem:
        for dialect, members in WRONG.items():
            for path, value in members.items():
                body = at_path(path, value)
                if path.startswith("tool_choice."):
                    body = {"tool_choice": {"type": "auto", **body["tool_choice"]}}
                answer = ask(tandem, dialect, body)
                param = param_of(answer) if answer.status == 400 else None
                if not (param or "").startswith(path):
                    failures.append(f"{path} in {dialect}: {answer.status} {answer.body[:200]!r}")
                elif path not in answer.json["error"]["message"] and dialect == "messages":
                    failures.append(f"{path} in {dialect} is not in the message: {answer.body!r}")
    equal(cloud.calls(), [])
    print(f"{sum(map(len, WRONG.values()))} wrong types")
    assert not failures, "\n".join(failures)


CARD = "4111 1111 1111 1111"
# Members that hold text of the user's or about the user.
TEXTS = {
    "chat": {
        "metadata": {"note": CARD},
        "prediction": {"type": "content", "content": CARD},
        "prompt_cache_key": CARD,
        "safety_identifier": CARD,
        "user": CARD,
        "service_tier": CARD,
        "stop": [CARD],
        "audio_note": {"a": [CARD]},
    },
    "completions": {"metadata": {"note": CARD}, "user": CARD, "stop": [CARD], "new": CARD},
    "messages": {
        "metadata": {"user_id": CARD},
        "service_tier": CARD,
        "output_config": {"effort": CARD},
        "stop_sequences": [CARD],
    },
    "responses": {
        "prompt_cache_key": CARD,
        "safety_identifier": CARD,
        "service_tier": CARD,
        "user": CARD,
        "reasoning": {"effort": CARD},
        "text": {"verbosity": CARD},
        "stop": CARD,
    },
}


@case
def test_text_in_members_is_scanned():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        for dialect, members in TEXTS.items():
            for name, value in members.items():
                answer = ask(tandem, dialect, {name: value})
                equal(answer.status, 403, f"{name} in {dialect}: {answer.body!r}")
        assert CARD.encode() not in cloud.received
        equal(cloud.calls(), [])


@case
def test_what_is_not_sent_is_not_sent_even_when_it_is_private():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        for dialect, more in {
            "messages": {"anything_new": CARD, "mcp_servers": [{"authorization_token": CARD}]},
            "responses": {"anything_new": CARD, "metadata": {"note": CARD}},
        }.items():
            equal(ask(tandem, dialect, more).status, 200)
        assert CARD.encode() not in cloud.received


def tool_turn(content, **more):
    call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", **more}
    if content is not None:
        result["content"] = content
    return [
        *TURN,
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]


@case
def test_a_tools_failure_is_told_to_the_model():
    cloud = ScriptedCloud()
    text = {"type": "text", "text": "no such file"}
    rows = [
        ("no such file", "Error: no such file"),
        ("error: no such file", "error: no such file"),
        (None, "Error"),
        ([text], "Error: no such file"),
        ([text, text], [{"type": "text", "text": "Error"}, text, text]),
        ([{"type": "image", "source": PIXEL}], "Error"),
    ]
    with server(cloud) as tandem:
        for content, wanted in rows:
            more = {"messages": tool_turn(content, is_error=True)}
            answer = ask(tandem, "messages", more, {"x-tandem-mode": "only-cloud"})
            if content and isinstance(content, list) and content[0]["type"] == "image":
                continue  # whether the tier takes images is another matter
            equal(answer.status, 200, answer.body)
            equal(cloud.calls()[-1]["json"]["messages"][2]["content"], wanted)
            more = {"messages": tool_turn(content, is_error=False)}
            equal(ask(tandem, "messages", more).status, 200)
            assert (
                cloud.calls()[-1]["json"]["messages"][2]["content"] != wanted or wanted == content
            )
        answer = ask(tandem, "messages", {"messages": tool_turn("x", is_error="yes")})
        equal(answer.status, 400, answer.body)
        equal(param_of(answer), "messages[2].content[0].is_error")


@case
def test_a_thought_signature_comes_back_with_its_call():
    extra = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        turn = tool_turn("x")
        turn[1]["content"][0]["extra_content"] = extra
        equal(ask(tandem, "messages", {"messages": turn}).status, 200)
        equal(cloud.calls()[-1]["json"]["messages"][1]["tool_calls"][0]["extra_content"], extra)
        items = [
            {"role": "user", "content": "Why?"},
            {
                "type": "function_call",
                "call_id": "c",
                "name": "f",
                "arguments": "{}",
                "extra_content": extra,
            },
            {"type": "function_call_output", "call_id": "c", "output": "x"},
        ]
        equal(ask(tandem, "responses", {"input": items}).status, 200)
        equal(cloud.calls()[-1]["json"]["messages"][1]["tool_calls"][0]["extra_content"], extra)


@case
def test_a_hint_that_a_server_refuses_is_left_out_and_a_chats_own_is_not():
    cloud = ScriptedCloud(Script(refuses="reasoning_effort"))
    cloud.script.refuse_message = "Unsupported parameter: 'reasoning_effort'"
    with server(cloud) as tandem:
        more = {"thinking": {"type": "enabled", "budget_tokens": 2000}}
        equal(ask(tandem, "messages", more).status, 200)
        equal(ask(tandem, "responses", {"reasoning": {"effort": "low"}}).status, 200)
        equal(ask(tandem, "chat", {"reasoning_effort": "low"}).status, 400)


@case
def test_blocks_that_ask_for_a_cache_are_not_refused_by_servers_that_know_no_such_mark():
    cloud = ScriptedCloud()
    mark = {"cache_control": {"type": "ephemeral"}}
    block = [{"type": "text", "text": "Why?", **mark}]
    rows = [
        {"system": block},
        {"messages": [{"role": "user", "content": block}]},
        {"tools": [{"name": "f", "input_schema": TOOL, **mark}]},
        mark,
    ]
    with server(cloud) as tandem:
        for more in rows:
            answer = ask(tandem, "messages", more)
            equal((answer.status, names_of(answer)), (200, [""]), answer.body)
            assert b"cache_control" not in cloud.received


if __name__ == "__main__":
    main()
