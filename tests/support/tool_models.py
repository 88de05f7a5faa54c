"""The embedded model made into one that calls tools: with a template that shows them, with tokens
for the marks of calls where wanted, and without its habit of saying "not mine". It writes nonsense,
so that what holds of its calls is held by the grammar."""

import struct
from pathlib import Path

from gguf import add_metadata
from tandem import NANO

HERMES = """{% for tool in tools or [] %}{{ tool.function.name }}
{% endfor %}{% for m in messages %}{{ m.role }}: {{ m.content or '' }}\
{% for call in m.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}
{% endfor %}assistant: """
MISTRAL = """{% for tool in tools or [] %}{{ tool.function.name }}
{% endfor %}{% for m in messages %}{{ m.role }}: {{ m.content or '' }}\
{% for call in m.tool_calls or [] %}[TOOL_CALLS] [{"name": "{{ call.function.name }}", \
"arguments": {{ call.function.arguments | tojson }}}]{% endfor %}
{% endfor %}assistant: """
LLAMA = (
    HERMES.replace("<tool_call>\n", "")
    .replace("\n</tool_call>", "")
    .replace('"arguments"', '"parameters"')
)
# The embedded model's own marks are none here, and what it says of the confidence of calls is left
# out.
NO_MARKS = {b"<tool_call>": b"<tool_mark>", b"</tool_call>": b"</tool_mark>"}
# A control token and one with text become the marks. Their lengths are the same.
HERMES_TOKENS = {b"book_flight": b"<tool_call>", b"<|not_mine|>": b"</tool_call>"}
MISTRAL_TOKENS = {b"<|not_mine|>": b"[TOOL_CALLS]"}


def tool_model(
    path: str | Path,
    template: str = HERMES,
    tokens: dict[bytes, bytes] | None = None,
    not_mine: bool = False,
) -> Path:
    """not_mine: it still has its "not mine" token, which it nearly always writes."""
    data = NANO.read_bytes()
    for old, new in [*NO_MARKS.items(), *(tokens or {}).items()]:
        if len(old) != len(new):
            raise AssertionError(f"{old!r} and {new!r} differ in length")
        mark = struct.pack("<Q", len(old)) + old
        data = data.replace(mark, struct.pack("<Q", len(new)) + new)
    target = Path(path)
    between = target.with_suffix(".part")
    between.write_bytes(data)
    without = ["tokenizer.chat_template", "tandem.calibration.call"]
    if not not_mine:
        without.append("tandem.not_mine")
    add_metadata(between, target, [("tokenizer.chat_template", template)], tuple(without))
    between.unlink()
    return target


def token_id(path: str | Path, text: bytes) -> int:
    """The number of the token with this text."""
    data = Path(path).read_bytes()
    key = b"tokenizer.ggml.tokens"
    at = data.index(key) + len(key)
    count = struct.unpack_from("<Q", data, at + 8)[0]
    at += 16
    for number in range(count):
        length = struct.unpack_from("<Q", data, at)[0]
        if data[at + 8 : at + 8 + length] == text:
            return number
        at += 8 + length
    raise AssertionError(f"{path} has no token {text!r}")
