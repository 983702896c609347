"""How often a method wins, and what it costs not to have taken the best: numbers that need no test to be read.

Win-rates against all other methods are what CalArena (arXiv 2605.30188) ranks calibrators by; both are means
over data sets, which are what a study samples, so that intervals come from data sets drawn anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.comparison.ranks import ranks
from calib.kernel import checks
from calib.kernel.checks import Array

REPEATS = 2000


@dataclass(frozen=True, eq=False)
class Means:
    """A mean over data sets of each method, (k,), with the ends of its bootstrap interval."""

    mean: Array
    lower: Array
    upper: Array


def wins(table: Any, higher_is_better: bool) -> Array:
    """On how many data sets the row's method is better than, equal to and worse than the column's, int (k, k, 3).

    Infinite results are equal to each other.

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


def win_rates(
    table: Any, higher_is_better: bool, repeats: int = REPEATS, level: float = 0.95, random_state: int = 0
) -> Means:
    """Share of the other methods that each one beats, a tie counting half: the mean over the data sets.

    With rank r among k methods it is (k − r)/(k − 1), infinite results included.

    Parameters
    ----------
    table : (n data sets, k methods)
    repeats, level, random_state
        Of the interval, as for ``mean_over_sets``.

    Examples
    --------
    >>> win_rates([[0.9, 0.8, 0.8], [0.7, 0.8, 0.6]], higher_is_better=True).mean
    array([0.75 , 0.625, 0.125])
    """
    places = ranks(table, higher_is_better)
    k = places.shape[1]
    return mean_over_sets((k - places) / (k - 1), repeats, level, random_state)


def regrets(table: Any, higher_is_better: bool) -> Array:
    """How much worse each method is than the best one of each data set, (n, k) of at least 0.

    Regret is infinite where a loss is and the best is not; where the best is infinite too, there was nothing
    to regret.

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
    with np.errstate(invalid="ignore"):  # ∞ − ∞, which is not taken
        return np.where(loss == best, 0.0, loss - best)


def mean_over_sets(values: Any, repeats: int = REPEATS, level: float = 0.95, random_state: int = 0) -> Means:
    """Means over data sets with percentile intervals of means over as many data sets drawn with replacement.

    Where a value is infinite the mean is, and so is the mean of every draw that holds it: the upper end is
    then mostly infinite and the lower end a number only where few data sets are infinite. One data set alone says
    nothing of others: its interval is NaN.

    Parameters
    ----------
    values : (n data sets, k methods), none of them −∞ or NaN
    repeats
        How often data sets are drawn.
    level
        Of the interval, in (0, 1).
    random_state
        Seed of the draws.

    Examples
    --------
    >>> found = mean_over_sets([[1.0, 1.0], [1.0, np.inf]])
    >>> found.mean.tolist(), found.lower.tolist(), found.upper.tolist()
    ([1.0, inf], [1.0, 1.0], [1.0, inf])
    """
    values = np.asarray(values, dtype=np.float64)
    checks.in_range(repeats, "repeats", low=1, integer=True)
    checks.in_range(level, "level", 0, 1, open_ends=True)
    n = len(values)
    if n < 2:
        unknown = np.full(values.shape[1], np.nan)
        return Means(values.mean(axis=0), unknown, unknown)
    drawn = np.random.default_rng(random_state).multinomial(n, np.full(n, 1 / n), size=repeats)
    infinite = np.isinf(values)
    means = drawn @ np.where(infinite, 0.0, values) / n
    means[drawn @ infinite.astype(np.int64) > 0] = np.inf
    means.sort(axis=0)
    tail = (1 - level) / 2
    places = [min(repeats - 1, int(np.floor(share * repeats))) for share in (tail, 1 - tail)]
    return Means(values.mean(axis=0), means[places[0]], means[places[1]])
