"""Isotonic regression and Venn–Abers by their definitions, in exact fractions: slow, and beyond doubt."""

from fractions import Fraction
from itertools import accumulate


def isotonic(means, weights):
    """Compute the min–max formula: fit_i = max over a <= i of min over b >= i of the mean of entries a … b."""
    sums = [0, *accumulate(w * m for m, w in zip(means, weights, strict=True))]
    totals = [0, *accumulate(weights)]
    k = len(means)

    def mean(a, b):
        return (sums[b + 1] - sums[a]) / (totals[b + 1] - totals[a])

    return [max(min(mean(a, b) for b in range(i, k)) for a in range(i + 1)) for i in range(k)]


def labelled(scores, y):
    """Return the distinct scores in order, the fraction of class 1 at each, and its number of rows."""
    distinct = sorted(set(scores))
    at = [[label for other, label in zip(scores, y, strict=True) if other == score] for score in distinct]
    return (
        distinct,
        [Fraction(sum(labels), len(labels)) for labels in at],
        [Fraction(len(labels)) for labels in at],
    )


def venn_abers(scores, y, score):
    """Return (p0, p1) at the score: the isotonic fits with (score, 0) and with (score, 1) added."""
    pair = []
    for label in (0, 1):
        distinct, means, weights = labelled([*scores, score], [*y, label])
        pair.append(isotonic(means, weights)[distinct.index(score)])
    return tuple(pair)
