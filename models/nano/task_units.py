"""Units of different systems, and temperatures: miles, pounds, gallons, feet, inches, degrees.

The rule: the exact factor, rounded to one decimal, halves upward; a closing ".0" is dropped. Whole
numbers up to 100, tens up to 300, one decimal below 10; degrees from -40, up to 500 by tens. What
task_normalise.py has (powers of ten, 60, 24, 7) stays there.
"""

import re
from decimal import ROUND_HALF_UP, Decimal

from pools import ask, batch, fill, lines, polite, words
from task_normalise import ASK_UNIT

WORDS = {  # unit as answers write it: as people write it
    "km": ["km", "kilometers", "kilometres", "kms", "kilometer"],
    "mi": ["miles", "miles", "mi", "mile", "Meilen", "millas"],
    "kg": ["kg", "kilograms", "kilos", "kgs", "Kilo"],
    "lb": ["pounds", "lb", "lbs", "pounds (lb)", "libras", "Pfund (lb)"],
    "°C": ["celsius", "C", "°C", "degrees celsius", "Grad Celsius", "degrees C"],
    "°F": ["fahrenheit", "F", "°F", "degrees fahrenheit", "Grad Fahrenheit", "degrees F"],
    "l": ["litres", "liters", "l", "L", "Liter", "litros"],
    "gal": ["gallons", "gal", "US gallons", "gallon", "galones"],
    "cm": ["cm", "centimeters", "centimetres", "Zentimeter"],
    "in": ["inches", "in", "inch", "Zoll", "pulgadas", '"'],
    "m": ["m", "meters", "metres", "Meter", "metros"],
    "ft": ["feet", "ft", "foot", "Fuß", "pies"],
    "g": ["g", "grams", "gramm"],
    "oz": ["ounces", "oz", "ounce", "Unzen"],
}
# How many of the second are one of the first. International yard and pound; US gallon.
FACTORS = {
    ("mi", "km"): "1.609344",
    ("lb", "kg"): "0.45359237",
    ("gal", "l"): "3.785411784",
    ("in", "cm"): "2.54",
    ("ft", "m"): "0.3048",
    ("ft", "cm"): "30.48",
    ("ft", "in"): "12",
    ("oz", "g"): "28.349523125",
}
DEGREES = ("°C", "°F")
PAIRS = [*FACTORS, *[(b, a) for a, b in FACTORS], DEGREES, DEGREES, DEGREES[::-1], DEGREES[::-1]]
GLUED = {
    "km",
    "mi",
    "kg",
    "lb",
    "lbs",
    "C",
    "F",
    "°C",
    "°F",
    "l",
    "L",
    "gal",
    "cm",
    "in",
    "m",
    "ft",
    "g",
    "oz",
}

ASK = lines("""
How many {how} is {text}?
how many {how} are {text}
How many {how} in {text}?
whats {text} in {how}
what's {text} in {how}?
What is {text} in {how}?
{text} in {how}
{text} to {how}
{text} into {how}
convert {text} to {how}
Convert {text} into {how}, please.
how much is {text} in {how}
Tell me {text} in {how}
{text} = how many {how}?
can you convert {text} to {how}
I need {text} in {how}
{text} is how many {how}?
give me {text} in {how}
How far is {text} in {how}?
how heavy is {text} in {how}
how hot is {text} in {how}
{text} -> {how}
Wie viel sind {text} in {how}?
wie viele {how} sind {text}
Rechne {text} in {how} um
{text} in {how} umrechnen
Combien font {text} en {how} ?
convertis {text} en {how}
Combien de {how} font {text} ?
{text} en {how}
Cuántos {how} son {text}
¿Cuánto son {text} en {how}?
convierte {text} a {how}
Quanto fa {text} in {how}?
converti {text} in {how}
Quanto são {text} em {how}?
converte {text} para {how}
Hoeveel {how} is {text}?
zet {text} om naar {how}
Hur mycket är {text} i {how}?
Ile to jest {text} w {how}?
{text} kaç {how}?
""")
CURRENCIES = words("""usd, eur, gbp, jpy, chf, dollars, euros, pounds sterling, yen, francs, US dollars,
EUR, USD, GBP, rupees, pesos, krona, zloty, lira, Euro, Dollar, dólares, euro, $, €""")
BATCH = [
    "Convert these to {how}.",
    "Each in {how}, one a line:",
    "All of these in {how}:",
    "In {how}:",
]


def converted(value, source, target):
    """Decimal `value` of the unit `source` in `target`, as the rule writes it."""
    if source == "°C":
        exact = value * 9 / 5 + 32
    elif source == "°F":
        exact = (value - 32) * 5 / 9
    elif (source, target) in FACTORS:
        exact = value * Decimal(FACTORS[source, target])
    else:
        exact = value / Decimal(FACTORS[target, source])
    return number(exact)


def number(exact):
    """Rounded to one decimal; Decimal's ROUND_HALF_UP rounds away from zero, so what is negative
    is turned."""
    step = Decimal("0.1")
    if exact < 0:
        rounded = -((-exact).quantize(step, ROUND_HALF_UP))
    else:
        rounded = exact.quantize(step, ROUND_HALF_UP)
    text = str(rounded).removesuffix(".0")
    return "0" if text == "-0" else text


def right(got, expected):
    """Whether an answer is the one expected, or more exact."""
    rounded = re.fullmatch(r"(-?[\d.]+) ?(\D*)", expected)
    exact = re.fullmatch(r"(-?[\d.]+) ?(\D*)", got)
    if not (rounded and exact and rounded[2] == exact[2]):
        return got == expected
    return abs(Decimal(rounded[1]) - Decimal(exact[1])) <= Decimal("0.05")


def some_value(rng, source):
    if source in DEGREES:
        low, top = (-40, 51) if source == "°C" else (-40, 121)
        kind = rng.random()
        if kind < 0.65:
            return Decimal(rng.randrange(low, top))
        if kind < 0.9:
            return Decimal(rng.randrange(50, 501 if source == "°F" else 301, 10))
        return Decimal(rng.randrange(350, 421)) / 10  # body temperatures
    kind = rng.random()
    if kind < 0.7:
        return Decimal(rng.randrange(1, rng.choice([11, 31, 101])))
    if kind < 0.88:
        return Decimal(rng.randrange(10, 301, 10))
    return Decimal(rng.randrange(1, 100)) / 10


def quantity(rng, value, unit):
    word = rng.choice(WORDS[unit])
    text = str(value)
    if rng.random() < 0.06 and "." in text:
        text = text.replace(".", ",")
    return (
        f"{text}{rng.choice([' ', '']) if word in GLUED else ' '}{word}"
        if word != '"'
        else f"{text} in"
    )


def single(rng):
    """(quantity, unit that is wanted, answer)"""
    source, target = rng.choice(PAIRS)
    if source == "ft" and target == "cm" and rng.random() < 0.5:  # a person's height
        feet, inches = rng.randrange(4, 8), rng.randrange(12)
        form = rng.choice(["{} ft {} in", "{} feet {} inches", "{}'{}\"", "{} foot {}", "{}ft {}"])
        exact = feet * Decimal(FACTORS["ft", "cm"]) + inches * Decimal(FACTORS["in", "cm"])
        return form.format(feet, inches), target, f"{number(exact)} cm"
    value = some_value(rng, source)
    return quantity(rng, value, source), target, f"{converted(value, source, target)} {target}"


def several(rng):
    source, target = rng.choice(PAIRS)
    rows = []
    for _ in range(rng.choice([4, 5, 6, 8])):
        value = some_value(rng, source)
        rows.append((quantity(rng, value, source), f"{converted(value, source, target)} {target}"))
    how = rng.choice([w for w in WORDS[target] if w != '"'])
    return batch(rng, fill(rng.choice(BATCH), how=how), rows)


def money(rng, split):
    """What an amount is in another currency: rates change, so there is no answer."""
    source, target = rng.sample(CURRENCIES.parts["train"], 2)
    amount = rng.choice([rng.randrange(1, 101), 10 * rng.randrange(1, 201), "1,000", "49.99"])
    text = f"{source}{amount}" if source in "$€" else f"{amount} {source}"
    content = polite(rng, fill(ASK.pick(rng, split), how=target, text=text), 0.05)
    return [("user", content.lower() if rng.random() < 0.3 else content)]


def example(rng, split="train"):
    """(messages, answer); None as the answer of an amount of money."""
    if rng.random() < 0.15:
        return money(rng, split), None
    if split == "train" and rng.random() < 0.35:
        return several(rng)
    text, target, answer = single(rng)
    how = rng.choice([w for w in WORDS[target] if w != '"'])
    own = rng.random() < 0.7
    phrase = fill((ASK if own else ASK_UNIT).pick(rng, split), how=how)
    if own:
        content = polite(rng, fill(phrase, text=text), 0.05)
        return [("user", content.lower() if rng.random() < 0.15 else content)], answer
    return ask(rng, phrase, text), answer
