"""Pool adjacent violators: the increasing function closest to the labels, as blocks.

The kernel that isotonic calibration, Venn–Abers and the CORP diagram share. Labels of equal scores are pooled
first (Ayer et al., 1955); the pooling itself is SciPy's compiled one (Busing, 2022). Block sums are taken
again from the counts, so that with whole-number weights every block value is the correctly rounded fraction,
and scores count as equal only when they are equal as float64.
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
    """Labelled scores, sorted, one entry for each distinct score.

    Attributes
    ----------
    scores : (k,)
        Strictly increasing.
    weights : (k,)
        Rows, or their total weight.
    sums : (k,)
        Those of class 1.
    """

    scores: Array
    weights: Array
    sums: Array

    def grouped(self, starts: Array) -> Tied:
        """Neighbours as one entry at their mean score, each group from one of ``starts`` to the next."""
        totals = (
            np.add.reduceat(each, starts) for each in (self.weights * self.scores, self.weights, self.sums)
        )
        scores, weights, sums = totals
        return Tied(scores / weights, weights, sums)


@dataclass(frozen=True, eq=False)
class Blocks:
    """The pools of an isotonic fit over k entries.

    Attributes
    ----------
    bounds : int (m + 1,)
        Block b holds the entries bounds[b] to bounds[b + 1] − 1.
    values : (m,)
        Strictly increasing, sums / weights.
    weights : (m,)
    sums : (m,)
    """

    bounds: Array
    values: Array
    weights: Array
    sums: Array

    @property
    def sizes(self) -> Array:
        """Entries in each block, int (m,)."""
        return np.diff(self.bounds)

    @property
    def fitted(self) -> Array:
        """The fitted value of each entry, (k,)."""
        return np.repeat(self.values, self.sizes)


def pool_ties(scores: Array, y: Array, weights: Array | None = None) -> Tied:
    """Sort by score and add up the rows that share one; rows of weight zero are left out: they have no effect.

    Parameters
    ----------
    scores, y : (n,)
        Checked already.
    weights : (n,)
        Those of the rows, 1 by default.

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
    """Share of the pairs of a row of each class in which that of class 1 has the larger score, ties counting ½.

    NaN without a pair.

    >>> rank_area(pool_ties(np.array([0.3, 0.3, 0.9]), np.array([0, 1, 1])))
    0.75
    """
    ones, zeros = scaled(np.stack([tied.sums, tied.weights - tied.sums]))
    pairs = ones.sum() * zeros.sum()
    return float(ones @ (np.cumsum(zeros) - zeros / 2) / pairs) if pairs else math.nan


def pool_adjacent_violators(sums: Array, weights: Array) -> Blocks:
    """The blocks of the weighted isotonic fit to the means ``sums / weights``, both (k,), weights positive.

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
        # The compiled fit carries rounded means along; a pool that it missed by rounding shows up here.
        if (values[1:] > values[:-1]).all():
            return Blocks(bounds, values, weights, sums)
