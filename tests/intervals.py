"""Intervals by SciPy's own functions, joined by the textbook: what ``calib.metrics.confidence`` is held against."""

import numpy as np
from scipy.stats import binomtest, ttest_1samp


def joined(y, values) -> tuple[float, float]:
    """(low, high) of the mean of values, of share f of class 1 (Wilson) and the classes' means (Student).

    By the method of variance estimates recovery for f m₁ + (1 − f) m₀ (Zou & Donner 2008).
    """
    y, values = np.asarray(y), np.asarray(values, dtype=float)
    if np.ptp(values) == 0:
        return values[0], values[0]
    f, one, zero = y.mean(), values[y == 1], values[y == 0]
    share = binomtest(int(y.sum()), len(y)).proportion_ci(method="wilson")
    reach = [
        0.0 if np.ptp(own) == 0 else own.mean() - ttest_1samp(own, 0).confidence_interval().low
        for own in (one, zero)
    ]
    ends = sorted(end * one.mean() + (1 - end) * zero.mean() for end in share)
    within = (f * reach[0]) ** 2 + ((1 - f) * reach[1]) ** 2
    mean = values.mean()
    return mean - np.sqrt((mean - ends[0]) ** 2 + within), mean + np.sqrt((ends[1] - mean) ** 2 + within)
