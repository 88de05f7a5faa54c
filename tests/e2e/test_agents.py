#!/usr/bin/env python3
"""What coding agents send works: Claude Code on /v1/messages, Codex on /v1/responses. The requests
are made by hand after those that the agents sent (Claude Code 2.1, Codex 0.169), with texts of our
own. The agents themselves are tests/clients/test_agents.py's."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, parse_events

CLOUD = {"x-tandem-mode": "only-cloud"}
COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}}
# What stands in the instructions of agents and is no private data of anybody.
NOBODYS = (
    "Models: 'claude-fable-5', 'claude-opus-4-8'. End commits with Co-Authored-By: An Agent"
    " <noreply@vendor.com>. Examples: user@example.com, https://docs.example.org/a, 192.0.2.7,"
    " 2001:db8::1, a server on 10.0.0.5 or 192.168.1.20:8080, http://127.0.0.1:3000."
)

CLAUDE_CODE = {
    "model": "auto",
    "max_tokens": 32000,
    "stream": True,
    "system": [
        {"type": "text", "text": "x-billing-header: version=1;"},
        {"type": "text", "text": NOBODYS, "cache_control": {"type": "ephemeral"}},
    ],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "<system-reminder>\nToday is a day.\n</system-reminder>"},
                {
                    "type": "text",
                    "text": "Make the file.",
                    "cache_control": {"type": "ephemeral"},
                },
            ],
        },
        {"role": "system", "content": "Agents: one for anything."},
    ],
    "tools": [
        {"name": "Bash", "description": NOBODYS, "input_schema": COMMAND},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 8},
    ],
    "metadata": {"user_id": '{"device_id":"d","account_uuid":"","session_id":"s"}'},
    "thinking": {"type": "adaptive"},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "output_config": {"effort": "high"},
}


CODEX_MEMBERS = "client_metadata, reasoning.encrypted_content"


def codex_message(role, *texts):
    parts = [{"type": "input_text", "text": text} for text in texts]
    return {"type": "message", "id": "msg_1", "role": role, "content": parts}


CODEX = {
    "model": "auto",
    "stream": True,
    "input": [
        codex_message("developer", "You are a coding agent.", NOBODYS),
        codex_message("user", "<environment_context>\n</environment_context>"),
        codex_message("user", "Make the file."),
    ],
    "tools": [
        {"type": "function", "name": "exec_command", "strict": False, "parameters": COMMAND},
        {
            "type": "namespace",
            "name": "multi_agent_v1",
            "description": "Agents.",
            "tools": [
                {"type": "function", "name": "close_agent", "strict": False, "parameters": COMMAND}
            ],
        },
        {"type": "local_shell"},
        {
            "type": "custom",
            "name": "apply_patch",
            "description": "Edits files.",
            "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"},
        },
        {"type": "web_search", "external_web_access": True},
    ],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "reasoning": {"summary": "auto"},
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "k",
    "client_metadata": {"session_id": "s", "x-codex-turn-metadata": "{}"},
}


def calling(name, arguments):
    call = {"name": name, "arguments": json.dumps(arguments)}
    delta = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": call}]}
    return Script(pieces=[""], finish="tool_calls", extra_delta=delta)


def server(cloud):
    return Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"})


def ask(tandem, path, body):
    answer = tandem.request("POST", path, body, CLOUD)
    equal(answer.status, 200, answer.body)
    return answer, parse_events(answer.body)


@case
def test_claude_code_calls_a_tool_and_goes_on():
    cloud = ScriptedCloud(calling("Bash", {"command": "ls"}))
    with server(cloud) as tandem:
        answer, events = ask(tandem, "/v1/messages?beta=true", CLAUDE_CODE)
        left_out = "web_search_20250305, context_management"
        equal(answer.headers["x-tandem-not-run"], left_out)
        equal(events[0]["message"]["tandem"]["not_run"], left_out)
        starts = [event for event in events if event["type"] == "content_block_start"]
        equal(starts[0]["content_block"]["name"], "Bash")
        sent = cloud.calls()[-1]["json"]
        equal([m["role"] for m in sent["messages"]], ["system", "user", "system"])
        equal(sent["messages"][0]["content"][1]["text"], NOBODYS)
        equal([tool["function"]["name"] for tool in sent["tools"]], ["Bash"])
        call = {"type": "tool_use", "id": "call_1", "name": "Bash", "input": {"command": "ls"}}
        result = {"type": "tool_result", "tool_use_id": "call_1", "content": "made.txt"}
        turn = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        cloud.script = Script(text="Done.")
        body = {**CLAUDE_CODE, "messages": CLAUDE_CODE["messages"] + turn}
        _, events = ask(tandem, "/v1/messages?beta=true", body)
        equal(events[-1]["type"], "message_stop")
        sent = cloud.calls()[-1]["json"]["messages"]
        equal([m["role"] for m in sent], ["system", "user", "system", "assistant", "tool"])


def one_call(tandem, cloud, name, arguments):
    """Codex's item for a call of the chat's function, streamed and whole."""
    cloud.script = calling(name, arguments)
    answer, events = ask(tandem, "/v1/responses", CODEX)
    equal(answer.headers["x-tandem-not-run"], f"web_search, {CODEX_MEMBERS}")
    done = [e["item"] for e in events if e["type"] == "response.output_item.done"]
    equal(events[-1]["type"], "response.completed")
    equal(events[-1]["response"]["output"], done)
    return events, done[0]


@case
def test_a_tool_whose_type_is_empty_is_answered():
    tools = [{"type": "new_kind", "name": "a"}, {"type": "", "name": "b"}]
    cloud = ScriptedCloud()
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for path, body in (
            ("/v1/messages", {"max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]}),
            ("/v1/responses", {"input": "Hi."}),
        ):
            body = {"model": "auto", "tools": tools, **body}
            answer = tandem.request("POST", path, body, {"x-tandem-mode": "only-cloud"})
            equal((answer.status, answer.headers["x-tandem-not-run"]), (200, "new_kind"), path)


@case
def test_codex_gets_calls_in_the_form_of_its_tools():
    cloud = ScriptedCloud(Script())
    with server(cloud) as tandem:
        _, item = one_call(tandem, cloud, "exec_command", {"command": "ls"})
        equal((item["type"], item["name"]), ("function_call", "exec_command"))
        assert "namespace" not in item, item
        sent = cloud.calls()[-1]["json"]
        equal(
            [tool["function"]["name"] for tool in sent["tools"]],
            ["exec_command", "multi_agent_v1__close_agent", "local_shell", "apply_patch"],
        )
        assert "start: /.+/" in sent["tools"][3]["function"]["description"], sent["tools"]
        _, item = one_call(tandem, cloud, "multi_agent_v1__close_agent", {"target": "a"})
        equal(
            (item["type"], item["namespace"], item["name"]),
            ("function_call", "multi_agent_v1", "close_agent"),
        )
        events, item = one_call(tandem, cloud, "apply_patch", {"input": "*** Begin\n"})
        equal(
            (item["type"], item["name"], item["input"]),
            ("custom_tool_call", "apply_patch", "*** Begin\n"),
        )
        deltas = [e for e in events if e["type"] == "response.custom_tool_call_input.delta"]
        equal([e["delta"] for e in deltas], ["*** Begin\n"])
        assert not [e for e in events if "function_call_arguments" in e["type"]], events
        _, item = one_call(tandem, cloud, "local_shell", {"command": ["ls"]})
        equal(item["type"], "local_shell_call")
        equal(item["action"], {"type": "exec", "env": {}, "command": ["ls"]})


@case
def test_codex_sends_back_what_it_got():
    cloud = ScriptedCloud(Script())
    with server(cloud) as tandem:
        turns = [
            ("exec_command", {"command": "ls"}),
            ("multi_agent_v1__close_agent", {"target": "a"}),
            ("apply_patch", {"input": "*** Begin\n"}),
            ("local_shell", {"command": ["ls"]}),
        ]
        for name, arguments in turns:
            _, item = one_call(tandem, cloud, name, arguments)
            kind = item["type"] if item["type"] == "custom_tool_call" else "function_call"
            output = {"type": f"{kind}_output", "call_id": item["call_id"], "output": "ok"}
            cloud.script = Script(text="Done.")
            past = [{"type": "web_search_call", "status": "completed"}, item, output]
            answer, events = ask(tandem, "/v1/responses", {**CODEX, "input": CODEX["input"] + past})
            equal(
                answer.headers["x-tandem-not-run"], f"web_search, web_search_call, {CODEX_MEMBERS}"
            )
            equal(events[-1]["type"], "response.completed")
            call, result = cloud.calls()[-1]["json"]["messages"][-2:]
            equal(call["tool_calls"][0]["function"]["name"], name)
            got = json.loads(call["tool_calls"][0]["function"]["arguments"])
            equal({key: got[key] for key in arguments}, arguments)
            equal((result["tool_call_id"], result["content"]), ("call_1", "ok"))


@case
def test_an_answer_that_is_not_streamed_has_the_same_items():
    cloud = ScriptedCloud(Script())
    call = {"name": "apply_patch", "arguments": '{"input": "x"}'}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
    }
    with server(cloud) as tandem:
        cloud.script = Script(pieces=[""], extra_delta=message, finish="tool_calls")
        answer = tandem.request("POST", "/v1/responses", {**CODEX, "stream": False}, CLOUD)
        equal(answer.status, 200, answer.body)
        item = answer.json["output"][0]
        equal((item["type"], item["input"]), ("custom_tool_call", "x"))
        equal(answer.json["tandem"]["not_run"], f"web_search, {CODEX_MEMBERS}")


if __name__ == "__main__":
    sys.exit(main())
