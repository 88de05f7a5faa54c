"""Task 3: reformatting that keeps the content: JSON, letter case, dates, lists."""

import calendar
import json

from pools import Pool, fill, lines, pseudo_word, words
from task_extract import (CITY, COMPANY, FIRST, LAST, MONTHS, THING, make_amount, make_date,
                          make_email, make_phone)

WORD = words("""apple, river, mountain, blue, quick, customer, account, total, price, first, last,
name, user, status, report, weekly, meeting, notes, garden, summer, winter, coffee, tea, bread,
window, door, kitchen, school, project, plan, budget, order, item, list, final, draft, version,
new, old, red, green, yellow, small, large, hello, world, data, file, path, input, output, value,
count, index, max, min, start, end, time, day, week, month, year, city, street, country, phone,
email, address, book, page, line, text, word, number, group, team, manager, engine, model, cloud,
edge, server, client, request, response, error, message, code, test, build, release, open, close,
read, write, send, receive, create, delete, update, search, filter, sort, print, save, load, the,
a, of, and, in, for, to, with, my, your, our, dog, cat, bird, fish, horse, music, song, movie,
game, travel, ticket, train, plane, car, bike, road, bridge, house, room, table, chair, lamp,
paper, pen, box, bag, key, lock, light, dark, cold, warm, happy, quiet, strong, brave, little""")

CASES = {
    "upper": (["upper case", "uppercase", "capital letters", "all caps"], str.upper),
    "lower": (["lower case", "lowercase", "small letters"], str.lower),
    "title": (["title case", "Title Case"],
              lambda t: " ".join(w[:1].upper() + w[1:].lower() for w in t.split(" "))),
}
IDENTS = {
    "snake": (["snake_case", "snake case"], lambda ws: "_".join(ws)),
    "kebab": (["kebab-case", "kebab case"], lambda ws: "-".join(ws)),
    "camel": (["camelCase", "camel case"],
              lambda ws: ws[0] + "".join(w.capitalize() for w in ws[1:])),
    "pascal": (["PascalCase", "pascal case"], lambda ws: "".join(w.capitalize() for w in ws)),
}

ASK_CASE = lines("""
Convert to {how}: {text}
Convert this to {how}: {text}
Convert the following text to {how}:\\n{text}
Convert "{text}" to {how}
Write this in {how}: {text}
Write "{text}" in {how}.
Put this in {how}: {text}
Change to {how}: {text}
Change this text to {how}: {text}
Rewrite in {how}: {text}
Make this {how}: {text}
{text}\\n\\nConvert to {how}.
{text}\\nPut that in {how}.
Please convert the text below to {how}.\\n\\n{text}
{how}: {text}
Format as {how}: {text}
Turn this into {how}: {text}
What is "{text}" in {how}?
to {how}: {text}
Can you write {text} in {how}?
Transform to {how}: {text}
""")

ASK_DATE = lines("""
Convert to {how}: {text}
Convert the date {text} to {how}
Convert this date to {how}: {text}
Convert "{text}" to {how}
Write {text} in {how}
Write the date {text} in {how}.
Rewrite this date in {how}: {text}
Format {text} in {how}
Format this date in {how}: {text}
What is {text} in {how}?
Change the date to {how}: {text}
{text} in {how}
{text}\\nConvert this date to {how}.
Please convert {text} to {how}.
Turn {text} into {how}
Put the date {text} in {how}.
Date: {text}\\nFormat: {how}
Reformat the date {text} in {how}
""")

DATE_HOW = {
    "iso": ["ISO 8601", "ISO format", "ISO 8601 format", "YYYY-MM-DD", "YYYY-MM-DD format"],
    "us": ["US format", "MM/DD/YYYY", "the US date format", "American format",
           "MM/DD/YYYY format"],
    "eu": ["European format", "DD.MM.YYYY", "DD.MM.YYYY format", "the European date format"],
    "long": ["long form", "long format", "words", "the long form"],
}

ASK_JSON = lines("""
Convert to JSON:\\n{text}
Convert this to JSON:\\n{text}
Convert the following to JSON.\\n\\n{text}
Make JSON from this:\\n{text}
Turn this into JSON:\\n{text}
Turn these lines into a JSON object:\\n{text}
{text}\\n\\nConvert to JSON.
{text}\\nAs JSON please.
Format as JSON:\\n{text}
Rewrite as a JSON object:\\n{text}
Please convert these key: value lines to JSON.\\n\\n{text}
JSON:\\n{text}
Give me this as JSON:\\n{text}
Reformat to JSON\\n{text}
Write this as JSON: {text}
to json: {text}
""")

ASK_LIST = lines("""
Convert this list to {how}: {text}
Convert to {how}: {text}
Convert the list to {how}:\\n{text}
Make {how} from this: {text}
Make {how} from this list:\\n{text}
Turn this into {how}: {text}
Turn this list into {how}:\\n{text}
{text}\\n\\nConvert to {how}.
{text}\\nMake this {how}.
Format as {how}: {text}
Format this list as {how}:\\n{text}
Rewrite as {how}: {text}
Please write this as {how}:\\n\\n{text}
Put this in {how}: {text}
List to {how}: {text}
Give me this as {how}: {text}
""")
LIST_HOW = {
    "csv": ["CSV", "comma-separated values", "a CSV line", "comma separated values"],
    "bullets": ["bullet points", "a bullet list", "bullets", "a bulleted list"],
}

FIELD = words("""name, age, city, country, email, phone, date, price, total, status, color, size,
id, title, author, year, company, address, quantity, product, order, language, job, weight, height,
role, team, score, level, category, brand, model, department, currency, start, end, owner, note,
first name, last name, order id, unit price, room, floor, priority, version""")


def some_word(rng, vocabulary):
    """Common words, words from the training texts, and invented ones."""
    kind = rng.random()
    if kind < 0.4:
        return WORD.pick(rng)
    if kind < 0.8 and vocabulary:
        return rng.choice(vocabulary)
    return pseudo_word(rng)


def case_example(rng, split, vocabulary):
    name = rng.choice(list(CASES))
    hows, apply = CASES[name]
    ws = [some_word(rng, vocabulary) for _ in range(rng.choice([1, 2, 2, 3, 3, 4, 5, 6]))]
    text = " ".join(ws)
    shape = rng.random()
    if name == "lower" and shape < 0.7 or shape < 0.12:
        text = text.upper() if shape < 0.45 else text.title()
    elif shape < 0.35:
        text = text[:1].upper() + text[1:]
    return ask(rng, ASK_CASE, split, rng.choice(hows), text), apply(text)


def ident_example(rng, split, vocabulary):
    name = rng.choice(list(IDENTS))
    hows, apply = IDENTS[name]
    ws = [some_word(rng, vocabulary) for _ in range(rng.choice([2, 2, 3, 3, 4]))]
    source = rng.random()
    if source < 0.7:
        text = " ".join(ws)
        text = text.title() if rng.random() < 0.2 else text
    else:
        other = rng.choice([k for k in IDENTS if k != name])
        text = IDENTS[other][1](ws)
    return ask(rng, ASK_CASE, split, rng.choice(hows), text), apply([w.lower() for w in ws])


def date_forms(year, month, day):
    name = MONTHS[month - 1]
    return {"iso": f"{year}-{month:02d}-{day:02d}", "us": f"{month:02d}/{day:02d}/{year}",
            "eu": f"{day:02d}.{month:02d}.{year}", "long": f"{name} {day}, {year}",
            "long_eu": f"{day} {name} {year}", "short": f"{name[:3]} {day}, {year}"}


def date_example(rng, split):
    year = rng.choice([rng.randrange(1900, 2100), rng.randrange(2015, 2035)])
    month = rng.randrange(1, 13)
    day = rng.randrange(1, calendar.monthrange(year, month)[1] + 1)
    forms = date_forms(year, month, day)
    target = rng.choice(["iso", "us", "eu", "long"])
    source = rng.choice([k for k in forms if k.split("_")[0] != target])
    return ask(rng, ASK_DATE, split, rng.choice(DATE_HOW[target]), forms[source]), forms[target]


def some_value(rng, vocabulary):
    return rng.choice([
        lambda: rng.randrange(rng.choice([10, 100, 1000, 100000])),
        lambda: rng.randrange(100),
        lambda: f"{FIRST.pick(rng)} {LAST.pick(rng)}".title(),
        lambda: FIRST.pick(rng).capitalize(),
        lambda: CITY.pick(rng), lambda: COMPANY.pick(rng), lambda: THING.pick(rng),
        lambda: make_amount(rng), lambda: make_date(rng), lambda: make_email(rng),
        lambda: make_phone(rng),
        lambda: some_word(rng, vocabulary),
        lambda: " ".join(some_word(rng, vocabulary) for _ in range(2)),
    ])()


def json_example(rng, split, vocabulary):
    fields = {}
    for _ in range(rng.choice([1, 2, 2, 3, 3, 4, 5])):
        key = FIELD.pick(rng) if rng.random() < 0.85 else some_word(rng, vocabulary)
        fields[key.replace(" ", "_") if rng.random() < 0.3 else key] = some_value(rng, vocabulary)
    shape = rng.random()
    colon = rng.choice([": ", ": ", ": ", "=", " = "])
    keys = {k: (k.capitalize() if shape < 0.3 else k) for k in fields}
    text = "\n".join(f"{keys[k]}{colon}{v}" for k, v in fields.items())
    if shape > 0.75:
        text = text.replace("\n", ", ") if not any("," in str(v) for v in fields.values()) else text
    answer = json.dumps({keys[k]: v for k, v in fields.items()}, ensure_ascii=False)
    return ask(rng, ASK_JSON, split, "", text), answer


def list_example(rng, split, vocabulary):
    items = [rng.choice([some_word(rng, vocabulary), some_word(rng, vocabulary), THING.pick(rng),
                         CITY.pick(rng), FIRST.pick(rng).capitalize(),
                         some_word(rng, vocabulary) + " " + some_word(rng, vocabulary)])
             for _ in range(rng.choice([2, 3, 3, 4, 4, 5, 6]))]
    forms = {"comma": ", ".join(items), "and": ", ".join(items[:-1]) + " and " + items[-1],
             "lines": "\n".join(items), "bullets": "\n".join("- " + x for x in items),
             "star": "\n".join("* " + x for x in items), "csv": ",".join(items),
             "numbers": "\n".join(f"{i + 1}. {x}" for i, x in enumerate(items))}
    target = rng.choice(["csv", "bullets"])
    source = rng.choice([k for k in forms if k != target and (target, k) != ("bullets", "star")])
    return ask(rng, ASK_LIST, split, rng.choice(LIST_HOW[target]), forms[source]), forms[target]


def ask(rng, pool, split, how, text):
    return [("user", fill(pool.pick(rng, split).replace("\\n", "\n"), how=how, text=text))]


def example(rng, split="train", vocabulary=()):
    """(messages, answer)"""
    kind = rng.random()
    if kind < 0.25:
        return case_example(rng, split, vocabulary)
    if kind < 0.42:
        return ident_example(rng, split, vocabulary)
    if kind < 0.6:
        return date_example(rng, split)
    if kind < 0.8:
        return json_example(rng, split, vocabulary)
    return list_example(rng, split, vocabulary)
