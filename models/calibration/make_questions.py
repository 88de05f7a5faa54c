#!/usr/bin/env python3
"""Writes questions.jsonl, which `tandem calibrate` asks: short questions with answers that a
program can check (src/app/evidence/answer_check.h). All are made here, but for some of GSM8K's
training set. The same seed gives the same file."""

import argparse
import datetime
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tables import (
    ANIMALS,
    CAPITALS,
    CITIES,
    ELEMENTS,
    FEELINGS,
    GOODS,
    NAMES,
    OPPOSITES,
    PAST,
    PLURALS,
    SPANISH,
    WORDS,
)

Question = dict[str, Any]
ONLY_NUMBER = "Answer with the number only."
ONLY_WORD = "Answer with one word."
GSM8K_COUNT = 160
GSM8K_BYTES_MAX = 260


def number(prompt: str, answer: float, tolerance: float = 0) -> Question:
    question: Question = {"prompt": prompt, "check": "number", "answer": answer}
    return question | ({"tolerance": tolerance} if tolerance else {})


def words(prompt: str, answer: str | Sequence[str], others: list[str] | None = None) -> Question:
    question: Question = {"prompt": prompt, "check": "words", "answer": answer}
    return question | ({"or": others} if others else {})


def pattern(prompt: str, answer: str) -> Question:
    return {"prompt": prompt, "check": "pattern", "answer": answer}


def exactly(text: str) -> str:
    """As a pattern: the text with nothing that joins it on either side."""
    plain = "".join("\\" + c if c in r".[]{}()*+?^$|\/" and c != "/" else c for c in text)
    return f"(^|[^A-Za-z0-9-]){plain}($|[^A-Za-z0-9-])"


def arithmetic(rng: random.Random) -> Question:
    digits = rng.choice([1, 1, 2, 2, 3])
    a, b = (rng.randint(10 ** (digits - 1), 10**digits - 1) for _ in range(2))
    form = rng.choice(["What is {}?", "{} = ?", "Calculate {}.", "How much is {}?"])
    kind = rng.choice("++--*/")
    if kind == "+":
        return number(f"{form.format(f'{a} + {b}')} {ONLY_NUMBER}", a + b)
    if kind == "-":
        return number(f"{form.format(f'{max(a, b)} - {min(a, b)}')} {ONLY_NUMBER}", abs(a - b))
    b = rng.randint(2, 12)
    if kind == "*":
        return number(f"{form.format(f'{a} * {b}')} {ONLY_NUMBER}", a * b)
    return number(f"{form.format(f'{a * b} / {b}')} {ONLY_NUMBER}", a)


def percent(rng: random.Random) -> Question:
    share, whole = rng.choice([5, 10, 20, 25, 50, 75]), rng.randint(1, 40) * 20
    return number(f"What is {share} % of {whole}? {ONLY_NUMBER}", share * whole / 100)


def story(rng: random.Random) -> Question:
    name, other = rng.sample(NAMES, 2)
    thing = rng.choice(GOODS)
    a, b, c = rng.randint(3, 40), rng.randint(2, 20), rng.randint(2, 9)
    prompt, answer = rng.choice(
        [
            (f"{name} has {a + b} {thing} and gives {b} to {other}. How many are left?", a),
            (f"{name} buys {c} bags with {a} {thing} each. How many {thing} is that?", a * c),
            (f"{a * c} {thing} are shared by {c} people. How many does each one get?", a),
            (f"{name} has {a} {thing}, {other} has {b} more. How many does {other} have?", a + b),
            (f"{name} has {a} {thing} and buys {b}, then sells {c}. How many now?", a + b - c),
            (f"A ticket costs {c} euros. What do {a} tickets cost, in euros?", a * c),
        ]
    )
    return number(f"{prompt} {ONLY_NUMBER}", answer)


def units(rng: random.Random) -> Question:
    n = rng.randint(2, 30)
    source, factor, target = rng.choice(
        [
            ("kilometres", 1000, "metres"),
            ("hours", 60, "minutes"),
            ("minutes", 60, "seconds"),
            ("days", 24, "hours"),
            ("weeks", 7, "days"),
            ("kilograms", 1000, "grams"),
            ("metres", 100, "centimetres"),
            ("litres", 1000, "millilitres"),
            ("dozens", 12, "pieces"),
            ("years", 12, "months"),
            ("feet", 12, "inches"),
            ("centuries", 100, "years"),
        ]
    )
    if rng.random() < 0.5:
        return number(f"How many {target} are {n} {source}? {ONLY_NUMBER}", n * factor)
    return number(f"Convert {n * factor} {target} to {source}. {ONLY_NUMBER}", n)


def dates(rng: random.Random) -> Question:
    day = datetime.date(rng.randint(1990, 2035), rng.randint(1, 12), rng.randint(1, 28))
    weekdays = [f"{datetime.date(2024, 1, 1 + i):%A}" for i in range(7)]
    spoken, later = f"{day.day} {day:%B} {day.year}", rng.randint(1, 6)
    kind = rng.randrange(5)
    if kind == 0:
        return pattern(
            f"Write the date {spoken} as YYYY-MM-DD. Answer with the date only.",
            exactly(day.isoformat()),
        )
    if kind == 1:
        end = weekdays[(day.weekday() + later) % 7]
        return words(
            f"Today is {day:%A}. What day is it in {later} days? {ONLY_WORD}",
            end,
            [w for w in weekdays if w != end],
        )
    if kind == 2:
        return number(f"How many days does {day:%B} have in {day.year}? {ONLY_NUMBER}",
                      (day.replace(day=28) + datetime.timedelta(4)).replace(day=1).toordinal()
                      - day.replace(day=1).toordinal())  # fmt: skip
    if kind == 3:
        return number(f"What is the year in the date {spoken}? {ONLY_NUMBER}", day.year)
    return number(
        f"Someone was born in {day.year - later * 9}. How old do they get in {day.year}? "
        f"{ONLY_NUMBER}",
        later * 9,
    )


def extraction(rng: random.Random) -> Question:
    name, city, thing = rng.choice(NAMES), rng.choice(CITIES), rng.choice(GOODS)
    count, price = rng.randint(2, 90), rng.randint(3, 400)
    code = f"{rng.choice('ABCDEFGH')}{rng.choice('KLMNP')}-{rng.randint(1000, 9999)}"
    weekday = rng.choice(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"])
    text = rng.choice(
        [
            f"Order {code}: {name} from {city} ordered {count} {thing} for {price} euros. They "
            f"arrive on {weekday}.",
            f"On {weekday} {name} picks up {count} {thing} in {city}. The bill, number {code}, "
            f"says {price} euros.",
            f"Dear team, {name} here. I paid {price} euros for {count} {thing} (order {code}), but "
            f"nothing came to {city} by {weekday}.",
        ]
    )
    asked = rng.randrange(6)
    if asked == 0:
        question = pattern("What is the order or bill number?", exactly(code))
    elif asked == 1:
        question = words(f"Who is it about? {ONLY_WORD}", name)
    elif asked == 2:
        question = words(f"Which city is named? {ONLY_WORD}", city)
    elif asked == 3:
        question = number(f"How many {thing} are there? {ONLY_NUMBER}", count)
    elif asked == 4:
        question = number(f"How many euros is it? {ONLY_NUMBER}", price)
    else:
        question = words(f"Which day of the week is named? {ONLY_WORD}", weekday)
    return question | {"prompt": f"Text: {text}\n\n{question['prompt']}"}


def formats(rng: random.Random) -> Question:
    some = rng.sample(WORDS, 3)
    numbers = rng.sample(range(1, 99), 3)
    kind = rng.randrange(6)
    if kind == 0:
        return pattern(f"Write the word {some[0]} in capital letters.", exactly(some[0].upper()))
    if kind == 1:
        return pattern(
            f"Join these words with commas and no spaces: {' '.join(some)}", exactly(",".join(some))
        )
    if kind == 2:
        return pattern(
            f"Sort from small to large: {numbers[0]}, {numbers[1]}, {numbers[2]}. Answer with the "
            "numbers, separated by commas.",
            exactly("{0}, ?{1}, ?{2}").replace("\\{0\\}", str(sorted(numbers)[0]))
            .replace("\\{1\\}", str(sorted(numbers)[1])).replace("\\{2\\}", str(sorted(numbers)[2]))
            .replace("\\?", "?"),
        )  # fmt: skip
    if kind == 3:
        return words(f"What is the last word of this list? {', '.join(some)}. {ONLY_WORD}",
                     some[2], some[:2])  # fmt: skip
    if kind == 4:
        return pattern(
            f'Write a JSON object whose key "{some[0]}" has the value {numbers[0]}.',
            f'{{ *"{some[0]}" *: *{numbers[0]} *}}'.replace("{", "\\{").replace("}", "\\}"),
        )
    return number(f"How many letters does the word {some[1]} have? {ONLY_NUMBER}", len(some[1]))


def yes_no(rng: random.Random) -> Question:
    name, other = rng.sample(NAMES, 2)
    city, wrong_city = rng.sample(CITIES, 2)
    animal, wrong_animal = rng.sample(ANIMALS, 2)
    age = rng.randint(20, 60)
    text = (
        f"{name} lives in {city}, is {age} years old and has a {animal}. {other} is "
        f"{rng.randint(1, 9)} years older and has no animals."
    )
    question, answer = rng.choice(
        [
            (f"Does {name} live in {city}?", "yes"),
            (f"Does {name} live in {wrong_city}?", "no"),
            (f"Does {name} have a {animal}?", "yes"),
            (f"Does {name} have a {wrong_animal}?", "no"),
            (f"Is {other} older than {name}?", "yes"),
            (f"Is {name} older than {other}?", "no"),
            (f"Does {other} have a {animal}?", "no"),
        ]
    )
    return words(
        f"Text: {text}\n\n{question} Answer yes or no.",
        answer,
        ["no" if answer == "yes" else "yes"],
    )


def comparison(rng: random.Random) -> Question:
    a, b = rng.sample(range(10, 100000), 2) if rng.random() < 0.5 else rng.sample(range(100), 2)
    if rng.random() < 0.3:
        x, y = a / 100, b / 100
        return number(f"Which is larger, {x} or {y}? {ONLY_NUMBER}", max(x, y))
    side = rng.choice(["larger", "smaller"])
    return number(
        f"Which number is {side}, {a} or {b}? {ONLY_NUMBER}",
        max(a, b) if side == "larger" else min(a, b),
    )


def sequence(rng: random.Random) -> Question:
    begin, step = rng.randint(1, 30), rng.randint(2, 12)
    shown = ", ".join(str(begin + i * step) for i in range(4))
    return number(f"Which number comes next? {shown}, ... {ONLY_NUMBER}", begin + 4 * step)


def feeling(rng: random.Random) -> Question:
    text, answer = rng.choice(FEELINGS)
    opening = rng.choice(["", "", "Well, ", "Honestly, ", "To be brief: "])
    thing = rng.choice(["hotel", "film", "phone", "restaurant", "course", "book", "game"])
    return words(
        f'Review of a {thing}: "{opening}{text}" Is this review positive or negative? {ONLY_WORD}',
        answer,
        ["negative" if answer == "positive" else "positive"],
    )


def lexicon() -> Iterator[Question]:
    """What is asked once: facts and words out of tables."""
    for country, city in CAPITALS:
        yield words(f"What is the capital of {country}? {ONLY_WORD}", city)
    for name, symbol in ELEMENTS:
        yield pattern(f"What is the chemical symbol of {name}?", exactly(symbol))
    for word, answer in OPPOSITES:
        yield words(f'What is the opposite of "{word}"? {ONLY_WORD}', answer)
    for word, answer in PLURALS:
        yield words(f'What is the plural of "{word}"? {ONLY_WORD}', answer)
    for word, answer in PAST:
        yield words(f'What is the past tense of the verb "{word}"? {ONLY_WORD}', answer)
    for word, answer in SPANISH:
        yield words(f'What is the English word "{word}" in Spanish? {ONLY_WORD}', answer)


MADE: list[tuple[Callable[[random.Random], Question], int]] = [
    (arithmetic, 120),
    (percent, 30),
    (story, 90),
    (units, 70),
    (dates, 80),
    (extraction, 110),
    (formats, 90),
    (yes_no, 90),
    (comparison, 50),
    (sequence, 40),
    (feeling, 50),
]


def gsm8k(path: Path, rng: random.Random) -> list[Question]:
    """Short ones of the training set, with the number after its "####"."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    short = [line for line in lines if len(line["question"]) <= GSM8K_BYTES_MAX]
    return [
        number(
            f"{line['question']} {ONLY_NUMBER}",
            float(line["answer"].rsplit("####", 1)[1].replace(",", "")),
        )
        | {"from": "gsm8k"}
        for line in rng.sample(short, GSM8K_COUNT)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gsm8k", type=Path, required=True, help="GSM8K's train.jsonl")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "questions.jsonl")
    options = parser.parse_args()
    rng = random.Random(1)
    questions = list(lexicon()) + gsm8k(options.gsm8k, rng)
    seen = {question["prompt"] for question in questions}
    for make, count in MADE:
        made = 0
        while made < count:
            question = make(rng)
            if question["prompt"] not in seen:
                seen.add(question["prompt"])
                questions.append(question)
                made += 1
    rng.shuffle(questions)
    for question in questions:
        if isinstance(question["answer"], float) and question["answer"].is_integer():
            question["answer"] = int(question["answer"])
    options.out.write_text("".join(json.dumps(q, ensure_ascii=False) + "\n" for q in questions))
    print(f"{len(questions)} questions, {options.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
