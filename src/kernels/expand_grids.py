"""grids.txt to a header: one number a point, its coordinates as bytes, coordinate 0 the lowest.

The coordinates of IQ1 are -1, 0 and 1; they become 0, 8 and 16, see blocks_low.c.
"""

import sys


def main():
    out, lists = sys.argv[1], []
    with open(sys.argv[2], encoding="ascii") as file:
        for line in file:
            words = line.split()
            if line.startswith("#"):
                continue
            if line.startswith("IQ"):
                values = [int(v) for v in words[2].split(",")]
                lists.append((words[0], int(words[1]), values, []))
            else:
                lists[-1][3].extend(int(word) for word in words)
    with open(out, "w", encoding="ascii") as header:
        header.write("/* Made by expand_grids.py. */\n#include <stdint.h>\n")
        for name, width, values, gaps in lists:
            if min(values) < 0:
                values = [8 * (value + 1) for value in values]
            header.write(f"static const uint{8 * width}_t {name.lower()}_grid[{len(gaps)}] = {{\n")
            number = -1
            for gap in gaps:
                number += gap
                digits = [number // len(values) ** i % len(values) for i in range(width)]
                header.write(f"0x{sum(values[d] << 8 * i for i, d in enumerate(digits)):x},\n")
            header.write("};\n")


main()
