"""Intervals by SciPy's functions and the textbook, for tests of ``calib.metrics.confidence_intervals``."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binomtest, skew, t


def hall(values, level=0.95) -> tuple[float, float]:
    """Return how far the interval of a mean reaches below and above it: Hall's t (1992), inverted by search."""
    n, error = len(values), values.std(ddof=1) / np.sqrt(len(values))
    if error == 0:
        return 0.0, 0.0
    g, q = skew(values, bias=False) / np.sqrt(n), t.ppf((1 + level) / 2, n - 1)

    def beyond(x, end):
        return x + g * x**2 / 3 + g**2 * x**3 / 27 + g / 6 - end

    return tuple(abs(error * brentq(beyond, -1e4, 1e4, args=(end,))) for end in (q, -q))


def plus_four(values, step) -> tuple[float, float]:
    """Return the reaches for the mean of values of 0 and ± step, with half a row added per side (Agresti & Min
    2005).
    """
    n, up, down = len(values), (values > 0).sum() + 0.5, (values < 0).sum() + 0.5
    middle = (up - down) / (n + 2)
    half = t.ppf(0.975, n - 1) * np.sqrt((up + down) / (n + 2) - middle**2) / np.sqrt(n + 2)
    return values.mean() - step * (middle - half), step * (middle + half) - values.mean()


def joined(y, values, steps=None, level=0.95) -> tuple[float, float]:
    """Return (low, high) of the mean of values, from the share f of class 1 (Wilson) and the classes' means (Hall).

    By the method of variance estimates recovery for f m₁ + (1 − f) m₀ (Zou & Donner 2008). With ``steps`` the values
    are 0 or plus or minus one step, by class.
    """
    y, values = np.asarray(y), np.asarray(values, dtype=float)
    if np.ptp(values) == 0 and steps is None:
        return values[0], values[0]
    ones, zeros = (
        (hall(values[y == 1], level), hall(values[y == 0], level))
        if steps is None
        else (plus_four(values[y == 1], steps[1]), plus_four(values[y == 0], steps[0]))
    )
    f, one, zero = y.mean(), values[y == 1], values[y == 0]
    share = binomtest(int(y.sum()), len(y)).proportion_ci(level, method="wilson")
    moves = sorted((end - f) * (one.mean() - zero.mean()) for end in share)
    reach = [
        np.sqrt(move**2 + (f * own) ** 2 + ((1 - f) * other) ** 2)
        for move, own, other in zip(moves, ones, zeros, strict=True)
    ]
    return values.mean() - reach[0], values.mean() + reach[1]
