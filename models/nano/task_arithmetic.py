"""The four operations on two numbers of a small range; what is larger belongs to task_other.py.

Digits are single tokens, so an answer is produced digit by digit from the left. Sums and
differences of up to three digits, products of two digits by one (and the table up to 20 by 20),
divisions that come out even. Small talk such as "what is five times six" is CLINC150's intent
`calculator`; here an operator sign or an explicit order to compute says that the number is wanted.
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
    if split == "train" and rng.random() < 0.3:
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
            f"{n(1, 100)}% of {n(10, 9999)}",
            f"{n(1, 9)}/{n(2, 9)} + {n(1, 9)}/{n(2, 9)}",
            f"log({n(2, 999)})",
            f"{n(2, 12)}!",
            f"sin({n(1, 90)})",
            f"{n(3, 99)} mod {n(2, 9)}",
        ]
    )
    return fill(unescape(ASK.pick(rng)), text=text)
