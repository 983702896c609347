"""Brier score (Brier 1950; eq. 5 of Shaker & Hüllermeier 2025, for one class), its root (eq. 13 of Vovk & Petej 2014),
and Brier skill, its improvement over the overall frequency.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.metrics.base import Metric
from calib.metrics.losses import class_squared_errors, mean, mean_loss, squared_errors


def brier_score(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean of (p − y)², in [0, 1], for two classes counted once; 0 is best.

    Parameters
    ----------
    y : (n,) of 0 and 1
    p : (n,) in [0, 1]
        Or rows (n, K) for labels 0 … K − 1; squares of all classes are then added, which doubles it for two classes.
    sample_weight : (n,)
        Weights, not negative. Whole numbers are repeated rows, here and for every metric.

    Raises
    ------
    InputError
        If an argument is invalid.

    Examples
    --------
    >>> round(brier_score([1, 0], [0.8, 0.4]), 3)     # (0.04 + 0.16) / 2
    0.1
    >>> round(brier_score([2], [[0.5, 0.25, 0.25]]), 3)    # 0.25 + 0.0625 + 0.5625
    0.875
    """
    return mean_loss(squared_errors, y, p, sample_weight, class_squared_errors)


def rmse(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the square root of the Brier score, in [0, 1] (Vovk & Petej 2014, eq. 13).

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> round(rmse([1, 0], [0.4, 0.8]), 3)            # √((0.36 + 0.64) / 2)
    0.707
    """
    return math.sqrt(brier_score(y, p, sample_weight))


def brier_skill(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return 1 − Brier / (f (1 − f)), f the frequency of class 1, in (−∞, 1]; 1 is best, 0 equals always predicting f.

    NaN for a single class, whose frequency is a perfect prediction.

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> brier_skill([1, 0], [0.75, 0.25])                 # 1/16 of 1/4
    0.75
    """
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    frequency = mean(y, weights)
    spread = frequency * (1 - frequency)
    return 1 - mean(squared_errors(y, p), weights) / spread if spread else math.nan


BRIER = Metric(
    "brier",
    "Brier score",
    brier_score,
    False,
    "Mean squared difference between probability and label.",
    of_classes=(
        "Brier score, all classes",
        "Brier score summed over the classes; for two classes, it is twice the usual Brier score.",
    ),
)
RMSE = Metric("rmse", "RMSE", rmse, False, "Square root of the Brier score.")
BRIER_SKILL = Metric(
    "brier_skill",
    "Brier skill",
    brier_skill,
    True,
    "Relative reduction of the Brier score, compared with always predicting the overall frequency; 1 is "
    "perfect.",
    everyday=False,
)
