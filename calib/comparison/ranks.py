"""Compare methods over data sets by ranks, and test whether the differences exceed chance.

Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", JMLR 7: average ranks, the Friedman
test with Iman and Davenport's F, and Nemenyi's critical difference.
"""

from __future__ import annotations

from dataclasses import dataclass
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
