"""Compute confidence limits of a frequency (Wilson 1927; Clopper & Pearson 1934) and of a mean of values in [0, 1]."""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from calib.kernel import checks
from calib.kernel.checks import Array

BINOMIAL_INTERVALS = ("wilson", "clopper_pearson")
NORMAL_QUANTILE = (
    1.959964  # standard deviations from the middle of a normal distribution to an end of its inner 95 %
)


def binomial_interval(
    successes: ArrayLike,
    n: ArrayLike,
    *,
    level: float = 0.95,
    interval: str = "wilson",
    quantile: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """Return two-sided confidence limits of a frequency, ``successes`` of ``n`` (arrays of one shape); NaN if n is 0.

    Parameters
    ----------
    interval
        "wilson", the score interval, with nominal coverage on average; or "clopper_pearson", exact and conservative.
    quantile
        Quantile of the standardised share in Wilson's interval: by default the normal quantile at ``level``. Use
        Student's if n is estimated from few draws.

    Examples
    --------
    >>> [round(float(end), 3) for end in binomial_interval(3, 10)]
    [0.108, 0.603]
    >>> [round(float(end), 3) for end in binomial_interval(0, 10, interval="clopper_pearson")]     # 1 − 0.025^(1/10)
    [0.0, 0.308]
    """
    checks.in_range(level, "level", 0, 1, open_ends=True)
    checks.one_of(interval, BINOMIAL_INTERVALS, "interval")
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    n = np.where(n > 0, n, np.nan)
    tail = (1 - level) / 2
    if interval == "clopper_pearson":
        lower = np.where(k > 0, scipy.stats.beta.ppf(tail, k, n - k + 1), 0.0)
        upper = np.where(k < n, scipy.stats.beta.ppf(1 - tail, k + 1, n - k), 1.0)
    else:
        z = -ndtri(tail) if quantile is None else np.asarray(quantile)
        center = (k + z**2 / 2) / (n + z**2)
        half = z / (n + z**2) * np.sqrt(k * (1 - k / n) + z**2 / 4)
        lower = np.where(k > 0, np.maximum(center - half, 0), 0.0)
        upper = np.where(k < n, np.minimum(center + half, 1), 1.0)
    return np.where(np.isnan(n), np.nan, lower), np.where(np.isnan(n), np.nan, upper)


def bounded_mean_interval(values: Array, level: float = 0.95) -> tuple[float, float]:
    """Return limits of the mean of few independent values (n,) in [0, 1], by Wilson's formula with Student's quantile.

    With mean m, the values are worth m(1 − m)/SE² Bernoulli draws, or n draws if all are equal. In simulations of win
    rates over 5 to 50 data sets, 92 to 100 % of these intervals include the mean. NaN for a single value.

    >>> [round(end, 3) for end in bounded_mean_interval(np.array([1.0, 1.0, 1.0, 1.0, 1.0]))]
    [0.393, 1.0]
    """
    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return math.nan, math.nan
    variance = float(np.var(values, ddof=1)) / n
    worth = mean * (1 - mean) / variance if variance > 1e-24 else n
    quantile = float(stdtrit(n - 1, (1 + level) / 2))
    low, high = binomial_interval(mean * worth, worth, quantile=quantile)
    return float(low), float(high)


# Labels redrawn as if the predictions were right: the consistency resampling of Bröcker and Smith (2007).

SPELT_OUT = 2_000_000  # labels drawn one by one; of more, sums over rows of equal probability are drawn


def null_draws(p: Array, counts: Array, repeats: int, rng: np.random.Generator) -> Array:
    """Draw how many of ``counts`` (k,) rows with probability p (k,) are of class 1: float array (repeats, k).

    Whole numbers of rows give the same draws as single rows, from the same generator.

    >>> null_draws(np.array([0.0, 1.0]), np.array([2, 3]), 1, np.random.default_rng(0))
    array([[0., 3.]])
    """
    times = counts.astype(np.int64)
    if times.sum() * repeats > SPELT_OUT:
        return rng.binomial(times, np.clip(p, 0, 1), size=(repeats, len(p))).astype(np.float64)
    rows = rng.random((repeats, int(times.sum()))) < np.repeat(p, times)
    if (times == 1).all():
        return rows.astype(np.float64)
    upto = np.pad(np.cumsum(rows, axis=1, dtype=np.float64), ((0, 0), (1, 0)))
    return np.diff(upto[:, np.r_[0, np.cumsum(times)]], axis=1)
