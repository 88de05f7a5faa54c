"""What training and validation draw from data.py: pieces of examples, the vocabulary's text, and
the held-out examples that choose the weights."""

import functools

import data
from pools import seeded


@functools.cache
def corpora():
    return data.Corpora()


@functools.cache
def pending(seed):
    """{"number": epochs made, "left": what the last one has left} of one run."""
    return {"number": 0, "left": []}


def examples(seed, piece, count):
    """`count` training examples; piece N is the same for the same seed. Epochs are cut into pieces
    in order."""
    state = pending(seed)
    if state["number"] == 0:
        state["left"], state["number"] = data.epoch(corpora(), seed, 0), 1
        state["size"] = len(state["left"])  # every epoch has as many
    first = piece * count
    out, number, at = [], first // state["size"], first % state["size"]
    while len(out) < count:
        if state["number"] != number + 1:
            state["left"], state["number"] = data.epoch(corpora(), seed, number), number + 1
        out += state["left"][at : at + count - len(out)]
        number, at = number + 1, 0
    return out


def vocabulary_texts(seed):
    """The texts that the tokenizer is trained on: one epoch, CLINC150's lines as they stand too."""
    texts = [
        t
        for _, m, a, *_ in data.epoch(corpora(), seed, "vocabulary")
        for t in [c for _, c in m] + [a]
    ]
    return texts + [u for u, _ in corpora().inside] * 2


def held_out(count):
    """{task: [(task, messages, answer)]} of phrasings and words that training never sees."""
    return {
        task: [data.task_example(seeded("held", task, n), task, "held")[:3] for n in range(count)]
        for task in [*data.GENERATORS, "banking"]
    }
