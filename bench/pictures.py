"""Two small pictures of confidences as SVG, written by hand: no library draws a line."""

from typing import Any

SIZE, MARGIN = 320, 44


def x_of(value: float) -> float:
    return MARGIN + value * (SIZE - 2 * MARGIN)


def y_of(value: float, top: float = 1.0) -> float:
    return SIZE - MARGIN - value / top * (SIZE - 2 * MARGIN)


def frame(title: str, across: str, up: str, top: float = 1.0) -> list:
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE}" height="{SIZE}"'
            ' font-family="sans-serif" font-size="11"><rect width="100%" height="100%"'
            ' fill="white"/>'
        ),
        f'<text x="{SIZE / 2}" y="20" text-anchor="middle" font-size="13">{title}</text>',
        f'<text x="{SIZE / 2}" y="{SIZE - 8}" text-anchor="middle">{across}</text>',
        (
            f'<text x="12" y="{SIZE / 2}" text-anchor="middle" transform="rotate(-90 12'
            f' {SIZE / 2})">{up}</text>'
        ),
    ]
    for step in range(6):
        v = step / 5
        parts += [
            f'<text x="{x_of(v):.1f}" y="{SIZE - MARGIN + 14}" text-anchor="middle">{v:g}</text>',
            (
                f'<text x="{MARGIN - 5}" y="{y_of(v * top, top) + 4:.1f}"'
                f' text-anchor="end">{v * top:.2g}</text>'
            ),
        ]
    parts.append(
        f'<rect x="{MARGIN}" y="{MARGIN}" width="{SIZE - 2 * MARGIN}" height="{SIZE - 2 * MARGIN}" '
        'fill="none" stroke="#888"/>'
    )
    return parts


def line(points: Any, colour: str, top: float = 1.0, dashes: str = "") -> str:
    drawn = " ".join(f"{x_of(x):.1f},{y_of(min(y, top), top):.1f}" for x, y in points)
    return (
        f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="1.6"'
        f' stroke-dasharray="{dashes}"/>'
    )


def reliability(parts: Any, error: Any) -> Any:
    """parts: (mean confidence, share right, number) of each bin; a dot's area is its number."""
    most = max(n for _, _, n in parts)
    out = frame(f"Reliability, expected error {error:.3f}", "confidence", "share right")
    out += [
        line([(0, 0), (1, 1)], "#bbb", dashes="4 3"),
        line([(c, r) for c, r, _ in parts], "#1f6f8b"),
    ]
    out += [
        f'<circle cx="{x_of(c):.1f}" cy="{y_of(r):.1f}" r="{2 + 7 * (n / most) ** 0.5:.1f}"'
        ' fill="#1f6f8b" fill-opacity="0.6"/>'
        for c, r, n in parts
    ]
    return "\n".join(out + ["</svg>"]) + "\n"


def risk_coverage(points: Any) -> Any:
    """points: (share answered, share of those that is wrong)."""
    top = max(0.05, max(risk for _, risk in points[len(points) // 20 :]))
    kept = points[:: max(1, len(points) // 200)] + points[-1:]
    out = frame("Risk against coverage", "share answered, the surest first", "share wrong", top)
    return "\n".join(out + [line(kept, "#b5442e", top), "</svg>"]) + "\n"
