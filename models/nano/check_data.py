"""Check every generator over many seeds; with --mix, print what an epoch is made of.

    python check_data.py              the rules below, 2,000 examples a task and split
    python check_data.py --mix        examples and share of characters a task

Rules: chats are well formed, answers are what the task promises (labels, JSON, copies of the text,
exact conversions), held-out phrasings do not occur in training, and the same seed gives the same
example."""

import argparse
import collections
import json
import re
import sys
import time
from fractions import Fraction

import data
import everyday
import sentiment_lexicon
import task_entities
import task_language
import task_normalise
import task_private
import task_sentiment
import task_units
import task_yesno
from chat_render import TOOL_CALL, TOOL_CALL_END, render
from corpora import clinc, data_dir
from pools import Pool, bare, seeded

CONTENT_MAX = 4000  # characters of a message
ANSWER_MAX = 1200
TOOL_ROLES = re.compile(
    "tools (system )?((user assistant|user calls tool assistant) )?user( calls tool)?"
)


def contents(messages):
    return "\n".join(content for _, content in messages if isinstance(content, str))


def well_formed(messages, answer):
    roles = [role for role, _ in messages]
    if roles not in (["user"], ["system", "user"]) and not TOOL_ROLES.fullmatch(" ".join(roles)):
        return f"roles are {roles}"
    if any(len(content) > CONTENT_MAX for _, content in messages if isinstance(content, str)):
        return "a message is too long"
    if everyday.is_kept_out(messages):
        return "the everyday list asks this"
    if not answer or len(answer) > ANSWER_MAX or answer != answer.strip():
        return f"bad answer {answer!r}"
    left = re.search(
        r"\{(text|how|what|schema|topic|adj|verb|noun|so|v|question|claim|low|lowclaim|u)\}|\\n",
        contents(messages),
    )
    return f"{left[0]} was left unfilled" if left else None


def copied(value, text):
    """Whether a value stands in the text, or is a list of such values; numbers by their digits."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, list):
        return all(copied(v, text) for v in value)
    if isinstance(value, float):
        return any(form in text for form in (str(value), f"{value:.2f}"))
    return str(value) in text


def check_entities(types):
    def check(messages, answer):
        for entity in json.loads(answer):
            if list(entity) != ["type", "text"] or entity["type"] not in types:
                return f"bad entity {entity}"
            if entity["text"] not in contents(messages):
                return f"{entity['text']!r} is not in the text"
        return None

    return check


def check_schema(messages, answer):
    record = json.loads(answer)
    if not record or not isinstance(record, dict):
        return "no object"
    wrong = [k for k, v in record.items() if not copied(v, contents(messages))]
    return f"{wrong[0]} is not in the text" if wrong else None


def check_extract(messages, answer):
    values = json.loads(answer).values() if answer.startswith("{") else [answer]
    wrong = [v for v in values if v is not None and v != "none" and v not in contents(messages)]
    return f"{wrong[0]!r} is not in the text" if wrong else None


def check_label(allowed):
    return lambda messages, answer: None if answer in allowed else f"{answer!r} is no label"


def argument_faults(value, said):
    """Whether an argument neither stands in the request nor is one that schemas ask for."""
    if isinstance(value, list):
        return any(argument_faults(v, said) for v in value)
    if isinstance(value, (bool, int, float)):
        return False
    return value.lower() not in said.lower()


def check_tools(messages, answer):
    """Calls are of listed tools, have what is required in the schema's order, and copy the text."""
    if not answer.startswith(TOOL_CALL):
        return None
    offered = {t["function"]["name"]: t["function"]["parameters"] for t in messages[0][1]}
    if len(offered) != len(messages[0][1]):
        return "two tools have one name"
    body = re.compile(f"{TOOL_CALL}(.*?){TOOL_CALL_END}", re.S)
    if body.sub("", answer):
        return "text beside calls"
    for call in map(json.loads, body.findall(answer)):
        schema = offered.get(call["name"])
        if schema is None:
            return f"{call['name']} is not listed"
        properties, given = schema["properties"], call["arguments"]
        if [n for n in properties if n in given] != list(given):
            return "arguments are not in the schema's order"
        if set(schema["required"]) - set(given):
            return "a required argument is missing"
        for name, value in given.items():
            p = properties[name]
            if "enum" in p and value not in p["enum"]:
                return f"{value!r} is not in the enum"
            iso = isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d|\d\d:\d\d", value)
            if not iso and "enum" not in p and argument_faults(value, messages[-1][1]):
                return f"{value!r} is not in the request"
    return None


def check_choose(messages, answer):
    label = next(iter(json.loads(answer).values())) if answer.startswith("{") else answer
    return None if label in contents(messages) else f"{label!r} is not in the list"


CHECKS = {
    "tools": check_tools,
    "choose": check_choose,
    "private": check_entities(task_private.TYPES),
    "entities": check_entities(task_entities.TYPES),
    "schema": check_schema,
    "extract": check_extract,
    "sentiment": check_label(task_sentiment.LABELS),
    "language": check_label(task_language.LABELS),
    "yesno": check_label(task_yesno.LABELS),
}


def check_task(task, split, count):
    """The first fault of a task, or None."""
    answers = set()
    for number in range(count):
        _, messages, answer, *_ = data.task_example(
            seeded("check", task, split, number), task, split
        )
        fault = well_formed(messages, answer) or CHECKS.get(task, lambda m, a: None)(
            messages, answer
        )
        if fault:
            return f"{task} {split} {number}: {fault}\n  {messages}\n  {answer!r}"
        again = data.task_example(seeded("check", task, split, number), task, split)
        if number < 20 and (messages, answer) != tuple(again[1:3]):
            return f"{task} {split} {number}: not the same again"
        if not data.is_right(task, answer, answer) or data.is_right(task, answer + "x", answer):
            return f"{task} {split} {number}: the checker is wrong about {answer!r}"
        answers.add(answer)
    return (
        None
        if len(answers) > 1 or task == "other" or task in data.REFUSED
        else f"{task}: always the same answer"
    )


def pools_overlap():
    """Names of phrasing pools whose parts share an entry."""
    out = []
    for module in list(data.GENERATORS.values()) + [data]:
        for name, pool in vars(module).items():
            if isinstance(pool, Pool) and pool.parts["train"] is not pool.parts["held"]:
                composed = [bare(text) for line in pool.composed for text in line]
                if set(map(str, pool.parts["train"])) & set(map(str, pool.parts["held"])) or set(
                    composed
                ) & set(map(bare, pool.parts["held"])):
                    out.append(f"{module.__name__}.{name}")
    return out


def leading(pattern, text):
    """What the pattern finds at the start of a text that begins with it."""
    found = pattern.match(text)
    assert found, text
    return found[0]


def wrong_degrees(count):
    """Conversions of task_units.py that another formula does not confirm to half a decimal."""
    out = []
    for seed in range(count):
        source, target = seeded("pair", seed).choice(task_units.PAIRS)
        value = task_units.some_value(seeded("degrees", seed), source)
        told = float(task_units.converted(value, source, target))
        if source in task_units.DEGREES:
            exact = float(value) * 1.8 + 32 if source == "°C" else (float(value) - 32) / 1.8
        else:
            exact = float(value) * float(
                task_units.FACTORS.get((source, target))
                or 1 / float(task_units.FACTORS[target, source])
            )
        if abs(told - exact) > 0.0500001:
            out.append(f"{value} {source} is {exact} {target}, not {told}")
    return out


def the_guard_holds():
    """Faults of the guard of the everyday list: each line is refused, however it is written."""
    asked = [f" {row['text'].capitalize()} !!" for row in everyday.rows()]
    rows = [[("user", text)] for text in asked]
    return [f"trainable: {m[0][1]}" for m in rows if not everyday.is_kept_out(m)]


def wrong_units(count):
    """Conversions whose two numbers are not in the ratio of their units."""
    number, out = re.compile(r"-?[\d.]+"), []
    for seed in range(count):
        rng = seeded("units", seed)
        units, to_small = rng.choice(task_normalise.UNITS), rng.random() < 0.5
        source, _, answer = task_normalise.some_quantity(rng, units, to_small)
        big, small = (
            Fraction(leading(number, text))
            for text in ((source, answer) if to_small else (answer, source))
        )
        if big * units[4] != small:
            out.append(f"{source} is not {answer}")
    return out


def test_lines_in_training(count):
    """Test lines of CLINC150 that the generator of foreign questions made."""
    test = {u for u, _ in clinc("test")} - {u for u, _ in clinc("train") + clinc("val")}
    made = collections.Counter()
    for number in range(count):
        _, messages, *_ = data.task_example(seeded("leak", number), "other")
        made.update(c for _, c in messages if c in test)
    return [text for text in made if len(text.split()) > 5]


def check(count):
    faults = [f"{name}: an entry stands in both parts" for name in pools_overlap()]
    skipped = set() if sentiment_lexicon.installed() else {("sentiment", "train")}
    for task in data.GENERATORS:
        for split in ("train", "held"):
            if (task, split) in skipped:
                print(f"skip {task} {split}: needs the package vaderSentiment (requirements.txt)")
                continue
            began = time.time()
            fault = check_task(task, split, count)
            faults += [fault] if fault else []
            print(
                f"{'bad ' if fault else 'ok  '} {task} {split} ({count} examples, "
                f"{time.time() - began:.1f} s)",
                flush=True,
            )
    faults += wrong_units(count) + wrong_degrees(count) + the_guard_holds()
    faults += [
        f"made by a generator, but of a test set: {t}" for t in test_lines_in_training(count)
    ]
    for fault in faults:
        print(fault)
    passed = 2 * len(data.GENERATORS) + 5 - len(skipped) - len(faults)
    print(f"{passed} passed, {len(faults)} failed")
    return 1 if faults else 0


def mix():
    """What an epoch is made of."""
    began = time.time()
    examples = data.examples(0, "mix", 12000)
    print(f"{len(examples)} examples in {time.time() - began:.0f} s")
    sizes, counts = collections.Counter(), collections.Counter()
    for task, messages, answer, *_ in examples:
        sizes[task] += len("".join(render(messages))) + len(answer)
        counts[task] += 1
    total = sum(sizes.values())
    for task, size in sizes.most_common():
        print(
            f"{task:12} {counts[task]:6} examples  {size / total:6.1%} of the characters  "
            f"{size / counts[task]:6.0f} a example"
        )
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--mix", action="store_true")
    args = parser.parse_args()
    if not (data_dir() / "clinc150").exists():
        print(f"skipped: no data at {data_dir()}")
        return 0
    return mix() if args.mix else check(args.count)


if __name__ == "__main__":
    sys.exit(main())
