"""Training examples: mixes the tasks and renders ChatML.

An example is (task, messages, answer[, soft]): `messages` is a list of (role, content), `answer`
the text of the last assistant turn. For the task "other" the answer is the sentence that follows
the <|not_mine|> token. `soft`, where a generator gives one, is a list of (label, probability) for
the first token. Examples are made on the fly from a seed; an epoch is as long as MIX says.
"""

import corpora as sources
import task_arithmetic
import task_banking
import task_chat
import task_entities
import task_extract
import task_intent
import task_language
import task_normalise
import task_other
import task_private
import task_reformat
import task_schema
import task_sentiment
import task_yesno
from corpora import data_dir  # noqa: F401  (the bench and the evaluation look here)
from pools import lines, seeded

# The intents come from the lines that teacher.py has labelled, the other tasks from templates.
INTENTS = {"intent": task_intent, "banking": task_banking}
GENERATORS = {
    "other": task_other,
    "schema": task_schema,
    "reformat": task_reformat,
    "normalise": task_normalise,
    "sentiment": task_sentiment,
    "private": task_private,
    "entities": task_entities,
    "arithmetic": task_arithmetic,
    "extract": task_extract,
    "language": task_language,
    "yesno": task_yesno,
    "chat": task_chat,
}
# Examples of each task for one line of CLINC150 (15,000 lines). `python check_data.py --mix` prints
# the share of tokens that this makes.
# Labels are one token, so the intents' many lines are 38 % of the text; what answers with several
# tokens (schema, reformat, normalise, arithmetic) has to be seen often to be exact.
MIX = {
    "intent": 2.6,
    "banking": 0.95,
    "other": 1.10,
    "schema": 1.25,
    "reformat": 1.15,
    "normalise": 1.00,
    "sentiment": 0.75,
    "private": 0.20,
    "entities": 0.18,
    "arithmetic": 0.50,
    "extract": 0.32,
    "language": 0.08,
    "yesno": 0.20,
    "chat": 0.02,
}
# Tasks whose whole answer is one label; a label is one token (tokenizer.py).
LABEL_TASKS = {"intent", "banking", "sentiment", "language", "yesno"}

GENERIC_SYSTEM = lines("""
You are a helpful assistant.
You are a helpful assistant. Be brief.
You are Tandem, a helpful assistant.
You are an assistant on a phone.
Answer the user.
You are a friendly assistant.
Be concise.
You are an AI assistant that runs on the user's device.
Help the user as well as you can.
Today is Monday. Answer in English.
You are the assistant of an online shop.
You are a voice assistant.
You are a polite assistant. If you do not know something, say so.
You are a helpful assistant. You answer in plain text.
""")


def labels():
    """All texts that are labels of some task, the intents' first."""
    more = task_sentiment.LABELS + task_language.LABELS + task_yesno.LABELS
    known = sources.clinc_labels() + [
        l for l in sources.banking_labels() if l not in sources.clinc_labels()
    ]
    return known + [label for label in more if label not in known]


class Corpora:
    """CLINC150 by split as lists of (utterance, label); label None means out of scope."""

    def __init__(self):
        self.clinc = {s: sources.clinc(s) for s in ("train", "val", "test")}
        self.labels = labels()
        self.inside = [(u, l) for u, l in self.clinc["train"] if l]


def task_example(rng, task, split="train"):
    """One example: (task, messages, answer), and the soft label of an intent. An intent's line that
    is out of scope is an example of "other"."""
    if task not in INTENTS:
        return (task, *GENERATORS[task].example(rng, split))
    messages, answer, soft = INTENTS[task].example(rng, split)
    return (
        (task, messages, answer, soft) if answer else ("other", messages, task_other.SENTENCE, soft)
    )


def is_right(task, got, expected):
    """Whether an answer counts as right: equal, or what the task's own `right` says."""
    judge = getattr(GENERATORS.get(task), "right", None)
    return judge(got, expected) if judge else got == expected


def with_context(rng, example, history):
    """Sometimes a generic system prompt, sometimes an earlier turn, before the task."""
    task, messages, *rest = example
    if rng.random() < 0.08:
        messages = history + messages if messages[0][0] == "user" else messages
    if messages[0][0] == "user" and rng.random() < 0.12:
        messages = [("system", GENERIC_SYSTEM.pick(rng))] + messages
    return task, messages, *rest


def epoch(corpora, seed, number, mix=MIX):
    """All examples of one epoch, shuffled."""
    rng = seeded("epoch", seed, number)
    out = []
    for task, share in mix.items():
        out += [task_example(rng, task) for _ in range(int(share * len(corpora.inside)))]
    rng.shuffle(out)
    short = [e for e in out[:3000] if sum(len(c) for _, c in e[1]) < 120]
    result = []
    for example in out:
        _, earlier, reply, *_ = rng.choice(short)
        history = [m for m in earlier if m[0] == "user"] + [("assistant", reply)]
        result.append(with_context(rng, example, history))
    return result


def render(messages):
    """ChatML with the assistant's turn opened; a list of strings, control tokens apart."""
    parts = []
    for role, content in messages:
        parts += ["<|im_start|>", f"{role}\n{content}", "<|im_end|>", "\n"]
    return parts + ["<|im_start|>", "assistant\n"]
