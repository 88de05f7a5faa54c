"""Private data in a text, as a JSON list in the order of appearance:
`[{"type": "person", "text": "Anna Smith"}, ...]`, `[]` where there is none.

Sentences and values are our own, with the layouts of fifteen countries. The public synthetic sets
share 17 templates with each other, of which one is a test set, so neither is trained on.
"""

import json
import re

import values
from pools import ask, chance, fill, injected, lines, polite, unescape
from private_templates import NOTHING, SENTENCES

MAKE = {
    "person": values.person,
    "email": lambda rng, land: values.email(rng, values.person(rng, land)),
    "phone": values.phone,
    "address": values.address,
    "location": values.city,
    "organization": lambda rng, land: values.company(rng),
    "age": lambda rng, land: values.age(rng),
    "date_of_birth": lambda rng, land: values.date(rng),
    "credit_card": lambda rng, land: values.card(rng),
    "iban": lambda rng, land: values.iban(rng),
    "national_id": lambda rng, land: values.national_id(rng),
    "passport": lambda rng, land: values.passport(rng),
    "ip_address": lambda rng, land: values.ip(rng),
    "url": lambda rng, land: values.url(rng),
    "username": lambda rng, land: values.username(rng),
    "password": lambda rng, land: values.password(rng),
    "api_key": lambda rng, land: values.api_key(rng),
    "license_plate": lambda rng, land: values.plate(rng),
}
TYPES = list(MAKE)

ASK = lines("""
List all personal data in the text as JSON.
Find the private data in this text and answer in JSON.
Find all personal information in the text. Answer with a JSON list.
Extract the personally identifiable information as JSON.
Extract all PII as JSON.
PII as JSON:
Detect PII in the following text. Return a JSON list of type and text.
Which private data does this text contain? Answer as JSON.
Which personal data is in this message? JSON only.
Return the private entities as JSON.
Mark the personal data: give a JSON list with type and text.
Identify all private data in the text below and return JSON.
Give me a JSON list of the sensitive data in this text.
Scan the text for sensitive data and report it as JSON.
Spot the personal details in this message and list them as JSON.
Report all private entities (type, text) as JSON.
What personal information is in here? Use JSON.
Private data entities in JSON, please.
List every name, number, address or other private detail as JSON.
Personal data as a JSON list of {"type", "text"} objects.
Text: {text}\\nPrivate data (JSON):
Text: {text}\\nPII:
Extract PII from: {text}
Check this text for personal data and answer with JSON: {text}
Output the privacy-relevant entities as JSON.
Tag the private data in this text. JSON.
Say which personal data this contains, as JSON.
Privacy check. List what is private, as JSON.
""").widen(
    """
(|Please )(find|list|extract|mark|collect|name|show|tag) (the private data|all personal details|the personal data|what is private|all PII|the private entities) (in|of|from) (this text|the text|the message|this message) (as JSON|as a JSON list|in JSON).
(Which|What) (private data|personal details|PII|personal data) (is|stands) (here|in this text|in this message)? (Answer in JSON|JSON, please|Use JSON|Reply with a JSON list).
(PII|Private data|Personal data|Private details)(, JSON:| as a JSON list:| of this in JSON:)
"""
)
SYSTEM = lines("""
Find the private data in every message. Answer with a JSON list of type and text.
You detect personal data. Output a JSON list like [{"type": "person", "text": "..."}].
You are a privacy filter. Report all PII in the user's text as JSON.
PII detection. JSON output only.
List the personal data of each text as JSON, [] if there is none.
You scan texts for sensitive data and reply with JSON.
Return private entities as JSON.
""")
ASK_SOME = lines("""
Extract the {what} from the text as JSON.
List only {what} as JSON.
Find every {what} in this text. Answer with JSON.
Find {what} in the text and return a JSON list with type and text.
Private data of the types {what}, as JSON.
Return {what} as a JSON list.
Look for {what} only. JSON list of type and text.
Which {what} are in the text? Answer as a JSON list of type and text.
Give a JSON list of entities of these types: {what}.
Entities wanted: {what}. Answer in JSON.
""")


def sentence(rng, template, land):
    """(text, [(type, value, position)]) of one template."""
    text, found = "", []
    for part in re.split(r"(\{[a-z_]+\})", unescape(template)):
        if part[:1] == "{" and part[1:-1] in MAKE:
            value = MAKE[part[1:-1]](rng, land)
            found.append((part[1:-1], value))
            text += value
        else:
            text += part
    return text, found


def some_text(rng, split):
    """One to three sentences of one country, entities in order of appearance."""
    texts, found = [], []
    land = values.country(rng)
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        if chance(rng, 0.15):
            texts.append(NOTHING.pick(rng, split))
            continue
        text, entities = sentence(rng, SENTENCES.pick(rng, split), land)
        texts.append(text)
        found += entities
    gap = rng.choice([" ", " ", " ", "\n"])
    text = gap.join(texts)
    if chance(rng, 0.06):  # typed in lower case
        text, found = text.lower(), [(t, v.lower()) for t, v in found]
    return text, found


def show(found):
    return json.dumps([{"type": kind, "text": value} for kind, value in found], ensure_ascii=False)


def example(rng, split="train"):
    """(messages, answer)"""
    text, found = some_text(rng, split) if chance(rng, 0.93) else (NOTHING.pick(rng, split), [])
    text = injected(rng, text, split, 0.03)
    if chance(rng, 0.15):
        wanted = sorted({t for t, _ in found} | set(rng.sample(TYPES, 1)), key=TYPES.index)
        wanted = rng.sample(wanted, min(len(wanted), rng.choice([1, 1, 2])))
        what = " and ".join(t.replace("_", " ") if chance(rng, 0.5) else t for t in wanted)
        return ask(rng, polite(rng, fill(ASK_SOME.pick(rng, split), what=what)), text), show(
            [(t, v) for t, v in found if t in wanted]
        )
    if chance(rng, 0.15):
        return [("system", SYSTEM.pick(rng, split)), ("user", text)], show(found)
    return ask(rng, polite(rng, ASK.pick(rng, split)), text), show(found)


def right(got, expected):
    """The same entities, in any order."""
    try:
        pairs = [sorted((e["type"], e["text"]) for e in json.loads(x)) for x in (got, expected)]
    except (ValueError, KeyError, TypeError):
        return False
    return pairs[0] == pairs[1]
