"""Reformatting that keeps the content: letter case, identifiers, lists, CSV, JSON, key: value
lines.

Words come mostly from the frequent ones of the training texts: byte-pair tokens hide the letters,
so the model has to have seen how a token is spelled before it can change its case.
"""

import json

from corpora import common_words
from names import CITY, FIRST, LAST
from pools import ask, fill, lines, polite, pseudo_word, weighted, words
from values import amount, company, date, email, phone

CASES = {
    "upper": (
        ["upper case", "uppercase", "capital letters", "all caps", "block capitals"],
        str.upper,
    ),
    "lower": (["lower case", "lowercase", "small letters", "all lower case"], str.lower),
    "title": (
        ["title case", "Title Case", "initial capitals"],
        lambda t: " ".join(w[:1].upper() + w[1:].lower() for w in t.split(" ")),
    ),
}
IDENTS = {
    "snake": (["snake_case", "snake case", "lower snake case"], lambda ws: "_".join(ws)),
    "kebab": (["kebab-case", "kebab case"], lambda ws: "-".join(ws)),
    "camel": (
        ["camelCase", "camel case", "lower camel case"],
        lambda ws: ws[0] + "".join(w.capitalize() for w in ws[1:]),
    ),
    "pascal": (["PascalCase", "pascal case"], lambda ws: "".join(w.capitalize() for w in ws)),
    "constant": (
        ["SCREAMING_SNAKE_CASE", "constant case", "upper snake case"],
        lambda ws: "_".join(ws).upper(),
    ),
}

ASK_CASE = lines("""
Convert to {how}: {text}
Convert this to {how}: {text}
Convert the following text to {how}:\\n{text}
Convert "{text}" to {how}
Convert the text to {how}.
Write this in {how}: {text}
Write "{text}" in {how}.
Put this in {how}: {text}
Put the text in {how}.
Change to {how}: {text}
Change this text to {how}: {text}
Rewrite in {how}: {text}
Rewrite the text in {how}.
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
Text: {text}\\nIn {how}:
Use {how}.
Return the text in {how}.
Reply with the same words in {how}: {text}
Apply {how} to the text.
I need this in {how}: {text}
Input: {text}\\nTask: {how}
""").widen(
    """
(|Please )(convert|turn|change|bring|transform|put) (|the text |the words |this text |this: )({text}|"{text}") (to|into) {how}(|.)
(|Please )(write|rewrite|give|show|return|print|type|format) (|the text |the words |this text |this: )({text}|"{text}") (in|as|using) {how}(|.)
(Convert|Turn|Change|Transform|Bring) (it|the words|the text|this text|the following|the line below) (to|into) {how}(:|:\\n|.\\n) {text}
(Write|Rewrite|Give|Show|Print|Type|Format|Return) (it|the words|the text|this text|the following|the line below) (in|as|using) {how}(:|:\\n|.\\n\\n) {text}
(Use|Apply) {how} (for|on|to) (this|the following|these words|the text)(:|:\\n) {text}
(In|As|Into|With) {how}: {text}
{how}(:\\n|:\\n\\n| -> | = ){text}
{text}\\n(In|As|To|Into) {how}(|.|, please.)
{text}\\n\\n(Write this in|Turn it into|Change this to|Rewrite it in) {how}(|.)
(Text|Input|Words|Line|Phrase): {text}\\n(Form|Case|Wanted|Style|Output): {how}
(Style|Wanted|Target|Form): {how}\\n(Text|Input|Words|Line): {text}
(Could you|Would you|Can you) (put|turn|change|convert|bring) (this|the words|the text) (to|into) {how}(?|:|?\\n) {text}
(How do I write|How would you write|How does) ({text}|"{text}") (in|look in) {how}?
(I want|We need|I would like) (this text|these words|the line) in {how}: {text}
"""
)
SYSTEM_CASE = lines("""
Convert the user's text to {how}.
Rewrite everything in {how}.
You convert text to {how}. Output only the converted text.
Repeat the user's message in {how}.
Reply with the user's words in {how}.
Text formatter. Output {how}.
Your task is to put text into {how}.
""")

ASK_JSON = lines("""
Convert to JSON:\\n{text}
Convert this to JSON:\\n{text}
Convert the following to JSON.\\n\\n{text}
Convert these key: value lines to JSON.
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
Represent this as a JSON object.
Return a JSON object with these keys and values.
Output JSON only.\\n{text}
""").widen(
    """
(Convert|Turn|Change|Transform|Reformat) (the lines|these fields|the fields|this data|the data|the record|this record|the text) (to|into) (JSON|a JSON object)(:|:\\n|.\\n\\n){text}
(Write|Show|Format|Return|Give) (the lines|these fields|the fields|this data|the data|the record|this record) as (JSON|a JSON object)(:|:\\n|.\\n\\n){text}
{text}\\n(\\n|)(Turn this into|Write this as|Give it as|Show it as|Format it as) (JSON|a JSON object)(|.)
(Data|Input|Record|Fields|Lines):\\n{text}\\n(JSON|As JSON|Output JSON|JSON object):
(Could you|Can you) (turn|convert|change) this (to|into) (JSON|a JSON object)?\\n{text}
(Make|Build|Create) (a JSON object|JSON) (of|from|out of) (these lines|this data|the following|these fields)(:|.)\\n{text}
"""
)
ASK_LINES = lines("""
Convert this JSON to key: value lines.
Convert the JSON to lines:\\n{text}
Turn this JSON object into key: value lines.
Write this JSON as "key: value" lines:\\n{text}
{text}\\n\\nConvert to key: value lines.
{text}\\nAs key: value lines please.
List the keys and values, one per line: {text}
Print each key and value on its own line.
Format this JSON as key: value pairs, one a line.
Rewrite the JSON as plain key: value text.
JSON to text, one "key: value" a line: {text}
Unpack this JSON into lines of key: value.
Make key: value lines from this JSON: {text}
Show this JSON as key: value lines.
""").widen(
    """
(Convert|Turn|Change|Transform) (the JSON|this object|the object|this record|it) (to|into) (key: value lines|lines of key: value|"key: value" lines)(:|:\\n|.\\n){text}
(Write|Show|List|Print|Give) (the JSON|this object|the object|this record|it) as (key: value lines|lines of key: value|"key: value" lines)(:|:\\n|.\\n){text}
{text}\\n(\\n|)(Turn this into|Write this as|Show it as) (key: value lines|lines of key: value|"key: value" lines)(|.)
(JSON|Object|Input|Data): {text}\\n(Lines|key: value lines|As key: value lines):
"""
)
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
Rewrite the list as {how}.
Return the items as {how}.
Write the items as {how}.
Show these items as {how}:\\n{text}
Items: {text}\\nOutput as {how}:
""").widen(
    """
(|Please )(convert|turn|change|transform|reformat|bring) (the items|these items|this|the list|these|it|the following) (to|into) {how}(:|:\\n|.\\n){text}
(|Please )(write|rewrite|format|show|give|print|return|list) (the items|these items|this|the list|these|it|the following) as {how}(:|:\\n|.\\n){text}
{text}\\n(\\n|)(Turn this into|Write this as|Give it as|Show it as|Change it to|As) {how}(|.|, please.)
(List|Input|Items|Data|Text):\\n{text}\\n(Form|Format|Wanted|Output|Style): {how}
(Create|Build|Make) {how} (of|from|out of|with) (these|the items|these items|the following)(:|.)\\n{text}
(As|To|Into) {how}(:|:\\n) {text}
{how}(: |:\\n){text}
(Could you|Can you) (turn|change|convert|put) (this|the list|these items) (to|into) {how}?\\n{text}
"""
)
LIST_HOW = {
    "csv": ["CSV", "comma-separated values", "a CSV line", "comma separated values"],
    "bullets": ["bullet points", "a bullet list", "bullets", "a bulleted list"],
    "numbers": ["a numbered list", "numbered lines", "a numbered list, one item a line"],
    "json": ["a JSON array", "a JSON list", "JSON array"],
    "lines": ["one item per line", "separate lines", "lines, one item each"],
}
ASK_TABLE = lines("""
Convert this CSV to {how}:\\n{text}
Convert the CSV to {how}.
Convert to {how}:\\n{text}
Turn this table into {how}:\\n{text}
Turn these rows into {how}.
{text}\\n\\nConvert to {how}.
Rewrite this data as {how}:\\n{text}
Format the table as {how}.
Make {how} from the following data.\\n\\n{text}
Data:\\n{text}\\n\\nGive it as {how}.
Please convert the data below to {how}.\\n\\n{text}
Change the format to {how}:\\n{text}
Transform these rows to {how}:\\n{text}
Output the data as {how}:\\n{text}
""").widen(
    """
(|Please )(convert|turn|change|transform|reformat) (the data|this data|these rows|the rows|this|the following) (to|into) {how}(:|:\\n|.\\n){text}
(|Please )(write|rewrite|format|show|give|return) (the data|this data|these rows|the rows|this|the following) as {how}(:|:\\n|.\\n){text}
{text}\\n(\\n|)(Turn this into|Write this as|Give it as|Change it to|As) {how}(|.)
(Input|Rows|Data|Text):\\n{text}\\n(Format|Wanted|Output|As): {how}
"""
)

FIELD = words("""name, age, city, country, email, phone, date, price, total, status, color, size,
id, title, author, year, company, address, quantity, product, order, language, job, weight, height,
role, team, score, level, category, brand, model, department, currency, start, end, owner, note,
first name, last name, order id, unit price, room, floor, priority, version""")
THING = words(
    """order, invoice, ticket, parcel, contract, laptop, phone case, sofa, bicycle, course,
room, table, flight, report, printer, camera, guitar, desk, jacket, repair, booking, deposit, lamp,
red apple, green tea, olive oil, brown bread, cold milk, black coffee, orange juice, fresh fish"""
)


def some_word(rng):
    """Mostly frequent words; now and then an invented one or a number."""
    kind = rng.random()
    if kind < 0.93:
        ranked = common_words()
        return ranked[int(len(ranked) * rng.random() ** 1.6)]
    return pseudo_word(rng) if kind < 0.97 else str(rng.randrange(1000))


def some_words(rng, counts):
    return [some_word(rng) for _ in range(rng.choice(counts))]


def instruct(rng, pool, split, how, text):
    return ask(rng, polite(rng, fill(pool.pick(rng, split), how=how), 0.08), text)


def case_example(rng, split):
    name = rng.choice(list(CASES))
    hows, apply = CASES[name]
    text = " ".join(some_words(rng, [1, 2, 3, 3, 4, 4, 5, 6, 8, 10]))
    shape = rng.random()
    if name == "lower" and shape < 0.75:
        text = text.upper() if shape < 0.45 else text.title()
    elif shape < 0.1:
        text = text.upper() if shape < 0.05 else text.title()
    elif shape < 0.4:
        text = text[:1].upper() + text[1:]
    if rng.random() < 0.2:
        text += rng.choice(".!?")
    how = rng.choice(hows)
    if rng.random() < 0.12:
        return [("system", fill(SYSTEM_CASE.pick(rng, split), how=how)), ("user", text)], apply(
            text
        )
    return instruct(rng, ASK_CASE, split, how, text), apply(text)


def ident_example(rng, split):
    name = rng.choice(list(IDENTS))
    hows, apply = IDENTS[name]
    ws = [w for w in some_words(rng, [2, 2, 3, 3, 4]) if not w.isdigit()] or ["value"]
    if rng.random() < 0.75:
        text = " ".join(ws)
        text = text.title() if rng.random() < 0.25 else text
    else:
        other = rng.choice([k for k in IDENTS if k != name])
        text = IDENTS[other][1](ws)
    return instruct(rng, ASK_CASE, split, rng.choice(hows), text), apply(ws)


def some_value(rng):
    return rng.choice(
        [
            lambda: rng.randrange(rng.choice([10, 100, 1000, 100000])),
            lambda: rng.randrange(100),
            lambda: f"{FIRST.pick(rng)} {LAST.pick(rng)}".title(),
            lambda: FIRST.pick(rng).capitalize(),
            lambda: CITY.pick(rng),
            lambda: company(rng),
            lambda: THING.pick(rng),
            lambda: amount(rng),
            lambda: date(rng),
            lambda: email(rng),
            lambda: phone(rng),
            lambda: some_word(rng),
            lambda: " ".join(some_words(rng, [2])),
        ]
    )()


def some_fields(rng, counts):
    """{key: value}; numbers stay numbers, so JSON shows them without quotes."""
    fields = {}
    for _ in range(rng.choice(counts)):
        key = FIELD.pick(rng) if rng.random() < 0.85 else some_word(rng)
        value = some_value(rng)
        fields[key.replace(" ", "_") if rng.random() < 0.3 else key] = (
            int(value) if isinstance(value, str) and value.isdigit() and value[0] != "0" else value
        )
    return fields


def json_example(rng, split):
    """key: value lines to a JSON object. Whole numbers become numbers, all else text."""
    fields = some_fields(rng, [1, 2, 2, 3, 3, 4, 5])
    shape = rng.random()
    colon = rng.choice([": ", ": ", ": ", "=", " = "])
    keys = {k: k.capitalize() if shape < 0.3 else k for k in fields}
    text = "\n".join(f"{keys[k]}{colon}{v}" for k, v in fields.items())
    if shape > 0.75 and not any("," in str(v) for v in fields.values()):
        text = text.replace("\n", ", ")
    answer = json.dumps({keys[k]: v for k, v in fields.items()}, ensure_ascii=False)
    return instruct(rng, ASK_JSON, split, "", text), answer


def lines_example(rng, split):
    """A JSON object to key: value lines."""
    fields = some_fields(rng, [1, 2, 2, 3, 3, 4])
    indent = rng.choice([None, None, None, 2])
    text = json.dumps(fields, ensure_ascii=False, indent=indent)
    return instruct(rng, ASK_LINES, split, "", text), "\n".join(
        f"{k}: {v}" for k, v in fields.items()
    )


def list_example(rng, split):
    items = []
    while not items:
        for _ in range(rng.choice([2, 3, 3, 4, 4, 5, 6])):
            item = rng.choice(
                [
                    some_word(rng),
                    some_word(rng),
                    THING.pick(rng),
                    CITY.pick(rng),
                    FIRST.pick(rng).capitalize(),
                    " ".join(some_words(rng, [2])),
                ]
            )
            if item not in items and item != "and" and " and" not in item and "and " not in item:
                items.append(item)
        items = items if len(items) > 1 else []
    forms = {
        "comma": ", ".join(items),
        "and": ", ".join(items[:-1]) + " and " + items[-1],
        "lines": "\n".join(items),
        "bullets": "\n".join("- " + x for x in items),
        "star": "\n".join("* " + x for x in items),
        "csv": ",".join(items),
        "numbers": "\n".join(f"{i + 1}. {x}" for i, x in enumerate(items)),
        "semicolon": "; ".join(items),
        "json": json.dumps(items, ensure_ascii=False),
    }
    target = rng.choice(list(LIST_HOW))
    source = rng.choice([k for k in forms if k != target and (target, k) != ("bullets", "star")])
    return (
        instruct(rng, ASK_LIST, split, rng.choice(LIST_HOW[target]), forms[source]),
        forms[target],
    )


def table_example(rng, split):
    """A small table between CSV and a JSON array of objects. Every value is text but whole
    numbers."""
    names = rng.sample([f.replace(" ", "_") for f in FIELD.parts["train"]], rng.choice([2, 2, 3]))

    def cell():
        return rng.choice(
            [str(rng.randrange(1000)), some_word(rng), CITY.pick(rng), FIRST.pick(rng).capitalize()]
        )

    rows = [[cell() for _ in names] for _ in range(rng.choice([1, 2, 2, 3]))]
    table = "\n".join(",".join(row) for row in [names] + rows)

    def value(text):
        return int(text) if text.isdigit() else text

    records = json.dumps([dict(zip(names, map(value, row))) for row in rows], ensure_ascii=False)
    if rng.random() < 0.6:
        how = rng.choice(["JSON", "a JSON array", "JSON objects", "a JSON array of objects"])
        return instruct(rng, ASK_TABLE, split, how, table), records
    how = rng.choice(["CSV", "CSV with a header line", "comma-separated values"])
    return instruct(rng, fixed_csv(split), split, how, records), table


def fixed_csv(split):
    """ASK_TABLE without the phrasings that call the input CSV."""
    return lines(
        "\n".join(t for t in ASK_TABLE.parts[split] if "CSV" not in t and "table" not in t)
    )


KINDS = {
    "case": (10, case_example),
    "ident": (7, ident_example),
    "json": (6, json_example),
    "lines": (3, lines_example),
    "list": (8, list_example),
    "table": (3, table_example),
}


# Training sees more of what changes how a word is cut into tokens: each word has to be met in each
# case.
PRACTICE = KINDS | {"case": (14, case_example), "ident": (9, ident_example)}


def example(rng, split="train"):
    """(messages, answer)"""
    return weighted(rng, *(PRACTICE if split == "train" else KINDS).values())(rng, split)
