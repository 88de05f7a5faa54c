"""The words of VADER's lexicon as training material, by what they express and how strongly.

VADER (C. J. Hutto and E. Gilbert, "VADER: A Parsimonious Rule-based Model for Sentiment Analysis of
Social Media Text", ICWSM 2014; the package vaderSentiment, MIT) gives 7,500 words, slang and emoticons
the mean of ten people's ratings, -4 to 4. Only training needs it: held-out examples are made
without, so measuring does not.
"""

import collections
import functools
import importlib.util
import itertools
import math
import re

from corpora import banking, clinc_inside, gsm8k_train, wnut_train
from sentiment_words import NEGATION

NORM = 15.0  # VADER's constant that maps a sum of ratings to -1..1
TURNED = -0.74  # what a negation does to a rating in VADER
STRONG = 2.0  # from here a rating counts as strong
MIN_RATING = 0.8  # weaker words say little
ENDINGS = ("ing", "ed", "ly", "ness", "ment", "ful", "less", "ous", "ive", "er", "est", "y", "s")


def installed():
    return importlib.util.find_spec("vaderSentiment") is not None


@functools.cache
def analyzer():
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer
    except ImportError as error:
        raise SystemExit(
            "sentiment examples for training need the package vaderSentiment: "
            "pip install -r requirements.txt"
        ) from error
    return SentimentIntensityAnalyzer()


def compound(text):
    """VADER's rating of a text, -1 to 1."""
    return analyzer().polarity_scores(text)["compound"]


def squash(total):
    """The rating of a text whose words' ratings sum up to `total`."""
    return total / math.sqrt(total * total + NORM)


def belief(rating):
    """[(label, probability)] of a text with a rating, where nothing but its rated words speaks.

    People call a text with one word of rating 1 as often neutral as not, with one of 3 hardly ever;
    praise is used more lightly than blame."""
    odds = [math.exp(6 * (rating - 0.25)), 1.0, math.exp(6 * (-rating - 0.20))]
    return [(label, x / sum(odds)) for label, x in zip(("positive", "neutral", "negative"), odds)]


class Bag:
    """Things to pick with weights."""

    def __init__(self, items, weights):
        self.items, self.sums = items, list(itertools.accumulate(weights))

    def pick(self, rng):
        return rng.choices(self.items, cum_weights=self.sums)[0]


def form(word):
    """A word's ending, which stands in for its part of speech."""
    return next((e for e in ENDINGS if word.endswith(e) and len(word) > len(e) + 2), "")


def stem(word):
    """A word's beginning, which related words share."""
    return word[: max(4, len(word) - 4)]


def kind(word, rating):
    """Words of one kind can stand for each other."""
    return rating > 0, abs(rating) >= STRONG, form(word)


@functools.cache
def counts():
    """How often a word occurs in the training texts, as a guide to how common it is."""
    out = collections.Counter()
    texts = itertools.chain(
        clinc_inside(),
        gsm8k_train(),
        (t for t, _ in banking("train")),
        (" ".join(t for t, _ in row) for row in wnut_train()),
    )
    for text in texts:
        out.update(re.findall(r"[a-z'-]+", text.lower()))
    return out


@functools.cache
def ratings():
    """{plain word: rating} of the words that say something."""
    return {
        w: v
        for w, v in analyzer().lexicon.items()
        if re.fullmatch(r"[a-z][a-z'-]*[a-z]", w) and abs(v) >= MIN_RATING and w not in NEGATION
    }


@functools.cache
def bags():
    """({kind: Bag of words}, {is it good: Bag of words}, {is it good: Bag of emoticons}). Common words
    come more often, but every word comes."""
    by_kind, by_sign, stems = {}, {True: [], False: []}, collections.Counter()
    for word, count in counts().items():
        stems[stem(word)] += count
    for word, rating in sorted(ratings().items()):
        weight = 0.3 + counts()[word] ** 0.6 + 0.1 * stems[stem(word)] ** 0.5
        for group in (by_kind.setdefault(kind(word, rating), []), by_sign[rating > 0]):
            group.append((word, weight))
    faces = {
        good: [
            (w, 1)
            for w, v in sorted(analyzer().lexicon.items())
            if not re.search(r"[a-z0-9]{2}", w) and (v > 0) == good and abs(v) >= MIN_RATING
        ]
        for good in (True, False)
    }
    return tuple(
        {key: Bag(*zip(*group)) for key, group in table.items()}
        for table in (by_kind, by_sign, faces)
    )


# Rated words that are mostly used otherwise ("looks like", "pretty bad", "want to").
LOOSE = set(
    "like likes pretty want wants wanted please well sure hey ok okay care play playing party".split()
)


def another(rng, word):
    """A word of the same kind, in the same letter case; words without a rating stay."""
    rating = ratings().get(word.lower())
    if rating is None or word.lower() in LOOSE:
        return word
    new = bags()[0][kind(word.lower(), rating)].pick(rng)
    if word.isupper() and len(word) > 1:
        return new.upper()
    return new.capitalize() if word[:1].isupper() else new


def word_of(rng, good):
    """(word, rating)"""
    word = bags()[1][good].pick(rng)
    return word, ratings()[word]


def face_of(rng, good):
    return bags()[2][good].pick(rng)
