"""Texts with marked names for the tagger, from a seed: people of many cultures, places,
organisations in sentences of templates.py, written in many manners; beside them WNUT17's training
sentences and utterances without names."""

import csv
import json
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "nano"))
import contexts
import corpora
import foreign
import languages
import people
import plain
import templates
import words
from drawn_names import ORG, PERSON, PLACE, Lists, Names, Segment, strip_accents

SLOT = re.compile(r"\{(\w+)\}")


def fill(template, names):
    template = (
        template.replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("{{", "\x01")
        .replace("}}", "\x02")
    )
    out, at = [], 0
    for slot in SLOT.finditer(template):
        out.append((template[at : slot.start()], None))
        out += getattr(names, slot.group(1))()
        at = slot.end()
    out.append((template[at:], None))
    return [(text.replace("\x01", "{").replace("\x02", "}"), label) for text, label in out if text]


def misspelt(text, rng):
    """One or two words with a letter too few, too many, or in the wrong place: unknown words that
    are no names."""
    found = [m.span() for m in re.finditer(r"[a-z]{4,}", text)]
    for begin, end in sorted(rng.sample(found, min(len(found), rng.randint(1, 2))), reverse=True):
        i = rng.randint(begin + 1, end - 2)
        change = rng.choice(
            [
                text[i + 1] + text[i],
                text[i] * 2 + text[i + 1],
                text[i + 1],
                rng.choice("aeioutrsn") + text[i + 1],
            ]
        )
        text = text[:i] + change + text[i + 2 :]
    return text


def quoted(segments, mark):
    """Each line with a mark before it, as mail programs quote and lists begin."""
    return [(mark, None)] + [(t.replace("\n", "\n" + mark), l) for t, l in segments]


def manner(segments, rng):
    """How a whole text is written."""
    if rng.random() < 0.03:
        segments = quoted(segments, rng.choice(["> ", ">", "| ", "* ", "- ", "  ", "# ", ">> "]))
    r = rng.random()
    if r < 0.16:
        return [(t.lower(), l) for t, l in segments]
    if r < 0.19:
        return [(t.upper(), l) for t, l in segments]
    if r < 0.23:
        return [(t.lower() if l in (PERSON, PLACE, ORG) else t, l) for t, l in segments]
    if r < 0.245:
        return [(t.upper() if l in (PERSON, PLACE) else t, l) for t, l in segments]
    if r < 0.32:
        return [(strip_accents(t), l) for t, l in segments]
    return segments


# Real sentences in which nobody is named become sentences with names: what stands for a person, a
# place or an organisation is replaced by one.
PERSON_WORDS = (
    "friend brother sister mother father teacher neighbor boss son daughter wife husband man woman"
    " boy girl student customer person cousin uncle aunt manager doctor worker driver child kid"
    " player owner seller baker farmer mom dad"
).split()
ORG_WORDS = (
    "store shop company bank school restaurant hospital university factory market supermarket"
    " business club bakery hotel farm firm team library gym office college airline church museum"
).split()
PLACE_WORDS = (
    "city town village country state island park lake beach river valley mountain area region"
    " airport".split()
)
STAND_INS = [
    (re.compile(r"\b(he|she)\b", re.IGNORECASE), "p"),
    (re.compile(r"\b(him|them)\b(?=[ .,?!])"), "p"),
    (re.compile(r"\bher\b(?=[.,?!])"), "p"),
    (re.compile(r"\b(his|their)(?= \w)", re.IGNORECASE), "pf's"),
    (
        re.compile(
            r"\b(the|my|his|her|a|our|their|one|another) ({})\b".format("|".join(PERSON_WORDS)),
            re.IGNORECASE,
        ),
        "p",
    ),
    (
        re.compile(
            r"\b(the|my|his|her|a|our|their|one|another|this) (?:local |new |big )?({})\b".format(
                "|".join(ORG_WORDS)
            ),
            re.IGNORECASE,
        ),
        "o",
    ),
    (
        re.compile(
            r"\b(the|my|his|her|a|our|their|another|this) ({})\b".format("|".join(PLACE_WORDS)),
            re.IGNORECASE,
        ),
        "pa",
    ),
]
SENTENCE = re.compile(r"(?<=[.?!])\s+")


def plain_sentences():
    """Sentences of GSM8K's and DCRouter's training texts without a capital but the first."""
    ordinary = ordinary_words() | set(words.FUNCTION)
    texts = corpora.gsm8k_train() + [
        row["question"]
        for row in json.loads(
            (corpora.data_dir() / "llmrouter" / "dcrouter_train.json").read_text()
        )
    ]
    kept = set()
    for text in texts:
        for sentence in SENTENCE.split(text):
            rest = re.findall(r"[^\W\d_]+", sentence)
            if (
                4 <= len(rest) <= 40
                and len(sentence) < 260
                and rest[0].lower() in ordinary
                and "\n" not in sentence
                and all(w.islower() or w == "I" for w in rest[1:])
                and all(w.lower() in ordinary or len(w) < 2 for w in rest)
            ):
                kept.add(sentence)
    return sorted(kept)


def stand_ins(sentence, names):
    """The sentence with one to three of its stand-ins replaced."""
    found = [
        (m.start(), m.end(), slot)
        for pattern, slot in STAND_INS
        for m in pattern.finditer(sentence)
    ]
    names.rng.shuffle(found)
    taken = []
    for begin, end, slot in found:
        if len(taken) < 3 and all(end <= b or begin >= e for b, e, _ in taken):
            taken.append((begin, end, slot))
    out, at = [], 0
    for begin, end, slot in sorted(taken):
        out.append((sentence[at:begin], None))
        if slot == "p":
            slot = names.rng.choice(["p", "p", "pf", "pf", "pl"])
        out += names.pf() + [("'s", None)] if slot == "pf's" else getattr(names, slot)()
        at = end
    return [(t, l) for t, l in out + [(sentence[at:], None)] if t]


GROUPS = [
    (templates.PROMPTS, 16),
    (templates.LETTERS, 10),
    (templates.FORMS, 9),
    (templates.TICKETS, 10),
    (templates.NOTES, 8),
    (templates.NEWS, 20),
    (templates.SOCIAL, 6),
    (templates.RECORDS, 11),
    (templates.OTHER_LANGUAGES, 3),
    (plain.PLAIN, 16),
    (languages.NAMED, 4),
    (languages.plain(), 5),
]
HELD_OUT_EVERY = 8  # one template in eight is for the development set


def part_of(lines, held):
    return [line for i, line in enumerate(lines) if (i % HELD_OUT_EVERY == 5) == held]


# (left sides, right sides, slots that may stand between)
CONTEXTS = [
    (contexts.ORG_LEFT, contexts.ORG_RIGHT, ["o"]),
    (contexts.PERSON_LEFT, contexts.PERSON_RIGHT, ["p", "p", "p", "pf", "pf", "pl", "pl"]),
    (contexts.PLACE_LEFT, contexts.PLACE_RIGHT, ["c", "c", "c", "n", "n", "pa"]),
    (contexts.NONE_LEFT, contexts.NONE_RIGHT, ["w", "w", "N", "N", "h", "nat", "gn"]),
]
CONTEXT_WEIGHTS = [5, 3, 3, 3]


class Texts:
    def __init__(self, seed, held, lists):
        self.rng = random.Random(seed)
        self.names = Names(self.rng, lists)
        self.groups = [part_of(group, held) for group, _ in GROUPS]
        self.weights = [weight for _, weight in GROUPS]
        self.native = {k: part_of(v, held) or v for k, v in templates.NATIVE.items()}
        self.contexts = [
            (part_of(left, held), part_of(right, held), slots) for left, right, slots in CONTEXTS
        ]
        self.foreign = foreign.Foreign(self.rng, self.names)
        self.fillers = utterances()
        self.sentences = part_of(plain_sentences(), held)
        self.changeable = [s for s in self.sentences if any(p.search(s) for p, _ in STAND_INS)]

    def native_text(self):
        rng = self.rng
        language = rng.choice(list(self.native))
        first, last = people.SCRIPTS[language]
        text = rng.choice(self.native[language])
        out: list[Segment] = []
        for piece in re.split(r"(\{\w+\})", text):
            if piece == "{p}":
                out.append((f"{rng.choice(first)} {rng.choice(last)}", PERSON))
            elif piece in ("{pf}", "{pl}"):
                out.append((rng.choice(first if piece == "{pf}" else last), PERSON))
            else:
                out.append((piece, None))
        return out

    def context(self):
        """A name between a left side and a right side, or with one of them."""
        rng = self.rng
        lefts, rights, slots = rng.choices(self.contexts, CONTEXT_WEIGHTS)[0]
        name = "{" + rng.choice(slots) + "}"
        if rng.random() < 0.08:
            name += (
                rng.choice([" and ", ", ", " or ", " & ", " / "]) + "{" + rng.choice(slots) + "}"
            )
        left, right = rng.choice(lefts), rng.choice(rights)
        r = rng.random()
        if r < 0.3:
            left = ""
        elif r < 0.55:
            right = ""
        if left and rng.random() < 0.6:
            left = left[0].upper() + left[1:]
        apart = "" if right == "" or re.match(r"['’,;:!?.](?![)(])", right) else " "
        text = (left + " " if left else "") + name + apart + right
        return fill(
            text + ("" if text[-1] in "!?:;,)" else rng.choice([".", ".", ".", "", "!", "?", ","])),
            self.names,
        )

    def text(self):
        rng = self.rng
        if rng.random() < 0.01:
            return self.native_text()
        segments = []
        for i in range(rng.choice([1, 1, 1, 2, 2, 3, 5])):
            if i:
                segments.append((rng.choice([" ", " ", " ", "\n", "\n\n"]), None))
            r = rng.random()
            if r < 0.08:
                segments.append((rng.choice(self.fillers), None))
            elif r < 0.16:
                segments.append((rng.choice(self.sentences), None))
            elif r < 0.32:
                segments += stand_ins(rng.choice(self.changeable), self.names)
            elif r < 0.54:
                segments += self.context()
            elif r < 0.60:
                segments += self.foreign.text()
            else:
                segments += fill(rng.choice(rng.choices(self.groups, self.weights)[0]), self.names)
                if rng.random() < 0.06 and segments[-1][0].endswith("."):
                    segments[-1] = (segments[-1][0][:-1], segments[-1][1])
        segments = [
            (misspelt(t, rng), l) if l is None and rng.random() < 0.05 else (t, l)
            for t, l in segments
        ]
        return manner(segments, rng)


def name_words(lists=None):
    lists = lists or Lists()
    out = set()
    for given, last in lists.cultures.values():
        out |= {w.lower() for name in given + last for w in re.findall(r"\w+", name)}
    for name in lists.cities + lists.countries + lists.regions + lists.known:
        out |= {w.lower() for w in re.findall(r"\w+", name)}
    return out


def ordinary_words():
    return set((HERE / "ordinary.txt").read_text().split())


def foreign_words():
    """Ordinary words of other languages that are nobody's name."""
    words_of_all = (HERE / "foreign.txt").read_text().split() + [
        noun.lower() for noun in languages.GERMAN_NOUNS
    ]
    return set(words_of_all) - name_words()


def utterances():
    """Utterances of CLINC150's and Banking77's training splits in which nothing looks like a
    name."""
    ordinary = ordinary_words() | set(words.FUNCTION)
    names = name_words() - ordinary
    texts = [u for u, _ in corpora.clinc("train")]
    with open(corpora.data_dir() / "banking77" / "train.csv", newline="") as file:
        texts += [row[0] for row in csv.reader(file)][1:]
    kept = []
    for text in texts:
        found = set(re.findall(r"[a-z]+", text.lower()))
        if not found & names and len(text) < 300:
            kept.append(text)
    return kept


WNUT_LABEL = {
    "person": PERSON,
    "location": PLACE,
    "corporation": ORG,
    "group": ORG,
    "product": None,
    "creative-work": None,
}


def wnut_segments(sentence):
    """(text, label) of a WNUT17 sentence; tokens that belong together are glued."""
    out: list[Segment] = []
    before = None
    for token, tag in sentence:
        kind = WNUT_LABEL.get(tag[2:])
        glue = re.match(r"^(['’]\w+|n't|[.,!?;:)\]]+)$", token) or (
            before and re.match(r"^[(\[#@]$", before)
        )
        inside = tag.startswith("I-") and out and out[-1][1] == kind
        if inside:
            out[-1] = (out[-1][0] + ("" if glue else " ") + token, kind)
        else:
            if out and not glue:
                out.append((" ", None))
            out.append((token, kind))
        before = token
    return out


def wnut(path):
    blocks = re.split(r"\n\s*\n", path.read_text().strip())
    for block in blocks:
        rows = [tuple(line.split("\t")[:2]) for line in block.splitlines() if "\t" in line.strip()]
        if rows:
            yield wnut_segments(rows)


def line(segments):
    """One line for names_train: the text escaped, then byte spans."""
    spans, at, text = [], 0, ""
    for piece, label in segments:
        size = len(piece.encode())
        if label:
            spans.append(f"{at}:{at + size}:{label}")
        at += size
        text += piece
    return (
        text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", " ") + "\t" + " ".join(spans)
    )
