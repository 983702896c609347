"""Calibration error without what chance adds: each bin's squared gap less its sampling variance.

The mean of squared gaps is too large by Σ n_b/n · π_b(1 − π_b)/n_b, also for a perfect model. Bröcker (2012,
"Estimating reliability and resolution of probability forecasts through decomposition of the empirical score")
and Ferro and Fricker (2012) subtract its unbiased estimate f_b(1 − f_b)/(n_b − 1); Kumar, Liang and Ma (2019,
"Verified uncertainty calibration") take the root of what is left, 0 if it is negative.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.metrics.base import Metric
from calib.metrics.calibration_error import filled_bins

WHO = "A bias-corrected calibration error"


def corrected_reliability(
    y: ArrayLike,
    p: ArrayLike,
    bins: int = 20,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Σ n_b/n · ((f_b − p̄_b)² − f_b(1 − f_b)/(n_b − 1)) over bins of at least two rows; 0 or less is best.

    Parameters
    ----------
    y, p, bins, strategy
        See ``expected_calibration_error``.
    sample_weight
        Whole numbers only: it counts rows.

    Examples
    --------
    >>> round(corrected_reliability([1, 0, 1, 1], [0.9] * 4), 6)          # (0.75 − 0.9)² − 0.1875 / 3
    -0.04
    """
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    if weights is not None:
        checks.whole_weights(weights, WHO)
    n, observed, mean_p = filled_bins(y, p, bins, strategy, weights)
    chance = np.divide(observed * (1 - observed), n - 1, out=np.zeros(len(n)), where=n > 1)
    corrected = np.where(n > 1, (observed - mean_p) ** 2 - chance, 0.0)
    return float(n @ corrected / n.sum())


def debiased_calibration_error(
    y: ArrayLike,
    p: ArrayLike,
    bins: int = 20,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
) -> float:
    """√max(0, ``corrected_reliability``), in [0, 1]: the root of the mean squared gap that is more than chance.

    Parameters
    ----------
    y, p, bins, strategy, sample_weight
        See ``corrected_reliability``.

    Examples
    --------
    >>> debiased_calibration_error([1, 0, 1, 1], [0.9] * 4)
    0.0
    >>> round(debiased_calibration_error([0, 0, 0, 0], [0.1] * 4), 6)
    0.1
    """
    return math.sqrt(max(0.0, corrected_reliability(y, p, bins, strategy, sample_weight)))


DEBIASED = Metric(
    "debiased_ce",
    "Calibration error, bias-corrected",
    debiased_calibration_error,
    False,
    "Root of the mean squared gap over bins after subtracting the part expected by chance; 0 if chance "
    "explains all of it.",
    binned=True,
    everyday=False,
    counted=True,
)
