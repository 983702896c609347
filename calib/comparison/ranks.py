"""Compare methods over data sets by ranks, and test whether the differences exceed chance.

Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", JMLR 7: average ranks, the Friedman
test with Iman and Davenport's F, and Nemenyi's critical difference.

Compare all pairs of methods by Bergmann and Hommel's procedure, which loses no more power than logic requires.

If A = B and B = C then A = C, so not every set of pairwise hypotheses can be the set of true ones. The possible sets
are called exhaustive. They are exactly the set partitions of the methods: within a block, all methods are equal.
Bergmann and Hommel (1988), as in García and Herrera (2008), JMLR 9, 2677–2694.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from calib.kernel import checks
from calib.kernel.checks import Array


@dataclass(frozen=True)
class FriedmanTest:
    """Test whether all methods are equivalent: Friedman's χ² (corrected for ties) with k − 1 degrees of freedom, and
    Iman and Davenport's less conservative F with k − 1 and (k − 1)(n − 1).
    """

    statistic: float
    pvalue: float
    f_statistic: float
    f_pvalue: float


def ranks(table: Any, higher_is_better: bool) -> Array:
    """Return ranks within each data set, shape (n, k): 1 for the best method; ties share their mean rank.

    Parameters
    ----------
    table : (n data sets, k methods), a DataFrame or an array; infinite values are ranked, NaN is refused by
        name
    """
    values = checks.results_table(table, "table")
    checks.one_of(higher_is_better, (True, False), "higher_is_better")
    return stats.rankdata(-values if higher_is_better else values, axis=1)


def average_ranks(table: Any, higher_is_better: bool) -> Array:
    """Return the mean rank of each method over the data sets, shape (k,); 1 is best on every data set.

    Parameters
    ----------
    table : (n data sets, k methods)

    Raises
    ------
    InputError
        If there are fewer than 2 methods, or a result is NaN; names its position.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.8, 0.6]], higher_is_better=True)
    array([1.5 , 1.75, 2.75])
    """
    return ranks(table, higher_is_better).mean(axis=0)


def best_ranked(values: pd.Series) -> list[str]:
    """Return the names with the smallest value, such as the best average rank; several if they tie.

    >>> best_ranked(pd.Series({"a": 1.5, "b": 3.0, "c": 1.5}))
    ['a', 'c']
    """
    return [str(name) for name in values.index[np.isclose(values, values.min(), rtol=0, atol=1e-9)]]


def friedman(table: Any, higher_is_better: bool) -> FriedmanTest:
    """Test the hypothesis that all methods rank alike (Friedman), with a correction for ties as in ``scipy.stats``.

    χ² = 12n/(k(k+1)) Σ (R_j − (k+1)/2)² / C with C = 1 − Σ(t³ − t)/(n k (k²−1)) over groups of t tied values,
    and F = (n−1)χ² / (n(k−1) − χ²). If every data set ties all methods the statistics are 0 and the
    p-values 1.

    Parameters
    ----------
    table : (n data sets, k methods), n at least 2

    Raises
    ------
    InputError
        If a result is NaN or the table is too small.

    Examples
    --------
    >>> test = friedman([[1, 2, 3], [1, 2, 3], [1, 3, 2]], higher_is_better=False)
    >>> round(test.statistic, 4), round(test.f_statistic, 4)
    (4.6667, 7.0)
    """
    R = ranks(table, higher_is_better)
    n, k = R.shape
    checks.in_range(n, "The number of data sets", low=2, integer=True)
    # Sum of squares of the ranks within rows: n k (k² − 1)/12 without ties, and C times that with ties.
    spread = ((R - (k + 1) / 2) ** 2).sum()
    if spread == 0:
        return FriedmanTest(0.0, 1.0, 0.0, 1.0)
    chi2 = float(n**2 * (k - 1) * ((R.mean(axis=0) - (k + 1) / 2) ** 2).sum() / spread)
    rest = n * (k - 1) - chi2
    F = (n - 1) * chi2 / rest if rest > 1e-9 else np.inf
    return FriedmanTest(
        chi2, float(stats.chi2.sf(chi2, k - 1)), float(F), float(stats.f.sf(F, k - 1, (k - 1) * (n - 1)))
    )


def nemenyi_critical_difference(k: int, n: int, alpha: float = 0.05) -> float:
    """Return the smallest significant difference of average ranks of k methods over n data sets.

    CD = q_α √(k(k+1)/(6n)), q_α the upper α point of the studentized range of k (infinite degrees of freedom)
    over √2.

    Parameters
    ----------
    k
        Number of methods, at least 2.
    n
        Number of data sets.
    alpha
        Level of significance, in (0, 1).

    Examples
    --------
    >>> round(nemenyi_critical_difference(4, 14), 2)  # Demšar's example
    1.25
    """
    checks.in_range(k, "k", low=2, integer=True)
    checks.in_range(n, "n", low=1, integer=True)
    checks.in_range(alpha, "alpha", low=0, high=1, open_ends=True)
    q = stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


def cliques(ranks: Any, alike: Any) -> list[tuple[int, ...]]:
    """Return the bars of a critical-difference diagram: maximal runs of neighbouring ranks that are all alike.

    Each bar is a tuple of the methods' positions, best first, and joins at least two methods.

    Parameters
    ----------
    ranks : (k,) average ranks
    alike : (k, k) bool, True where two methods do not differ significantly

    Examples
    --------
    >>> R = np.array([3.2, 1.0, 2.0, 2.5])
    >>> cliques(R, abs(R[:, None] - R) < 1.3)
    [(1, 2), (2, 3, 0)]
    """
    R = checks.score_vector(ranks, "ranks")
    same = np.asarray(alike, dtype=bool)
    if same.shape != (R.size, R.size):
        raise checks.InputError(
            f"alike must have shape ({R.size}, {R.size}), one row per method, but has {same.shape}."
        )
    order = np.argsort(R, kind="stable")
    same = same[np.ix_(order, order)]
    # ends[i]: end of the longest run from position i in which all pairs are alike.
    ends = [
        next((j for j in range(i, R.size) if not same[i : j + 1, i : j + 1].all()), R.size)
        for i in range(R.size)
    ]
    runs = [(i, end) for i, end in enumerate(ends) if end - i > 1 and (i == 0 or ends[i - 1] < end)]
    return [tuple(order[i:end].tolist()) for i, end in runs]


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
