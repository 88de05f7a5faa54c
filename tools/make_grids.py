#!/usr/bin/env python3
"""Writes src/kernels/grids.txt: the points that the indices of IQ1, IQ2 and IQ3 tensors stand for.

The points are part of the file format and follow no formula: they were chosen by clustering. They
are read from the package `gguf` (gguf-py of the llama.cpp project, MIT licence), which holds them
as data, and are written in a form of our own: each list is in ascending order when a point is read
as a number, so the gaps between those numbers say it all. `--check FILE` compares instead.

    pip install gguf && tools/make_grids.py src/kernels/grids.txt
"""

import sys
import textwrap
from collections.abc import Iterator

HEAD = """\
# Written by tools/make_grids.py, which says what this is. A list begins with
# its name, the number of coordinates of a point, and the values that a coordinate
# may have. The gaps follow: of the points' numbers, whose digit i (the lowest is 0)
# is coordinate i in the base of the number of values. The first is counted from -1.
"""


def lists() -> Iterator[tuple[str, list[int], list[list[float]]]]:
    from gguf import quants

    for name in ("IQ1_S", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"):
        kind = getattr(quants, name)
        kind.init_grid()
        yield name, list(map(int, kind.grid_map)), kind.grid.reshape(kind.grid_shape).tolist()


def text() -> str:
    out = [HEAD]
    for name, values, points in lists():
        base = len(values)
        numbers = [sum(values.index(int(v)) * base**i for i, v in enumerate(p)) for p in points]
        gaps = [b - a for a, b in zip([-1] + numbers, numbers)]
        assert min(gaps) > 0, f"{name} is not in ascending order"
        out.append(f"{name} {len(points[0])} {','.join(map(str, values))}\n")
        out.append(textwrap.fill(" ".join(map(str, gaps)), 100) + "\n")
    return "".join(out)


def main() -> None:
    if sys.argv[1] == "--check":
        with open(sys.argv[2], encoding="ascii") as file:
            sys.exit(0 if file.read() == text() else "the grids differ")
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(text())


if __name__ == "__main__":
    main()
