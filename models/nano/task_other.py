"""Everything else, which this model must recognise and hand on.

The answer is the token <|not_mine|>, one fixed sentence, and the end. Questions are generated
from templates with large word lists, in the kinds that people really ask a chat model; the aim
is breadth, so that an unseen kind is still nearer to these than to the 150 intents. Some lists
stay close to the intents on purpose (overdraft fees, seat upgrades, wiper blades): without
them the model calls every sentence about a bank a banking intent. The kinds of BIG-Bench Hard and
the questions of MT-Bench, which measure this class, are not imitated.

Sums and units that the model can do, greetings and what it is are kept out: they are its jobs.
"""

import functools
import re

import task_intent
import task_yesno
from corpora import clinc_inside, clinc_outside, common_words, gsm8k_train
from names import CITY, FIRST, LAST
from other_more import ADVICE, CODING, EXAM, FOLLOW, PASSAGE, REASON, ROLE, STEM, WORLD, WRITE
from other_short import ASK_DO, ASK_THING, DO, NEARLY, STORY, THING
from other_templates import CODE, FOREIGN, GENERATE, KNOWLEDGE, LEISURE, LIFE, MATHS, TEXT_WORK
from other_words import (
    ANIMAL,
    BOOK,
    COUNTRY,
    FIRM,
    GENRE,
    HEALTH,
    HISTORY,
    HOUSE,
    INSTRUMENT,
    JOB,
    LANGUAGE,
    MUSEUM,
    OBJECT,
    PERSON,
    RELATIVE,
    SCIENCE,
    SHOW,
    SOCIETY,
    SPORT,
    SUBJECT,
    TEAM,
    TECH,
    THEME,
    THINGS,
    TONGUE,
    VERB,
)
from pools import pseudo_word, sentence_case, unescape
from task_arithmetic import beyond
from task_extract import make_text
from task_intent import augment

SENTENCE = "That is outside what this small model can do."

OPENERS = [
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "Hi, ",
    "Please ",
    "Can you help me? ",
    "I have a question. ",
    "Quick question: ",
    "Could you answer this: ",
    "hey, ",
    "Hello! ",
]


class Corpus:
    """GSM8K training questions and CLINC150's out-of-scope training lines, read by data.py."""

    def __init__(self, gsm8k, clinc_oos, clinc_in):
        self.gsm8k, self.clinc_oos, self.clinc_in = gsm8k, clinc_oos, clinc_in


TOPICS = {
    "country": COUNTRY,
    "person": PERSON,
    "science": SCIENCE,
    "tech": TECH,
    "history": HISTORY,
    "society": SOCIETY,
    "animal": ANIMAL,
    "theme": THEME,
    "things": THINGS,
    "verb": VERB,
    "language": LANGUAGE,
    "tongue": TONGUE,
    "team": TEAM,
    "sport": SPORT,
    "show": SHOW,
    "book": BOOK,
    "firm": FIRM,
    "subject": SUBJECT,
    "instrument": INSTRUMENT,
    "job": JOB,
    "house": HOUSE,
    "health": HEALTH,
    "genre": GENRE,
    "museum": MUSEUM,
    "relative": RELATIVE,
    "thing": OBJECT,
    "code": CODE,
    "do": DO,
}
NUMBERS = {"a": 13, "b": 60, "c": 400}
SLOT = re.compile(r"\{([a-z]+)[23]?\}")


def expand(rng, template, split, text="", topics=TOPICS):
    """Fill every slot of a template with held-in or held-out words; other braces stay."""
    values = {}

    def slot(match):
        name = match[1]
        if match[0] in values:
            return values[match[0]]
        if name in topics:
            value = topics[name].pick(rng, split)
        elif name in NUMBERS:
            value = str(rng.randrange(2, NUMBERS[name]))
        elif name == "name":
            value = (LAST if match[0] == "{name3}" else FIRST).pick(rng).capitalize()
        elif name == "city":
            value = CITY.pick(rng)
        elif name == "items":
            value = ", ".join(
                OBJECT.pick(rng) if rng.random() < 0.5 else rng.choice(common_words())
                for _ in range(rng.randrange(3, 9))
            )
        elif name == "opt":
            value = options(rng, split)
        else:
            value = text if name in ("text", "passage") else match[0]
        values[match[0]] = value
        return value

    return SLOT.sub(slot, unescape(template))


def options(rng, split):
    """Four choices in one of the ways in which tests print them."""
    pool = rng.choice([SCIENCE, ANIMAL, COUNTRY, PERSON, TECH, THINGS, HISTORY])
    chosen = [pool.pick(rng, split) for _ in range(4)]
    style = rng.choice(["{}) ", "{}. ", "{}: ", "[{}] "])
    names = rng.choice(["ABCD", "abcd", "1234"])
    gap = rng.choice(["\n", "\n", " ", "  "])
    return gap.join(style.format(n) + c for n, c in zip(names, chosen))


def passage(rng, corpus):
    """Several sentences."""
    parts = [p.strip() for p in rng.choice(corpus.gsm8k).split(". ") if "?" not in p]
    parts = parts or ["It was late"]
    if rng.random() < 0.35:
        parts += [rng.choice(corpus.clinc_in), make_text(rng)[0]]
    return ". ".join(sentence_case(p) for p in parts[:5]).rstrip(".") + "."


def some_text(rng, corpus):
    """A text for somebody else to work on."""
    kind = rng.random()
    if kind < 0.35:
        return make_text(rng)[0]
    if kind < 0.6:
        return rng.choice(corpus.clinc_in)
    if kind < 0.9:
        parts = rng.choice(corpus.gsm8k).split(". ")
        return ". ".join(parts[: rng.randrange(1, 4)])
    if kind < 0.97:
        return expand(rng, KNOWLEDGE.pick(rng), "train")
    return " ".join(rng.choice(corpus.gsm8k) for _ in range(rng.choice([2, 3, 5])))


def hostile(rng):
    """Nothing at all, one sign many times, bytes that are no text, alphabets that are not ours."""
    kind = rng.random()
    if kind < 0.1:
        return rng.choice(["", " ", "\n", "\t", "   \n"])
    if kind < 0.45:
        unit = rng.choice(
            [rng.choice("abcxyzAEIO0189 .,!?-_=*#/\n"), "ab", "ha", "no ", "word ", "0 ", "?!"]
        )
        return unit * rng.choice([5, 20, 60, 150, 300])
    if kind < 0.65:
        return "".join(
            chr(
                rng.choice(
                    [rng.randrange(1, 32), rng.randrange(128, 256), 0xFFFD, rng.randrange(33, 127)]
                )
            )
            for _ in range(rng.randrange(5, 60))
        )
    low, high = rng.choice(
        [
            (0x0391, 0x03C9),
            (0x0410, 0x044F),
            (0x05D0, 0x05EA),
            (0x0621, 0x064A),
            (0x0905, 0x0939),
            (0x3041, 0x3096),
            (0x4E00, 0x9FA5),
            (0xAC00, 0xD7A3),
            (0x0E01, 0x0E2E),
            (0x1F600, 0x1F64F),
        ]
    )
    return "".join(
        chr(rng.randrange(low, high)) if rng.random() < 0.85 else " "
        for _ in range(rng.randrange(2, 40))
    )


def gibberish(rng):
    kind = rng.random()
    if kind < 0.4:
        return "".join(
            rng.choice("abcdefghijklmnopqrstuvwxyz ;,.") for _ in range(rng.randrange(3, 40))
        )
    if kind < 0.7:
        return " ".join(pseudo_word(rng) for _ in range(rng.randrange(1, 7)))
    if kind < 0.78:
        return "".join(rng.choice("0123456789+-*/=()%$# ") for _ in range(rng.randrange(3, 25)))
    return rng.choice(
        [
            "...",
            "???",
            "?",
            "!!",
            "test",
            "asdf",
            "lol",
            "haha",
            "hmm",
            "qwerty",
            "foo bar",
            "lorem ipsum dolor sit amet",
            "123",
            "abc",
            ":)",
            "ok so",
            "blah blah blah",
        ]
    )


MORE = (
    (3, ROLE),
    (5, WRITE),
    (6, REASON),
    (4, EXAM),
    (6, STEM),
    (5, CODING),
    (6, PASSAGE),
    (6, ADVICE),
    (2, FOLLOW),
    (5, WORLD),
)


NEAR = dict(TOPICS, thing=THING)


def short(rng, split):
    """An everyday question."""
    return expand(
        rng, (ASK_DO if rng.random() < 0.55 else ASK_THING).pick(rng, split), split, topics=NEAR
    )


def story(rng, split, corpus):
    """Several sentences about people, and a question that takes more than one of them to answer."""
    parts = [task_yesno.case(rng, "yes")[0] for _ in range(rng.choice([2, 3, 3, 4, 5]))]
    if rng.random() < 0.4:
        parts.insert(rng.randrange(len(parts)), passage(rng, corpus))
    asked = expand(rng, STORY.pick(rng, split), split)
    text = rng.choice([" ", " ", "\n"]).join(parts)
    return rng.choice(
        [
            f"{text} {asked}",
            f"{text}\n\n{asked}",
            f"{text}\nQuestion: {asked}",
            f"{asked}\n\n{text}",
            f"Story: {text}\n{asked}",
            f"Q: {text} {asked}",
            f"Context: {text}\n\nQuestion: {asked}\nAnswer:",
        ]
    )


def more(rng, split, corpus):
    """A longer request, as people type it."""
    pool = rng.choices([p for _, p in MORE], [w for w, _ in MORE])[0]
    text = expand(rng, pool.pick(rng, split), split, passage(rng, corpus))
    shape = rng.random()
    if shape < 0.15:
        text = text.lower()
    elif shape < 0.25:
        text = rng.choice(["Q: ", "Question: ", "Task: ", "User: ", "Instruction: "]) + text
    if rng.random() < 0.08:
        text += rng.choice(
            [
                "\nA:",
                "\nAnswer:",
                "\nLet's think step by step.",
                " Explain your answer.",
                " Think about it carefully.",
                "\n\nAnswer:",
            ]
        )
    return text


def question(rng, split, corpus):
    """One message that none of the other tasks owns."""
    kind = rng.random()
    if kind < 0.30:
        return more(rng, split, corpus)
    if kind < 0.36:
        return story(rng, split, corpus)
    if kind < 0.46:
        text = short(rng, split)
    elif kind < 0.56:
        text = expand(rng, KNOWLEDGE.pick(rng, split), split)
    elif kind < 0.62:
        text = expand(rng, LEISURE.pick(rng, split), split)
    elif kind < 0.71:
        text = expand(rng, LIFE.pick(rng, split), split)
    elif kind < 0.79:
        text = expand(rng, GENERATE.pick(rng, split), split, some_text(rng, corpus))
    elif kind < 0.87:
        pool = TEXT_WORK if rng.random() < 0.5 else NEARLY
        return expand(rng, pool.pick(rng, split), split, some_text(rng, corpus))
    elif kind < 0.90:
        return expand(rng, MATHS.pick(rng, split), split)
    elif kind < 0.92:
        return beyond(rng)
    elif kind < 0.94:
        return FOREIGN.pick(rng, split)
    elif kind < 0.955:
        return gibberish(rng)
    elif kind < 0.975:
        return hostile(rng)
    else:
        return make_text(rng)[0] if rng.random() < 0.3 else rng.choice(corpus.gsm8k).split(". ")[0]
    return vary_case(rng, text)


def vary_case(rng, text):
    """The way CLINC150 is written, the way people write, and openings."""
    shape = rng.random()
    if shape < 0.45:
        text = text.lower().rstrip("?.")
    elif shape < 0.6:
        text = text.rstrip("?.")
    elif shape < 0.75:
        text = sentence_case(text) if text[-1:] in "?.:" else sentence_case(text) + "?"
    if shape < 0.6 and rng.random() < 0.4:
        return augment(rng, text) if "\n" not in text else text
    return rng.choice(OPENERS) + text


@functools.cache
def training_corpus():
    return Corpus(gsm8k_train(), clinc_outside(), clinc_inside())


def message(rng, split="train"):
    """The content of one user message that is not ours."""
    corpus = training_corpus()
    kind = rng.random()
    if split == "train" and kind < 0.12:
        text = rng.choice(corpus.clinc_oos)
        return augment(rng, text) if rng.random() < 0.7 else text
    if split == "train" and kind < 0.18:
        text = rng.choice(corpus.gsm8k)
        return rng.choice(["", "", "", "Solve this problem: ", "Solve: ", "Question: "]) + text
    return question(rng, split, corpus)


def example(rng, split="train"):
    """(messages, answer): sometimes asked for as if it were an utterance to classify."""
    text = message(rng, split)
    if rng.random() < 0.1 and 0 < len(text) < 150:
        return task_intent.wrap(rng, text, split), SENTENCE
    return [("user", text)], SENTENCE
