"""The places where a C file can be broken, one at a time: its mutants.

The file is read as text, not parsed: .clang-format puts spaces around binary operators and a
statement on a line of its own. What does not compile for that reason is not counted. Comments,
strings, directives but for plain numbers, and calls that say nothing about behaviour are blanked
before anything is looked for.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

LITERAL = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.DOTALL)
DIRECTIVE = re.compile(r"^ *#(?:.*\\\n)*.*", re.MULTILINE)
DEFINED_NUMBER = re.compile(r" *#define \w+ +[-+*()<\w. ]*\d[-+*()<\w. ]*")
# Calls that say nothing about behaviour: checks of our own bugs, logs, locks, what gives back.
UNTESTABLE = re.compile(
    r"\b(?:\w*assert|log_event|pthread_\w+|crypto_wipe|\w*unlock|(?:\w+_)?lock|(?:\w*_|[ck]?)free"
    r"|\w+_deinit|\w+_destroy|\w+_finalize|(?:\w+_|f)?close)\("
)
PAIRS = "< <= > >= == != && || + - * / & | << >> += -= true false".split()
EXCHANGED = {**dict(zip(PAIRS[::2], PAIRS[1::2])), **dict(zip(PAIRS[1::2], PAIRS[::2])), "%": "/"}
WORD = re.compile(r"(?<=\s)(?:<=?|>=?|[=!]=|&&?|\|\|?|[-+]=?|[*/%]|<<|>>)(?=\s)|\b(?:true|false)\b")
NEGATION = re.compile(r"!(?=[\w(])")
NUMBER = re.compile(r"(?<![\w.])\d[\w.]*(?:(?<=[eE])[-+]\d+)?")
RETURNED = re.compile(r"(?<=\breturn )(?:TD_[A-Z]+|status)(?=;)")
CONDITION = re.compile(r"\bif \(")
DIMENSION = re.compile(r"^ +(?!return )(?:\w+ )+\**\w+(\[[^=;]*\])(?=;| =)", re.MULTILINE)
STATEMENT = re.compile(r"(?:[;{}:]|\belse|\b(?:for|while) \(.*\)) *\n+ {4,}(?=[\w*(+-])")
NO_EXPRESSION = re.compile(
    r"\w+\s+(?:\w|\*+(?!=)|\(\*)|(?:if|for|while|switch|return|else|do|case|default)\b"
)


class Mutant(NamedTuple):
    """`new` in place of what stands between two offsets of the text."""

    begin: int
    end: int
    new: str

    def of(self, text: str) -> str:
        return text[: self.begin] + self.new + text[self.end :]

    def described(self, text: str) -> str:
        """LINE: OLD => NEW, with the whole lines that it touches."""
        first = text.rfind("\n", 0, self.begin) + 1
        last = text.find("\n", self.end)
        old = text[first:last]
        new = text[first : self.begin] + self.new + text[self.end : last]
        line = text.count("\n", 0, self.begin) + 1
        return f"{line}: {' '.join(old.split())} => {' '.join(new.split())}"


def closed(code: str, begin: int) -> int:
    """The place of the parenthesis that closes the one at `begin`; the end where none does."""
    depth = 0
    for at in range(begin, len(code)):
        depth += (code[at] == "(") - (code[at] == ")")
        if depth == 0:
            return at
    return len(code)


def blank(code: str, begin: int, end: int, with_: str = " ") -> str:
    return code[:begin] + re.sub(r"[^\n]", with_, code[begin:end]) + code[end:]


def code_of(text: str) -> str:
    """The text with all that is not broken blanked, so that every place stays where it is."""
    code = text
    for found in LITERAL.finditer(text):  # a comment is a space, a string is a value
        code = blank(code, *found.span(), " " if found[0].startswith("/") else "\x01")
    for found in DIRECTIVE.finditer(code):
        if not DEFINED_NUMBER.fullmatch(found[0]):
            code = blank(code, *found.span())
    for found in DIMENSION.finditer(code):
        code = blank(code, *found.span(1))
    for found in UNTESTABLE.finditer(code):
        code = blank(code, found.start(), closed(code, found.end() - 1) + 1, "\x01")
    return code


def statements(code: str) -> Iterator[tuple[int, int]]:
    """Expression statements that follow another one or begin a block."""
    for found in STATEMENT.finditer(code):
        begin = found.end()
        end = code.find(";", begin)
        words = code[begin:end]
        whole = all(words.count(opened) == words.count(shut) for opened, shut in ("()", "{}"))
        if end > 0 and whole and not NO_EXPRESSION.match(words):
            yield begin, end


def mutants_of(text: str) -> list[Mutant]:
    """Every mutant of a C file, in the order of its lines."""
    code = code_of(text)
    found = [Mutant(*at.span(), EXCHANGED[at[0]]) for at in WORD.finditer(code)]
    found += [Mutant(*at.span(), "") for at in NEGATION.finditer(code)]
    found += [Mutant(*at.span(), f"({at[0]} + 1)") for at in NUMBER.finditer(code)]
    for at in RETURNED.finditer(code):
        found.append(Mutant(*at.span(), "TD_IO" if at[0] == "TD_OK" else "TD_OK"))
    for at in CONDITION.finditer(code):
        begin, end = at.end(), closed(code, at.end() - 1)
        condition = text[begin:end]
        found.append(Mutant(begin, end, f"({condition}) && false"))
        found.append(Mutant(begin, end, f"({condition}) || true"))
    found += [Mutant(begin, end, "") for begin, end in statements(code)]
    return sorted(set(found))
