"""The temperature of least log loss, of log-odds or of the logits of K classes (Guo et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from calib.kernel.checks import Array

COLDEST, HOTTEST = 1e-3, 1e3
LOG_FLOOR = 1e-12  # added to the probabilities of K classes, so that their logarithms stay finite


def best_temperature(slope: Callable[[float], float], level: bool) -> tuple[float, bool]:
    """Return the T in [0.001, 1000] with the smallest log loss, and whether the search stopped at an end.

    Parameters
    ----------
    slope
        Derivative of the log loss in 1/T, which is increasing.
    level
        Whether all scores of a row are equal, so that every temperature gives the same result.
    """
    low, high = 1 / HOTTEST, 1 / COLDEST
    if level:
        return 1.0, False
    if slope(low) >= 0:
        return HOTTEST, True
    if slope(high) <= 0:
        return COLDEST, True
    return 1 / float(brentq(slope, low, high, xtol=1e-15, rtol=1e-14)), False


def joint_temperature(logits: Array, y: Array, weights: Array) -> tuple[float, bool]:
    """Return the best temperature of logits (n, K) with labels 0 … K − 1, and whether the search stopped at an end."""
    logits = logits - logits.max(axis=1, keepdims=True)  # a constant per row changes nothing
    observed = weights @ logits[np.arange(len(y)), y]

    def slope(inverse: float) -> float:
        """Return the derivative of the log loss in 1/T, which is increasing."""
        return float(weights @ (softmax(inverse * logits, axis=1) * logits).sum(axis=1) - observed)

    return best_temperature(slope, not logits.any())
