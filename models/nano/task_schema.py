"""Extraction to a given JSON schema.

A record is drawn from a domain of schema_fields.py, told in sentences or labelled lines, and asked
for by a schema: as JSON Schema, as a short form, as a list of keys, or not in the prompt at all (as
with `response_format`, where the grammar shows the keys while the answer is written). Keys come in
the schema's order, values are copied exactly, what the text does not say is null (an empty list for
arrays).

Held out: phrasings, and every schema whose keys hash to one seventh. The domain `car` is never
trained on; `foreign_example` asks for it.
"""

import json
import zlib

import values
from names import COMPANY_HEAD
from pools import ask, chance, fill, injected, lines, polite, sentence_case, unescape, weighted
from schema_fields import (
    COLOR,
    DEVICE,
    DOMAINS,
    FOOD,
    GENRE,
    ITEM,
    PRODUCT,
    ROLE,
    SYMPTOM,
    TITLE,
    TOPIC,
)

EVENT = [
    "summer party",
    "spring concert",
    "staff meeting",
    "book fair",
    "yoga class",
    "open day",
    "workshop",
    "film night",
    "charity run",
    "cooking course",
    "science fair",
    "team lunch",
    "art show",
    "chess cup",
]
DEPARTMENT = [
    "sales",
    "support",
    "finance",
    "network",
    "hardware",
    "legal",
    "marketing",
    "security",
]
LANGUAGES = [
    "English",
    "German",
    "French",
    "Spanish",
    "Italian",
    "Polish",
    "Arabic",
    "Korean",
    "Hindi",
]
BRANDS = [
    "Volta",
    "Norden",
    "Astra Motors",
    "Lumen",
    "Kestrel",
    "Marlin",
    "Orbis",
    "Terra",
    "Falk",
    "Ridge",
]


# type: (JSON Schema type, maker); a maker gives (text in the sentence, value in the answer)
def plain(make):
    return lambda rng: (lambda v: (v, v))(make(rng))


def pick(pool):
    return plain(lambda rng: rng.choice(pool) if isinstance(pool, list) else pool.pick(rng))


def whole(low, top):
    return lambda rng: (lambda n: (str(n), n))(rng.randrange(low, top))


def decimal(top):
    def make(rng):
        text = f"{rng.randrange(top)}.{rng.choice([rng.randrange(1, 10), f'{rng.randrange(1, 10)}{rng.randrange(1, 10)}'])}"
        return text, float(text)

    return make


def listing(pool):
    def make(rng):
        chosen = rng.sample(pool.parts["train"], rng.choice([1, 2, 2, 3, 4]))
        joined = chosen[0] if len(chosen) == 1 else ", ".join(chosen[:-1]) + " and " + chosen[-1]
        return joined, chosen

    return make


MAKERS = {
    "person": ("string", plain(values.person)),
    "email": ("string", plain(values.email)),
    "phone": ("string", plain(values.phone)),
    "date": ("string", plain(values.date)),
    "amount": ("string", plain(values.amount)),
    "company": ("string", plain(values.company)),
    "city": ("string", plain(values.city)),
    "address": ("string", plain(values.address)),
    "iban": ("string", plain(values.iban)),
    "card": ("string", plain(values.card)),
    "ip": ("string", plain(values.ip)),
    "plate": ("string", plain(values.plate)),
    "clock": ("string", plain(values.clock)),
    "code": (
        "string",
        plain(
            lambda rng: values.pattern(
                rng,
                rng.choice(
                    ["AA-####", "A#####", "AAA####", "##-####", "A-###-AA", "####-##", "AA########"]
                ),
            )
        ),
    ),
    "role": ("string", pick(ROLE)),
    "product": ("string", pick(PRODUCT)),
    "color": ("string", pick(COLOR)),
    "event": ("string", pick(EVENT)),
    "title": ("string", pick(TITLE)),
    "genre": ("string", pick(GENRE)),
    "device": ("string", pick(DEVICE)),
    "department": ("string", pick(DEPARTMENT)),
    "language": ("string", pick(LANGUAGES)),
    "food": ("string", pick(FOOD)),
    "brand": ("string", pick(BRANDS)),
    "hotel": (
        "string",
        plain(
            lambda rng: (
                f"{rng.choice(['Hotel', 'Grand Hotel', 'Inn'])} {COMPANY_HEAD.pick(rng)}"
                if chance(rng, 0.5)
                else f"{COMPANY_HEAD.pick(rng)} Hotel"
            )
        ),
    ),
    "age": ("integer", whole(1, 96)),
    "small": ("integer", whole(1, 61)),
    "number": ("integer", whole(10, 2000)),
    "year": ("integer", whole(1950, 2031)),
    "stars": ("integer", whole(1, 6)),
    "decimal": ("number", decimal(100)),
    "price": ("number", decimal(500)),
    "items": ("array", listing(ITEM)),
    "topics": ("array", listing(TOPIC)),
    "symptoms": ("array", listing(SYMPTOM)),
}


class Field:
    def __init__(self, line):
        keys, kind, sentences = (part.strip() for part in line.split("|"))
        self.keys, self.options = keys.split(), []
        self.kind, _, options = kind.partition(" ")
        if self.kind == "enum":
            self.options = options.split(",")
        halves = [[s.strip() for s in half.split(" / ")] for half in sentences.split(" // ")]
        self.sentences, self.denials = halves[0], halves[-1] if self.kind == "bool" else []

    def type(self):
        return {"bool": "boolean", "enum": "string"}.get(self.kind) or MAKERS[self.kind][0]

    def tell(self, rng, key):
        """(sentence, labelled line, value)"""
        if self.kind == "bool":
            value = chance(rng, 0.5)
            sentence = rng.choice(self.sentences if value else self.denials)
            return sentence, f"{key}: {'yes' if value else 'no'}", value
        if self.kind == "enum":
            shown = value = rng.choice(self.options)
        else:
            shown, value = MAKERS[self.kind][1](rng)
        return fill(rng.choice(self.sentences), v=shown), f"{key}: {shown}", value


def parse(block):
    rows = block.strip().splitlines()
    return (
        rows[0],
        [Field(r) for r in rows[1:] if r[0] != "~"],
        [r[2:] for r in rows[1:] if r[0] == "~"],
    )


RECORDS = [parse(block) for block in DOMAINS.strip().split("\n\n")]
FOREIGN = [record for record in RECORDS if record[0] == "car"]
OURS = [record for record in RECORDS if record[0] != "car"]

ASK = lines("""
Extract the data as JSON with this schema: {schema}\\n\\n{text}
Extract the information from the text into JSON that follows this schema.\\nSchema: {schema}\\nText: {text}
Extract JSON from the text. Schema:\\n{schema}\\n\\nText:\\n{text}
Schema: {schema}\\n\\nText: {text}\\n\\nJSON:
Fill this JSON schema from the text.\\n{schema}\\n\\n{text}
{text}\\n\\nExtract the data to this JSON schema: {schema}
{text}\\n\\nReturn JSON that matches: {schema}
Text: {text}\\nReturn a JSON object with this structure: {schema}
Read the text and answer with JSON of this form: {schema}\\n\\n{text}
Turn the text into JSON. Use exactly this schema: {schema}\\nText: "{text}"
Given the schema {schema} extract the values from: {text}
Please extract the following as JSON ({schema}): {text}
Use this schema: {schema}\\nUse null where the text says nothing.\\n\\n{text}
Parse the message below into JSON according to the schema.\\n\\nMessage: {text}\\n\\nSchema: {schema}
Here is a JSON schema: {schema} Here is a text: {text} Give me the JSON.
Convert this text to structured data.\\nSchema: {schema}\\n{text}
I need JSON with this schema: {schema}\\nfrom this text: {text}
Extract structured data. Missing values are null.\\n{schema}\\n\\n{text}
Input: {text}\\nOutput schema: {schema}\\nOutput:
Populate the schema with the values of the text.\\n\\n{text}\\n\\n{schema}
json schema:\\n{schema}\\ntext:\\n{text}
According to the schema below, extract the fields from the email.\\n{schema}\\nEmail: {text}
""").widen(
    """
(Extract|Pull|Take|Collect|Read) (the data|the values|the fields|the details|what is asked) (from|out of) (the text|this text|the message|the lines below)(.|:) (Schema|JSON schema|The schema is|Wanted)(:|:\\n) {schema}\\n(\\n|)(Text: |Message: ||Text:\\n){text}
(Text|Message|Input|Mail|Note|Document)(: |:\\n){text}\\n(\\n|)(Schema|JSON schema|Wanted|Form|Structure)(: |:\\n){schema}(|\\nJSON:|\\nAnswer:|\\nOutput:)
(Schema|JSON schema|Structure|Form|Wanted)(: |:\\n){schema}\\n(\\n|)(Text|Message|Input|Mail|Note|Document)(: |:\\n){text}(|\\nJSON:|\\nAnswer:|\\nOutput:)
(Return|Give|Write|Output|Produce|Answer with) (JSON|a JSON object|one JSON object) (for|that fits|of|that has the form of|following) (this schema|the schema)(: |:\\n){schema}\\n(\\n|)(Text: |Message: ||Text:\\n){text}
(Write|Put|Bring|Convert) (the text|this text|the message|this message|what follows) (as|into|to) JSON (of this form|with this schema|like this|that fits the schema)(: |:\\n){schema}\\n(\\n|){text}
{text}\\n(\\n|)(Write|Put|Give|Return|Show) (this|it|the data|the values) as JSON (of this form|with this schema|like this|that fits the schema)(: |:\\n){schema}
(Complete|Answer|Fill in|Fill) (the schema|this form|this structure|the JSON)(: |:\\n){schema}\\n(\\n|)(Use the text: |From: |Text: |){text}
(Use|Take|Follow|Apply) (this schema|the schema|this structure)(: |:\\n){schema}\\n(\\n|)(What is not said is null. |Unknown values are null. |Leave null what is not there. |){text}
"""
)
ASK_KEYS = lines("""
Extract {schema} as JSON: {text}
Extract these fields as JSON: {schema}\\n\\n{text}
Extract the fields {schema} from the text as a JSON object.\\n{text}
Return JSON with the keys {schema}.\\n\\n{text}
{text}\\n\\nGive me JSON with {schema}.
{text}\\nFields: {schema}\\nJSON:
Text: {text}\\nKeys: {schema}\\nAnswer with a JSON object.
From the following text, extract {schema}. Answer in JSON.\\n\\n{text}
Make a JSON object with {schema} from this: {text}
JSON keys: {schema}. Use null if missing. Text: {text}
Please give {schema} as JSON.\\n{text}
Find {schema} in this message and return JSON: {text}
Output a JSON object with exactly these keys: {schema}\\nText: {text}
Which values have {schema} here? Answer as JSON. {text}
""").widen(
    """
(|Please )(extract|find|get|collect|read|pull out|take|list|return) {schema} (from|in|of) (this text|the text|this message|the message) (as JSON|as a JSON object|and answer in JSON|and write JSON)(: |:\\n|.\\n\\n){text}
(Text|Message|Input|Mail|Note)(: |:\\n){text}\\n(\\n|)(Keys|Fields|JSON keys|Wanted|Values)(: |:\\n){schema}(|\\nJSON:|\\nAnswer:|\\nJSON object:)
(Keys|Fields|JSON keys|Wanted|Values)(: |:\\n){schema}\\n(\\n|)(Text|Message|Input|Mail|Note)(: |:\\n){text}(|\\nJSON:|\\nAnswer:|\\nJSON object:)
(Return|Give|Write|Output|Produce|Build|Answer with) (JSON|a JSON object|one JSON object) (with|of|that has|holding) {schema}(: |:\\n|.\\n\\n|. Text: ){text}
{text}\\n(\\n|)(Return|Give|Write|Put|Extract|Find|Show) {schema} (as JSON|in JSON|as a JSON object)(|.)
(What are|Tell me|Give me|I need|I want) {schema} (as JSON|in JSON|as a JSON object)(: |:\\n|.\\n\\n){text}
"""
)
ASK_NONE = lines("""
Extract the data as JSON.
Extract the information as JSON.
Extract the details of this message as JSON.
Return the data in this text as JSON.
Extract all fields.
Turn this message into structured data.
Fill in the form from this text.
Read the text and fill in the JSON.
Parse this message into JSON.
Extract structured data from the text.
Give me the details as JSON.
Get the fields from this text.
Extract the requested information.
Structured output, please.
""").widen(
    """
(Extract|Return|Read|Get|Find|Collect|Pull out|Take) (the data|the details|the fields|the values|the information|what is asked for|everything) (from this text|from the text|from this message|in this message|of this mail|in the text below|below)(| as JSON| in JSON).
(Convert|Turn|Change|Bring) (this|the text|the message|this mail|the following) (to|into) (structured data|a filled form|a record with the right fields).
(Fill|Complete) (the form|the fields|the record|the JSON|the JSON object)(| from this text| with this message| with what it says| from the message).
(Extract|Fill the schema|Fields, please|Extract to the schema|Data extraction).
"""
)
SYSTEM = lines("""
Extract data from the user's text as JSON with this schema: {schema}
You extract data. Answer with JSON that follows this schema: {schema} Use null for missing values.
Output only JSON. Schema: {schema}
You are an extraction service. For each text return JSON of this form: {schema}
Reply with a JSON object that matches the schema. Schema:\\n{schema}
The user sends a text. Fill this schema from it: {schema}
You are a parser. JSON schema: {schema}
""")


def held_out(keys):
    """One schema in seven, the same on every machine."""
    return zlib.crc32(" ".join(keys).encode()) % 7 == 3


def draw(rng, record, split):
    """[(key, field)] of a schema of this split."""
    _, fields, _ = record
    while True:
        chosen = rng.sample(fields, min(len(fields), rng.choice([1, 2, 2, 3, 3, 4, 5])))
        keys = []
        for field in chosen:
            free = [k for k in field.keys if k not in keys]
            if free:
                keys.append(rng.choice(free))
        if len(keys) == len(chosen) and (split is None or held_out(keys) == (split == "held")):
            return list(zip(keys, chosen))


def json_schema(rng, schema):
    """The schema as JSON Schema, with what people leave out and put in."""
    nullable = chance(rng, 0.3)
    properties = {}
    for key, field in schema:
        kind = field.type()
        entry = {"type": [kind, "null"] if nullable else kind}
        if kind == "array":
            entry = {"type": "array", "items": {"type": "string"}}
        if field.options:
            entry["enum"] = field.options
        properties[key] = entry
    out: dict = {"type": "object", "properties": properties}
    if chance(rng, 0.5):
        out["required"] = [key for key, _ in schema]
    if chance(rng, 0.15):
        out["additionalProperties"] = False
    return json.dumps(out, indent=2 if chance(rng, 0.1) else None)


def short_schema(rng, schema):
    """{"name": "string", ...}, and the like."""
    style = rng.random()
    kinds = {k: f.type() for k, f in schema}
    if style < 0.55:
        return json.dumps({k: ["string"] if t == "array" else t for k, t in kinds.items()})
    if style < 0.75:
        blank = {"string": "", "integer": 0, "number": 0.0, "boolean": False, "array": []}
        return json.dumps({k: blank[t] for k, t in kinds.items()})
    if style < 0.9:
        return "{" + ", ".join(f"{k}: {t}" for k, t in kinds.items()) + "}"
    return "\n".join(f"- {k} ({t})" for k, t in kinds.items())


DISTRACTORS = (
    0,
    1,
    1,
    2,
    3,
)  # fields beside the schema's in training: the wrong one is the usual mistake


def tell(rng, record, schema, others_counts=(0, 0, 1, 1, 2)):
    """(text, {key: value}): what the text says, some fields of the schema left out, others
    added."""
    _, fields, empty = record
    said, taken = [], {}
    for key, field in schema:
        if chance(rng, 0.82):
            sentence, line, taken[key] = field.tell(rng, rng.choice(field.keys + [key] * 3))
            said.append((sentence, line))
    others = [f for f in fields if f not in [f for _, f in schema] and not clashes(f, schema)]
    for field in rng.sample(others, min(len(others), rng.choice(others_counts))):
        sentence, line, _ = field.tell(rng, field.keys[0])
        said.append((sentence, line))
    rng.shuffle(said)
    if chance(rng, 0.25):
        title = rng.choice([str, sentence_case, str.upper])
        gap = rng.choice(["\n", "\n", "; "])
        rows = [
            title(line.split(":")[0].replace("_", " ")) + ":" + line.split(":", 1)[1]
            for _, line in said
        ]
        text = gap.join(rows)
    else:
        text = " ".join(sentence for sentence, _ in said)
        if chance(rng, 0.4) or not text:
            text = (
                f"{text} {rng.choice(empty)}".strip()
                if chance(rng, 0.6)
                else f"{rng.choice(empty)} {text}".strip()
            )
        text = text.lower() if chance(rng, 0.02) and not taken else text
    if not text:
        text = rng.choice(empty)
    return text, taken


def clashes(field, schema):
    """Whether another field's sentence could be read as one of the schema's: same key or same kind
    of value under a near name (a sender is no recipient, but "from" may be either)."""
    keys = {k for k, _ in schema} | {k for _, f in schema for k in f.keys}
    return bool(keys & set(field.keys))


def answer(schema, taken):
    return json.dumps(
        {key: taken.get(key, [] if field.type() == "array" else None) for key, field in schema},
        ensure_ascii=False,
    )


def pose(rng, split, schema, text):
    """The messages that ask for the schema."""
    train = (
        split == "train"
    )  # shorter prompts make more practice; keys that only the grammar knows are hard
    form = weighted(
        rng,
        (3.5 if train else 5, "json"),
        (4, "short"),
        (3, "keys"),
        (2.6 if train else 1.6, "none"),
    )
    if form == "none":
        return ask(rng, polite(rng, ASK_NONE.pick(rng, split)), text)
    if form == "keys":
        names = [key if chance(rng, 0.7) else key.replace("_", " ") for key, _ in schema]
        names = [k for k, _ in schema] if chance(rng, 0.5) else names
        gap = " and " if len(names) == 2 and chance(rng, 0.6) else ", "
        return [
            ("user", fill(unescape(ASK_KEYS.pick(rng, split)), schema=gap.join(names), text=text))
        ]
    shown = json_schema(rng, schema) if form == "json" else short_schema(rng, schema)
    if chance(rng, 0.25):
        return [("system", fill(unescape(SYSTEM.pick(rng, split)), schema=shown)), ("user", text)]
    return [("user", fill(unescape(ASK.pick(rng, split)), schema=shown, text=text))]


def example(rng, split="train", record=None):
    """(messages, answer)"""
    record = record or rng.choice(OURS)
    schema = draw(rng, record, split)
    if chance(rng, 0.06):  # a schema that has nothing to do with the text
        other = rng.choice([r for r in OURS if r[0] != record[0]])
        unlike = [
            f
            for f in other[1]
            if not clashes(f, schema) and f.kind not in [g.kind for _, g in schema]
        ]
        said = [f.tell(rng, f.keys[0])[0] for f in rng.sample(unlike, min(len(unlike), 3))]
        text, taken = " ".join(said) or other[2][0], {}
    else:
        text, taken = tell(
            rng, record, schema, DISTRACTORS if split == "train" else (0, 0, 1, 1, 2)
        )
    return pose(rng, split, schema, injected(rng, text, split)), answer(schema, taken)


def foreign_example(rng, split="held"):
    """The domain that training never sees, in phrasings of a split."""
    schema = draw(rng, FOREIGN[0], None)
    text, taken = tell(rng, FOREIGN[0], schema)
    return pose(rng, split, schema, text), answer(schema, taken)


def right(got, expected):
    """The same JSON value with the keys in the same order."""
    try:
        return json.dumps(json.loads(got)) == json.dumps(json.loads(expected))
    except ValueError:
        return False
