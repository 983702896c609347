"""Pool adjacent violators: the increasing function closest to the labels, as blocks.

Isotonic calibration, Venn–Abers and the CORP diagram share this kernel. Labels of equal scores are pooled first (Ayer
et al., 1955); SciPy's compiled code pools adjacent violators (Busing, 2022). Block sums are computed again from the
counts, so with whole weights every block value is the correctly rounded fraction. Scores are equal only if they are
equal as float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from calib.kernel.checks import Array
from calib.kernel.weights import or_ones, scaled


@dataclass(frozen=True, eq=False)
class Tied:
    """Labelled scores, sorted, with one entry per distinct score.

    Attributes
    ----------
    scores : (k,)
        Distinct scores, strictly increasing.
    weights : (k,)
        Number of rows, or their total weight.
    sums : (k,)
        Number or total weight of the rows of class 1.
    """

    scores: Array
    weights: Array
    sums: Array

    def grouped(self, starts: Array) -> Tied:
        """Merge neighbours into one entry at their mean score; each group begins at one of ``starts``."""
        totals = (
            np.add.reduceat(each, starts) for each in (self.weights * self.scores, self.weights, self.sums)
        )
        scores, weights, sums = totals
        return Tied(scores / weights, weights, sums)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of an isotonic fit over k entries.

    Attributes
    ----------
    bounds : int (m + 1,)
        Block b contains the entries bounds[b] to bounds[b + 1] − 1.
    values : (m,)
        Fitted values sums / weights, strictly increasing.
    weights : (m,)
    sums : (m,)
    """

    bounds: Array
    values: Array
    weights: Array
    sums: Array

    @property
    def sizes(self) -> Array:
        """Number of entries in each block, int (m,)."""
        return np.diff(self.bounds)

    @property
    def fitted(self) -> Array:
        """Fitted value of each entry, (k,)."""
        return np.repeat(self.values, self.sizes)


def pool_ties(scores: Array, y: Array, weights: Array | None = None) -> Tied:
    """Sort rows by score and add up those with equal scores; rows of weight zero are excluded.

    Parameters
    ----------
    scores, y : (n,)
        Scores and labels, already checked.
    weights : (n,)
        Weights of the rows, 1 by default.

    Examples
    --------
    >>> tied = pool_ties(np.array([2.0, 1.0, 2.0]), np.array([1, 0, 0]))
    >>> tied.scores, tied.weights, tied.sums
    (array([1., 2.]), array([1., 2.]), array([0., 1.]))
    """
    if weights is not None and not weights.all():
        counted = weights > 0
        scores, y, weights = scores[counted], y[counted], weights[counted]
    order = np.argsort(scores)
    scores = scores[order]
    sums = y[order].astype(np.float64)
    if weights is not None:
        weights = weights[order]
        sums *= weights
    fresh = np.empty(len(scores), dtype=bool)
    fresh[:1] = True
    np.not_equal(scores[1:], scores[:-1], out=fresh[1:])
    if fresh.all():
        return Tied(scores, or_ones(weights, len(scores)), sums)
    starts = np.flatnonzero(fresh)
    totals = (
        np.diff(starts, append=len(scores)).astype(np.float64)
        if weights is None
        else np.add.reduceat(weights, starts)
    )
    return Tied(scores[starts], totals, np.add.reduceat(sums, starts))


def rank_area(tied: Tied) -> float:
    """Return the share of pairs of one row per class in which the row of class 1 has the larger score; ties count ½.

    NaN if there is no pair.

    >>> rank_area(pool_ties(np.array([0.3, 0.3, 0.9]), np.array([0, 1, 1])))
    0.75
    """
    ones, zeros = scaled(np.stack([tied.sums, tied.weights - tied.sums]))
    pairs = ones.sum() * zeros.sum()
    return float(ones @ (np.cumsum(zeros) - zeros / 2) / pairs) if pairs else math.nan


def pool_adjacent_violators(sums: Array, weights: Array) -> Blocks:
    """Return the blocks of the weighted isotonic fit to the means ``sums / weights``, both (k,), weights positive.

    >>> blocks = pool_adjacent_violators(np.array([0.0, 2.0, 0.0, 1.0]), np.array([1.0, 2.0, 1.0, 1.0]))
    >>> blocks.bounds, blocks.values
    (array([0, 1, 3, 4]), array([0.        , 0.66666667, 1.        ]))
    """
    bounds = np.arange(len(sums) + 1)
    values = sums / weights
    while True:
        pooled = isotonic_regression(values, weights=weights).blocks
        bounds = bounds[pooled]
        sums = np.add.reduceat(sums, pooled[:-1])
        weights = np.add.reduceat(weights, pooled[:-1])
        values = sums / weights
        # The compiled fit accumulates rounded means; a violation that it missed through rounding shows here.
        if (values[1:] > values[:-1]).all():
            return Blocks(bounds, values, weights, sums)


CELLS_PER_BREAK = 4  # of equal width for each break
LOOKED_AT = 1_000  # scores that show how many are in crowded cells
CROWDED = 0.25  # largest such share; above it, sorting all scores is faster


def places(breaks: Array, scores: Array) -> tuple[Array, Array]:
    """Return how many of the breaks (t,), strictly increasing, are below each score, and at most it: (n,) each.

    They are ``np.searchsorted`` from the left and from the right, in half the time of sorting the scores.

    >>> places(np.array([0.2, 0.5]), np.array([0.5, 0.1, 0.7]))
    (array([1, 0, 2]), array([2, 0, 2]))
    """
    below = _below(breaks, scores)
    return below, below + (np.append(breaks, np.nan)[below] == scores)


def _below(breaks: Array, scores: Array) -> Array:
    """Put breaks and scores into cells of equal width.

    A cell's number never decreases with the score: breaks in earlier cells are below the score, those in later cells
    above it. If the score's cell has one break, that is compared; scores in cells with more are sorted.
    """
    if len(scores) < len(breaks) or not len(breaks):
        return np.searchsorted(breaks, scores)
    low, high = float(breaks[0]), float(breaks[-1])
    scale = CELLS_PER_BREAK * len(breaks) / ((high - low) or 1.0)
    if not 0 < scale < np.inf:
        return _by_sorting(breaks, scores)

    def cells(values: Array) -> Array:
        return ((np.clip(values, low, high) - low) * scale).astype(np.int32)

    inside = np.bincount(cells(breaks), minlength=CELLS_PER_BREAK * len(breaks) + 1)
    crowded = inside > 1
    if crowded[cells(scores[:: max(1, len(scores) // LOOKED_AT)])].mean() > CROWDED:
        return _by_sorting(breaks, scores)
    cell = cells(scores)
    below = (np.cumsum(inside) - inside)[cell]
    below += scores > np.append(breaks, np.inf)[below]
    rest = np.flatnonzero(crowded[cell])
    below[rest] = _by_sorting(breaks, scores[rest])
    return below


def _by_sorting(breaks: Array, scores: Array) -> Array:
    """Locate the breaks among the sorted scores, not each score among the breaks."""
    order = np.argsort(scores)
    ends = np.searchsorted(scores[order], breaks, side="right")
    below = np.empty(len(scores), dtype=int)
    below[order] = np.repeat(np.arange(len(breaks) + 1), np.diff(ends, prepend=0, append=len(scores)))
    return below
