"""Compare two methods on the same data sets by their mean difference (paired t-test)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

from calib.kernel import checks
from calib.kernel.checks import Array


@dataclass(frozen=True)
class PairedTest:
    """Student's t of the mean difference and its p-value."""

    statistic: float
    pvalue: float


def paired_t(
    a: Any, b: Any, alternative: Literal["less", "greater", "two-sided"] = "two-sided"
) -> PairedTest:
    """Test the mean difference of two methods; ``less``: a is smaller than b on average.

    t = d̄ / (s_d/√n) with n − 1 degrees of freedom, d = a − b, as in Shaker and Hüllermeier (2025), Tables 9 and 10.
    Equal differences have no spread: t is then ±∞, or 0 if they are all 0 (p-value 1, one-sided 1/2).

    Parameters
    ----------
    a, b : (n,) finite, n at least 2

    Raises
    ------
    InputError
        If values are invalid or the alternative is unknown.

    Examples
    --------
    >>> test = paired_t([1.0, 2.0, 3.0], [2.0, 2.0, 5.0], alternative="less")
    >>> round(test.statistic, 4), round(test.pvalue, 4)  # d = −1, 0, −2: mean −1, s 1, so t = −√3
    (-1.7321, 0.1127)
    """
    a, b = checks.score_vector(a, "a"), checks.score_vector(b, "b")
    checks.same_length(a=a, b=b)
    checks.one_of(alternative, ("less", "greater", "two-sided"), "alternative")
    n = checks.in_range(a.size, "The number of pairs", low=2, integer=True)
    t = _student(a - b)
    tail = {
        "less": stats.t.cdf(t, n - 1),
        "greater": stats.t.sf(t, n - 1),
        "two-sided": 2 * stats.t.sf(abs(t), n - 1),
    }
    return PairedTest(float(t), float(tail[alternative]))


def paired_t_matrix(table: Any, higher_is_better: bool) -> Array:
    """Return one-sided p-values of "the row's method is better than the column's", (k, k), NaN on the diagonal.

    They are also NaN if one of the two has an infinite result, because the mean difference is then meaningless, and
    for a single data set.

    Parameters
    ----------
    table : (n data sets, k methods)

    Examples
    --------
    >>> paired_t_matrix([[1.0, 2.0], [2.0, 2.0], [3.0, 5.0]], higher_is_better=False).round(4)
    array([[   nan, 0.1127],
           [0.8873,    nan]])
    """
    values = checks.results_table(table, "table")
    checks.one_of(higher_is_better, (True, False), "higher_is_better")
    loss = -values if higher_is_better else values
    finite = np.isfinite(loss).all(axis=0)
    t = np.full((loss.shape[1],) * 2, np.nan)
    for i in np.flatnonzero(finite) if len(loss) > 1 else ():
        t[i, finite] = _student(loss[:, [i]] - loss[:, finite])
    np.fill_diagonal(t, np.nan)
    return stats.t.cdf(t, len(loss) - 1)


def _student(difference: Array) -> Array:
    """Return Student's t of each column's mean."""
    mean, error = difference.mean(axis=0), difference.std(axis=0, ddof=1) / np.sqrt(len(difference))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error > 0, mean / error, np.where(mean == 0, 0.0, np.copysign(np.inf, mean)))
