"""Observed over expected and calibration-in-the-large: is the level right?

O/E is the number of class 1 over the sum of the probabilities (Riley et al. 2021; Debray et al. 2017).
Calibration-in-the-large is the intercept of the calibration line with the slope held at 1 (Cox 1958). Their intervals
are those of ``confidence``.
"""

from __future__ import annotations

import math
from operator import attrgetter

from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.metrics.base import Metric
from calib.metrics.calibration_error import calibration_line
from calib.metrics.scoring import mean


def observed_expected(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Σ y / Σ p, in [0, ∞]; 1 is best, above it the probabilities are too low. NaN if both are 0.

    Parameters
    ----------
    y, p
        See ``brier_score``.
    sample_weight : (n,), optional
        Each row counts as so many.

    Raises
    ------
    InputError
        See ``brier_score``.

    Examples
    --------
    >>> observed_expected([1, 0, 0, 0], [0.5, 0.25, 0.25, 0.25])
    0.8
    """
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    observed, expected = mean(y, weights), mean(p, weights)
    return observed / expected if expected else math.inf if observed else math.nan


def in_the_large(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return calibration-in-the-large, in log-odds; 0 is best (``calibration_line``).

    >>> round(in_the_large([1, 1, 1, 0], [0.5] * 4), 6)                   # odds 3 for odds 1
    1.098612
    """
    return calibration_line(y, p, sample_weight).in_the_large


LEVEL = (
    Metric(
        "observed_expected",
        "Observed over expected",
        observed_expected,
        None,
        "Number of rows of class 1 divided by the sum of the probabilities. A value above 1 means that the model "
        "underestimates on average.",
        ".3f",
        target=1.0,
        everyday=False,
    ),
    Metric(
        "in_the_large",
        "Calibration-in-the-large",
        in_the_large,
        None,
        "Intercept of a logistic recalibration with the slope fixed at 1. A value above 0 means that the model "
        "underestimates on average.",
        ".3f",
        target=0.0,
        everyday=False,
        of=calibration_line,
        read=attrgetter("in_the_large"),
    ),
)
