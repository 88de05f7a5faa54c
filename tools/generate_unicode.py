#!/usr/bin/env python3
"""Writes src/base's Unicode tables as a C header (run by the build).

Classes: half a byte a code point, the number of its set of class bits, in three levels: groups of
32 blocks, an index of the distinct groups' blocks of 32 code points, and the distinct blocks.
Canonical decompositions (NFD, without Hangul, which is arithmetic): the lower halves of the code
points, sorted within each plane, and for each the place of its characters in a pool of UTF-16.
Lower case: runs of code points first, first + stride, ... last that all move by the same distance.
The data are those of the running Python's unicodedata; which Unicode version that is stands in the
header's first line.

    generate_unicode.py OUTPUT
"""

import sys
import unicodedata
from typing import Any, TextIO

BLOCK = 32  # code points
GROUP = 32  # blocks
CODE_POINTS = 0x110000
LETTER, NUMBER, SPACE, PUNCTUATION, DEEPSEEK_WORD, MARK, CONTROL = (
    1,
    2,
    4,
    8,
    16,
    32,
    64,
)  # enum unicode_class
UPPER, LOWER, SYMBOL, ANY_MARK = 128, 256, 512, 1024
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)

# Property White_Space: unicodedata does not carry it.
WHITE_SPACE = [
    (0x9, 0xD),
    (0x20, 0x20),
    (0x85, 0x85),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
]

# The word characters that DeepSeek-LLM's tokenizer lists: cased letters of the bicameral scripts.
DEEPSEEK_WORDS = [
    (0x41, 0x5A),
    (0x61, 0x7A),
    (0xB5, 0xB5),
    (0xC0, 0xD6),
    (0xD8, 0xF6),
    (0xF8, 0x1BA),
    (0x1BC, 0x1BF),
    (0x1C4, 0x293),
    (0x295, 0x2AF),
    (0x370, 0x373),
    (0x376, 0x377),
    (0x37B, 0x37D),
    (0x37F, 0x37F),
    (0x386, 0x386),
    (0x388, 0x38A),
    (0x38C, 0x38C),
    (0x38E, 0x3A1),
    (0x3A3, 0x3F5),
    (0x3F7, 0x481),
    (0x48A, 0x52F),
    (0x531, 0x556),
    (0x10A0, 0x10C5),
    (0x13A0, 0x13F5),
    (0x13F8, 0x13FD),
    (0x1C90, 0x1CBA),
    (0x1CBD, 0x1CBF),
    (0x1D00, 0x1D2B),
    (0x1D6B, 0x1D77),
    (0x1D79, 0x1D9A),
    (0x1E00, 0x1F15),
    (0x1F18, 0x1F1D),
    (0x1F20, 0x1F45),
    (0x1F48, 0x1F4D),
    (0x1F50, 0x1F57),
    (0x1F59, 0x1F59),
    (0x1F5B, 0x1F5B),
    (0x1F5D, 0x1F5D),
    (0x1F5F, 0x1F7D),
    (0x1F80, 0x1FB4),
    (0x1FB6, 0x1FBC),
    (0x1FBE, 0x1FBE),
    (0x1FC2, 0x1FC4),
    (0x1FC6, 0x1FCC),
    (0x1FD0, 0x1FD3),
    (0x1FD6, 0x1FDB),
    (0x1FE0, 0x1FEC),
    (0x1FF2, 0x1FF4),
    (0x1FF6, 0x1FFC),
    (0x2102, 0x2102),
    (0x2107, 0x2107),
    (0x210A, 0x2113),
    (0x2115, 0x2115),
    (0x2119, 0x211D),
    (0x2124, 0x2124),
    (0x2126, 0x2126),
    (0x2128, 0x2128),
    (0x212A, 0x212D),
    (0x212F, 0x2134),
    (0x2139, 0x2139),
    (0x213C, 0x213F),
    (0x2145, 0x2149),
    (0x214E, 0x214E),
    (0x2183, 0x2184),
    (0x2C00, 0x2C7B),
    (0x2C7E, 0x2CE4),
    (0x2CEB, 0x2CEE),
    (0x2CF2, 0x2CF3),
    (0xA640, 0xA66D),
    (0xA680, 0xA69B),
    (0xA722, 0xA76F),
    (0xA771, 0xA787),
    (0xA78B, 0xA78E),
    (0xAB70, 0xABBF),
    (0xFB00, 0xFB06),
    (0xFB13, 0xFB17),
    (0xFF21, 0xFF3A),
    (0xFF41, 0xFF5A),
    (0x10400, 0x1044F),
    (0x104B0, 0x104D3),
    (0x104D8, 0x104FB),
    (0x10C80, 0x10CB2),
    (0x10CC0, 0x10CF2),
    (0x118A0, 0x118DF),
    (0x1E900, 0x1E943),
]


def mark(classes: Any, ranges: Any, bit: Any) -> None:
    for first, last in ranges:
        for code_point in range(first, last + 1):
            classes[code_point] |= bit


def class_sets() -> list[int]:
    by_category = {"L": LETTER, "N": NUMBER, "P": PUNCTUATION, "S": SYMBOL, "M": ANY_MARK}
    whole = {"Cc": CONTROL, "Cf": CONTROL, "Co": CONTROL}
    whole |= {"Mn": MARK | ANY_MARK, "Ll": LETTER | LOWER, "Lu": LETTER | UPPER}
    whole["Lt"] = LETTER | UPPER
    categories = (unicodedata.category(chr(c)) for c in range(CODE_POINTS))
    classes = [whole.get(name, by_category.get(name[0], 0)) for name in categories]
    mark(classes, WHITE_SPACE, SPACE)
    mark(classes, DEEPSEEK_WORDS, DEEPSEEK_WORD)
    return classes


def write_decompositions(out: TextIO) -> None:
    parts_max = 0
    pool, rows, planes = [], [], [0]
    for code_point in range(CODE_POINTS):
        if code_point in HANGUL_SYLLABLES or 0xD800 <= code_point < 0xE000:
            continue
        parts = [ord(c) for c in unicodedata.normalize("NFD", chr(code_point))]
        if parts != [code_point]:
            while len(planes) <= code_point >> 16:
                planes.append(len(rows))
            rows.append((code_point & 0xFFFF, len(pool)))
            units = "".join(map(chr, parts)).encode("utf-16-le")
            pool += [units[i] | units[i + 1] << 8 for i in range(0, len(units), 2)]
            parts_max = max(parts_max, len(parts))
    planes.append(len(rows))
    rows.append((0, len(pool)))
    out.write(f"#define UNICODE_DECOMPOSED_PLANES {len(planes) - 1}\n")
    out.write(f'_Static_assert({parts_max} <= UNICODE_PARTS_MAX, "longer decompositions");\n')
    for name, values in (
        ("planes", planes),
        ("low", [row[0] for row in rows]),
        ("at", [row[1] for row in rows]),
        ("units", pool),
    ):
        out.write(f"static const uint16_t unicode_decomposed_{name}[{len(values)}] = {{\n")
        for at in range(0, len(values), 16):
            out.write("    " + "".join(f"{v}," for v in values[at : at + 16]) + "\n")
        out.write("};\n")


def lower_runs() -> list:
    runs = []
    for code_point in range(CODE_POINTS):
        lower = chr(code_point).lower() if not 0xD800 <= code_point < 0xE000 else chr(code_point)
        if len(lower) != 1 or ord(lower) == code_point:
            continue
        distance = ord(lower) - code_point
        if runs and runs[-1][3] == distance:
            first, last, stride, _ = runs[-1]
            step = code_point - last
            if (stride == step or first == last) and step <= 2:
                runs[-1] = (first, code_point, step, distance)
                continue
        runs.append((code_point, code_point, 1, distance))
    return runs


def write_lower(out: TextIO) -> None:
    runs = lower_runs()
    out.write(f"#define UNICODE_LOWER_COUNT {len(runs)}\n")
    out.write("static const struct unicode_lower_run unicode_lower_runs[UNICODE_LOWER_COUNT] = {\n")
    for run in runs:
        out.write(f"    {{{', '.join(map(str, run))}}},\n")
    out.write("};\n")


def write_numbers(out: TextIO, kind: str, name: str, rows: Any, columns: str = "") -> None:
    """A table of one row, or of rows that `columns` says the length of."""
    rows = list(rows)
    count = len(rows) if columns else len(rows[0])
    out.write(f"static const {kind} unicode_{name}[{count}]{columns} = {{\n")
    for row in rows:
        text = "".join(f"{value}," for value in row)
        out.write("    {" + text + "},\n" if columns else text + "\n")
    out.write("};\n")


def write_bytes(out: TextIO, name: str, rows: Any, columns: str = "") -> None:
    write_numbers(out, "uint8_t", name, rows, columns)


def main() -> None:
    classes = class_sets()
    sets = sorted(set(classes))
    assert len(sets) <= 16, f"{len(sets)}: a set's number takes four bits"
    number = {bits: at for at, bits in enumerate(sets)}
    index, blocks, groups, group_of = [], {}, {}, []
    for begin in range(0, CODE_POINTS, BLOCK):
        numbers = [number[bits] for bits in classes[begin : begin + BLOCK]]
        packed = bytes(low | high << 4 for low, high in zip(numbers[::2], numbers[1::2]))
        index.append(blocks.setdefault(packed, len(blocks)))
    for begin in range(0, len(index), GROUP):
        group_of.append(groups.setdefault(tuple(index[begin : begin + GROUP]), len(groups)))
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write(
            f"/* Made by tools/generate_unicode.py from Unicode {unicodedata.unidata_version}. */\n"
        )
        out.write(f"#define UNICODE_BLOCK {BLOCK}\n#define UNICODE_GROUP {GROUP}\n")
        write_numbers(out, "uint16_t", "sets", [sets])
        write_bytes(out, "group_of", [group_of])
        write_numbers(out, "uint16_t", "groups", groups, "[UNICODE_GROUP]")
        write_bytes(out, "blocks", blocks, "[UNICODE_BLOCK / 2]")
        write_decompositions(out)
        write_lower(out)


if __name__ == "__main__":
    main()
