"""Tools, composed: a function under one of its names, with some of its parameters under some of
their names, described at length, shortly or not at all, in one of the styles of names.

Most functions stand in tool_functions.py. The others are invented from words, so that calls are
read from the list of tools and not known by heart.
"""

import re
import zlib

from pools import pseudo_word, sentence_case, weighted
from tool_functions import FOREIGN, FUNCTIONS
from tool_params import PARAMS
from tool_values import Kind, listed
from tool_words import COMMON_KEYS, MAKERS, NOUNS, QUANTITIES, TEXTS, VERBS

HELD_DOMAINS = {"cars", "parcels", "books", "*physics"}


class Parameter:
    """What a request may say: key, names in schemas, kind of its values, descriptions, phrases."""

    def __init__(self, key, names, kind, told, said):
        self.key, self.kind = key, kind
        self.names, self.told, self.said = names, told, said

    @classmethod
    def read(cls, line):
        key, names, kind, told, said = [part.strip() for part in line.split("|", 4)]
        return cls(key, parts(names), Kind(kind), parts(told), parts(said))


class Function:
    """What a tool does: names, phrases that ask for it, its required and optional parameters."""

    def __init__(self, domain, names, asked, required, optional):
        self.domain, self.names, self.asked = domain, names, asked
        self.required, self.optional = required, optional
        self.held = domain in HELD_DOMAINS or hashed(names[0], 9) == 4

    @classmethod
    def read(cls, domain, line):
        names, asked, *keys = [part.strip() for part in line.split("|")]
        required, optional = ([PARAMETERS[k] for k in parts(part, ",")] for part in keys)
        return cls(domain, parts(names), parts(asked), required, optional)


def parts(text, mark=";"):
    return [x.strip() for x in text.split(mark) if x.strip()]


def hashed(text, count):
    return zlib.crc32(text.encode()) % count


PARAMETERS = {p.key: p for p in map(Parameter.read, PARAMS.splitlines())}


def functions():
    out, domain = [], ""
    for line in FUNCTIONS.splitlines():
        if line.startswith("#"):
            domain = line[1:].strip()
        else:
            out.append(Function.read(domain, line))
    return out


def article_of(noun):
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def invented_parameter(rng, words):
    """A parameter that no table has: a quantity or a name of something."""
    head = rng.choice(words) + " " if rng.random() < 0.4 else ""
    if rng.random() < 0.6:
        noun = head + rng.choice(QUANTITIES)
        kind = Kind(rng.choice(["int 1 100", "num 1 500", "int 2 2000", "num 0 20"]))
        said = [
            f"+{article_of(noun)} of {{v}}",
            f"+{noun} {{v}}",
            f"+the {noun} {{v}}",
            f"+{noun} = {{v}}",
        ]
    else:
        last = rng.choice(TEXTS)
        noun, kind = head + last, Kind(MAKERS.get(last, "words"))
        said = [
            f"+the {noun} {{v}}",
            f"+{noun} {{v}}",
            f"+{article_of(noun)} of {{v}}",
            f"+{noun}: {{v}}",
        ]
    told = [
        f"The {noun}.",
        f"{sentence_case(noun)} to use",
        f"The {noun} of the {rng.choice(words)}",
        noun,
    ]
    return Parameter(noun.replace(" ", "_"), [noun.replace(" ", "_")], kind, told, said)


def invented(rng, counts=(1, 2, 2, 3, 3, 4, 5)):
    """A function that nobody offers, so that calls are read from the list and not known by heart.
    counts: how many parameters it may have."""
    verb, words = rng.choice(VERBS), rng.sample(NOUNS, 3)
    noun = rng.choice([words[0], f"{words[0]} {words[1]}", f"{words[0]} {rng.choice(QUANTITIES)}"])
    names = ["_".join([verb, *noun.split()])]
    if rng.random() < 0.3:
        names = ["_".join([*noun.split(), verb])]
    asked = [f"{verb} the {noun}", f"{verb} {article_of(noun)}", f"{verb} the {noun}"]
    if verb in ("get", "calculate", "find", "compute", "estimate", "measure", "check", "predict"):
        asked += [f"what is the {noun}", f"tell me the {noun}", f"I need the {noun}"]
    made = {}
    for _ in range(rng.choice(counts)):
        p = rng.choice(COMMON) if rng.random() < 0.35 else invented_parameter(rng, words)
        made.setdefault(p.key, p)
    required = rng.randrange(1, min(len(made), 4) + 1)
    return Function(
        "invented", names, asked, list(made.values())[:required], list(made.values())[required:]
    )


ALL = functions()
COMMON = [PARAMETERS[k] for k in COMMON_KEYS]
TRAINED = [f for f in ALL if not f.held]
HELD = [f for f in ALL if f.held]
BY_NAME = {f.names[0]: f for f in ALL}
ELSEWHERE = [
    (BY_NAME[name.strip()], language.strip(), parts(said))
    for language, name, said in (line.split("|") for line in FOREIGN.splitlines())
]


# --- tools ---


def styled(name, style, domain):
    """A name in a style of names."""
    first, *more = name.split("_")
    if style == "camel":
        return first + "".join(p.title() for p in more)
    if style == "pascal":
        return "".join(p.title() for p in [first, *more])
    if style == "dotted":
        head = more[-1] if domain == "invented" and more else domain.strip("*").split()[0]
        return f"{head}.{name}"
    return name.replace("_", "-") if style == "kebab" else name


def some_style(rng):
    return weighted(rng, (66, "snake"), (14, "camel"), (12, "dotted"), (4, "pascal"), (4, "kebab"))


def strange(rng, counts=(1, 2, 2, 3)):
    """A name that says nothing of what a thing does."""
    words = [rng.choice([rng.choice(NOUNS), rng.choice(VERBS), pseudo_word(rng)]) for _ in range(3)]
    return "_".join(words[: rng.choice(counts)])


class Slot:
    """A parameter of one tool: its name there, whether it is required, the form of its values."""

    def __init__(self, parameter, name, required, told, form):
        self.parameter, self.name, self.required = parameter, name, required
        self.told, self.form = told, form

    def schema(self, rng):
        kind, out = self.parameter.kind, {}
        if kind.type == "array":
            out = {"type": "array", "items": {"type": "string"}}
        elif kind.type == "numbers":
            out = {"type": "array", "items": {"type": rng.choice(["integer", "number"])}}
        else:
            out = {"type": kind.type}
        if kind.type == "integer" and rng.random() < 0.2:
            out["type"] = "number"
        if kind.options:
            out["enum"] = list(kind.options)
        if self.told:
            out["description"] = self.told
        elif self.form == "iso" and kind.head == "date":
            out["format"] = "date"
        return out


def with_default(rng, told, parameter):
    """A description that says what happens when nothing is given."""
    said = parameter.kind.make(rng, "text")[0] or "false"
    return f"{told.rstrip('.')}. Default is {said}."


PERSONS = {r"\bme\b": "the user", r"\bmy\b": "the user's"}


def description(rng, function, long):
    """What a tool does, in its own words."""
    asked = function.asked[0] if rng.random() < 0.6 else rng.choice(function.asked)
    text = re.sub(r"\{(\w+)\}", lambda m: article(PARAMETERS[m[1]]), asked)
    for ours, theirs in PERSONS.items():
        text = re.sub(ours, theirs, text)
    if not long:
        return sentence_case(text) + rng.choice(["", "."])
    return rng.choice(
        [
            f"{sentence_case(text)}.",
            f"Use this to {text}.",
            f"{sentence_case(text)} for the user.",
            f"This function can {text}. It returns the result as JSON.",
            f"Call this when the user wants to {text}.",
        ]
        + [f"{sentence_case(text)}, given {parameters_in_words(function)}."]
        * bool(function.required)
    )


def article(parameter):
    if parameter.key == "switch":
        return "on or off"
    return "the " + parameter.names[0].replace("_", " ")


def parameters_in_words(function):
    return listed([article(p) for p in function.required + function.optional[:1]])


class Tool:
    """A function as one application offers it. odd: under a strange name, and some parameters too,
    so that what it does is read from its description, and the name is copied."""

    def __init__(self, rng, function, style=None, odd=False):
        self.function = function
        style = style or some_style(rng)
        name = strange(rng) if odd else rng.choice(function.names)
        self.name = styled(name, style, function.domain)
        optional = [p for p in function.optional if rng.random() < 0.7]
        wordy = weighted(rng, (60, "long"), (22, "short"), (0 if odd else 18, "none"))
        camel, used, self.slots = style in ("camel", "pascal"), set(), []
        for parameter in function.required + optional:
            free = [n for n in parameter.names if n not in used]
            free = free or [f"{parameter.names[0]}_{len(used)}"]
            name = free[0] if rng.random() < 0.4 else rng.choice(free)
            told = rng.choice(parameter.told) if wordy != "none" and rng.random() < 0.9 else None
            if odd and told and rng.random() < 0.3:
                name = strange(rng, (1, 1, 2))
                name = name if name not in used else f"{name}_{len(used)}"
            used.add(name)
            if (
                told
                and "optional" not in told
                and parameter in function.optional
                and rng.random() < 0.25
            ):
                told = rng.choice(
                    [f"{told} (optional)", f"{told} Optional.", with_default(rng, told, parameter)]
                )
            asks = told and re.search("YYYY|ISO|HH:MM", told)
            form = "iso" if asks or (not told and rng.random() < 0.3) else "text"
            if parameter.kind.head == "clock" and not told:
                form = "text"
            name = styled(name, "camel", "") if camel else name
            self.slots.append(Slot(parameter, name, parameter in function.required, told, form))
        if rng.random() < 0.15:
            rng.shuffle(self.slots)
        self.told = (
            None
            if wordy == "none" and rng.random() < 0.6
            else description(rng, function, wordy == "long")
        )
        self.json = self.schema(rng)

    def schema(self, rng):
        out = {"name": self.name}
        if self.told:
            out["description"] = self.told
        out["parameters"] = {
            "type": "object",
            "properties": {s.name: s.schema(rng) for s in self.slots},
            "required": [s.name for s in self.slots if s.required],
        }
        for slot in self.slots:  # a default, which a request that says nothing leaves alone
            p = out["parameters"]["properties"][slot.name]
            if not slot.required and slot.parameter.kind.options and rng.random() < 0.15:
                p["default"] = next(iter(slot.parameter.kind.options))
        return {"type": "function", "function": out}

    def held_schema(self):
        """Whether a schema of names like these is kept for the evaluation."""
        return hashed("/".join([self.name] + [s.name for s in self.slots]), 7) == 3


def some_tool(rng, function, split, odd=False):
    """A tool of a function; in training none whose schema is held out, for "held" only those of
    functions that training knows."""
    while True:
        tool = Tool(rng, function, odd=odd)
        if function.held or tool.held_schema() == (split == "held"):
            return tool
