#!/usr/bin/env python3
"""Writes the words of BIP 39 as a C header (run by the build).

The first four letters tell a word. They are a number of base 27 (a is 1, no letter is 0) below
2^20: the lower 16 bits of each are listed in order, and how many words come before each value of
the upper four. A byte for each says what its other letters are, so that few others pass for it.

    generate_seed_words.py WORDS OUTPUT
"""

import sys
from pathlib import Path

LETTERS = 4
COUNT = 2048


def key(word: str) -> int:
    number = 0
    for letter in word[:LETTERS].ljust(LETTERS, "`"):
        number = number * 27 + ord(letter) - ord("`")
    return number


def rest(word: str) -> int:
    """What rest_of in seed_words.c computes."""
    number = 0
    for letter in word[LETTERS:]:
        number = (number * 31 + ord(letter) - ord("`")) & 0xFF
    return number


def main() -> int:
    lines = Path(sys.argv[1]).read_text().splitlines()
    words = [word for line in lines if not line.startswith("#") for word in line.split()]
    keys = [key(word) for word in words]
    if len(set(keys)) != COUNT or keys != sorted(keys):
        sys.exit("generate_seed_words: not 2048 words in order, each with four letters of its own")
    before = [sum(k >> 16 < high for k in keys) for high in range(max(keys) // 65536 + 2)]
    low = ",\n".join(
        ", ".join(str(k & 0xFFFF) for k in keys[i : i + 16]) for i in range(0, COUNT, 16)
    )
    tails = ",\n".join(
        ", ".join(map(str, map(rest, words[i : i + 16]))) for i in range(0, COUNT, 16)
    )
    Path(sys.argv[2]).write_text(
        "/* Made by tools/generate_seed_words.py. */\n"
        f"static const uint16_t seed_low[{COUNT}] = {{\n{low}}};\n"
        f"static const uint8_t seed_rest[{COUNT}] = {{\n{tails}}};\n"
        f"static const uint16_t seed_before[] = {{{', '.join(map(str, before))}}};\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
