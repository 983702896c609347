"""Win rates and regrets of methods over data sets, which can be interpreted without a test.

CalArena (arXiv 2605.30188) ranks calibrators by win rates against all other methods. Win rate and regret are means
over data sets, which are the sample of a study. A win rate has an interval for other data sets. A regret has none:
many regrets are 0 and a few are large, so with 5 to 50 data sets a t interval included the mean in only 8 to 92 % of
simulated studies.

Two methods on the same data sets are also compared by their mean difference (paired t-test).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

from calib.comparison.ranks import ranks
from calib.kernel import checks
from calib.kernel.binomial import bounded_mean_interval
from calib.kernel.checks import Array


@dataclass(frozen=True, eq=False)
class Means:
    """Mean of each method over data sets, (k,), with the ends of its interval for other data sets."""

    mean: Array
    lower: Array
    upper: Array


def wins(table: Any, higher_is_better: bool) -> Array:
    """Count data sets on which the row's method is better than, equal to and worse than the column's, int (k, k, 3).

    Infinite results equal each other.

    Parameters
    ----------
    table : (n data sets, k methods)

    Examples
    --------
    >>> wins([[0.9, 0.8], [0.7, 0.7], [0.6, 0.5]], higher_is_better=True)[0, 1].tolist()
    [2, 1, 0]
    """
    places = ranks(table, higher_is_better)
    row, column = places[:, :, None], places[:, None, :]
    return np.stack([(row < column).sum(0), (row == column).sum(0), (row > column).sum(0)], axis=-1)


def win_rates(table: Any, higher_is_better: bool, level: float = 0.95) -> Means:
    """Return the share of other methods that each method beats, ties counting half, averaged over data sets.

    With rank r among k methods, the share is (k − r)/(k − 1), infinite results included.

    Parameters
    ----------
    table : (n data sets, k methods)
    level
        Level of the interval, as in ``mean_share``.

    Examples
    --------
    >>> win_rates([[0.9, 0.8, 0.8], [0.7, 0.8, 0.6]], higher_is_better=True).mean
    array([0.75 , 0.625, 0.125])
    """
    places = ranks(table, higher_is_better)
    k = places.shape[1]
    return mean_share((k - places) / (k - 1), level)


def regrets(table: Any, higher_is_better: bool) -> Array:
    """Return how much worse each method is than the best one on each data set, (n, k), at least 0.

    A regret is infinite if the loss is infinite and the best is not; it is 0 if both are infinite.

    Parameters
    ----------
    table : (n data sets, k methods)

    Examples
    --------
    >>> regrets([[0.5, 0.25], [np.inf, np.inf], [1.0, np.inf]], higher_is_better=False)
    array([[0.25, 0.  ],
           [0.  , 0.  ],
           [0.  ,  inf]])
    """
    values = checks.results_table(table, "table")
    checks.one_of(higher_is_better, (True, False), "higher_is_better")
    loss = -values if higher_is_better else values
    best = loss.min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is not used
        return np.where(loss == best, 0.0, loss - best)


def mean_share(values: Any, level: float = 0.95) -> Means:
    """Return means over data sets of values in [0, 1], with Wilson's interval for their effective number.

    Parameters
    ----------
    values : (n data sets, k methods)
    level
        Level of the interval, in (0, 1). The ends are NaN for a single data set.

    Examples
    --------
    >>> found = mean_share([[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]])
    >>> found.mean.round(3).tolist(), found.lower.round(2).tolist()
    ([0.833, 0.167], [0.15, 0.01])
    """
    values = np.asarray(values, dtype=np.float64)
    checks.in_range(level, "level", 0, 1, open_ends=True)
    lower, upper = np.array([bounded_mean_interval(column, level) for column in values.T]).T
    return Means(values.mean(axis=0), lower, upper)


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
