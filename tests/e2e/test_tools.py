#!/usr/bin/env python3
"""Tools on the local tier: a call goes the whole way, streamed or not, where the model's template
takes tools; where it does not, the request goes elsewhere or is refused. The model is the embedded
one with another template, made to write a call by a grammar."""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from tandem import Tandem
from tool_models import tool_model

TEMPLATE = """{% for tool in tools or [] %}{{ tool | tojson }}
{% endfor %}{% for m in messages %}{{ m.role }}: {{ m.content or '' }}\
{% for call in m.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}
{% endfor %}assistant: """
NO_TOOLS = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: "
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]
CALL = (
    r'root ::= "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": '
    r'{\"city\": \"" [a-z]{3,6} "\"}}\n</tool_call>"'
)
ASKED = {
    "model": "local",
    "messages": [{"role": "user", "content": "weather in Rome?"}],
    "tools": TOOLS,
    "max_tokens": 80,
}


def with_template(path):
    return tool_model(path, TEMPLATE, not_mine=True)


def ask(tandem, **more):
    return tandem.request("POST", "/v1/chat/completions", {**ASKED, **more})


@case
def test_a_call_goes_the_whole_way_also_streamed():
    with (
        tempfile.TemporaryDirectory() as folder,
        Tandem(arguments=["--model", with_template(f"{folder}/tools.gguf")]) as tandem,
    ):
        choice = ask(tandem, grammar=CALL).json["choices"][0]
        equal(choice["finish_reason"], "tool_calls")
        call = choice["message"]["tool_calls"][0]
        equal((call["type"], call["function"]["name"]), ("function", "get_weather"))
        assert json.loads(call["function"]["arguments"])["city"].isalpha()
        body = ask(tandem, grammar=CALL, stream=True).body.decode()
        chunks = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: {")]
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
        calls = [one for delta in deltas for one in delta.get("tool_calls", [])]
        equal(len(calls), 1)
        equal((calls[0]["index"], calls[0]["function"]["name"]), (0, "get_weather"))
        assert "tool_call>" not in "".join(delta.get("content") or "" for delta in deltas)
        equal(chunks[-1]["choices"][0]["finish_reason"], "tool_calls")


@case
def test_calls_and_results_are_part_of_the_prompt():
    with (
        tempfile.TemporaryDirectory() as folder,
        Tandem(arguments=["--model", with_template(f"{folder}/tools.gguf")]) as tandem,
    ):
        history = ASKED["messages"] + [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"city":"rome"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
        ]
        first, second = ask(tandem, max_tokens=4), ask(tandem, messages=history, max_tokens=4)
        equal((first.status, second.status), (200, 200))
        assert second.json["usage"]["prompt_tokens"] > first.json["usage"]["prompt_tokens"] + 10
        forbidden = ask(tandem, grammar=CALL, tool_choice="none").json["choices"][0]
        equal(forbidden["finish_reason"], "stop")
        assert "<tool_call>" in forbidden["message"]["content"]
        forced = ask(tandem, grammar=CALL, tool_choice="required")
        equal(forced.status, 400)  # a grammar of the client's own promises no call
        assert "cannot promise" in forced.json["error"]["message"], forced.json


@case
def test_a_template_without_tools_is_not_asked_for_calls():
    with tempfile.TemporaryDirectory() as folder:
        model = tool_model(f"{folder}/no-tools.gguf", NO_TOOLS)
        with Tandem(arguments=["--model", model]) as tandem:
            answer = ask(tandem)
        equal(answer.status, 400)
        assert "cannot call any" in answer.json["error"]["message"], answer.json


if __name__ == "__main__":
    main()
