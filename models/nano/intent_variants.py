"""Variants of an utterance: noise, other words of the same meaning, and pieces put together.

15,000 lines are few for a network that starts from nothing. Everything here is cheap and makes
more of them: `noisy`, `reworded` and `joined` of two lines of ONE intent keep the label nearly
always; `joined` of two intents does not, and gets whatever the teacher says of it (teacher.py).
Training data only; nothing here reads a validation or test line.
"""

from intent_words import OPENINGS, PREFIX, SLOTS, SUFFIX, SYNONYMS

SLOT_RATE = 0.5  # share of the slot values that are exchanged
SYNONYM_RATE = 0.2  # of the words that have synonyms
OPENING_RATE = 0.4  # of the openings that are known
PHRASE_WORDS_MAX = 4  # longest phrase in intent_words.py that is looked for


class Phrasebook:
    """phrase -> the phrases that may replace it. A phrase of two groups ("pounds" is money and
    weight, "spanish" a language and a kitchen) is replaced only by what is in both."""

    def __init__(self, groups):
        inside = {}
        for number, group in enumerate(groups):
            for phrase in group:
                inside.setdefault(phrase, []).append(number)
        self.others = {}
        for phrase, numbers in inside.items():
            shared = set(groups[numbers[0]]).intersection(*(groups[n] for n in numbers[1:]))
            if len(shared) > 1:
                self.others[tuple(phrase.split())] = sorted(shared - {phrase})

    def at(self, words, start):
        """(words taken, replacements) of the longest known phrase that starts here, or (0, [])."""
        for count in range(min(PHRASE_WORDS_MAX, len(words) - start), 0, -1):
            found = self.others.get(tuple(w.lower() for w in words[start : start + count]))
            if found:
                return count, found
        return 0, []


SLOT_BOOK, SYNONYM_BOOK, OPENING_BOOK = map(Phrasebook, (SLOTS, SYNONYMS, OPENINGS))


def typo(rng, word):
    """Drop, double or exchange one letter."""
    if len(word) < 4:
        return word
    i = rng.randrange(1, len(word) - 1)
    return rng.choice(
        [
            word[:i] + word[i + 1 :],
            word[:i] + word[i] + word[i:],
            word[:i] + word[i + 1] + word[i] + word[i + 2 :],
        ]
    )


def noisy(rng, utterance, drop=0.12):
    """Noise that keeps the label: word dropout, swaps, typos, politeness."""
    parts = utterance.split()
    if not parts:
        return utterance
    if len(parts) > 3 and rng.random() < 0.5:
        kept = [w for w in parts if rng.random() > drop]
        parts = kept if len(kept) >= 2 else parts
    if len(parts) > 3 and rng.random() < 0.15:
        i = rng.randrange(len(parts) - 1)
        parts[i], parts[i + 1] = parts[i + 1], parts[i]
    if rng.random() < 0.12:
        i = rng.randrange(len(parts))
        parts[i] = typo(rng, parts[i])
    text = " ".join(parts)
    if rng.random() < 0.06:
        text = rng.choice(PREFIX) + text
    if rng.random() < 0.06:
        text = text + rng.choice(SUFFIX)
    return text


def digits(rng, word):
    """The same number of other digits, the first one never 0."""
    return "".join(
        c if not c.isdigit() else rng.choice("123456789" if i == 0 else "0123456789")
        for i, c in enumerate(word)
    )


def reworded(rng, utterance):
    """Another opening, other slot values and numbers, synonyms: the same intent."""
    words, out, at = utterance.split(), [], 0
    taken, others = OPENING_BOOK.at(words, 0)
    if taken and taken < len(words) and rng.random() < OPENING_RATE:
        out, at = rng.choice(others).split(), taken
    while at < len(words):
        for book, rate in ((SLOT_BOOK, SLOT_RATE), (SYNONYM_BOOK, SYNONYM_RATE)):
            taken, others = book.at(words, at)
            if taken and rng.random() < rate:
                out.append(rng.choice(others))
                at += taken
                break
        else:
            word = words[at]
            out.append(digits(rng, word) if word[:1].isdigit() and rng.random() < 0.5 else word)
            at += 1
    return " ".join(out)


def joined(rng, one, two):
    """The front of one utterance and the back of another, at a word of both if there is one."""
    a, b = one.split(), two.split()
    shared = [
        (i, j)
        for i, w in enumerate(a)
        for j, x in enumerate(b)
        if w == x and i > 0 and j < len(b) - 1
    ]
    if shared and rng.random() < 0.7:
        i, j = rng.choice(shared)
        return " ".join(a[:i] + b[j:])
    return " ".join(a[: rng.randrange(1, len(a) + 1)] + b[rng.randrange(len(b)) :])
