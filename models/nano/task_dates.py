"""Sums with dates: a date some days, weeks or months before or after another, and days between.

The answer has the form of the question's date. Up to 30 days, 4 weeks, 12 months or 10 years, and
at most 60 days between two dates; a day that a month does not have becomes its last one.
"""

import calendar
import datetime
import re

from pools import fill, lines, polite
from task_normalise import written_dates

FORMS = ["iso", "long", "long_eu", "long_short", "long_eushort", "long_low"]
TOP = {"day": 30, "week": 4, "month": 12, "year": 10}
FOREIGN_UNITS = {
    "Tage": "day",
    "Wochen": "week",
    "jours": "day",
    "semaines": "week",
    "días": "day",
    "semanas": "week",
}

AFTER = lines("""
What day is {n} {unit} {side} {date}?
what date is {n} {unit} {side} {date}
What is the date {n} {unit} {side} {date}?
Which date is {n} {unit} {side} {date}?
{n} {unit} {side} {date}
{n} {unit} {side} {date}?
date {n} {unit} {side} {date}
what's the date {n} {unit} {side} {date}
Tell me the date {n} {unit} {side} {date}.
Give me the date that is {n} {unit} {side} {date}.
Which day comes {n} {unit} {side} {date}?
Calculate the date {n} {unit} {side} {date}.
When is {n} {unit} {side} {date}?
The date is {date}. What is the date {n} {unit} {later}?
It is {date}. What date is it {n} {unit} {later}?
{date} {sign} {n} {unit}
{date} {sign} {n} {unit} = ?
I need the date {n} {unit} {side} {date}
Starting from {date}, what is the date {n} {unit} {later}?
whats {n} {unit} {side} {date}
""")
AFTER_FOREIGN = {
    "after": [
        ("Welches Datum ist {n} {unit} nach dem {date}?", "Tage"),
        ("{n} {unit} nach {date}", "Wochen"),
        ("Quelle est la date {n} {unit} après le {date} ?", "jours"),
        ("{n} {unit} après {date}", "semaines"),
        ("Qué fecha es {n} {unit} después del {date}", "días"),
        ("{n} {unit} después de {date}", "semanas"),
    ],
    "before": [
        ("Welches Datum ist {n} {unit} vor dem {date}?", "Tage"),
        ("{n} {unit} avant le {date}", "jours"),
        ("Qué fecha es {n} {unit} antes del {date}", "días"),
    ],
}
BETWEEN = lines("""
How many days between {a} and {b}?
how many days are there between {a} and {b}
How many days is it from {a} to {b}?
how many days from {a} until {b}
Number of days between {a} and {b}
days between {a} and {b}
days from {a} to {b}
How many days are there from {a} to {b}?
Count the days between {a} and {b}.
What is the number of days from {a} to {b}?
{a} to {b}: how many days?
How long is it from {a} to {b} in days?
Difference in days: {a} and {b}
how many days lie between {a} and {b}
Calculate the days from {a} to {b}.
Wie viele Tage sind es vom {a} bis zum {b}?
Wie viele Tage liegen zwischen {a} und {b}?
Combien de jours entre {a} et {b} ?
Cuántos días hay entre {a} y {b}
Quanti giorni ci sono tra {a} e {b}?
""")


def right(got, expected):
    """Whether two dates are the same but for the spelling of the month."""
    return spelled(got) == spelled(expected)


def spelled(date):
    date = date.lower().replace(",", "")
    for month in calendar.month_name[1:]:
        date = re.sub(rf"\b{month[:3].lower()}\b", month.lower(), date)
    return date


def form(rng):
    return rng.choice(FORMS)


def shown(day, name):
    return written_dates(day.year, day.month, day.day)[name]


def some_day(rng):
    year = rng.choice([rng.randrange(1950, 2080), rng.randrange(2015, 2032)])
    month = rng.randrange(1, 13)
    return datetime.date(year, month, rng.randrange(1, calendar.monthrange(year, month)[1] + 1))


def moved(day, count, unit):
    """The date `count` (negative: before) units away."""
    if unit in ("day", "week"):
        return day + datetime.timedelta(days=count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return datetime.date(year, month + 1, min(day.day, last))


def after(rng, split):
    day, name = some_day(rng), form(rng)
    unit = rng.choices(list(TOP), [6, 3, 2, 1])[0]
    count, side = rng.randrange(1, TOP[unit] + 1), rng.choice(["after", "after", "before"])
    result = shown(moved(day, count if side == "after" else -count, unit), name)
    if rng.random() < 0.12 and unit in ("day", "week"):
        words, word = rng.choice(
            [w for w in AFTER_FOREIGN[side] if FOREIGN_UNITS[w[1]] == unit]
            or AFTER_FOREIGN[side][:1]
        )
        if FOREIGN_UNITS[word] == unit:
            return fill(words, n=str(count), unit=word, date=shown(day, name)), result
    words = unit if count == 1 else unit + "s"
    n = rng.choice(["a", "one", "1"]) if count == 1 else str(count)
    text = fill(
        AFTER.pick(rng, split),
        n=n,
        unit=words,
        side=rng.choice(["after", "after", "from"]) if side == "after" else "before",
        later=rng.choice(["later", "after that"]) if side == "after" else "earlier",
        sign="+" if side == "after" else "-",
        date=shown(day, name),
    )
    return text, result


def between(rng, split):
    day, name = some_day(rng), form(rng)
    count = rng.choice([rng.randrange(1, 31), rng.randrange(1, 61)])
    a, b = shown(day, name), shown(moved(day, count, "day"), name)
    return fill(BETWEEN.pick(rng, split), a=a, b=b), f"{count} day{'s' if count > 1 else ''}"


def example(rng, split="train"):
    """(messages, answer)"""
    text, answer = (after if rng.random() < 0.65 else between)(rng, split)
    text = polite(rng, text, 0.05)
    return [
        ("user", text.lower() if rng.random() < 0.12 and answer == answer.lower() else text)
    ], answer
