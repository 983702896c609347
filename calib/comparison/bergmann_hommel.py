"""Compare all pairs of methods by Bergmann and Hommel's procedure, which loses no more power than logic requires.

If A = B and B = C then A = C, so not every set of pairwise hypotheses can be the set of true ones. The possible sets
are called exhaustive. They are exactly the set partitions of the methods: within a block, all methods are equal.
Bergmann and Hommel (1988), as in García and Herrera (2008), JMLR 9, 2677–2694.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from calib.kernel import checks
from calib.kernel.checks import Array

MOST_METHODS = 12
"""4 213 597 partitions, about a second; the thirteenth method would make 27 644 437."""


def set_partitions(k: int) -> Array:
    """Return every set partition of k elements once, int8 array (k, Bell(k)): block numbers by first appearance.

    >>> set_partitions(3).T.tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
    """
    blocks = np.zeros((1, 1), dtype=np.int8)
    for _ in range(k - 1):
        choices = blocks.max(axis=0).astype(np.intp) + 2  # any existing block, or a new one
        first = np.repeat(np.cumsum(choices) - choices, choices)
        added = (np.arange(choices.sum()) - first).astype(np.int8)
        blocks = np.vstack([np.repeat(blocks, choices, axis=1), added])
    return blocks


def rank_pvalues(ranks: Any, n: int) -> Array:
    """Return unadjusted two-sided p-values of every pair, (k, k), with z = |R_i − R_j| / √(k(k+1)/(6n)) nearly normal.

    Parameters
    ----------
    ranks : (k,) average ranks over n data sets
    n : int
        At least 1.

    Raises
    ------
    InputError
        If ranks are not finite, or there is no data set.
    """
    R = checks.score_vector(ranks, "ranks")
    checks.in_range(n, "n", low=1, integer=True)
    z = np.abs(R[:, None] - R) / np.sqrt(R.size * (R.size + 1) / (6 * n))
    return 2 * stats.norm.sf(z)


def bergmann_hommel(ranks: Any, n: int) -> Array:
    """Return adjusted p-values of every pair of methods, shape (k, k), symmetric, ones on the diagonal.

    p_ij becomes the largest |I| · min{p_l : l ∈ I} over the exhaustive sets I that contain the pair ij, at most 1: a
    pair differs at level α exactly if its adjusted p-value is at most α.

    Parameters
    ----------
    ranks : (k,) average ranks over n data sets, k from 2 to 12

    Raises
    ------
    InputError
        If there are fewer than 2 or more than 12 methods.

    Examples
    --------
    Two methods are one hypothesis, which needs no adjustment:

    >>> bergmann_hommel([1.0, 2.0], n=4).round(4)
    array([[1.    , 0.0455],
           [0.0455, 1.    ]])
    """
    p = rank_pvalues(ranks, n)
    k = checks.in_range(len(p), "The number of methods", low=2, high=MOST_METHODS, integer=True)
    blocks = set_partitions(k)
    size = np.zeros(blocks.shape[1])
    smallest = np.full(blocks.shape[1], np.inf)
    for i, j in combinations(range(k), 2):
        together = blocks[i] == blocks[j]
        size += together
        np.minimum(smallest, p[i, j], out=smallest, where=together)
    size[size == 0] = np.nan  # all methods differ: a partition without hypotheses gives no bound
    bound = size * smallest
    adjusted = np.ones((k, k))
    for i, j in combinations(range(k), 2):
        adjusted[i, j] = adjusted[j, i] = min(bound[blocks[i] == blocks[j]].max(), 1.0)
    return adjusted
