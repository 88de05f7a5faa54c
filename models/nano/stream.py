"""What training and validation draw from data.py: the vocabulary's text, and the held-out examples
that choose the weights."""

import data
from chat_render import render
from corpora import clinc_inside
from pools import seeded
from tokenizer import MARKS

VOCABULARY_EXAMPLES = 150000


def vocabulary_texts(seed):
    """The texts that the tokenizer is trained on: examples of all models of the family, CLINC150's
    lines as they stand too."""
    mix = data.TOOLS_MIX | data.MIX
    texts = [
        t
        for _, m, a, *_ in data.examples(seed, "vocabulary", VOCABULARY_EXAMPLES, mix)
        for t in [*(p for p in render(m) if p not in MARKS), a]
    ]
    return texts + clinc_inside() * 2


def held_out(count, mix):
    """{task: [(task, messages, answer)]} of phrasings and words that training never sees, for the
    tasks of the mix whose lines are generated."""
    tasks = [task for task in [*data.GENERATORS, "banking"] if task in mix]
    return {
        task: [data.task_example(seeded("held", task, n), task, "held")[:3] for n in range(count)]
        for task in tasks
    }
