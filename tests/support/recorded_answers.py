"""Answers of providers, made by hand after their documentation with all optional members
(tests/golden/answers): whole, and as the chunks of a stream that say the same.

Also what a client of chats makes of either, so that the two can be compared."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "golden" / "answers"

Object = dict[str, Any]

# What a server writes of itself, and what pads a chunk.
OWN = {"id", "object", "created", "model", "choices", "usage", "tandem", "obfuscation"}
# Texts that a stream continues where they stand below the message.
CONTINUED = {"text", "summary", "arguments", "input"}


def load() -> dict[str, Object]:
    """By their names: {"source", "request", "whole", "chunks"}."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


def is_said(value: Any) -> bool:
    """Null and an empty list say nothing, and streams leave them out."""
    return value is not None and value != []


def merge(into: Object, delta: Object, top: bool = True) -> None:
    """Goes on with an object as the official clients do."""
    for name, value in delta.items():
        before = into.get(name)
        if value is None:
            continue
        if isinstance(value, str) and isinstance(before, str):
            into[name] = before + value if top or name in CONTINUED else value
        elif isinstance(value, dict) and isinstance(before, dict):
            merge(before, value, top=False)
        elif isinstance(value, list) and isinstance(before, list):
            for entry in value:
                merge_entry(before, entry)
        elif isinstance(value, list):
            into[name] = []
            for entry in value:
                merge_entry(into[name], entry)
        else:
            into[name] = json.loads(json.dumps(value))


def merge_entry(entries: list, entry: Any) -> None:
    number = entry.get("index") if isinstance(entry, dict) else None
    for before in entries:
        if number is not None and before.get("index") == number:
            merge(before, entry, top=False)
            return
    entries.append(json.loads(json.dumps(entry)))


def of_chunks(chunks: list[Object]) -> Object:
    """The whole answer that the chunks of a stream say."""
    message: Object = {}
    choice: Object = {}
    top: Object = {}
    for chunk in chunks:
        top.update({name: value for name, value in chunk.items() if value is not None})
        for given in chunk["choices"]:
            delta = {**given["delta"]}
            delta.pop("role", None)
            merge(message, delta)
            choice.update({name: value for name, value in given.items() if value is not None})
    choice.pop("delta", None)
    return {**top, "choices": [{**choice, "message": message}]}


def members(answer: Object) -> Object:
    """All that an answer says, by place: what has to be the same on every way."""
    choice = answer["choices"][0]
    message = {
        name: value
        for name, value in choice["message"].items()
        if name not in ("role", "content") and is_said(value)
    }
    for call in message.get("tool_calls", []):
        call.pop("index", None)
    beside = {
        name: value
        for name, value in choice.items()
        if name not in ("index", "message", "logprobs") and is_said(value)
    }
    said = {name: value for name, value in answer.items() if name not in OWN and is_said(value)}
    return {
        "content": choice["message"].get("content") or "",
        "message": message,
        "choice": beside,
        "answer": said,
        "usage": {name: value for name, value in answer["usage"].items() if value is not None},
    }
