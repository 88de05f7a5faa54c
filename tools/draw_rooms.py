#!/usr/bin/env python3
"""Draws the folders of src/ with their rooms and who includes whom, from the includes themselves:
docs/rooms.svg.

`draw_rooms.py` writes the file; `draw_rooms.py --check` fails when the file is not what the
includes say. A row of the picture is a level of tests/structure/test_structure.py, the highest at
the top, so every arrow goes down. An arrow that would go up is an error. An arrow that others imply
(app sees base, because app sees api and api sees base) is left out of the picture; `--list` prints
them all, with the number of includes."""

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
PICTURE = ROOT / "docs" / "rooms.svg"
sys.path.insert(0, str(ROOT / "tests" / "structure"))
from test_structure import LEVEL, PARTS

WIDTH, MARGIN = 1040, 16
TITLE_HEIGHT, LINE_HEIGHT, ROW_GAP, BOX_GAP = 24, 15, 46, 26
CHARACTER = 6.1  # width of one in the picture's font, in its units
COLUMNS_OF_ROOMS = 4

PURPOSE = {
    "app": "configuration, start, subcommands",
    "api": "wire formats and handlers",
    "cluster": "what several nodes share",
    "exchange": "runs the plan of one request",
    "tier": "where inference runs",
    "engine": "the local model",
    "quant": "makes models smaller",
    "router": "chooses where to start",
    "kernels": "arithmetic by processor",
    "privacy": "finds and hides private data",
    "device": "heat, battery, memory, network",
    "net": "HTTP server and client",
    "ledger": "what happened, on disk",
    "request": "a request without wire format",
    "instant": "answers that code computes",
    "base": "strings, memory, JSON, threads",
}

STYLE = """
  text { font: 11px system-ui, sans-serif; fill: #24292f }
  .folder { font-weight: 600; font-size: 13px }
  rect { fill: #f6f8fa; stroke: #8c959f }
  path { fill: none; stroke: #0969da; stroke-opacity: .38 }
  marker path { fill: #0969da; stroke: none; fill-opacity: .6 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    rect { fill: #161b22; stroke: #6e7681 }
    path { stroke: #58a6ff }
    marker path { fill: #58a6ff }
  }
"""


def includes_between_folders() -> Counter[tuple[str, str]]:
    """How many includes go from one folder of src/ to another."""
    arrows: Counter[tuple[str, str]] = Counter()
    for path in sorted(SRC.rglob("*.[ch]")):
        folder = path.relative_to(SRC).parts[0]
        for target in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M):
            to = target.split("/")[0]
            if to != folder and to in LEVEL:
                arrows[folder, to] += 1
    return arrows


def reaches(arrows: set[tuple[str, str]], start: str, end: str) -> bool:
    return any(b == end or reaches(arrows, b, end) for a, b in arrows if a == start)


def without_implied(arrows: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The arrows that no path of the others replaces (the transitive reduction; there are no
    circles)."""
    return {arrow for arrow in arrows if not reaches(arrows - {arrow}, *arrow)}


class Box:
    """A folder in the picture: its name, what it is for, and its rooms in order."""

    def __init__(self, name: str) -> None:
        self.name = name
        rooms = PARTS.get(name, [])
        self.lines = [
            " › ".join(rooms[i : i + COLUMNS_OF_ROOMS])
            + (" ›" if rooms[i + COLUMNS_OF_ROOMS :] else "")
            for i in range(0, len(rooms), COLUMNS_OF_ROOMS)
        ]
        longest = max([len(line) for line in self.lines] + [len(name) + 3 + len(PURPOSE[name])])
        self.width = longest * CHARACTER + 24
        self.height = TITLE_HEIGHT + LINE_HEIGHT * len(self.lines) + 6
        self.x = self.y = 0.0

    def draw(self) -> str:
        out = [
            f'<rect x="{self.x:.0f}" y="{self.y:.0f}" width="{self.width:.0f}" '
            f'height="{self.height:.0f}" rx="6"/>',
            f'<text class="folder" x="{self.x + 10:.0f}" y="{self.y + 17:.0f}">{self.name}/ '
            f'<tspan font-weight="400" font-size="11">{PURPOSE[self.name]}</tspan></text>',
        ]
        for i, line in enumerate(self.lines):
            y = self.y + TITLE_HEIGHT + 9 + i * LINE_HEIGHT
            out.append(f'<text x="{self.x + 10:.0f}" y="{y:.0f}">{line}</text>')
        return "\n".join(out)


def place(boxes: dict[str, Box]) -> float:
    """Puts the boxes of a level beside each other, the highest level at the top. Answers the
    height."""
    y = float(MARGIN)
    for level in sorted({LEVEL[name] for name in boxes}, reverse=True):
        row = [box for name, box in boxes.items() if LEVEL[name] == level]
        x = (WIDTH - sum(box.width + BOX_GAP for box in row) + BOX_GAP) / 2
        for box in row:
            box.x, box.y = x, y
            x += box.width + BOX_GAP
        y += max(box.height for box in row) + ROW_GAP
    return y - ROW_GAP + MARGIN


def draw_arrow(start: Box, end: Box, share_out: float, share_in: float) -> str:
    """share: where along the lower and the upper edge the arrow begins and ends, 0 to 1."""
    x0, y0 = start.x + start.width * share_out, start.y + start.height
    x1, y1 = end.x + end.width * share_in, end.y - 4
    bend = (y1 - y0) / 2
    return (
        f'<path d="M{x0:.0f} {y0:.0f} C{x0:.0f} {y0 + bend:.0f} {x1:.0f} {y1 - bend:.0f} '
        f'{x1:.0f} {y1:.0f}" marker-end="url(#tip)"/>'
    )


def draw() -> str:
    included = includes_between_folders()
    boxes = {name: Box(name) for name in LEVEL if (SRC / name).is_dir()}
    upward = [f"{a} -> {b}" for a, b in included if LEVEL[a] <= LEVEL[b]]
    if upward:
        raise SystemExit("arrows that run up: " + ", ".join(sorted(upward)))
    arrows = without_implied(set(included))
    height = place(boxes)
    paths = []
    for start, end in sorted(arrows):
        # Arrows of one box leave and arrive in the order of the boxes at their other end, so few of
        # them cross.
        leaving = sorted(
            (boxes[b] for a, b in sorted(arrows) if a == start),
            key=lambda box: box.x + box.width / 2,
        )
        coming = sorted(
            (boxes[a] for a, b in sorted(arrows) if b == end), key=lambda box: box.x + box.width / 2
        )
        paths.append(
            draw_arrow(
                boxes[start],
                boxes[end],
                (leaving.index(boxes[end]) + 1) / (len(leaving) + 1),
                (coming.index(boxes[start]) + 1) / (len(coming) + 1),
            )
        )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
            'role="img" aria-label="The folders of src, from the highest level to the lowest, '
            'and who includes whom">',
            f"<style>{STYLE}</style>",
            '<defs><marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" '
            'markerHeight="6" orient="auto">'
            '<path d="M0 0 6 3 0 6z"/></marker></defs>',
            *paths,
            *[box.draw() for box in boxes.values()],
            "</svg>",
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail when the drawing is out of date"
    )
    parser.add_argument("--list", action="store_true", help="write nothing; print all arrows")
    options = parser.parse_args()
    if options.list:
        for (start, end), count in sorted(includes_between_folders().items()):
            print(f"{start} -> {end}: {count}")
        return 0
    picture = draw()
    if not options.check:
        PICTURE.write_text(picture)
        print(f"{PICTURE.relative_to(ROOT)}: {len(includes_between_folders())} arrows, none upward")
        return 0
    if PICTURE.exists() and PICTURE.read_text() == picture:
        return 0
    print(f"{PICTURE.relative_to(ROOT)} is out of date: run tools/draw_rooms.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
