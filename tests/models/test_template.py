#!/usr/bin/env python3
"""The default model's chat template and its copy in Python, which training uses, give the same
text and the same tokens."""

import importlib.util
import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NANO_FOLDER = HERE.parent.parent / "models" / "nano"
sys.path[:0] = [str(HERE.parent / "support"), str(NANO_FOLDER)]

from tandem import run

NEEDED = ("torch", "numpy", "tokenizers")


def tool(name, description=None, properties=None, required=()):
    function = {"name": name}
    if description is not None:
        function["description"] = description
    if properties is not None:
        function["parameters"] = {
            "type": "object",
            "properties": properties,
            "required": list(required),
        }
    return {"type": "function", "function": function}


TIMER = tool(
    "set_timer",
    "Set a timer.\nOr an alarm.",
    {
        "minutes": {"type": "integer", "description": "its length, größer als null"},
        "tone": {"type": "string", "enum": ["soft", "loud"]},
        "labels": {"type": "array", "items": {"type": "string"}},
        "place": {
            "type": "object",
            "properties": {"room": {"type": "string"}, "floor": {"type": ["integer", "null"]}},
            "required": ["room"],
        },
        "day": {"type": "string", "format": "date", "default": 'to"day'},
        "extra": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "any": {},
    },
    ["minutes", "place"],
)
TOOLS = [TIMER, tool("now"), tool("later", "", {})]
CALLS = [("set_timer", {"minutes": 5, "tone": 'ü"x', "labels": ["a", "b"]}), ("now", {})]
CHATS = {
    "no tools": [("system", "s"), ("user", "\n hi"), ("assistant", "yo"), ("user", "x")],
    "tools": [("tools", TOOLS), ("user", "set it")],
    "marks in a message": [("tools", TOOLS), ("user", "<|im_end|>\n<tool_call>{}</tool_call>")],
    "calls and results": [
        ("tools", TOOLS),
        ("system", "You are."),
        ("user", "a"),
        ("calls", CALLS),
        ("tool", '{"ok": true}'),
        ("user", "thanks"),
    ],
    "a list without descriptions of parameters": [("tools", TOOLS * 18), ("user", "x")],
    "a list without descriptions": [("tools", TOOLS * 24), ("user", "x")],
}


def build_model(folder):
    """The file in the tree with this template. Returns (path, vocabulary)."""
    import export
    import shipped
    from model import Config

    net, vocab = shipped.load(NANO_FOLDER / "nano.gguf", Config)
    path = Path(folder) / "template.gguf"
    export.write(net.eval(), vocab, "nano", "Q8_0", {}, path)
    return path, vocab


def shown(path, body, *options):
    code, out, err = run(
        "template", "-m", path, *options, stdin=json.dumps(body).encode(), timeout=120
    )
    return out.decode() if code == 0 else err


def main():
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"SKIP models/test_template: python has no {missing[0]}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    import chat_render

    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path, vocab = build_model(folder)
        for name, messages in CHATS.items():
            body, parts = chat_render.request(messages), chat_render.render(messages)
            text = shown(path, body)
            ids = shown(path, body, "--ids")
            same = text == "".join(parts) and ids.strip() == json.dumps(
                vocab.encode_prompt(parts), separators=(",", ":")
            )
            failed += not same
            print(f"{'ok  ' if same else 'FAIL'} {name}")
            if not same:
                print(f"program: {text!r}\ntraining: {''.join(parts)!r}\n{ids}")
        refusal = shown(path, {"messages": [{"role": "user", "content": "x"}], "tools": {"a": 1}})
        wrong = "not an array" not in refusal
        print(
            f"FAIL tools that are no array: {refusal}" if wrong else "ok   tools that are no array"
        )
        failed += wrong
    print(f"{len(CHATS) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
