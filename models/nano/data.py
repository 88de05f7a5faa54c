"""Training examples: mixes the tasks. chat_render.py makes text of their messages.

An example is (task, messages, answer[, soft]): `messages` is a list of (role, content), `answer`
the text of the last assistant turn. For the task "other" the answer is the sentence that follows
the <|not_mine|> token. No example asks what the everyday list asks (everyday.py). `soft`, where a
generator gives one, is a list of (label, probability) for the first token. Examples are made on the
fly from a seed, in pieces of any length.
"""

import corpora as sources
import everyday
import task_arithmetic
import task_banking
import task_chat
import task_choose
import task_command
import task_dates
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
import task_tools
import task_units
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
    "tools": task_tools,
    "choose": task_choose,
    "command": task_command,
    "units": task_units,
    "dates": task_dates,
}
# Examples of each task for one line of CLINC150 (15,000 lines). `python check_data.py --mix` prints
# the share of tokens that this makes. What earlier versions of the model knew stays in the mix, or
# it would be forgotten.
MIX = {
    "intent": 1.60,
    "banking": 0.60,
    "other": 1.00,
    "command": 0.50,
    "choose": 0.90,
    "schema": 0.90,
    "reformat": 0.80,
    "normalise": 0.70,
    "units": 0.15,
    "dates": 0.12,
    "arithmetic": 0.20,
    "sentiment": 0.45,
    "extract": 0.60,
    "private": 0.10,
    "entities": 0.10,
    "yesno": 0.50,
    "language": 0.20,
    "chat": 0.40,
}
# Calls of tools are a model's whole work: beside all others, a few million parameters learned them
# at their cost (README.md). A greeting now and then begins a chat.
TOOLS_MIX = {"tools": 1.00, "chat": 0.04}
MIXES = {"nano": MIX, "nano-large": MIX, "nano-tools": TOOLS_MIX}
# What code computes exactly (src/instant/). In words that it does not understand, "not mine" is
# better than digits that a few million parameters have guessed: 2 % of the dates and 4 % of the
# units were right after 10 million tokens. "command" asks for what no tool of the request does.
COMPUTED = {"units", "dates", "arithmetic"}
REFUSED = COMPUTED | {"command"}

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


def task_example(rng, task, split="train"):
    """One example: (task, messages, answer), and the soft label of an intent. What a generator
    leaves without an answer is not ours, and so an example of "other". A prompt of the everyday
    list is made anew."""
    module = INTENTS.get(task) or GENERATORS[task]
    while True:
        messages, answer, *soft = module.example(rng, split)
        if not everyday.is_kept_out(messages):
            break
    if answer is None or task in REFUSED:
        return ("other", messages, task_other.SENTENCE, *soft)
    return (task, messages, answer, *soft)


def asked_example(rng, task, split):
    """As task_example, but what code computes has its answer: what the program is asked, where
    task_example is what the weights are taught."""
    if task not in COMPUTED:
        return task_example(rng, task, split)
    messages, answer, *_ = GENERATORS[task].example(rng, split)
    if answer is None:
        return "other", messages, task_other.SENTENCE
    return task, messages, answer


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


def examples(seed, number, count, mix=MIX):
    """About `count` examples in the shares of the mix, shuffled; the same for the same numbers."""
    rng = seeded("examples", seed, number)
    total, out = sum(mix.values()), []
    for task, share in mix.items():
        wanted = int(count * share / total + rng.random())
        out += [task_example(rng, task) for _ in range(wanted)]
    rng.shuffle(out)
    short = [e for e in out[:3000] if len(e[1]) == 1 and len(e[1][0][1]) < 120]
    result = []
    for example in out:
        _, earlier, reply, *_ = rng.choice(short)
        result.append(with_context(rng, example, [*earlier, ("assistant", reply)]))
    return result
