"""Calls of tools that a request describes, in the form of chat_render.py.

tool_composed.py makes the tools and tool_requests.py what people say. A request says the values in
phrases; arguments are copies of what it says, numbers are numbers, and dates and times take the
form that the schema asks for.

Not mine are: requests that no listed tool answers, requests that leave out a required argument, and
results of tools that are more than one value. Domains, functions and schemas are held out by name
or hash.
"""

import functools
import json
import re

import task_arithmetic
import task_chat
import task_normalise
import task_other
import task_yesno
from chat_render import TOOL_CALL, TOOL_CALL_END, call_text
from pools import lines, sentence_case, weighted
from tool_composed import ALL, ELSEWHERE, HELD, TRAINED, Tool, invented, some_tool
from tool_requests import polished, request, several
from tool_values import STRINGS
from tool_words import ERRORS, OK_RESULTS, SCALARS

INVENTED = 0.3  # of training's calls
# Of training's tools, offered under names that say nothing. A name that fits what is asked for is
# written by heart otherwise, whether it is offered or not.
ODD = 0.4
DONE = "Done."
TOOLS_MAX = 16
# Domains whose tools answer much that they were not made for, and so are no near misses.
BROAD = {"weather", "search", "music", "*knowledge", "navigation", "reminders", "notes", "stocks"}


# --- the list of tools ---


def distractors(rng, tool, count, split, avoid=()):
    """Other tools, half of them of the same domain. Names differ."""
    pool = TRAINED if split == "train" else ALL
    near = [f for f in pool if f.domain == tool.function.domain and f is not tool.function]
    out, names, taken = [], {tool.name}, {tool.function.names[0], *avoid}
    for _ in range(4 * count):
        if len(out) == count:
            break
        f = rng.choice(near if near and rng.random() < 0.5 else pool)
        if tool.function.domain == "invented" and rng.random() < 0.7:
            f = invented(rng)
        other = Tool(rng, f, odd=is_odd(rng, split))
        if f.names[0] in taken or other.name in names:
            continue
        taken.add(f.names[0])
        names.add(other.name)
        out.append(other)
    return out


def some_count(rng):
    """How many other tools stand beside the one that is asked for."""
    return weighted(
        rng,
        (38, 0),
        (24, 1),
        (22, rng.randrange(2, 5)),
        (12, rng.randrange(4, 9)),
        (4, rng.randrange(9, TOOLS_MAX)),
    )


def is_odd(rng, split):
    return split == "train" and rng.random() < ODD


def target(rng, split):
    if split == "train":
        function = invented(rng) if rng.random() < INVENTED else rng.choice(TRAINED)
        return some_tool(rng, function, split, is_odd(rng, split))
    return some_tool(rng, rng.choice(HELD if rng.random() < 0.6 else TRAINED), split)


SYSTEM = lines("""
You are a helpful assistant.
You are a helpful assistant with access to tools.
Use the tools when they help.
You can call functions. Use them for the user's request.
You are the assistant of a phone.
You are a voice assistant in a flat.
Answer with a function call where one fits.
You are an expert in composing functions.
Call a tool if there is one for it. Do not guess missing values.
You help the employees of a company.
Be brief.
You are an agent. Use the functions below.
""")


def chat(rng, split, tools, turns):
    """Messages that offer tools and end with these turns."""
    listed_tools = [t.json for t in tools]
    rng.shuffle(listed_tools)
    head = [("tools", listed_tools)]
    if rng.random() < 0.2:
        head.append(("system", SYSTEM.pick(rng, split)))
    return head + turns


# --- kinds of examples ---


def one_call(rng, split):
    tool = target(rng, split)
    others = distractors(rng, tool, some_count(rng), split)
    said = request(rng, tool)
    text = polished(rng, said.text, split)
    return chat(
        rng, split, [tool, *others], [*history(rng, split, tool, others), ("user", text)]
    ), [said.call]


def crowded(rng, split):
    """One call where the list of tools is as long as it may be."""
    tool = target(rng, split)
    count = rng.randrange(10, TOOLS_MAX)
    made = {t.name: t for t in (Tool(rng, invented(rng, range(3, 13))) for _ in range(count))}
    tools = [tool, *(t for name, t in made.items() if name != tool.name)]
    said = request(rng, tool)
    return chat(rng, split, tools, [("user", polished(rng, said.text, split))]), [said.call]


def many_calls(rng, split):
    tool = target(rng, split)
    others = distractors(rng, tool, some_count(rng), split)
    text, calls = several(rng, tool, others, split)
    return chat(rng, split, [tool, *others], [("user", polished(rng, text, split))]), calls


def foreign_call(rng, split):
    """A request in another language."""
    while True:
        function, _, said = rng.choice(ELSEWHERE)
        if not function.held or split == "held":
            break
    while True:
        tool = some_tool(rng, function, "train" if function.held else split)
        keys = {s.parameter.key for s in tool.slots if s.required}
        core = rng.choice(said)
        if keys <= set(re.findall(r"\{(\w+)\}", core)):
            break
        return foreign_call(rng, split)
    extra = [s for s in tool.slots if s.required or f"{{{s.parameter.key}}}" in core]
    made = {s.parameter.key: s.parameter.kind.make(rng, s.form) for s in extra}
    text = core
    for key, (value, _) in made.items():
        text = text.replace(f"{{{key}}}", value)
    if re.search(r"\{\w+\}", text):
        return foreign_call(rng, split)
    others = distractors(rng, tool, some_count(rng), split)
    arguments = {s.name: made[s.parameter.key][1] for s in tool.slots if s.parameter.key in made}
    text = sentence_case(text) if rng.random() < 0.5 else text
    return chat(rng, split, [tool, *others], [("user", text)]), [(tool.name, arguments)]


def history(rng, split, tool, others):
    """Sometimes an earlier request with its call and result, or a greeting."""
    kind = rng.random()
    if kind < 0.88:
        return []
    if kind < 0.91:
        return [
            ("user", rng.choice(["hi", "Hello!", "hey", "good morning"])),
            ("assistant", task_chat.HELLO),
        ]
    used = rng.choice([tool, *others])
    said = request(rng, used)
    result, answer = some_result(rng, used.function)
    return [
        ("user", polished(rng, said.text, split)),
        ("calls", [said.call]),
        ("tool", result),
        ("assistant", answer or task_other.SENTENCE),
    ]


# --- results ---

ASKS_VALUE = re.compile(
    r"(get|calculate|compute|find|check|read|look|tell|count|convert|estimate)\b"
)


def some_scalar(rng):
    """(JSON, as an answer says it)"""
    kind = rng.random()
    if kind < 0.45:
        text = str(rng.randrange(1, rng.choice([20, 100, 1000, 100000])))
    elif kind < 0.7:
        text = f"{rng.randrange(1, 1000)}.{rng.randrange(1, 100)}".rstrip("0")
    else:
        word = rng.choice(
            [
                STRINGS[rng.choice(["city", "full", "title", "words"])](rng),
                f"{rng.randrange(1, 90)} {rng.choice(['km', 'min', 'USD', 'degrees'])}",
            ]
        )
        return json.dumps(word), word
    return text, text


WEATHER = lines("""
Rain
Sunny
Cloudy
Snow
Light rain
Clear sky
Fog in the morning
Strong wind
A few clouds
Thunderstorms
""")


def some_sentence(rng):
    """What a tool that answers in words may say: it is said again as it stands."""
    if rng.random() < 0.5:
        text = task_yesno.case(rng, "yes")[0]
    else:
        place = rng.choice(
            ["", f" in {STRINGS['city'](rng)}", f", {rng.randrange(-9, 35)} degrees"]
        )
        text = WEATHER.pick(rng) + place + rng.choice([".", ".", ""])
    return text if len(text) <= 100 else "The order is on its way."


def some_result(rng, function):
    """(content of the tool's turn, the answer that repeats it, or None: more than one value)."""
    kind = rng.random()
    if kind < 0.1:
        error = rng.choice(ERRORS)
        key = rng.choice(["error", "error", "message", "reason"])
        if key == "error":
            return json.dumps({key: error}), f"That did not work: {error}."
        return json.dumps({"status": "error", key: error}), f"That did not work: {error}."
    if kind < 0.28:  # more than one value
        many = {rng.choice(SCALARS): json.loads(some_scalar(rng)[0]) for _ in range(4)}
        if len(many) < 2:
            many["unit"] = "m"
        return json.dumps(many if rng.random() < 0.6 else [many, many]), None
    if not ASKS_VALUE.match(function.asked[0]):
        return rng.choice(OK_RESULTS), DONE
    if kind < 0.42:
        text = some_sentence(rng)
        return text, text
    text, words = some_scalar(rng)
    if kind < 0.55:
        return words, f"It is {words}."
    name = rng.choice(SCALARS)
    return f'{{"{name}": {text}}}', f"The {name.replace('_', ' ')} is {words}."


def after_result(rng, split):
    """The turn after a tool has answered."""
    tool = target(rng, split)
    others = distractors(rng, tool, some_count(rng), split)
    said = request(rng, tool)
    result, answer = some_result(rng, tool.function)
    turns = [("user", polished(rng, said.text, split)), ("calls", [said.call]), ("tool", result)]
    return chat(rng, split, [tool, *others], turns), answer


# --- not mine, and what needs no tool ---


def unanswered(rng, split):
    """A request of a function that is not listed; tools of its domain may be."""
    while True:
        tool = target(rng, split)
        if tool.function.domain not in BROAD:
            break
    siblings = {f.names[0] for f in ALL if set(f.names) & set(tool.function.names)}
    others = distractors(rng, tool, max(1, some_count(rng)), split, siblings)
    others = [t for t in others if t.function.domain not in BROAD] or others[:1]
    return chat(rng, split, others, [("user", polished(rng, request(rng, tool).text, split))]), None


def incomplete(rng, split):
    """A request that leaves out a required argument."""
    while True:
        tool = target(rng, split)
        open_slots = [
            s
            for s in tool.slots
            if s.required and any(f"{{{s.parameter.key}}}" not in c for c in tool.function.asked)
        ]
        if open_slots:
            break
    said = request(rng, tool, rng.choice(open_slots))
    others = distractors(rng, tool, some_count(rng), split)
    return chat(rng, split, [tool, *others], [("user", polished(rng, said.text, split))]), None


def unrelated(rng, split):
    """A question that has nothing to do with the tools."""
    tool = target(rng, split)
    others = distractors(rng, tool, some_count(rng), split)
    tools = [t for t in [tool, *others] if t.function.domain not in BROAD] or [tool]
    if tools[0].function.domain in BROAD:
        return unanswered(rng, split)
    text = task_other.message(rng, split)
    return chat(rng, split, tools, [("user", text[:400])]), None


def own_job(rng, split):
    """One of the model's own jobs, with tools that do not do it."""
    tool = target(rng, split)
    others = distractors(rng, tool, some_count(rng), split)
    tools = [t for t in [tool, *others] if t.function.domain not in BROAD | {"*maths", "clock"}]
    task = rng.choice([task_arithmetic, task_normalise, task_chat, task_chat])
    messages, answer, *_ = task.example(rng, split)
    if not tools or len(messages) != 1 or len(messages[0][1]) > 300:
        return one_call(rng, split)
    return chat(rng, split, tools, messages), answer


KINDS = (
    (50, one_call),
    (2, crowded),
    (11, many_calls),
    (6, foreign_call),
    (9, after_result),
    (10, unanswered),
    (6, incomplete),
    (8, unrelated),
    (4, own_job),
)


def example(rng, split="train"):
    """(messages, answer): answer None is "not mine", another text stands as it is."""
    messages, answer = weighted(rng, *KINDS)(rng, split)
    return messages, call_text(answer) if isinstance(answer, list) else answer


@functools.cache
def marks():
    return re.compile(f"{TOOL_CALL}(.*?){TOOL_CALL_END}", re.S)


def calls_of(text):
    """The calls of an answer as comparable texts, in any order; None if it is none."""
    found = marks().findall(text)
    if not found or marks().sub("", text):
        return None
    try:
        return sorted(json.dumps(json.loads(body), sort_keys=True) for body in found)
    except ValueError:
        return None


def right(got, expected):
    """The same calls with the same arguments, in any order; otherwise the same text."""
    wanted = calls_of(expected)
    return got == expected if wanted is None else calls_of(got) == wanted
