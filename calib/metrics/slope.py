"""Calibration slope, intercept, calibration-in-the-large, and observed over expected (O/E).

Sources: Cox (1958); Riley et al. (2021) and Debray et al. (2017) for O/E. ``confidence`` has their intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from calib.kernel import checks
from calib.kernel.checks import Array
from calib.kernel.likelihood import fit_logistic
from calib.kernel.weights import or_ones
from calib.metrics.base import Metric, NumberOf
from calib.metrics.losses import mean


@dataclass(frozen=True)
class CalibrationLine:
    """Calibration line logit P(Y = 1) = intercept + slope · logit p, by maximum likelihood.

    Attributes
    ----------
    slope
        1 is best; below 1 the model is overconfident, above 1 underconfident.
    intercept
        0 is best.
    in_the_large
        The intercept with the slope fixed at 1 (calibration-in-the-large); above 0 the model underestimates on average.
    """

    slope: float
    intercept: float
    in_the_large: float


def calibration_line(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> CalibrationLine:
    """Fit slope and intercept: a logistic regression of the labels on logit p, without a penalty (Cox 1958).

    A certain prediction (0 or 1) that is right fits every increasing line and is excluded; if one is wrong, no line
    exists and all three numbers are NaN. Slope and intercept are also NaN for a single class or equal predictions. If
    a threshold on p separates the classes, the slope is ±∞ and the intercept NaN. ``in_the_large`` is ±∞ for a single
    class.

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> line = calibration_line([1, 1, 1, 0, 1, 0, 0, 0], [0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1])
    >>> round(line.slope, 6), abs(round(line.intercept, 6))        # 3 of 4 and 1 of 4: ln 3 / ln 9
    (0.5, 0.0)
    """
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    weights = or_ones(weights, len(y))
    if (p == 1 - y).any():
        return CalibrationLine(math.nan, math.nan, math.nan)
    uncertain = (p > 0) & (p < 1)
    y, x, weights = y[uncertain], logit(p[uncertain]), weights[uncertain]
    if y.size == 0:
        return CalibrationLine(math.nan, math.nan, math.nan)
    if y.min() == y.max():
        return CalibrationLine(math.nan, math.nan, math.inf if y[0] else -math.inf)
    return CalibrationLine(*_logistic_line(x, y, weights), _shift(x, y, weights))


def _shift(x: Array, y: Array, weights: Array) -> float:
    """Solve Σ w expit(x + a) = Σ w y for a; the extremes of x bracket the solution."""
    middle = logit(np.average(y, weights=weights))
    low, high = middle - x.max(), middle - x.min()
    positives, a = float(weights @ y), float(np.clip(0.0, low, high))
    for _ in range(200):  # Newton's method with a bracket; bisect if a step would leave it
        p = expit(x + a)
        excess, rate = float(weights @ p) - positives, float(weights @ (p * (1 - p)))
        low, high = (low, a) if excess > 0 else (a, high)
        tried = a - excess / rate if rate > 0 else math.inf
        tried = tried if low <= tried <= high else (low + high) / 2
        if abs(tried - a) <= 1e-13 * (1 + abs(a)):
            break
        a = tried
    return float(tried)


def _logistic_line(x: Array, y: Array, weights: Array) -> tuple[float, float]:
    zeros, ones = x[y == 0], x[y == 1]
    if x.min() == x.max():
        return math.nan, math.nan
    if zeros.max() <= ones.min():
        return math.inf, math.nan
    if ones.max() <= zeros.min():
        return -math.inf, math.nan
    fit = fit_logistic(x[:, None], y, weights)
    return float(fit.slopes[0]), fit.intercept


def observed_expected(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return Σ y / Σ p, in [0, ∞]; 1 is best, above it the probabilities are too low. NaN if both sums are 0.

    Parameters
    ----------
    y, p
        See ``brier_score``.
    sample_weight : (n,), optional
        Weights of the rows.

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


SLOPE = Metric(
    "slope",
    "Calibration slope",
    NumberOf(calibration_line, "slope"),
    None,
    "Slope of a logistic recalibration on the log-odds scale. A value below 1 means that the model is "
    "overconfident, above 1 underconfident.",
    ".3f",
    target=1.0,
)
INTERCEPT = Metric(
    "intercept",
    "Calibration intercept",
    NumberOf(calibration_line, "intercept"),
    None,
    "Intercept of a logistic recalibration with a free slope. Calibration-in-the-large fixes the "
    "slope at 1. A value above 0 means that the model underestimates near one half.",
    ".3f",
    target=0.0,
)
IN_THE_LARGE = Metric(
    "in_the_large",
    "Calibration-in-the-large",
    NumberOf(calibration_line, "in_the_large"),
    None,
    "Intercept of a logistic recalibration with the slope fixed at 1. A value above 0 means that the model "
    "underestimates on average.",
    ".3f",
    target=0.0,
    everyday=False,
)
OBSERVED_EXPECTED = Metric(
    "observed_expected",
    "Observed over expected",
    observed_expected,
    None,
    "Number of rows of class 1 divided by the sum of the probabilities. A value above 1 means that the model "
    "underestimates on average.",
    ".3f",
    target=1.0,
    everyday=False,
)
