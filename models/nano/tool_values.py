"""Values of tools' parameters: what is said of one in a request, and what it is in a call.

A maker is `make(rng, form) -> (said, value)`. `form` is what the schema promises of dates and
times: "iso" where they are to be written as YYYY-MM-DD and HH:MM, else they are copied.
"""

from corpora import clinc_inside, common_words
from names import CITY, FIRST
from other_words import (
    BOOK,
    COUNTRY,
    GENRE,
    HISTORY,
    OBJECT,
    SCIENCE,
    SHOW,
    SOCIETY,
    TEAM,
    TECH,
    THINGS,
)
from pools import pseudo_word
from schema_fields import FOOD, ITEM, PRODUCT, TITLE
from task_normalise import number_words, shortest, some_date, some_time
from tool_words import CHORE_THING, CHORE_VERB, EXTENSION, INGREDIENT, MESSAGE, PLACE_HEAD
from values import (
    address,
    city,
    company,
    digits,
    email,
    iban,
    ip,
    pattern,
    person,
    phone,
    plate,
    reference,
    url,
)

DATE_FORMS = ["iso", "long", "long_eu", "long_short", "long_st", "long_of", "long_eushort"]
COUNTRIES = [name.title() for name in COUNTRY.parts["train"] + COUNTRY.parts["held"]]


def some_words(rng, least=1, most=3):
    count = rng.randrange(least, most + 1)
    return " ".join(
        pseudo_word(rng) if rng.random() < 0.15 else rng.choice(common_words())
        for _ in range(count)
    )


def piece(rng):
    """A few words that follow each other in a real sentence."""
    parts = rng.choice(clinc_inside()).split()
    start = rng.randrange(max(1, len(parts) - 3))
    return " ".join(parts[start : start + rng.randrange(2, 9)])


def same(text):
    return text, text


def date(rng, form):
    forms = some_date(rng)
    said = forms[rng.choice(DATE_FORMS)]
    return said, forms["iso"] if form == "iso" else said


def clock(rng, form):
    said, exact = some_time(rng)
    if rng.random() < 0.3:
        said = exact
    return said, exact if form == "iso" else said


def whole(rng, low, top, step=1):
    value = rng.randrange(low, top + 1, step)
    kind = rng.random()
    if kind < 0.06 and value < 100:
        return number_words(value), value
    if kind < 0.3 and value >= 1000:
        return f"{value:,}", value
    return str(value), value


def decimal(rng, low, top, step=None):
    if rng.random() < 0.65:
        value = rng.randrange(int(low), int(top) + 1)
        return str(value), value
    value = rng.randrange(1, int((top - low) / (step or 0.5)) + 1) * (step or 0.5) + low
    if step is None and rng.random() < 0.5:
        value = rng.randrange(int(low) * 10, int(top) * 10) / 10
    said = shortest(value)
    return said, float(said) if "." in said else int(said)


def numbers(rng, form):
    values = [rng.randrange(1, rng.choice([20, 100, 1000])) for _ in range(rng.randrange(3, 8))]
    text = [str(v) for v in values]
    said = rng.choice([", ".join(text), listed(text), f"[{', '.join(text)}]"])
    return said, values


def listed(items):
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def place(rng):
    name = rng.choice([FIRST.pick(rng).title(), pseudo_word(rng, 2).title(), CITY.pick(rng)])
    if rng.random() < 0.3:
        return f"{name}'s"
    return f"{PLACE_HEAD.pick(rng)} {name}"


def title(rng):
    kind = rng.random()
    if kind < 0.4:
        return TITLE.pick(rng)
    if kind < 0.7:
        return rng.choice([BOOK, SHOW]).pick(rng).title()
    return some_words(rng, 1, 3).title()


def topic(rng):
    kind = rng.random()
    if kind < 0.2:
        return some_words(rng, 1, 3)
    return rng.choice([SCIENCE, TECH, HISTORY, SOCIETY, THINGS, GENRE, PRODUCT, TEAM]).pick(rng)


def band(rng):
    if rng.random() < 0.5:
        return person(rng)
    return f"The {some_words(rng, 1, 2).title()}"


def file(rng):
    head = some_words(rng, 1, 2).replace(" ", rng.choice("_-"))
    if rng.random() < 0.3:
        head += str(rng.randrange(1, 2030))
    return f"{head}.{rng.choice(EXTENSION)}"


def folder(rng):
    parts = [rng.choice(common_words()) for _ in range(rng.randrange(1, 3))]
    return rng.choice(["/", "", "", "/home/"]) + "/".join(parts)


def host(rng):
    if rng.random() < 0.25:
        return ip(rng)
    head = rng.choice(["web", "db", "app", "mail", "node", "cache", pseudo_word(rng)])
    return f"{head}{rng.choice(['', '-', '0'])}{rng.randrange(1, 20)}" + rng.choice(
        ["", "", ".example.com", ".local"]
    )


STRINGS = {
    "words": some_words,
    "phrase": lambda rng: MESSAGE.pick(rng) if rng.random() < 0.4 else piece(rng),
    "chore": lambda rng: (
        f"{CHORE_VERB.pick(rng)} {CHORE_THING.pick(rng)}" if rng.random() < 0.7 else piece(rng)
    ),
    "city": lambda rng: CITY.pick(rng) if rng.random() < 0.6 else city(rng),
    "country": lambda rng: rng.choice(COUNTRIES),
    "address": lambda rng: (
        f"{rng.randrange(1, 200)} {pseudo_word(rng, 2).title()} Street"
        if rng.random() < 0.4
        else address(rng)
    ),
    "first": lambda rng: (
        FIRST.pick(rng).title() if rng.random() < 0.8 else pseudo_word(rng, 2).title()
    ),
    "full": person,
    "mail": email,
    "phone": phone,
    "title": title,
    "band": band,
    "item": lambda rng: rng.choice([ITEM, PRODUCT, OBJECT]).pick(rng),
    "food": INGREDIENT.pick,
    "meal": FOOD.pick,
    "place": place,
    "iban": iban,
    "code": reference,
    "file": file,
    "folder": folder,
    "topic": topic,
    "company": company,
    "team": lambda rng: TEAM.pick(rng).title(),
    "host": host,
    "slug": lambda rng: some_words(rng, 1, 2).replace(" ", "-"),
    "url": url,
    "plate": plate,
    "flight": lambda rng: pattern(rng, rng.choice(["AA###", "AA####", "AA ###"])),
    "tracking": lambda rng: pattern(rng, rng.choice(["AA#########AA", "##########", "#A######"])),
    "version": lambda rng: (
        f"{rng.choice(['', 'v'])}{rng.randrange(10)}.{rng.randrange(20)}.{rng.randrange(10)}"
    ),
}


def string(name):
    return lambda rng, form: same(STRINGS[name](rng))


def number_id(rng, form):
    text = digits(rng, rng.choice([3, 4, 5])).lstrip("0") or "7"
    return text, int(text)


def pick(options):
    return lambda rng, form: same(rng.choice(options))


def enum(options):
    """options: {value: what is said of it}"""

    def make(rng, form):
        value = rng.choice(list(options))
        return rng.choice(options[value]), value

    return make


def many(make):
    """One to four different values, said as a list."""

    def several(rng, form):
        made = list(dict.fromkeys(make(rng, form)[0] for _ in range(rng.choice([1, 2, 2, 3, 4]))))
        return listed(made), made

    return several


class Kind:
    """How the values of a parameter are made: JSON type, enum or None, maker."""

    def __init__(self, text):
        head, _, rest = text.strip().partition(" ")
        self.head, self.options = head, None
        if head == "int":
            bounds = [int(x) for x in rest.split()]
            self.type, self.make = "integer", lambda rng, form: whole(rng, *bounds)
        elif head == "num":
            span = [float(x) for x in rest.split()]
            self.type, self.make = "number", lambda rng, form: decimal(rng, *span)
        elif head == "pick":
            self.type, self.make = "string", pick([x.strip() for x in rest.split(",")])
        elif head == "enum":
            self.options = {}
            for option in rest.split(","):
                value, _, said = option.strip().partition("=")
                self.options[value] = said.split("/") if said else [value]
            self.type, self.make = "string", enum(self.options)
        elif head == "flag":
            self.type, self.make = "boolean", lambda rng, form: ("", True)
        elif head == "many":
            self.type, self.make = "array", many(string(rest))
        elif head == "numbers":
            self.type, self.make = "numbers", numbers
        elif head == "number_id":
            self.type, self.make = "integer", number_id
        else:
            self.type = "string"
            self.make = {"date": date, "clock": clock}.get(head) or string(head)
