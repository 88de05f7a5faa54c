"""Task 5: everything else, which this model must recognise and hand on.

The answer is the token <|not_mine|>, one fixed sentence, and the end. Questions are generated
from templates with large word lists, in the kinds that people really ask a chat model; the aim
is breadth, so that an unseen kind is still nearer to these than to the 150 intents. Some lists
stay close to the intents on purpose (overdraft fees, seat upgrades, wiper blades): without
them the model calls every sentence about a bank a banking intent.

Kept out, because an intent owns them: jokes, fun facts, recipes, definitions of a word, sums,
weather, exchange rates, time zones, things to do in a place, short "how do you say".
"""

from other_templates import (KNOWLEDGE, LEISURE, LIFE, GENERATE, TEXT_WORK, MATHS, CODE, FOREIGN)
from other_words import (COUNTRY, PERSON, SCIENCE, TECH, HISTORY, SOCIETY, ANIMAL, THEME, THINGS,
    VERB, LANGUAGE, TONGUE, TEAM, SPORT, SHOW, BOOK, FIRM, SUBJECT, INSTRUMENT, JOB, HOUSE,
    HEALTH, GENRE, MUSEUM, RELATIVE, OBJECT)
from pools import fill, pseudo_word, sentence_case
from task_extract import CITY, FIRST, LAST, make_text
from task_intent import augment

SENTENCE = "That is outside what this small model can do."

OPENERS = ["", "", "", "", "", "", "", "", "Hi, ", "Please ", "Can you help me? ",
           "I have a question. ", "Quick question: ", "Could you answer this: ", "hey, ", "Hello! "]


class Corpus:
    """GSM8K training questions and CLINC150's out-of-scope training lines, read by data.py."""

    def __init__(self, gsm8k, clinc_oos, clinc_in):
        self.gsm8k, self.clinc_oos, self.clinc_in = gsm8k, clinc_oos, clinc_in


def expand(rng, template, split, text=""):
    """Fill every slot of a template with held-in or held-out words."""
    p = lambda pool: pool.pick(rng, split)
    n = lambda top: str(rng.randrange(2, top))
    return fill(template.replace("\\n", "\n"), country=p(COUNTRY), person=p(PERSON),
                person2=p(PERSON), science=p(SCIENCE), science2=p(SCIENCE), tech=p(TECH), tech2=p(TECH),
                history=p(HISTORY), history2=p(HISTORY), society=p(SOCIETY), society2=p(SOCIETY),
                animal=p(ANIMAL), animal2=p(ANIMAL), theme=p(THEME), theme2=p(THEME),
                things=p(THINGS), verb=p(VERB), language=p(LANGUAGE), language2=p(LANGUAGE),
                tongue=p(TONGUE), team=p(TEAM), sport=p(SPORT), show=p(SHOW), book=p(BOOK),
                firm=p(FIRM), subject=p(SUBJECT), instrument=p(INSTRUMENT), job=p(JOB),
                house=p(HOUSE), health=p(HEALTH), genre=p(GENRE), museum=p(MUSEUM),
                relative=p(RELATIVE), thing=p(OBJECT), city=CITY.pick(rng),
                name=FIRST.pick(rng).capitalize(), name2=FIRST.pick(rng).capitalize(),
                name3=LAST.pick(rng).capitalize(), code=p(CODE), a=n(13), b=n(60), c=n(400),
                text=text)


def some_text(rng, corpus):
    """A text for somebody else to work on."""
    kind = rng.random()
    if kind < 0.35:
        return make_text(rng)[0]
    if kind < 0.6:
        return rng.choice(corpus.clinc_in)
    if kind < 0.9:
        parts = rng.choice(corpus.gsm8k).split(". ")
        return ". ".join(parts[:rng.randrange(1, 4)])
    if kind < 0.97:
        return expand(rng, KNOWLEDGE.pick(rng), "train")
    return " ".join(rng.choice(corpus.gsm8k) for _ in range(rng.choice([2, 3, 5])))


def gibberish(rng):
    kind = rng.random()
    if kind < 0.4:
        return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz ;,.")
                       for _ in range(rng.randrange(3, 40)))
    if kind < 0.7:
        return " ".join(pseudo_word(rng) for _ in range(rng.randrange(1, 7)))
    if kind < 0.78:
        return "".join(rng.choice("0123456789+-*/=()%$# ") for _ in range(rng.randrange(3, 25)))
    return rng.choice(["...", "???", "?", "!!", "test", "asdf", "lol", "haha", "hmm", "qwerty",
                       "foo bar", "lorem ipsum dolor sit amet", "123", "abc", ":)", "ok so", "blah blah blah"])


def question(rng, split, corpus):
    """One message that none of the other tasks owns."""
    kind = rng.random()
    if kind < 0.30:
        text = expand(rng, KNOWLEDGE.pick(rng, split), split)
    elif kind < 0.44:
        text = expand(rng, LEISURE.pick(rng, split), split)
    elif kind < 0.60:
        text = expand(rng, LIFE.pick(rng, split), split)
    elif kind < 0.74:
        text = expand(rng, GENERATE.pick(rng, split), split, some_text(rng, corpus))
    elif kind < 0.84:
        return expand(rng, TEXT_WORK.pick(rng, split), split, some_text(rng, corpus))
    elif kind < 0.92:
        return expand(rng, MATHS.pick(rng, split), split)
    elif kind < 0.95:
        return FOREIGN.pick(rng, split)
    elif kind < 0.97:
        return gibberish(rng)
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


def example(rng, split="train", corpus=None):
    """The content of one user message; data.py adds the instruction wrappers and the answer."""
    kind = rng.random()
    if split == "train" and kind < 0.12:
        text = rng.choice(corpus.clinc_oos)
        return augment(rng, text) if rng.random() < 0.7 else text
    if split == "train" and kind < 0.18:
        text = rng.choice(corpus.gsm8k)
        return rng.choice(["", "", "", "Solve this problem: ", "Solve: ", "Question: "]) + text
    return question(rng, split, corpus)
