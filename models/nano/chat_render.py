"""A chat as the text that the model reads: chat_template.jinja in Python, byte for byte.

`messages` is a list of (role, content). Two roles are ours: ("tools", a list of OpenAI's tools)
stands first where there are tools, but is read last: each line can look back at the request, and
its description stands before its name, so that the name's first token knows what the tool does. A
model that reads one way only cannot find the tool otherwise, as small as it is. And ("calls",
[(name, arguments)]) is an assistant's turn that calls them. tests/models/test_template.py compares
both renderers through the program.
"""

import json

TOOL_CALL, TOOL_CALL_END = "<tool_call>", "</tool_call>"
# From so many characters on a list loses the descriptions of parameters, then those of tools.
LIST_CHARS_MAX, SHORT_CHARS_MAX = 3600, 4200
SHORT_DESCRIPTION = 60  # characters of a tool's description in a shorter list


def to_json(value):
    """Jinja's tojson: non-ASCII characters as they stand, ", " and ": "."""
    return json.dumps(value, ensure_ascii=False)


def kind(schema):
    """The type of a value in a word: string, "a"|"b", [integer], {name: string}."""
    if "enum" in schema:
        return "|".join(to_json(v) for v in schema["enum"])
    if "anyOf" in schema:
        return "|".join(kind(s) for s in schema["anyOf"])
    name = schema.get("type")
    if name == "array":
        items = schema.get("items")
        return f"[{kind(items) if isinstance(items, dict) else 'any'}]"
    if name == "object" and isinstance(schema.get("properties"), dict):
        return "{" + fields(schema) + "}"
    if isinstance(name, str):
        form = schema.get("format")
        return f"{name}({form})" if isinstance(form, str) else name
    return "|".join(name) if name else "any"


def fields(schema):
    return ", ".join(field_list(schema))


def field_list(schema):
    out = []
    for name, p in schema["properties"].items():
        text = f"{name}{'' if name in schema.get('required', ()) else '?'}: {kind(p)}"
        if p.get("default") is not None:
            text += f" = {to_json(p['default'])}"
        out.append(text)
    return out


def entry(tool, level):
    """One or two lines: "description | parameter: description", "name(parameters)"."""
    f = tool["function"]
    schema = f.get("parameters") or {}
    properties = schema.get("properties")
    told, said = f.get("description"), []
    if level < 2 and told:
        said.append((told if level == 0 else told[:SHORT_DESCRIPTION]).replace("\n", " "))
    if level == 0 and properties:
        for name, p in properties.items():
            if p.get("description"):
                said.append(f"{name}: " + p["description"].replace("\n", " "))
    head = " | ".join(said) + "\n" if said else ""
    return head + f"{f['name']}({fields(schema) if properties is not None else ''})"


def entries(tools):
    """The entries of a list of tools, as long as it allows."""
    for level, limit in ((0, LIST_CHARS_MAX), (1, SHORT_CHARS_MAX), (2, None)):
        out = [entry(t, level) for t in tools]
        if limit is None or len("\n".join(out)) <= limit:
            return out
    raise AssertionError("the last level has no limit")


def call_parts(calls):
    """The parts of an answer that calls: control tokens apart."""
    parts = []
    for name, arguments in calls:
        body = f'{{"name": {to_json(name)}, "arguments": {to_json(arguments)}}}'
        parts += [TOOL_CALL, body, TOOL_CALL_END]
    return parts


def call_text(calls):
    return "".join(call_parts(calls))


def turn(role, content):
    return ["<|im_start|>", f"{role}\n{content}", "<|im_end|>", "\n"]


def render(messages):
    """The chat with the assistant's turn opened, as a list of strings, control tokens apart."""
    parts, offered = [], []
    for role, content in messages:
        if role == "tools":
            offered = turn(role, "\n".join(entries(content))) if content else []
        elif role == "calls":
            parts += ["<|im_start|>", "assistant\n", *call_parts(content), "<|im_end|>", "\n"]
        else:
            parts += turn(role, content)
    return [*parts, *offered, "<|im_start|>", "assistant\n"]


def request(messages):
    """The members of a chat request: OpenAI's messages, and its tools where there are any."""
    out, made = {"messages": []}, 0
    for role, content in messages:
        if role == "tools":
            out["tools"] = content
        elif role == "calls":
            calls = []
            for name, arguments in content:
                made += 1
                calls.append(
                    {
                        "id": f"call_{made}",
                        "type": "function",
                        "function": {"name": name, "arguments": to_json(arguments)},
                    }
                )
            out["messages"].append({"role": "assistant", "content": None, "tool_calls": calls})
        elif role == "tool":
            out["messages"].append(
                {"role": role, "content": content, "tool_call_id": f"call_{made}"}
            )
        else:
            out["messages"].append({"role": role, "content": content})
    return out
