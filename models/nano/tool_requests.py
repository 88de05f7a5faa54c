"""What people say to have a tool called: the words of a request and the call that it asks for."""

import re

from pools import lines, sentence_case
from tool_values import listed

QUESTION = re.compile(r"(what|how|when|where|which|who|is|are|am|do|does|did|can|will)\b", re.I)
STATEMENT = re.compile(r"(i|i'd|i'm|we|don't|make it|warn)\b", re.I)
BEFORE = lines("""
Please {ask}
please {ask}
Can you {ask}
Could you {ask}
can you please {ask}
Could you please {ask}
I want to {ask}
I'd like to {ask}
I need to {ask}
Hey, {ask}
hey {ask}
Now {ask}
I want you to {ask}
Would you {ask}
Help me {ask}
go ahead and {ask}
Quickly {ask}
Let's {ask}
""")
AFTER = ["", "", "", "", "", "", " please", ", please", " for me", " thanks", ", thanks", " now"]
AFTER_QUESTION = ["", "", "", " please", ", please"]


class Said:
    """One request: its words, and the call that it asks for."""

    def __init__(self, text, name, arguments):
        self.text, self.call = text, (name, arguments)


def attach(rng, core, phrases):
    """The core of a request with its parameters' phrases, of which "+" ones share a "with"."""
    plain = [p for p in phrases if not p.startswith("+")]
    given = [p[1:] for p in phrases if p.startswith("+")]
    if given:
        word = rng.choice(["with", "with", "with", "given", "for", "that has", "using"])
        plain.insert(0, f"{word} {listed(given)}")
    return " ".join([core, *plain])


def values(rng, tool, share, left_out=None):
    """{key: (said, value)} of required slots but one, and of some optional ones."""
    made = {}
    for slot in tool.slots:
        if slot is left_out or (not slot.required and rng.random() >= share):
            continue
        made[slot.parameter.key] = slot.parameter.kind.make(rng, slot.form)
    return made


def request(rng, tool, left_out=None):
    """Said, of one call. A slot may be left out, which makes the request incomplete."""
    lower = rng.random() < 0.12
    made = values(rng, tool, 0.35, left_out)
    if lower:
        made = {k: lowered(*one) for k, one in made.items()}
    absent = left_out and f"{{{left_out.parameter.key}}}"
    core = rng.choice([c for c in tool.function.asked if not absent or absent not in c])
    text = words_of(rng, tool, core, {key: said for key, (said, _) in made.items()})
    return Said(text.lower() if lower else text, *call(tool, made))


def call(tool, made):
    """(name, arguments) of {key: (said, value)}."""
    keys = [(s.name, s.parameter.key) for s in tool.slots]
    return tool.name, {name: made[key][1] for name, key in keys if key in made}


def words_of(rng, tool, core, said):
    """A request that says {key: words}, in the core or in phrases behind it."""
    phrases = []
    for slot in tool.slots:
        key = slot.parameter.key
        if key not in said:
            continue
        if f"{{{key}}}" in core:
            quoted = rng.random() < 0.08 and slot.parameter.kind.type == "string"
            core = core.replace(f"{{{key}}}", f'"{said[key]}"' if quoted else said[key])
        else:
            phrases.append(rng.choice(slot.parameter.said).replace("{v}", said[key]))
    if rng.random() < 0.4:
        rng.shuffle(phrases)
    return attach(rng, core, phrases)


def lowered(said, value):
    """The same without capitals; what is a copy stays a copy."""
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return said.lower(), [v.lower() for v in value]
    return said.lower(), value.lower() if value == said else value


def polished(rng, text, split):
    """Openings, courtesies, capitals and marks around a request."""
    if QUESTION.match(text):
        text += rng.choice(AFTER_QUESTION)
        mark = rng.choice(["?", "?", ""])
    elif STATEMENT.match(text):
        mark = rng.choice([".", "", ""])
    else:
        if rng.random() < 0.35:
            text = BEFORE.pick(rng, split).replace("{ask}", text)
        text += rng.choice(AFTER)
        question = re.match(r"(can|could|would) ", text, re.I)
        mark = rng.choice(["?", "?", ""]) if question else rng.choice([".", "", "", "!"])
    return (sentence_case(text) if rng.random() < 0.55 else text) + mark


JOIN = [" and ", " and ", ", and ", ". Also, ", ", then ", " and then ", ". Then ", "; "]


SPREADABLE = ("string", "integer", "number")


def spread(rng, tool):
    """(text, calls): one request for two or three values of one parameter; None where it has no
    parameter that can have several."""
    made = values(rng, tool, 0.2)
    open_slots = [
        s
        for s in tool.slots
        if s.parameter.key in made
        and s.parameter.kind.type in SPREADABLE
        and not s.parameter.kind.options
    ]
    if not open_slots:
        return None
    slot = rng.choice(open_slots)
    key = slot.parameter.key
    some = [slot.parameter.kind.make(rng, slot.form) for _ in range(rng.choice([2, 2, 3]))]
    some = list({said: one for one in some for said in [one[0]]}.values())
    if len(some) < 2:
        return None
    said = {k: words for k, (words, _) in made.items()}
    said[key] = listed([words for words, _ in some])
    text = words_of(rng, tool, rng.choice(tool.function.asked), said)
    return text, [call(tool, made | {key: one}) for one in some]


def several(rng, tool, others, split):
    """(text, calls) of one message: of one tool with other values, or of several tools."""
    if rng.random() < 0.35:
        found = spread(rng, tool)
        if found:
            return found
    count = rng.choice([2, 2, 3])
    known = [t for t in others if not t.function.held or split == "held"]
    made = [request(rng, tool)]
    while len(made) < count:
        again = rng.random() < 0.5 or not known
        made.append(request(rng, tool if again else rng.choice(known)))
    made = [one for i, one in enumerate(made) if one.call not in [m.call for m in made[:i]]]
    text = made[0].text
    for more in made[1:]:
        text += rng.choice(JOIN) + more.text
    return text, [s.call for s in made]
