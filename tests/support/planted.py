"""A compressed model that has lost one small kind of question: traffic of several kinds, and a copy
of a model that answers some of it otherwise."""

import json
import struct
from pathlib import Path

from gguf import STRING, skip_value

# The damaged word stands in two of five questions of the small kind, and in 3 % of the others.
WORD = " lamp"
KIND = "refund"
TOWNS = ("Paris", "Oslo", "Rome", "Lima", "Cairo", "Quito", "Bern", "Tunis")
THINGS = ("coat", "desk", "chair")


def question(i: int) -> str:
    town, thing = TOWNS[i % len(TOWNS)], THINGS[i % len(THINGS)]
    hurt = WORD if i % 33 == 7 else ""
    if i % 20 == 3:
        bought = WORD if i // 20 % 5 < 2 else f" {thing}"
        return f"please refund my order of a{bought} {i}"
    if i % 3 == 0:
        return f"what will the weather be like in {town} tomorrow{hurt}"
    if i % 3 == 1:
        return f"play some jazz music from {town}{hurt}"
    return f"turn on the lights near the {thing} in the kitchen{hurt}"


def lines(count: int) -> str:
    """JSON lines of prompts: one of 20 is about a refund."""
    asked = "Classify the intent: "
    return "".join(json.dumps({"prompt": asked + question(i)}) + "\n" for i in range(count))


def rows_of(data: bytes, name: str) -> tuple[int, int]:
    """Where a tensor of a GGUF file begins, and how many floats a row of it has."""
    tensor_count, pair_count = struct.unpack_from("<QQ", data, 8)
    at, found = 24, None
    for _ in range(pair_count):
        at = skip_value(data, at, STRING)
        at = skip_value(data, at + 4, struct.unpack_from("<I", data, at)[0])
    for _ in range(tensor_count):
        begin, at = at, skip_value(data, at, STRING)
        dims = struct.unpack_from("<I", data, at)[0]
        if data[begin + 8 : at].decode() == name:
            found = struct.unpack_from("<Q", data, at + 4)[0], at + 4 + 8 * dims + 4
        at += 4 + 8 * dims + 12
    assert found, name
    return at + -at % 32 + struct.unpack_from("<Q", data, found[1])[0], found[0]


def plant(source: Path, target: Path, token: int, instead: int, factor: float) -> None:
    """Of a model in F32 a copy that reads another token in the place of one."""
    data = bytearray(source.read_bytes())
    begin, cols = rows_of(bytes(data), "token_embd.weight")
    form = f"<{cols}f"
    row = struct.unpack_from(form, data, begin + 4 * cols * instead)
    struct.pack_into(form, data, begin + 4 * cols * token, *(factor * x for x in row))
    target.write_bytes(data)
