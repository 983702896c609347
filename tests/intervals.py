"""Intervals by SciPy's own functions, joined by the textbook: what ``calib.metrics.confidence`` is held against."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binomtest, skew, t


def hall(values) -> tuple[float, float]:
    """How far the interval of a mean reaches below and above it: Hall's t (1992), inverted by search."""
    n, error = len(values), values.std(ddof=1) / np.sqrt(len(values))
    if error == 0:
        return 0.0, 0.0
    g, q = skew(values, bias=False) / np.sqrt(n), t.ppf(0.975, n - 1)

    def beyond(x, end):
        return x + g * x**2 / 3 + g**2 * x**3 / 27 + g / 6 - end

    return tuple(abs(error * brentq(beyond, -1e4, 1e4, args=(end,))) for end in (q, -q))


def joined(y, values) -> tuple[float, float]:
    """(low, high) of the mean of values, of share f of class 1 (Wilson) and the classes' means (Hall).

    By the method of variance estimates recovery for f m₁ + (1 − f) m₀ (Zou & Donner 2008).
    """
    y, values = np.asarray(y), np.asarray(values, dtype=float)
    if np.ptp(values) == 0:
        return values[0], values[0]
    f, one, zero = y.mean(), values[y == 1], values[y == 0]
    share = binomtest(int(y.sum()), len(y)).proportion_ci(method="wilson")
    moves = sorted((end - f) * (one.mean() - zero.mean()) for end in share)
    reach = [
        np.sqrt(move**2 + (f * own) ** 2 + ((1 - f) * other) ** 2)
        for move, own, other in zip(moves, hall(one), hall(zero), strict=True)
    ]
    return values.mean() - reach[0], values.mean() + reach[1]
