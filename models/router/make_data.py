#!/usr/bin/env python3
"""Prompts for the default classifier, one JSON object a line: "text", and "task" where it has a
kind. measure.py lets the default model answer them and adds "local_ok".

Real text comes from training splits alone: CLINC150 (CC BY 3.0), Banking77 (CC BY 4.0), GSM8K
(MIT), WNUT 2017 (CC BY 4.0; sentences to work on). The other kinds of task are written from
phrasings.py with the word lists of models/nano. How an answer is graded:

- "wanted": the right answer (null: there is none that the default model could give), and "check",
  the task of models/nano that compares. The default model was trained on CLINC150's and Banking77's
  training lines and gets nearly all of them right. So their validation lines are there, too, and
  the other tasks come in phrasings that its training never sees.
- "open": true: nobody knows the right answer. Only what is no answer at all can be graded. So are
  the messages of CLINC150 and Banking77 where nobody asks for their intent.

    make_data.py --split train|held [--seed S] > prompts.jsonl

`held` takes the phrasings and words that training never sees, and CLINC's validation lines.
"""

import argparse
import json
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "nano"))
import phrasings

import corpora
import data
import other_words as words
import task_banking
import task_intent
from names import CITY, FIRST
from pools import seeded
from task_extract import make_text

KINDS = {
    "classification": phrasings.CLASSIFICATION,
    "extraction": phrasings.EXTRACTION,
    "formatting": phrasings.FORMATTING,
    "qa": phrasings.QA,
    "summarisation": phrasings.SUMMARY,
    "translation": phrasings.TRANSLATION,
    "chat": phrasings.CHAT,
    "code": phrasings.CODE,
    "maths": phrasings.MATHS,
    "reasoning": phrasings.REASONING,
    "synthesis": phrasings.SYNTHESIS,
    "creative": phrasings.CREATIVE,
    "planning": phrasings.PLANNING,
    "fresh": phrasings.FRESH,
}
COMMAND = "command"  # "set an alarm": an utterance with an intent
# What the default model was made for, as kinds of task.
OWN_TASKS = {
    "schema": "extraction",
    "extract": "extraction",
    "private": "extraction",
    "entities": "extraction",
    "reformat": "formatting",
    "normalise": "formatting",
    "sentiment": "classification",
    "language": "classification",
    "yesno": "classification",
    "arithmetic": "maths",
    "units": "maths",
    "dates": "maths",
    "chat": "chat",
    "other": None,
}
CHAT_LABELS = set(
    """who_made_you meaning_of_life who_do_you_work_for do_you_have_pets what_are_your_hobbies
    what_is_your_name
    where_are_you_from goodbye thank_you greeting tell_joke are_you_a_bot
    how_old_are_you what_can_i_ask_you yes no maybe""".split()
)
OTHER_LABELS = {
    "translate": "translation",
    "weather": "fresh",
    "traffic": "fresh",
    "exchange_rate": "fresh",
    "flight_status": "fresh",
    "definition": "qa",
    "fun_fact": "qa",
    "spelling": "qa",
    "calculator": "maths",
    "measurement_conversion": "maths",
}
PHRASES = [
    "good morning",
    "where is the station",
    "thank you very much",
    "I would like to pay",
    "see you tomorrow",
    "how much is it",
    "my name is Anna",
    "I don't understand",
    "have a nice day",
    "the bill, please",
]
FOREIGN = [
    "Guten Morgen, wie geht es Ihnen?",
    "Je ne sais pas où est la gare.",
    "¿Cuánto cuesta este libro?",
    "Ik heb geen tijd vandaag.",
    "Il treno parte alle otto.",
    "Onde fica o hotel?",
    "Jag kommer från Sverige.",
    "Das Wetter ist heute schön.",
]
LISTINGS = [
    "milk, eggs, bread, butter",
    "name: Anna, age: 30; name: Ben, age: 25",
    "red; green; blue; yellow",
    "first name, last name, e-mail",
    "Berlin 3.6, Paris 2.1, Rome 2.8",
    "apple banana cherry banana",
    "id,price\n1,20\n2,35",
    "the quick start guide, the user manual",
]
OPENERS = [
    "",
    "",
    "",
    "",
    "",
    "",
    "Please ",
    "Can you help me? ",
    "Hi, ",
    "Quick question: ",
    "hey, ",
]


def number_of(rng):
    return str(rng.randint(11, 400))


def options_of(rng, split):
    """Answers to choose from, in the forms that people paste."""
    items = [words.OBJECT.pick(rng, split) for _ in range(rng.randint(2, 5))]
    kind = rng.random()
    if kind < 0.3:
        return "Options:\n" + "\n".join(
            "- " + x
            for x in rng.choice([["Yes", "No"], ["True", "False"], ["valid", "invalid"], items])
        )
    marks = ["({})", "{}.", "{})"][rng.randrange(3)]
    listed = [marks.format("ABCDE"[i]) + " " + x for i, x in enumerate(items)]
    return ("Options:\n" if kind < 0.8 else "") + ("\n" if rng.random() < 0.7 else " ").join(listed)


def slot_value(kind, rng, split):
    makers = {
        "number": lambda: number_of(rng),
        "b": lambda: number_of(rng),
        "c": lambda: number_of(rng),
        "digit": lambda: str(rng.randint(2, 9)),
        "a": lambda: str(rng.randint(2, 9)),
        "first": lambda: FIRST.pick(rng, split).title(),
        "name": lambda: FIRST.pick(rng, split).title(),
        "city": lambda: CITY.pick(rng, split),
        "thing": lambda: words.OBJECT.pick(rng, split),
        "opt": lambda: options_of(rng, split),
        "code": lambda: phrasings.CODE_LINES.pick(rng),
        "passage": lambda: passage(rng, split),
        "text": lambda: passage(rng, split),
        "document": (
            lambda: rng.choice(["\n", " "]).join(
                sentence(rng, split) for _ in range(rng.randint(3, 9))
            )
        ),
        "phrase": lambda: rng.choice(PHRASES),
        "foreign": lambda: rng.choice(FOREIGN),
        "listing": lambda: rng.choice(LISTINGS),
    }
    if kind in makers:
        return makers[kind]()
    pool = getattr(words, kind.upper(), None)
    return pool.pick(rng, split) if pool else "{" + kind + "}"  # braces of code


def fill(template, rng, split):
    marked = template.replace("{{", "\0").replace("}}", "\1")
    text = (
        re.sub(r"\{([a-z]+)\d?\}", lambda m: slot_value(m.group(1), rng, split), marked)
        .replace("\0", "{")
        .replace("\1", "}")
    )
    return text.replace("\\n", "\n").replace('\\"', '"')


def sentence(rng, split):
    """A sentence that somebody else works on: it must say nothing about the kind of work, so every
    kind has it from everywhere."""
    kind = rng.random()
    if kind < 0.3:
        return fill(phrasings.DOCUMENT.pick(rng, split), rng, split)
    if kind < 0.45:
        return make_text(rng, split)[0]
    if split == "held":  # CLINC's validation lines stand for what nobody wrote for this
        return rng.choice(corpora.clinc("val"))[0].capitalize() + "."
    if kind < 0.7:
        return " ".join(word for word, _ in rng.choice(corpora.wnut_train()))
    if kind < 0.85:
        return rng.choice(rng.choice(corpora.gsm8k_train()).split(". ")) + "."
    return rng.choice(corpora.clinc("train"))[0].capitalize() + "."


def passage(rng, split):
    """A sentence or two to work on, in different dress, or none: the request alone."""
    if rng.random() < 0.15:
        return ""
    text = " ".join(sentence(rng, split) for _ in range(rng.choice([1, 1, 2, 3])))
    return rng.choice([text, text, f'"{text}"', "\n" + text, "\n\n" + text])


def composed(kind, rng):
    """A request put together from parts, for training alone."""
    verbs, objects, tails = phrasings.PARTS[kind]

    def pick(block):
        return rng.choice([x.strip() for x in block.replace("\n", " ").split("|")])

    text = " ".join(x for x in (pick(verbs), pick(objects), pick(tails)) if x)
    body = {"summarisation": "{document}", "synthesis": "{document}\n\n{document}"}.get(
        kind, "{passage}"
    )
    if "{" not in text and kind in phrasings.WITH_TEXT:
        text = rng.choice(
            [
                text + ": " + body,
                text + ".\n\n" + body,
                body + "\n\n" + text,
                text + " " + body,
                text + "?\n" + body,
            ]
        )
    return fill(text, rng, "train")


def less(text, rng):
    """Some words are lost: no single word may decide."""
    return " ".join(word for word in text.split(" ") if rng.random() > 0.2)


def written(kind, count, rng, split):
    pools = [KINDS[kind]] + (list(phrasings.MORE.get(kind, ())) if split == "train" else [])
    for _ in range(count):
        if split == "train" and kind in phrasings.PARTS and rng.random() < 0.5:
            text = composed(kind, rng)
        else:
            text = fill(rng.choice(pools).pick(rng, split), rng, split)
        if kind == "reasoning" and rng.random() < 0.6 and "ptions" not in text:
            text += "\n" + options_of(rng, split)
        if kind not in ("code", "chat") and rng.random() < 0.5:
            opener = rng.choice(OPENERS)
            text = opener + (text[0].lower() + text[1:] if opener and text else text)
        if rng.random() < 0.15:
            text = text.lower()
        if split == "train" and rng.random() < 0.25:
            text = less(text, rng)
        yield {"text": text.strip(), "task": kind, "open": True}


def asked(rng, text, label, wrap, split):
    """A message with the request to label it. What lies outside all intents has no right answer.
    None where the request is a system prompt: the classifier reads the user's words."""
    messages = wrap(rng, text, split)
    if len(messages) > 1:
        return None
    line = {"text": messages[0][1], "check": "intent", "wanted": label}
    return {**line, "task": "classification"}


def bare(text, label):
    """The same message without that request: its label would be no answer."""
    if label is None:
        kind = {}
    elif label in CHAT_LABELS:
        kind = {"task": "chat"}
    else:
        kind = {"task": OTHER_LABELS.get(label, COMMAND)}
    return {"text": text, "open": True, **kind}


def clinc(split):
    for text, label in corpora.clinc("train" if split == "train" else "val"):
        yield bare(text, label)


def clinc_asked(split):
    for number, (text, label) in enumerate(corpora.clinc("train" if split == "train" else "val")):
        line = asked(seeded("asked", split, number), text, label, task_intent.wrap, split)
        if line and number % 2:
            yield line


def own_tasks(count):
    """Prompts of the default model's own kinds, and some of the kind that is not its."""
    for name, kind in OWN_TASKS.items():
        for number in range(count):
            rng = seeded("router", name, number)
            made, messages, answer, *_ = data.asked_example(rng, name, "held")
            if len(messages) != 1:
                continue
            line = {"text": messages[0][1], "check": name}
            line["wanted"] = None if made == "other" else answer
            yield {**line, "task": kind} if kind else line


def all_lines(split, rng, count):
    for kind in KINDS:
        yield from written(kind, count, rng, split)
    inside = list(clinc(split))
    rng.shuffle(inside)
    commands = [line for line in inside if line.get("task") == COMMAND]
    yield from (line for line in inside if "task" not in line)
    yield from commands[: 2 * count]
    yield from (line for line in inside if line.get("task", COMMAND) != COMMAND)
    yield from clinc_asked(split)
    if split == "train":
        for text, label in rng.sample(corpora.banking("train"), 2 * count):
            line = asked(rng, text, label, task_banking.wrap, split)
            yield line if line and rng.random() < 0.5 else {**bare(text, label), "task": COMMAND}
        maths = rng.sample(corpora.gsm8k_train(), count // 2)
        yield from ({"text": text, "task": "maths", "open": True} for text in maths)
        for wrap, rows in ((task_intent.wrap, "clinc"), (task_banking.wrap, "banking")):
            for text, label in getattr(corpora, rows)("val"):
                line = asked(rng, text, label, wrap, "held")
                if line:
                    yield line
        yield from own_tasks(count // 2)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--split", choices=("train", "held"), default="train")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=700, help="written lines of each kind")
    chosen = options.parse_args()
    rng = random.Random(chosen.seed)
    seen, lines = set(), []
    for line in all_lines(chosen.split, rng, chosen.count):
        if line["text"] and line["text"] not in seen:
            seen.add(line["text"])
            lines.append(line)
    rng.shuffle(lines)
    for line in lines:
        print(json.dumps(line, ensure_ascii=False))


if __name__ == "__main__":
    main()
