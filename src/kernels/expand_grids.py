"""grids.txt to a header: one number a point, coordinate 0 the lowest.

Points of eight coordinates, each of three values, are written with 2 bits a coordinate, and
blocks_low.c makes eight bytes of them once. The others have a byte a coordinate.
"""

import sys

PACKED = ([-1, 0, 1], [8, 25, 43])  # values that blocks_low.c computes from the digits 0, 1 and 2


def main():
    out, lists = sys.argv[1], []
    with open(sys.argv[2], encoding="ascii") as file:
        for line in file:
            words = line.split()
            if line.startswith("#"):
                continue
            if line.startswith("IQ"):
                values = [int(v) for v in words[2].split(",")]
                lists.append((words[0].lower(), int(words[1]), values, []))
            else:
                lists[-1][3].extend(int(word) for word in words)
    with open(out, "w", encoding="ascii") as header:
        header.write("/* Made by expand_grids.py. */\n#include <stdint.h>\n")
        for name, width, values, gaps in lists:
            packed = width == 8
            if packed and values not in PACKED:
                sys.exit(f"{name}: blocks_low.c does not know the values {values}")
            bits, what = (2 * width, f"{name}_packed") if packed else (8 * width, f"{name}_grid")
            coordinates = range(len(values)) if packed else values
            if packed:
                header.write(f"static uint64_t {name}_grid[{len(gaps)}];\n")
            header.write(f"static const uint{bits}_t {what}[{len(gaps)}] = {{\n")
            number = -1
            for gap in gaps:
                number += gap
                digits = [number // len(values) ** i % len(values) for i in range(width)]
                point = sum(coordinates[d] << bits // width * i for i, d in enumerate(digits))
                header.write(f"0x{point:x},\n")
            header.write("};\n")


main()
