"""Training examples: reads the corpora, mixes the five tasks, renders ChatML.

An example is (task, messages, answer): `messages` is a list of (role, content), `answer` is the
text of the last assistant turn. For the task "other" the answer is the sentence that follows
the <|not_mine|> token. Examples are made on the fly from a seed; an epoch has every CLINC150
training line once and the other tasks in proportion.
"""

import functools
import json
import os
import pathlib
import re

import task_chat
import task_extract
import task_intent
import task_other
import task_reformat
from pools import lines, seeded

# Examples of each task for one line of CLINC150. Extraction and reformatting answers are long,
# so a quarter of the examples is about half of the tokens.
MIX = {"other": 0.50, "extract": 0.27, "reformat": 0.30, "chat": 0.03}

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


def data_dir():
    """$TANDEM_SHARED/data, or ../shared/data beside the repository."""
    if "TANDEM_SHARED" in os.environ:
        return pathlib.Path(os.environ["TANDEM_SHARED"]) / "data"
    return pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"


class Corpora:
    """CLINC150 (by split) and the GSM8K training questions.

    `clinc[split]` is a list of (utterance, label); label None means out of scope.
    """

    def __init__(self):
        full = json.loads((data_dir() / "clinc150" / "data_full.json").read_text())
        self.clinc = {s: [(u, l) for u, l in full[s]] + [(u, None) for u, _ in full["oos_" + s]]
                      for s in ("train", "val", "test")}
        self.labels = sorted({l for _, l in full["train"]})
        with open(data_dir() / "gsm8k" / "train.jsonl") as file:
            gsm8k = [json.loads(line)["question"].replace("\n", " ") for line in file]
        self.inside = [(u, l) for u, l in self.clinc["train"] if l]
        outside = [u for u, l in self.clinc["train"] if not l]
        self.other = task_other.Corpus(gsm8k, outside, [u for u, _ in self.inside])
        text = " ".join(u for u, _ in self.inside) + " " + " ".join(gsm8k[:3000])
        self.vocabulary = sorted({w.lower() for w in re.findall(r"\b[A-Za-z]{2,12}\b", text)})


def intent_example(rng, utterance, label, split="train"):
    """One CLINC150 line with noise, asked for in one of the ways."""
    text = task_intent.augment(rng, utterance) if rng.random() < 0.6 else utterance
    messages = task_intent.wrap(rng, task_intent.surface(rng, text), split)
    if task_intent.is_bare(messages) and task_chat.is_talk(messages[0][1]):
        messages = [("user", f"Classify the intent: {utterance}")]
    return "intent", messages, label


def other_example(rng, corpora, split="train"):
    """A foreign question, sometimes inside a request to classify it."""
    text = task_other.example(rng, split, corpora.other)
    if rng.random() < 0.3 and len(text) < 150:
        return "other", task_intent.wrap(rng, text, split), task_other.SENTENCE
    return "other", [("user", text)], task_other.SENTENCE


def task_example(rng, task, corpora, split="train"):
    """One generated example of any task but intent."""
    if task == "other":
        return other_example(rng, corpora, split)
    if task == "extract":
        return (task, *task_extract.example(rng, split))
    if task == "reformat":
        return (task, *task_reformat.example(rng, split, corpora.vocabulary))
    return (task, *task_chat.example(rng))


def with_context(rng, example, history):
    """Sometimes a generic system prompt, sometimes an earlier turn, before the task."""
    task, messages, answer = example
    if rng.random() < 0.08:
        messages = history + messages if messages[0][0] == "user" else messages
    if messages[0][0] == "user" and rng.random() < 0.12:
        messages = [("system", GENERIC_SYSTEM.pick(rng))] + messages
    return task, messages, answer


def epoch(corpora, seed, number, mix=MIX):
    """All examples of one epoch, shuffled: about 2.1 for each CLINC150 training line."""
    rng = seeded("epoch", seed, number)
    out = [intent_example(rng, u, l) for u, l in corpora.inside]
    for task, share in mix.items():
        out += [task_example(rng, task, corpora) for _ in range(int(share * len(corpora.inside)))]
    rng.shuffle(out)
    short = [e for e in out[:3000] if sum(len(c) for _, c in e[1]) < 120]
    result = []
    for example in out:
        _, earlier, reply = rng.choice(short)
        history = [m for m in earlier if m[0] == "user"] + [("assistant", reply)]
        result.append(with_context(rng, example, history))
    return result


@functools.cache
def corpora():
    return Corpora()


def labels():
    """All answers that are one token: the vocabulary has one for each."""
    with open(data_dir() / "banking77" / "categories.json") as file:
        banking = json.load(file)
    return sorted(set(corpora().labels) | set(banking))


def examples(seed, number, count):
    """`count` training examples, the same for the same seed and number: (task, messages, answer)
    or (task, messages, answer, soft); soft is [(label or None for not mine, probability)] for the
    first token of the answer."""
    rng, out = seeded("examples", seed, number), []
    while len(out) < count:
        out += epoch(corpora(), seed, f"{number}/{len(out)}")
    return rng.sample(out, count)


def vocabulary_texts(seed):
    """The texts that the tokenizer is trained on."""
    texts = [t for _, m, a, *_ in examples(seed, "vocabulary", 30000)
             for t in [c for _, c in m] + [a]]
    return texts + [u for u, _ in corpora().inside] * 2


def held_out(count):
    """{task: [(messages, answer)]} that training never sees, for validation."""
    sets = {}
    for task in ("extract", "reformat", "chat", "other"):
        rng = seeded("held", task)
        split = "train" if task == "chat" else "new"
        made = [task_example(rng, task, corpora(), split) for _ in range(count)]
        sets[task] = [(m, a) for _, m, a, *_ in made]
    return sets


def render(messages):
    """ChatML with the assistant's turn opened; a list of strings, control tokens apart."""
    parts = []
    for role, content in messages:
        parts += ["<|im_start|>", f"{role}\n{content}", "<|im_end|>", "\n"]
    return parts + ["<|im_start|>", "assistant\n"]
