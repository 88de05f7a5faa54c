"""The four operations on two numbers of a small range; what is larger belongs to task_other.py.

Digits are single tokens, so an answer is produced digit by digit from the left. Sums and
differences of up to three digits, products of two digits by one (and the table up to 20 by 20),
divisions that come out even, round percentages of whole numbers up to 1,000 with a result of at
most one decimal. Signs and words of four languages.
"""

from pools import batch, fill, lines, unescape, weighted

SIGNS = {"+": ["+"], "-": ["-", "-", "−"], "*": ["*", "×", "x", "*"], "/": ["/", "÷", ":"]}
WORDS = {"+": ["plus"], "-": ["minus"], "*": ["times", "multiplied by"], "/": ["divided by"]}

ASK = lines("""
{text}
{text}
{text} =
{text}=
{text} = ?
{text}?
Calculate {text}
Calculate {text}.
Calculate: {text}
Compute {text}
Compute {text}.
Compute: {text}
Compute the value of {text}.
Evaluate {text}
Evaluate: {text}
Work out {text}.
Result of {text}
What is {text}? Answer with the number only.
What is {text}? Reply with just the number.
What is the result of {text}?
Give the result of {text}.
Answer with a number: {text}
Solve {text}
Solve: {text} =
Arithmetic: {text}
Please calculate {text}.
Please compute {text}
Can you calculate {text}?
Could you compute {text} for me?
Do the sum: {text}
How much is {text}? Number only.
{text}\\nAnswer with the number only.
{text}\\nResult:
Expression: {text}\\nValue:
Q: {text}\\nA:
Tell me the value of {text}.
Just the number: {text}
""").widen(
    """
(|Please )(calculate|compute|evaluate|solve|work out|determine|find) (|the result of |the value of ){text}(|.)
(Calculate|Compute|Evaluate|Solve|Work out) (this|the sum|the expression|the following): {text}
(What does|How much does|What do we get for) {text} (make|give|come to)(?|? Number only.|? Just the number.)
(Sum|Task|Problem|Input|Expression): {text}(\\nAnswer|\\nResult|\\nNumber|\\nSolution):
{text} (equals|makes|is|gives)(:|)
{text}\\n(Only the number|Number only|Just the result|Calculate|Solve this)(|.)
(Result|Value|Sum|Answer|Number only)(:| =) {text}
"""
)
ASK_WORDS = lines("""
Calculate {text}.
Calculate: {text}
Compute {text}
Compute: {text}
Answer with the number only: {text}
What is {text}? Answer with the number only.
Work out {text} and reply with the number.
Give me only the result: {text}
Evaluate {text}.
Arithmetic: {text}
Please calculate {text}
Result of {text} in digits:
Number only: {text}
Calculate {text} for me.
""")
# As people say it: {a} and {b} are the numbers, {w} the word between them.
SPOKEN = lines("""
what is {a} {w} {b}
What is {a} {w} {b}?
whats {a} {w} {b}
what's {a} {w} {b}?
how much is {a} {w} {b}
How much is {a} {w} {b}?
{a} {w} {b}
{a} {w} {b}?
can you tell me what {a} {w} {b} is
please tell me {a} {w} {b}
what does {a} {w} {b} make
I need to know {a} {w} {b}
do you know what {a} {w} {b} is?
what do i get for {a} {w} {b}
tell me {a} {w} {b}
""")
FOREIGN = [  # (asks, words of the four operations)
    (
        [
            "wie viel ist {a} {w} {b}",
            "Was ist {a} {w} {b}?",
            "rechne {a} {w} {b}",
            "Wieviel sind {a} {w} {b}?",
        ],
        {"+": "plus", "-": "minus", "*": "mal", "/": "geteilt durch"},
    ),
    (
        ["combien font {a} {w} {b}", "Combien fait {a} {w} {b} ?", "calcule {a} {w} {b}"],
        {"+": "plus", "-": "moins", "*": "fois", "/": "divisé par"},
    ),
    (
        ["cuánto es {a} {w} {b}", "¿Cuánto es {a} {w} {b}?", "calcula {a} {w} {b}"],
        {"+": "más", "-": "menos", "*": "por", "/": "entre"},
    ),
]
PERCENT = lines("""
What is {p} of {n}?
what is {p} of {n}
{p} of {n}
{p} of {n}?
{p} of {n} =
how much is {p} of {n}
How much is {p} of {n}?
whats {p} of {n}
Calculate {p} of {n}.
calculate {p} of {n}
compute {p} of {n}
Find {p} of {n}
tell me {p} of {n}
Work out {p} of {n}.
I need {p} of {n}
can you calculate {p} of {n}
what's {p} of {n}?
Wie viel sind {p} von {n}?
{p} von {n}
Combien font {p} de {n} ?
cuánto es el {p} de {n}
quanto fa il {p} di {n}
""")
SHARES = (1, 2, 5, 10, 10, 15, 20, 20, 25, 30, 40, 50, 50, 60, 70, 75, 80, 90, 100)

SYSTEM = lines("""
You are a calculator. Answer with the number only.
Calculate what the user writes. Output only the result.
You do arithmetic. Reply with the result.
Act as a calculator.
Evaluate the expression. Number only.
You compute sums, differences, products and quotients of two numbers.
You are a pocket calculator: expression in, number out.
""")


def numbers(rng, tops=(10, 20, 100, 100, 1000, 1000)):
    """(first, operation, second, result)"""
    sign = weighted(rng, (4, "+"), (4, "-"), (3, "*"), (2, "/"))
    if sign in "+-":
        top = rng.choice(tops)
        a, b = rng.randrange(top), rng.randrange(rng.choice([top, top, max(10, top // 10)]))
        if sign == "-" and a < b and rng.random() < 0.85:
            a, b = b, a
        return a, sign, b, a + b if sign == "+" else a - b
    if sign == "*":
        if rng.random() < 0.35:
            a, b = rng.randrange(2, 21), rng.randrange(2, 21)
        else:
            a, b = rng.randrange(100), rng.randrange(11)
        return (a, sign, b, a * b) if rng.random() < 0.6 else (b, sign, a, a * b)
    b, result = rng.randrange(1, 13), rng.randrange(rng.choice([13, 100]))
    return b * result, sign, b, result


SEVERAL = [
    "Calculate each line.",
    "Compute these:",
    "The results, one a line:",
    "Evaluate every line.",
    "Work these out, one answer a line.",
]
SMALL = (
    10,
    10,
    20,
    20,
    50,
    100,
    100,
    100,
    1000,
    1000,
)  # training begins with what can be known by heart


def percentage(rng):
    """(share in percent, whole number, the share of it as text)"""
    while True:
        share = rng.choice(SHARES)
        whole = rng.choice([rng.randrange(1, 101), rng.randrange(10, 1001, 10)])
        if share * whole % 10 == 0:  # in hundredths: at most one decimal
            return share, whole, f"{share * whole / 100:.1f}".removesuffix(".0")


def percent_example(rng, split):
    if split == "train" and rng.random() < 0.35:
        made = [percentage(rng) for _ in range(rng.choice([4, 5, 6, 8]))]
        rows = [(f"{share}% of {whole}", result) for share, whole, result in made]
        return batch(rng, rng.choice(SEVERAL), rows)
    share, whole, result = percentage(rng)
    shown = f"{share}{rng.choice(['%', '%', '%', ' %', ' percent'])}"
    return [("user", fill(PERCENT.pick(rng, split), p=shown, n=str(whole)))], result


def spoken(rng, split):
    """A sum in words, as people ask for it."""
    a, sign, b, result = numbers(rng, SMALL)
    if rng.random() < 0.3:
        asks, words = rng.choice(FOREIGN)
        text = fill(rng.choice(asks), a=str(a), b=str(b), w=words[sign])
    else:
        w = rng.choice(WORDS[sign] + ["x", "*"]) if sign == "*" else rng.choice(WORDS[sign])
        text = fill(SPOKEN.pick(rng, split), a=str(a), b=str(b), w=w)
    return [("user", text)], str(result)


def several(rng):
    """(messages, answer) of some sums, one a line: many results for the prompt of one."""
    gap, rows = rng.choice([" ", " ", ""]), []
    for _ in range(rng.choice([4, 6, 8, 10])):
        a, sign, b, result = numbers(rng, SMALL)
        text = f"{a}{gap}{rng.choice(SIGNS[sign])}{gap}{b}"
        rows.append((text, str(result)))
    return batch(rng, rng.choice(SEVERAL), rows)


def example(rng, split="train"):
    """(messages, answer)"""
    kind = rng.random()
    if kind < 0.2:
        return percent_example(rng, split)
    if kind < 0.35:
        return spoken(rng, split)
    if split == "train" and kind < 0.55:
        return several(rng)
    a, sign, b, result = numbers(rng, SMALL) if split == "train" else numbers(rng)
    if rng.random() < 0.12:
        text = f"{a} {rng.choice(WORDS[sign])} {b}"
        return [("user", fill(unescape(ASK_WORDS.pick(rng, split)), text=text))], str(result)
    gap = rng.choice([" ", " ", " ", ""])
    text = f"{a}{gap}{rng.choice(SIGNS[sign])}{gap}{b}"
    if rng.random() < 0.15:
        return [("system", SYSTEM.pick(rng, split)), ("user", text)], str(result)
    return [("user", fill(unescape(ASK.pick(rng, split)), text=text))], str(result)


def beyond(rng):
    """Arithmetic that this model must hand on: larger numbers, fractions, more than one sign."""

    def n(low, top):
        return rng.randrange(low, top)

    text = rng.choice(
        [
            f"{n(10000, 10**7)} {rng.choice('+-')} {n(1000, 10**7)}",
            f"{n(21, 100)} {rng.choice('*×')} {n(21, 100)}",
            f"{n(100, 10000)} * {n(11, 1000)}",
            f"{n(1000, 99999)} / {n(13, 97)}",
            f"{n(1, 100)}.{n(1, 100)} {rng.choice('+-*/')} {n(1, 50)}.{n(1, 10)}",
            f"{n(2, 90)} + {n(2, 90)} * {n(2, 20)}",
            f"{n(2, 90)} + {n(2, 90)} - {n(2, 90)} + {n(2, 90)}",
            f"({n(2, 90)} + {n(2, 50)}) / {n(2, 9)}",
            f"{n(2, 9)} * ({n(2, 30)} - {n(2, 30)})",
            f"{n(2, 20)}^{n(3, 9)}",
            f"{n(2, 50)} - {n(2, 50)} * {n(2, 9)} + {n(2, 50)} / {n(2, 9)}",
            f"-{n(2, 50)} + {n(2, 50)} - {n(2, 99)} * {n(2, 9)}",
            f"sqrt({n(2, 900)})",
            f"{n(11, 100)}.{n(1, 10)}% of {n(1000, 9999)}",
            f"{n(1, 9)}/{n(2, 9)} + {n(1, 9)}/{n(2, 9)}",
            f"log({n(2, 999)})",
            f"{n(2, 12)}!",
            f"sin({n(1, 90)})",
            f"{n(3, 99)} mod {n(2, 9)}",
        ]
    )
    return fill(unescape(ASK.pick(rng)), text=text)
