"""Brier skill: how much of the Brier score of the overall frequency the predictions save."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.metrics.base import Metric
from calib.metrics.scoring import mean, squared_errors


def brier_skill(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """1 − Brier / (f (1 − f)), f the frequency of class 1, in (−∞, 1]; 1 is best, 0 what f itself would get.

    NaN for one class, whose frequency is a perfect prediction.

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


BRIER_SKILL = Metric(
    "brier_skill",
    "Brier skill",
    brier_skill,
    True,
    "Reduction of the Brier score, as a share, compared with always predicting the overall frequency; 1 is perfect.",
    everyday=False,
)
