"""Small helpers that every task generator shares.

A `Pool` is a list of phrasings or words of which every seventh entry is held out: the
split "train" never sees it, the split "new" sees nothing else. So the evaluation can ask for
phrasings that were not trained on, without a second copy of the generators.
"""

import random

HELD_OUT_EVERY = 7  # one in seven: enough unseen phrasings to measure, few enough to lose
HELD_OUT_MIN = 7    # shorter lists are not split, they are closed classes (months, currencies)


class Pool:
    """A list with a training part and a held-out part."""

    def __init__(self, items):
        items = list(items)
        if len(items) < HELD_OUT_MIN:
            self.parts = {"train": items, "new": items}
        else:
            self.parts = {
                "train": [x for i, x in enumerate(items) if i % HELD_OUT_EVERY != 3],
                "new": [x for i, x in enumerate(items) if i % HELD_OUT_EVERY == 3],
            }

    def pick(self, rng, split="train"):
        return rng.choice(self.parts[split])


def lines(text):
    """A pool from a block of text, one entry a line."""
    return Pool(x.strip() for x in text.strip().splitlines() if x.strip())


def words(text):
    """A pool from a block of comma-separated entries."""
    return Pool(x.strip() for x in text.replace("\n", " ").split(",") if x.strip())


_ONSET = "b c d f g h j k l m n p r s t v w z br ch cl cr dr fl gr pl pr sh sl st th tr".split()
_VOWEL = "a e i o u a e i o ai ea ee oo ou".split()
_CODA = ["", "", "", "n", "r", "s", "t", "l", "m", "nd", "ck", "x", "rt"]


def pseudo_word(rng, syllables=None):
    """An invented pronounceable word, so that copying cannot be learned by heart."""
    count = syllables or rng.choice([1, 2, 2, 3])
    return "".join(rng.choice(_ONSET) + rng.choice(_VOWEL) + rng.choice(_CODA)
                   for _ in range(count))


def sentence_case(text):
    return text[:1].upper() + text[1:]


def fill(template, **slots):
    """Replace {name} slots; unlike str.format it leaves every other brace alone."""
    for name, value in slots.items():
        template = template.replace("{" + name + "}", value)
    return template


def seeded(*parts):
    """A random generator from a readable seed, the same on every machine."""
    return random.Random("/".join(str(p) for p in parts))
