"""Measures of confidences and answers."""

from collections.abc import Iterable, Sequence
from typing import Any


def mean(values: Iterable[float]) -> Any:
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> Any:
    """Probability that a random positive scores above a random negative (ties count half)."""
    ranked = sorted([(s, 1) for s in positives] + [(s, 0) for s in negatives])
    rank_sum, i = 0.0, 0
    while i < len(ranked):
        j = i
        while j < len(ranked) and ranked[j][0] == ranked[i][0]:
            j += 1
        rank_sum += (i + 1 + j) / 2 * sum(label for _, label in ranked[i:j])
        i = j
    n, m = len(positives), len(negatives)
    return (rank_sum - n * (n + 1) / 2) / (n * m) if n and m else float("nan")


def by_outcome(scores: Sequence[float], right: Sequence[float]) -> tuple:
    """(scores of the right ones, scores of the wrong ones)"""
    pairs = list(zip(scores, right))
    return [s for s, r in pairs if r], [s for s, r in pairs if not r]


def bins(confidences: Sequence[float], right: Sequence[float], count: int = 15) -> list:
    """[(mean confidence, share right, number)] of equal-width bins that are not empty."""
    parts = [[] for _ in range(count)]
    for c, r in zip(confidences, right):
        parts[min(count - 1, int(c * count))].append((c, r))
    return [(mean(c for c, _ in p), mean(r for _, r in p), len(p)) for p in parts if p]


def calibration_error(confidences: Sequence[float], right: Sequence[float]) -> float:
    """Expected calibration error with 15 bins (Guo et al. 2017, "On Calibration of Modern Neural
    Networks", section 2)."""
    total = len(confidences)
    return sum(n * abs(c - r) for c, r, n in bins(confidences, right)) / total


def risk_coverage(confidences: Sequence[float], right: Sequence[float]) -> Any:
    """[(share answered, share of those that is wrong)], the surest first."""
    order = sorted(zip(confidences, right), key=lambda p: -p[0])
    out, wrong = [], 0
    for n, (_, r) in enumerate(order, 1):
        wrong += not r
        out.append((n / len(order), wrong / n))
    return out


def macro_recall(truth: Any, given: Any) -> Any:
    """Mean over the true classes of the share of each that was found."""
    return mean(
        mean(g == label for t, g in zip(truth, given) if t == label) for label in sorted(set(truth))
    )
