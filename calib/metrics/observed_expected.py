"""Observed over expected and calibration in the large: is the level right? With intervals, also of the line.

O/E is the number of class 1 over the sum of the probabilities; its logarithm has standard error √((1 − f)/(n
f)), f the frequency (Riley et al. 2021; Debray et al. 2017). Calibration in the large is the intercept
of the calibration line with the slope held at 1 (Cox 1958); intervals of the line are Wald's, by the
information of the logistic fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri

from calib.kernel import checks
from calib.kernel.weights import or_ones
from calib.metrics.base import Metric
from calib.metrics.calibration_error import calibration_line
from calib.metrics.scoring import mean


@dataclass(frozen=True)
class Estimate:
    """A value, and the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LineIntervals:
    """Slope, intercept, and intercept with the slope held at 1, each an Estimate."""

    slope: Estimate
    intercept: Estimate
    in_the_large: Estimate


def observed_expected(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Σ y / Σ p, in [0, ∞]; 1 is best, above it the probabilities are too low. NaN where both are 0.

    Parameters
    ----------
    y, p
        As for ``brier_score``.
    sample_weight : (n,), optional
        Each row counts as so many.

    Raises
    ------
    InputError
        As for ``brier_score``.

    Examples
    --------
    >>> observed_expected([1, 0, 0, 0], [0.5, 0.25, 0.25, 0.25])
    0.8
    """
    return observed_expected_interval(y, p, sample_weight).value


def observed_expected_interval(
    y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None, level: float = 0.95
) -> Estimate:
    """O/E with its interval on the logarithmic scale; [0, ∞] without a row of class 1.

    Parameters
    ----------
    y, p
        As for ``brier_score``.
    sample_weight
        Each row counts as so many.
    level
        Of the interval, strictly between 0 and 1.

    Examples
    --------
    >>> found = observed_expected_interval([1] * 20 + [0] * 80, [0.2] * 100)     # exp(± 1.96 · √(0.8 / 20))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (1.0, 0.676, 1.48)
    """
    checks.in_range(level, "level", 0, 1, open_ends=True)
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    observed, expected = mean(y, weights), mean(p, weights)
    n = float(or_ones(weights, len(y)).sum())
    ratio = observed / expected if expected else math.inf if observed else math.nan
    if observed == 0:
        return Estimate(ratio, 0.0, math.inf)
    reach = float(ndtri((1 + level) / 2)) * math.sqrt((1 - observed) / (n * observed))
    return Estimate(ratio, *about_ratio(ratio, reach))


def about_ratio(ratio: float, reach: float) -> tuple[float, float]:
    """exp(log ratio ± reach); where next to no row is of class 1 the reach is beyond every number: 0 to ∞.

    >>> about_ratio(0.5, 0.0), about_ratio(0.5, 4e4)
    ((0.5, 0.5), (0.0, inf))
    """
    with np.errstate(over="ignore"):
        factor = float(np.exp(reach))
    return ratio / factor, ratio * factor


def calibration_line_intervals(
    y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None, level: float = 0.95
) -> LineIntervals:
    """The calibration line with Wald intervals; NaN or infinite where ``calibration_line`` is.

    Parameters
    ----------
    y, p, sample_weight, level
        As for ``observed_expected_interval``.

    Examples
    --------
    >>> found = calibration_line_intervals([1] * 75 + [0] * 25 + [1] * 25 + [0] * 75, [0.75] * 100 + [0.25] * 100)
    >>> round(found.slope.value, 3), round(found.slope.low, 3), round(found.slope.high, 3)
    (1.0, 0.709, 1.291)
    """
    checks.in_range(level, "level", 0, 1, open_ends=True)
    line = calibration_line(y, p, sample_weight)
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    certain = (p == 0) | (p == 1)
    x, w = logit(p[~certain]), or_ones(weights, len(p))[~certain]
    z = float(ndtri((1 + level) / 2))

    def around(value: float, error: float) -> Estimate:
        return Estimate(value, value - z * error, value + z * error)

    both = _information(x, w, line.intercept, line.slope)
    alone = _information(x, w, line.in_the_large, 1.0)[0, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = both[0, 0] * both[1, 1] - both[0, 1] ** 2
        of_intercept, of_slope = (float(np.sqrt(both[i, i] / determinant)) for i in (1, 0))
        of_level = float(1 / np.sqrt(alone))
    return LineIntervals(
        around(line.slope, of_slope),
        around(line.intercept, of_intercept),
        around(line.in_the_large, of_level),
    )


def _information(x: np.ndarray, weights: np.ndarray, intercept: float, slope: float) -> np.ndarray:
    """(2, 2): of intercept and slope; NaN where there is no line."""
    if not (math.isfinite(intercept) and math.isfinite(slope)):
        return np.full((2, 2), math.nan)
    fitted = expit(intercept + slope * x)
    columns = np.column_stack([np.ones(len(x)), x])
    return (columns.T * (weights * fitted * (1 - fitted))) @ columns


def in_the_large(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Calibration in the large, in log-odds; 0 is best (``calibration_line``).

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
        "Rows of class 1 over the sum of the probabilities: above 1 these are too low on average.",
        ".3f",
        target=1.0,
        everyday=False,
    ),
    Metric(
        "in_the_large",
        "Calibration in the large",
        in_the_large,
        None,
        "Intercept of the line of log-odds with slope 1: above 0 the probabilities are too low on average.",
        ".3f",
        target=0.0,
        everyday=False,
        of=calibration_line,
        read=attrgetter("in_the_large"),
    ),
)
