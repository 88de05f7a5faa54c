"""What an answer of a chat is in other dialects, and what an answer in a dialect says, so that the
two can be compared: native forms by place, and the rest under the chat's names."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recorded_answers import members
from tandem import Answer, parse_events

Object = dict[str, Any]

QUESTION = "Why are there tides?"
STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "end_turn",  # a form that the dialect has not
    "content_filter": "refusal",
}


@dataclass
class Dialect:
    path: str
    request: Callable[[Object], Object]


def _messages_request(request: Object) -> Object:
    tools = [
        {"name": tool["function"]["name"], "input_schema": tool["function"]["parameters"]}
        for tool in request.get("tools", [])
        if tool["type"] == "function"
    ]
    return {
        "model": "auto",
        "max_tokens": 500,
        "messages": [{"role": "user", "content": QUESTION}],
        "thinking": {"type": "adaptive"},
        **({"tools": tools} if tools else {}),
    }


def _responses_request(request: Object) -> Object:
    tools = []
    for tool in request.get("tools", []):
        described = tool[tool["type"]]
        tools.append({"type": tool["type"], "name": described["name"]})
        if tool["type"] == "function":
            tools[-1]["parameters"] = described["parameters"]
    return {"model": "auto", "input": QUESTION, **({"tools": tools} if tools else {})}


DIALECTS = {
    "messages": Dialect("/v1/messages", _messages_request),
    "responses": Dialect("/v1/responses", _responses_request),
}


# --- what is expected ---


def _calls(message: Object) -> list[Object]:
    """The calls with arguments, a custom tool's as an object with its text."""
    calls = []
    for call in message.pop("tool_calls", []):
        rest = {k: v for k, v in call.items() if k not in ("id", "type", "function", "custom")}
        custom = call.get("custom")
        calls.append(
            {
                "id": call["id"],
                "name": (custom or call["function"])["name"],
                "arguments": {"input": custom["input"]}
                if custom
                else json.loads(call["function"]["arguments"]),
                "custom": bool(custom),
                **rest,
            }
        )
    return calls


def _reasoning(message: Object) -> str:
    for name in ("reasoning_content", "reasoning"):
        if message.get(name):
            return message.pop(name)
    return ""


def _proofs(message: Object) -> list[str]:
    """What proves that thoughts are Anthropic's: signatures and encrypted texts, which its own
    dialect has in blocks."""
    details = message.get("reasoning_details", [])
    if not any(each.get("format", "").startswith("anthropic-claude") for each in details):
        return []
    del message["reasoning_details"]
    return [each.get("signature") or each["data"] for each in details]


def _without_empty(value: Object) -> Object:
    return {name: members for name, members in value.items() if members}


def expected_in(dialect: str, whole: Object) -> Object:
    said = members(whole)
    message, choice, beside = said["message"], said["choice"], said["answer"]
    finish = choice.pop("finish_reason")
    refusal = message.pop("refusal", None) or ""
    calls = _calls(message)
    usage = said["usage"]
    expected: Object = {"reasoning": _reasoning(message)}
    if dialect == "messages":
        for call in calls:
            del call["custom"]
        expected["proofs"] = _proofs(message)
        expected["text"] = said["content"] + refusal
        expected["stop_reason"] = "refusal" if refusal else STOP_REASONS[finish]
    else:
        expected["text"] = said["content"]
        expected["refusal"] = refusal
        expected["status"] = "incomplete" if finish == "content_filter" else "completed"
        expected["service_tier"] = beside.pop("service_tier", None)
        expected["annotations"] = [
            {"type": note["type"], **note["url_citation"]} if "url_citation" in note else note
            for note in (message.pop("annotations", []) if said["content"] else [])
        ]
    expected["calls"] = calls
    expected["usage"] = usage
    expected["chat"] = _without_empty({"message": message, "choice": choice, "answer": beside})
    return expected


# --- what is said ---


def _message_of(events: list[Object]) -> Object:
    """As the official client puts a message together."""
    message: Object = {}
    for event in events:
        kind = event["type"]
        if kind == "message_start":
            message = event["message"]
        elif kind == "content_block_start":
            assert event["index"] == len(message["content"]), event
            message["content"].append({**event["content_block"], "partial": ""})
        elif kind == "content_block_delta":
            block, delta = message["content"][event["index"]], event["delta"]
            if delta["type"] == "input_json_delta":
                block["partial"] += delta["partial_json"]
            elif delta["type"] == "thinking_delta":
                block["thinking"] += delta["thinking"]
            elif delta["type"] == "signature_delta":
                block["signature"] = delta["signature"]
            else:
                assert delta["type"] == "text_delta" and block["type"] == "text", (block, delta)
                block["text"] += delta["text"]
        elif kind == "content_block_stop":
            block = message["content"][event["index"]]
            partial = block.pop("partial")
            if block["type"] == "tool_use":
                block["input"] = json.loads(partial or "{}")
        elif kind == "message_delta":
            message.update(event["delta"])
            message["usage"] = event["usage"]
            message["chat"] = event.get("chat", {})
    assert events[-1]["type"] == "message_stop", events[-1]
    return message


def _said_in_messages(answer: Answer, stream: bool) -> Object:
    message = _message_of(parse_events(answer.body)) if stream else answer.json
    blocks = message["content"]
    usage = message["usage"]
    cached = usage.pop("cache_read_input_tokens")
    prompt = usage.pop("input_tokens") + cached + usage.pop("cache_creation_input_tokens")
    calls = []
    for block in blocks:
        if block["type"] == "tool_use":
            rest = {k: v for k, v in block.items() if k not in ("type", "input")}
            calls.append({**rest, "arguments": block["input"]})
    return {
        "proofs": [
            block.get("signature") or block["data"]
            for block in blocks
            if block["type"] == "redacted_thinking" or block.get("signature")
        ],
        "reasoning": "".join(b["thinking"] for b in blocks if b["type"] == "thinking"),
        "text": "".join(b["text"] for b in blocks if b["type"] == "text"),
        "stop_reason": message["stop_reason"],
        "calls": calls,
        "usage": _counts(usage, prompt, usage.pop("output_tokens")),
        "chat": message.get("chat", {}),
    }


def _counts(details: Object, prompt: int, completion: int) -> Object:
    return {
        **details,
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _check_deltas(events: list[Object], response: Object) -> None:
    """The deltas of a stream say what its last event says."""
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == response["output"], (done, response["output"])
    texts: dict[tuple[int, str], str] = {}
    for event in events:
        if event["type"].endswith(".delta"):
            key = (event["output_index"], event["type"].removesuffix(".delta"))
            texts[key] = texts.get(key, "") + event["delta"]
    for event in events:
        if not event["type"].endswith("_text.done"):
            continue
        assert texts[event["output_index"], event["type"].removesuffix(".done")] == event["text"]
    notes = [event["annotation"] for event in events if event["type"].endswith("annotation.added")]
    parts = [part for item in done if item["type"] == "message" for part in item["content"]]
    assert notes == [note for part in parts for note in part.get("annotations", [])], notes
    numbers = [event["sequence_number"] for event in events]
    assert numbers == list(range(len(events))), numbers


def _said_in_responses(answer: Answer, stream: bool) -> Object:
    response = answer.json if not stream else parse_events(answer.body)[-1]["response"]
    if stream:
        _check_deltas(parse_events(answer.body), response)
    usage = response["usage"]
    prompt, completion = usage.pop("input_tokens"), usage.pop("output_tokens")
    usage.pop("total_tokens")
    thought = usage.pop("output_tokens_details")["reasoning_tokens"]
    told = usage.get("completion_tokens_details", {}).get("reasoning_tokens", 0)
    assert thought == told, (thought, told)
    usage.pop("input_tokens_details")
    parts = [
        part
        for item in response["output"]
        if item["type"] in ("message", "reasoning")
        for part in item["content"] + item.get("summary", [])
    ]

    def texts(kind: str, member: str = "text") -> str:
        return "".join(part[member] for part in parts if part["type"] == kind)

    own = ("id", "type", "status", "call_id", "arguments", "input", "name")
    calls = [
        {
            **{k: v for k, v in item.items() if k not in own},
            "id": item["call_id"],
            "name": item["name"],
            "arguments": {"input": item["input"]}
            if item["type"] == "custom_tool_call"
            else json.loads(item["arguments"]),
            "custom": item["type"] == "custom_tool_call",
        }
        for item in response["output"]
        if item["type"].endswith("_call")
    ]
    return {
        "reasoning": texts("reasoning_text") + texts("summary_text"),
        "text": texts("output_text"),
        "refusal": texts("refusal", "refusal"),
        "status": response["status"],
        "service_tier": response.get("service_tier"),
        "annotations": [note for part in parts for note in part.get("annotations", [])],
        "calls": calls,
        "usage": _counts(usage, prompt, completion),
        "chat": response.get("chat", {}),
    }


def said_in(dialect: str, answer: Answer, stream: bool) -> Object:
    return {"messages": _said_in_messages, "responses": _said_in_responses}[dialect](answer, stream)
