"""Private values cheaply hidden: the texts of a set with each value written in another way, one way
a copy of the set.

A variant changes only values of the kinds that it can hide; texts without any are left out. What is
asked: is a value still found as what it is (the same type, four fifths of its characters)? From a
seed, so that runs compare."""

import base64
import random
import urllib.parse
from typing import Any

NUMBERS = ("PHONE_NUMBER", "CREDIT_CARD", "US_SSN", "IBAN_CODE")
FORMS = NUMBERS + ("EMAIL_ADDRESS", "IP_ADDRESS")
# Latin letters and what looks the same in Cyrillic and Greek (Unicode's confusables, the pairs that
# no font tells apart).
LOOK_ALIKE = dict(zip("aceopsxyABCEHIKMOPTXY", "асеорѕхуАВСЕНΙКМОРТХУ"))
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"


def full_width(value: str, rng: random.Random) -> str:
    return "".join(chr(ord(c) - 0x20 + 0xFF00) if "!" <= c <= "~" else c for c in value)


def zero_width(value: str, rng: random.Random) -> str:
    return "".join(
        c + (rng.choice(INVISIBLE) if rng.random() < 0.4 and i + 1 < len(value) else "")
        for i, c in enumerate(value)
    )


def spelled(value: str, rng: random.Random) -> Any:
    name, host = value.split("@", 1)
    at, dot = rng.choice(
        [
            (" at ", " dot "),
            (" AT ", " DOT "),
            (" [at] ", "."),
            (" (at) ", " (dot) "),
            ("[at]", "[dot]"),
            (" at ", "."),
        ]
    )
    return name + at + host.replace(".", dot)


def separated(value: str, rng: random.Random) -> Any:
    """Other groups than the usual, with one sign between."""
    sign, out = rng.choice([" ", "-", ".", " - ", "\u00a0", "\u2011"]), ""
    kept = [c for c in value if c.isalnum()]
    size = rng.choice([2, 3, 4])
    lead = "+" if value.startswith("+") else ""
    while kept:
        out += (sign if out else "") + "".join(kept[:size])
        kept = kept[size:]
    return lead + out


def look_alike(value: str, rng: random.Random) -> str:
    found = [i for i, c in enumerate(value) if c in LOOK_ALIKE]
    chosen = set(rng.sample(found, max(1, len(found) // 3))) if found else set()
    return "".join(LOOK_ALIKE[c] if i in chosen else c for i, c in enumerate(value))


def in_base64(value: str, rng: random.Random) -> str:
    return base64.b64encode(value.encode()).decode()


def in_url(value: str, rng: random.Random) -> Any:
    if rng.random() < 0.5:
        return urllib.parse.quote(value, safe="")
    return "".join(f"%{byte:02X}" for byte in value.encode())


VARIANTS = {
    "full width": (full_width, FORMS),
    "zero width": (zero_width, FORMS),
    "at and dot": (spelled, ("EMAIL_ADDRESS",)),
    "other separators": (separated, NUMBERS),
    "look-alike letters": (
        look_alike,
        ("EMAIL_ADDRESS", "IBAN_CODE", "PERSON", "GPE", "ORGANIZATION"),
    ),
    "base64": (in_base64, FORMS),
    "URL encoding": (in_url, FORMS),
}


def make(rows: Any, name: str, seed: int = 1) -> list:
    """[(text, [(begin, end, type)])] of the texts in which something was hidden; (text, spans) of
    rows likewise."""
    change, kinds = VARIANTS[name]
    rng = random.Random(f"{seed} {name}")
    out = []
    for text, spans in rows:
        changed, hidden, at = "", [], 0
        for begin, end, kind in sorted(spans):
            value = text[begin:end]
            new = change(value, rng) if kind in kinds else value
            changed += text[at:begin]
            if new != value:
                hidden.append((len(changed), len(changed) + len(new), kind))
            changed += new
            at = end
        if hidden:
            out.append((changed + text[at:], hidden))
    return out


def recall(texts: Any, findings: Any, mapped: Any) -> tuple:
    """(found, all) values: a finding's type and its cover are asked for."""
    found = count = 0
    for (_text, hidden), spans in zip(texts, findings):
        for begin, end, kind in hidden:
            want = mapped.get(kind, kind)
            covered = set()
            for b, e, given in spans:
                if mapped.get(given, given) == want:
                    covered.update(range(max(b, begin), min(e, end)))
            count += 1
            found += len(covered) * 5 >= (end - begin) * 4
    return found, count
