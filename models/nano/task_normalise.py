"""Dates, clock times, amounts, units and number words brought into one form, exactly.

The range is small on purpose, so that a few million parameters learn it without gaps: years 1900 to
2099, amounts below a million, conversions by a power of ten, 60, 24 or 7, number words below a
thousand. What lies outside belongs to task_other.py.
"""

import calendar
import functools
import re

from pools import ask, batch, fill, lines, polite, weighted
from values import MONTHS, WEEKDAYS, ordinal

ISO = ["ISO 8601", "ISO format", "ISO 8601 format", "YYYY-MM-DD", "YYYY-MM-DD format", "ISO"]
DATE_HOW = {
    "iso": ISO,
    "us": ["US format", "MM/DD/YYYY", "the US date format", "American format", "MM/DD/YYYY format"],
    "eu": ["European format", "DD.MM.YYYY", "DD.MM.YYYY format", "the European date format"],
    "long": ["long form", "long format", "words", "the long form"],
}

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
Normalise this date to {how}: {text}
Normalize the date to {how}. {text}
Date in {how}: {text}
Express {text} in {how}.
Give me {text} in {how}
Give the date {text} in {how} only.
Can you write {text} in {how}?
Could you convert this date to {how}? {text}
The date is {text}. Write it in {how}.
Standardise the date: {text}. Use {how}.
I need {text} in {how}.
Parse the date "{text}" and return it in {how}.
Input date: {text}\\nOutput ({how}):
""").widen(
    """
(|Please )(convert|turn|change|bring|transform|put) (|the date |this date )({text}|"{text}") (to|into) {how}(|.)
(Rewrite|Reformat|Show|Print|Return|State|Render|Spell) (|the date |this date ){text} (in|as|using) {how}(|.)
(Convert|Turn|Change|Translate|Reformat|Transform|Normalise|Standardise) (the date|this date|it|this|the day|the following date|the date below) (to|into) {how}(:|.) {text}
(Write|Give|Show|Rewrite|Return|Put|Print|Format) (the date|this date|the day|the following date|the date below) (in|as) {how}(:|.) {text}
(How do I write|How would you write|How is|What does) {text} (look in|in|as) {how}?
(Could you|Would you|Can you) (convert|turn|change|bring|put) (|the date ){text} (to|into) {how}?
(Could you|Would you) (write|show|give|format) (|the date |this date ){text} (in|as) {how}?
{text}\\n(Convert|Change|Reformat|Bring) (to|into) {how}(|.)
{text} (as|to|into) {how}
(In|As|To|Into) {how}: {text}
{how}: {text}
(Text|Date|Value|Input): {text}\\n(Target format|Output format|Format wanted|Wanted|Form): {how}
(I want|We need|I would like|My form wants) (|the date |this date ){text} (in|as) {how}(|.)
(It happened on|The event is on|It was) {text}. (Give|Write|Show) (that date|the date) (in|as) {how}.
"""
)
SYSTEM_DATE = lines("""
Convert every date to {how}.
You normalise dates. Answer with the date in {how} only.
Rewrite the user's date in {how}.
You are a date formatter. Output {how}.
The user sends a date. Reply with it in {how}.
Normalize dates to {how}, nothing else.
Your only task: dates to {how}.
""")


def written_dates(year, month, day):
    """The forms in which a date may come; {name: text}. None is ambiguous by itself but slashes,
    which are read the American way as everywhere in this model."""
    name = MONTHS[month - 1]
    short = name[:3]
    weekday = WEEKDAYS[calendar.weekday(year, month, day)]
    return {
        "iso": f"{year}-{month:02d}-{day:02d}",
        "us": f"{month:02d}/{day:02d}/{year}",
        "eu": f"{day:02d}.{month:02d}.{year}",
        "long": f"{name} {day}, {year}",
        "us_short": f"{month}/{day}/{year}",
        "eu_short": f"{day}.{month}.{year}",
        "long_eu": f"{day} {name} {year}",
        "long_short": f"{short} {day}, {year}",
        "long_eushort": f"{day} {short} {year}",
        "long_st": f"{name} {ordinal(day)}, {year}",
        "long_of": f"the {ordinal(day)} of {name} {year}",
        "long_low": f"{name.lower()} {day} {year}",
        "long_week": f"{weekday}, {name} {day}, {year}",
        "long_weekeu": f"{weekday}, {day} {name} {year}",
        "iso_slash": f"{year}/{month:02d}/{day:02d}",
        "iso_dot": f"{year}.{month:02d}.{day:02d}",
        "long_dash": f"{day:02d}-{short}-{year}",
        "iso_plain": f"{year}{month:02d}{day:02d}",
    }


def some_date(rng):
    """{form: text} of one day."""
    year = rng.choice([rng.randrange(1900, 2100), rng.randrange(2000, 2035)])
    month = rng.randrange(1, 13)
    return written_dates(year, month, rng.randrange(1, calendar.monthrange(year, month)[1] + 1))


def date_example(rng, split):
    forms = some_date(rng)
    target = weighted(rng, (6, "iso"), (2, "us"), (2, "eu"), (2, "long"))
    source = rng.choice([k for k in forms if k != target])
    how = rng.choice(DATE_HOW[target])
    if rng.random() < 0.12:
        return [
            ("system", fill(SYSTEM_DATE.pick(rng, split), how=how)),
            ("user", forms[source]),
        ], forms[target]
    return ask(rng, fill(ASK_DATE.pick(rng, split), how=how), forms[source]), forms[target]


ASK_TIME = lines("""
Convert to 24-hour time: {text}
Write {text} in 24-hour format.
Convert {text} to the 24-hour clock
24-hour time: {text}
What is {text} in 24-hour format?
Normalise this time to HH:MM: {text}
Rewrite the time {text} as HH:MM (24-hour).
Time {text} in 24h format
Format the time {text} as 24-hour HH:MM.
Please convert {text} to 24 hour time.
Give {text} as HH:MM, 24-hour.
Turn {text} into 24-hour notation.
{text}\\nConvert to 24-hour time.
Time: {text}\\n24-hour:
""").widen(
    """
(|Please )(convert|change|bring|turn|translate) (|the time |this time ){text} (to|into) (24-hour time|24 hour time|24h time|the 24-hour format|24-hour format|HH:MM|24-hour HH:MM)(|.)
(Write|Show|Rewrite|Put|State|Return|Express) (|the time |this time ){text} (in|as|using) (24-hour time|24 hour time|24h time|24-hour clock time|HH:MM|24-hour HH:MM|24h HH:MM)(|.)
(Convert|Change|Translate|Normalise|Bring) (this time|the time|the following time|it) (to|into) (24-hour time|the 24-hour clock|24h format|HH:MM|24-hour HH:MM)(:|.) {text}
(Give|Tell|Show) me {text} (in|as) (24-hour time|24h format|HH:MM|24 hour HH:MM)(|.)
(How is|What time is|What does) {text} (read on|on|say on) (a 24-hour clock|the 24-hour clock|a 24h clock)?
(Could you|Would you) (write|show|put|express) {text} (in|as) (24-hour time|HH:MM|24-hour HH:MM|24h notation)?
{text} (in|as|to) (24-hour time|24h|24 hour format|24-hour HH:MM|HH:MM)
(24h|24 hours|24-hour|HH:MM)(:| =) {text}
(Clock|Time|Input): {text}\\n(HH:MM|24h|As 24-hour time|In 24-hour format):
"""
)


def some_time(rng):
    """(as people say it, HH:MM)"""
    hour, minute = rng.randrange(24), rng.choice([0, 0, 15, 30, 45, rng.randrange(60)])
    half = "am" if hour < 12 else "pm"
    shown = (hour - 1) % 12 + 1
    mark = rng.choice([f" {half}", half, f" {half.upper()}", f" {half[0]}.m."])
    clock = f"{shown}:{minute:02d}{mark}" if minute or rng.random() < 0.5 else f"{shown}{mark}"
    return clock, f"{hour:02d}:{minute:02d}"


def time_example(rng, split):
    clock, answer = some_time(rng)
    return ask(rng, ASK_TIME.pick(rng, split), clock), answer


CURRENCY = {  # code: signs and words; the first sign may stand before the number
    "USD": ["$", "US$", "USD", "dollars", "US dollars"],
    "EUR": ["€", "EUR", "euros", "euro"],
    "GBP": ["£", "GBP", "pounds", "British pounds"],
    "JPY": ["¥", "JPY", "yen"],
    "INR": ["₹", "INR", "rupees", "Rs."],
    "CHF": ["CHF", "francs", "Swiss francs"],
    "CAD": ["CAD", "C$", "Canadian dollars"],
    "AUD": ["AUD", "A$", "Australian dollars"],
    "PLN": ["PLN", "zł", "zloty"],
    "SEK": ["SEK", "kronor"],
    "BRL": ["R$", "BRL", "reais"],
    "CNY": ["CNY", "yuan"],
}
BEFORE = {"$", "US$", "€", "£", "¥", "₹", "C$", "A$", "R$", "Rs."}

ASK_AMOUNT = lines("""
Normalise this amount: {text}
Normalize the amount {text}
Normalise the amount to number and currency code: {text}
Write {text} as a number with its currency code.
Convert the amount {text} to a plain number and ISO currency code
Amount {text} with currency code
Rewrite {text} as number and ISO 4217 code.
Give the amount and currency code of {text}
Standardise this price: {text}
Normalise the price: {text}
Normalised amount of "{text}":
Format {text} as amount and currency code.
Parse this amount: {text}
{text}\\nNormalise this amount.
Amount: {text}\\nNormalised:
Please normalise the sum {text}
What is {text} as a number with a currency code?
Turn {text} into a number and a currency code.
Money: {text}. Write it with two decimals and the currency code.
Bring {text} into the form 0.00 XXX.
Convert to "number CODE": {text}
""").widen(
    """
(Normalise|Normalize|Standardise|Clean up|Regularise) (the sum|this sum|the value|this price|the price|this amount of money|the following amount)(:|) {text}
(Write|Rewrite|Show|Return|State|Print|Express) (|the amount |the price |the sum |this amount: |this price: ){text} as (a number and a currency code|number and currency code|amount and code|a decimal number with its ISO code|amount and ISO currency code)(|.)
(Convert|Turn|Bring|Change|Put) (|the amount |the price |the sum ){text} (to|into) (a number and a currency code|number and currency code|amount and ISO code|a plain number with the currency code|the form number CODE)(|.)
(Price|Sum|Money|Value|Total|Input): {text}\\n(Amount and code|Number and currency|Normalised amount|Plain|Standard form):
(What is|How is|How do I write) {text} (as|in the form of) (a number and ISO currency code|a plain amount with currency code|number and code)?
{text}\\n(Normalise the price|Normalise the sum|Write the amount and the currency code|As number and currency code)(|.)
{text} as (number and currency code|amount and ISO code|a plain number with its currency)
(Could you|Can you) (normalise|normalize|standardise) (the amount |the price |){text}?
"""
)


def some_amount(rng):
    """(as people write it, number and code)"""
    code = rng.choice(["USD", "EUR", "GBP"] * 3 + list(CURRENCY))
    whole = rng.randrange(rng.choice([10, 100, 1000, 10000, 100000, 1000000]))
    cents = rng.choice([None, None, rng.randrange(100), rng.randrange(100)])
    sign = rng.choice(CURRENCY[code])
    style = rng.random()
    if style < 0.62 or sign == "$":
        text = f"{whole:,}" if style < 0.4 else str(whole)
        text += "" if cents is None else f".{cents:02d}"
    elif style < 0.82:
        text = f"{whole:,}".replace(",", ".") + f",{cents or 0:02d}"
    elif style < 0.9:
        text = f"{whole:,}".replace(",", " ") + f",{cents or 0:02d}"
    else:
        text = f"{whole:,}".replace(",", "'") + f".{cents or 0:02d}"
    if sign in BEFORE and rng.random() < 0.8:
        text = sign + rng.choice(["", "", " "]) + text
    elif sign == code and rng.random() < 0.4:
        text = f"{sign} {text}"
    else:
        text = f"{text} {sign}"
    return text, f"{whole}.{cents or 0:02d} {code}"


def amount_example(rng, split):
    text, answer = some_amount(rng)
    return ask(rng, ASK_AMOUNT.pick(rng, split), text), answer


UNITS = [  # (big unit, its words, small unit, its words, how many small are one big)
    ("km", ["km", "kilometers", "kilometres"], "m", ["m", "meters", "metres"], 1000),
    ("m", ["m", "meters", "metres"], "cm", ["cm", "centimeters", "centimetres"], 100),
    ("m", ["m", "meters", "metres"], "mm", ["mm", "millimeters", "millimetres"], 1000),
    ("cm", ["cm", "centimeters", "centimetres"], "mm", ["mm", "millimeters"], 10),
    ("kg", ["kg", "kilograms", "kilos"], "g", ["g", "grams"], 1000),
    ("g", ["g", "grams"], "mg", ["mg", "milligrams"], 1000),
    ("t", ["t", "tonnes", "metric tons"], "kg", ["kg", "kilograms"], 1000),
    ("l", ["l", "liters", "litres", "L"], "ml", ["ml", "milliliters", "mL"], 1000),
    ("kW", ["kW", "kilowatts"], "W", ["W", "watts"], 1000),
    ("GB", ["GB", "gigabytes"], "MB", ["MB", "megabytes"], 1000),
    ("MB", ["MB", "megabytes"], "KB", ["KB", "kilobytes"], 1000),
    ("s", ["s", "seconds"], "ms", ["ms", "milliseconds"], 1000),
    ("h", ["h", "hours"], "min", ["min", "minutes"], 60),
    ("min", ["min", "minutes"], "s", ["s", "seconds"], 60),
    ("days", ["days"], "h", ["h", "hours"], 24),
    ("weeks", ["weeks"], "days", ["days"], 7),
]

ASK_UNIT = lines("""
Convert {text} to {how}.
Convert {text} to {how}
Convert {text} into {how}
Convert to {how}: {text}
{text} to {how}
{text} in {how}
Express {text} in {how}.
Write {text} in {how}.
Give {text} in {how}.
Turn {text} into {how}.
Change {text} to {how}
Unit conversion: {text} to {how}
Unit conversion: {text} -> {how}
{text} = ? {how}
Normalise {text} to {how}.
Normalize to {how}: {text}
Please convert {text} to {how}.
Rewrite the quantity {text} in {how}.
Quantity: {text}\\nUnit: {how}
Length, weight or time {text}, converted to {how}
Answer with number and unit: {text} in {how}
From {text} to {how}, please.
""").widen(
    """
(|Please |Now )(convert|turn|change|bring|transform|put|recalculate) (|the quantity |the value |the amount )({text}|"{text}") (to|into) {how}(|.)
(|Please )(write|rewrite|express|give|show|state|return|render|report) (|the quantity |the value |the measure |the amount ){text} (in|as|using) {how}(|.)
(Convert|Turn|Change|Translate|Bring|Normalise|Recalculate) (it |this |the quantity |the value |this value |the following )(to|into) {how}(:|.) {text}
(Write|Give|Show|Express|Return|Rewrite|Put) (it|this|the quantity|the value|this value|the following) in {how}(:|.) {text}
(What is|What are|How much is|How many {how} are|What would) {text} (in {how}|be in {how}|as {how})?
How many {how} (are|is|make|are there in) {text}?
(Could you|Can you|Would you) (convert|change|turn|bring|put) {text} (to|into) {how}?
(Could you|Can you|Would you) (give|write|express|show) {text} in {how}?
(I have|I need|We have|It is|It says) {text}. (Give|Show|Write|Tell me|Express) (it|this|that) in {how}.
{text}\\n(in|to|as|convert to|change to|write in|express in) {how}(|.)
{text} (as|into|is how many|equals how many|=|->) {how}
(In|To|Into|As) {how}: {text}
{how}: {text}
(Input|Value|Measure|Amount): {text}\\n(Output unit|Target unit|To|In|Wanted unit): {how}
(Unit|Target|Target unit|Wanted): {how}\\n(Quantity|Value|Input|Amount): {text}
(Units|Conversion|Unit change|Conversion of units): {text} (into|in|=>) {how}
"""
)


def shortest(number):
    """A decimal of at most three places without closing zeros."""
    return f"{number:.3f}".rstrip("0").rstrip(".")


def some_quantity(rng, units, to_small):
    """(quantity, words of the wanted unit, quantity in it)"""
    big, big_words, small, small_words, factor = units
    if factor in (10, 100, 1000):
        many = rng.choice([rng.randrange(1, 10), rng.randrange(1, 100), rng.randrange(1, 1000)])
        thousandths = many * 1000
        if rng.random() < 0.4:  # 2.5 km, 0.75 kg
            thousandths = rng.choice([rng.randrange(1, 100) * 100, rng.randrange(1, 400) * 10])
            thousandths -= thousandths % (1000 // factor)  # the small unit's number is whole
            thousandths = thousandths or 1000
    else:
        thousandths = rng.randrange(1, 61 if factor == 60 else 31) * 1000
        if factor == 60 and rng.random() < 0.15:
            thousandths = rng.randrange(1, 20) * 500
    value, result = shortest(thousandths / 1000), str(thousandths * factor // 1000)
    gap = rng.choice([" ", " ", ""])
    if to_small:
        word = rng.choice(big_words)
        return value + (gap if len(word) < 3 else " ") + word, small_words, f"{result} {small}"
    word = rng.choice(small_words)
    return result + (gap if len(word) < 3 else " ") + word, big_words, f"{value} {big}"


def some_units(rng, split):
    """Training sees more of what is not a power of ten: there every pair is to be known."""
    hard = split == "train" and rng.random() < 0.3
    return rng.choice(UNITS[-4:] if hard else UNITS)


def unit_example(rng, split):
    source, how, answer = some_quantity(
        rng, some_units(rng, split), rng.random() < (0.5 if split == "train" else 0.6)
    )
    instruction = fill(ASK_UNIT.pick(rng, split), how=rng.choice(how))
    return ask(rng, instruction, source), answer


ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen""".split()
TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()

ASK_NUMBER = lines("""
Write in digits: {text}
Write {text} in digits.
Convert to digits: {text}
Convert the number {text} to digits
Convert the number word to a number: {text}
Number in digits: {text}
As digits: {text}
Write the number "{text}" with digits.
Normalise this number: {text}
{text} in digits
{text}\\nWrite this number in digits.
Turn the words {text} into a number written in digits.
Spelled number: {text}\\nDigits:
Please give {text} as digits.
""").widen(
    """
(|Please )(convert|turn|change|translate) (|the number |the words |this number )({text}|"{text}") (to|into) (digits|figures|a number|numerals)(|.)
(|Please )(write|rewrite|show|give|print|return|express|put) (|the number |the words |this number )({text}|"{text}") (in|as|with|using) (digits|figures|numerals)(|.)
(Convert|Turn|Change|Translate) (the words|these words|this number|this|the number below) (to|into) (digits|figures|a number|numerals)(:|.) {text}
(Write|Show|Give|Return|Put) (the words|these words|this number|this|the number below) (in|as|with) (digits|figures|numerals)(:|.) {text}
(In figures|In digits|Digits|Figures|Numerals|With digits): {text}
{text} (as digits|in figures|as a number|with digits|in numerals)
{text}\\n(In digits|As a number|In figures|Put this in digits|Give the digits)(|.|:)
(How do you write|How is|What is) {text} (in digits|in figures|with digits|in numerals)?
(Number|Words|Input|Text): {text}\\n(In digits|As digits|Number|Figures):
"""
)


def number_words(number):
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + ("-" + ONES[number % 10] if number % 10 else "")
    rest = number % 100
    return ONES[number // 100] + " hundred" + (" and " + number_words(rest) if rest else "")


def some_number(rng):
    """(words, digits)"""
    number = rng.choice([rng.randrange(100), rng.randrange(1000)])
    text = number_words(number)
    if rng.random() < 0.3:
        text = text.replace("-", " ")
    if rng.random() < 0.3:
        text = text.replace(" and ", " ")
    return text, str(number)


def number_example(rng, split):
    text, answer = some_number(rng)
    return ask(rng, ASK_NUMBER.pick(rng, split), text), answer


# Many of a kind at once: the same practice for a fraction of the prompt. Only training has them.
BATCH_DATE, BATCH_TIME, BATCH_AMOUNT, BATCH_UNIT, BATCH_NUMBER = (
    [x.strip() for x in block.strip().splitlines()]
    for block in (
        """
Convert these dates to {how}.
Write each date in {how}, one a line.
Dates to {how}:
Bring all of these into {how}.
""",
        """
Convert these times to 24-hour time.
Write each time as HH:MM, 24-hour clock.
Times in 24h format, one a line:
""",
        """
Normalise these amounts.
Write each amount as number and currency code.
Amounts with currency codes, one a line:
""",
        """
Convert these to {how}.
Write each quantity in {how}.
All of these in {how}, one a line:
How much is each of these in {how}?
""",
        """
Write these numbers in digits.
Each number in digits, one a line:
Convert the number words to digits.
""",
    )
)


def batch_example(rng, split):
    count = rng.choice([3, 4, 4, 5, 6, 8])
    kind = weighted(rng, (4, "date"), (3, "time"), (3, "amount"), (7, "unit"), (2, "number"))
    if kind == "date":
        target = weighted(rng, (6, "iso"), (2, "us"), (2, "eu"), (2, "long"))
        rows = []
        for forms in (some_date(rng) for _ in range(count)):
            rows.append((forms[rng.choice([k for k in forms if k != target])], forms[target]))
        return batch(rng, fill(rng.choice(BATCH_DATE), how=rng.choice(DATE_HOW[target])), rows)
    if kind == "unit":
        units, to_small = some_units(rng, "train"), rng.random() < 0.5
        made = [some_quantity(rng, units, to_small) for _ in range(count)]
        order = fill(rng.choice(BATCH_UNIT), how=rng.choice(made[0][1]))
        return batch(rng, order, [(source, answer) for source, _, answer in made])
    make, orders = {
        "time": (some_time, BATCH_TIME),
        "amount": (some_amount, BATCH_AMOUNT),
        "number": (some_number, BATCH_NUMBER),
    }[kind]
    return batch(rng, rng.choice(orders), [make(rng) for _ in range(count)])


KINDS = {
    "date": (9, date_example),
    "time": (2, time_example),
    "amount": (5, amount_example),
    "unit": (6, unit_example),
    "number": (2, number_example),
}
# What training sees more of: what was still wrong after 40 million tokens.
PRACTICE = {
    "date": (7, date_example),
    "time": (3, time_example),
    "amount": (4, amount_example),
    "unit": (13, unit_example),
    "number": (3, number_example),
    "batch": (5, batch_example),
}


@functools.cache
def unit_names():
    """{a word of a unit in small letters: its short form}"""
    named = {}
    for big, big_words, small, small_words, _ in UNITS:
        named |= {
            w.lower(): unit for unit, ws in ((big, big_words), (small, small_words)) for w in ws
        }
    return named


def right(got, expected):
    """Whether an answer is the one expected; a unit may be written by any of its words, because
    code that computes (src/instant/) writes some of them out."""
    one, other = (re.fullmatch(r"(-?[\d.]+) (\w+)", text) for text in (got, expected))
    if not (one and other):
        return got == expected
    names = unit_names()
    return one[1] == other[1] and names.get(one[2].lower(), one[2]) == names.get(
        other[2].lower(), other[2]
    )


def example(rng, split="train"):
    """(messages, answer)"""
    messages, answer = weighted(rng, *(PRACTICE if split == "train" else KINDS).values())(
        rng, split
    )
    role, content = messages[-1]
    if len(messages) == 1:
        content = polite(rng, content, 0.05)
    return messages[:-1] + [(role, content)], answer
