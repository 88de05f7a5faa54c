#!/usr/bin/env python3
"""Writes the router's folding table as a C header (run by the build).

What a character is to the router: its compatibility decomposition (NFKD) without marks, in lower
case; nothing when it is invisible; a plain space, quote or dash for those of typography. So letters
in mathematical styles, full-width forms, ligatures, accents and zero-width characters cannot make
another text of one that reads the same. Characters that stay as they are have no entry. An entry
covers first, first + stride, ... and says a distance to the folded character, or a place in a pool
of UTF-8. The data are those of the running Python's unicodedata.

Entries are written by bytes: the lowest byte of each entry's first, then the next bytes of all, and
so on, with `first` as the distance from the entry before and a distance as its target. So they take
a quarter of the room when they are compressed.

    generate_folding.py OUTPUT
"""

import sys
import unicodedata
from collections.abc import Iterable
from typing import Any

from pack import c_packed

CODE_POINTS = 0x110000
PAGE = 256  # code points; a page without an entry is not searched
INVISIBLE = {"Cf", "Cc", "Mn", "Me", "Co", "Cs"}
# Characters without a shape that are of no such category: Hangul fillers and the blank Braille
# pattern.
BLANK = {0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800}
TYPOGRAPHY = {
    **dict.fromkeys("‘’‚‛′‹›＇`´", "'"),
    **dict.fromkeys("“”„‟″«»＂", '"'),
    **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
    "…": "...",
    "⁄": "/",
    "×": "*",
    "÷": "/",
    "·": "*",
    "−": "-",
}


def folded(code_point: int) -> Any:
    char = chr(code_point)
    category = unicodedata.category(char)
    if category in INVISIBLE or code_point in BLANK:
        return ""
    if category in ("Zs", "Zl", "Zp"):
        return " "
    if char in TYPOGRAPHY:
        return TYPOGRAPHY[char]
    if 0xAC00 <= code_point < 0xD7A4:
        return char
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold())
    return "".join(TYPOGRAPHY.get(c, c) for c in parts if unicodedata.category(c) not in INVISIBLE)


def entries() -> tuple:
    """(first, count, stride, kind, value); kind 0: distance, 1: the same character for all, 2:
    place in the pool."""
    runs, pool = [], bytearray()
    for code_point in range(0x80, CODE_POINTS):
        text = folded(code_point)
        if text == chr(code_point):
            continue
        if len(text) > 1:
            data = text.encode() + b"\0"
            place = pool.find(data)  # also the end of another text
            runs.append([code_point, 1, 1, 2, place if place >= 0 else len(pool)])
            pool += data if place < 0 else b""
            continue
        target = ord(text) if text else 0
        last = runs[-1] if runs else None
        if last and last[3] != 2:
            step = code_point - (last[0] + (last[1] - 1) * last[2])
            fits = step == last[2] or (last[1] == 1 and step <= 2)
            for kind, value in ((0, target - code_point), (1, target)):
                known = (
                    last[4]
                    if last[3] == kind
                    else last[0] + last[4]
                    if last[1] == 1 and kind == 1
                    else None
                )
                if (
                    fits
                    and known == value
                    and (last[1] == 1 or last[3] == kind)
                    and last[1] < 60000
                ):
                    last[1:] = [last[1] + 1, step, kind, value]
                    break
            else:
                runs.append([code_point, 1, 1, 0, target - code_point])
            continue
        runs.append([code_point, 1, 1, 0, target - code_point])
    return runs, bytes(pool)


def columns(numbers: Iterable[int], width: int) -> bytes:
    """The lowest bytes of all numbers, then the next."""
    rows = [number.to_bytes(width, "little") for number in numbers]
    return b"".join(bytes(row[at] for row in rows) for at in range(width))


def main(path: Any) -> None:
    runs, pool = entries()
    for first, count, stride, kind, value in runs:  # every entry says what it was made from
        for i in range(count):
            at = first + i * stride
            text = (
                pool[value : pool.index(0, value)].decode()
                if kind == 2
                else chr(at + value if kind == 0 else value).strip("\0")
            )
            assert text == folded(at), (hex(at), text, folded(at))
    pages = bytearray(CODE_POINTS // PAGE // 8)
    for first, count, stride, _, _ in runs:
        for page in range(first // PAGE, (first + (count - 1) * stride) // PAGE + 1):
            pages[page // 8] |= 1 << page % 8
    with open(path, "w", encoding="ascii") as out:
        out.write(
            f"/* Unicode {unicodedata.unidata_version}; made by tools/generate_folding.py */\n"
        )
        out.write(f"#define FOLD_PAGE {PAGE}u\n#define FOLD_RUN_COUNT {len(runs)}\n")
        firsts = [run[0] for run in runs]
        steps = [last - first for first, last in zip([0, *firsts], firsts)]
        targets = [value + first if kind == 0 else value for first, _, _, kind, value in runs]
        table = columns(steps, 3) + columns(targets, 3) + columns((run[1] for run in runs), 2)
        table += bytes(stride | kind << 4 for _, _, stride, kind, _ in runs)
        out.write(c_packed("fold_packed", table + pool))
        out.write(f"static const unsigned char fold_pages[{len(pages)}] = {{\n")
        for at in range(0, len(pages), 24):
            out.write("    " + "".join(f"{v}," for v in pages[at : at + 24]) + "\n")
        out.write("};\n")


if __name__ == "__main__":
    main(sys.argv[1])
