"""How far predicted probabilities are from what happens: by bins, by a line, by one test, and by the truth where known.

Expected calibration error: eq. 8 of Shaker & Hüllermeier (2025); true calibration error: its eq. 4;
calibration slope and intercept: Cox (1958); the z test: Spiegelhalter (1986).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtr

from calib.kernel import checks
from calib.kernel.binning import binned, group_sums
from calib.kernel.checks import Array
from calib.kernel.likelihood import fit_logistic
from calib.kernel.pav import pool_ties
from calib.kernel.weights import or_ones, squares
from calib.metrics.scoring import brier_score, mean


def expected_calibration_error(
    y: ArrayLike,
    p: ArrayLike,
    bins: int = 20,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Σ over bins of n_b/n · |observed frequency − mean p|, in [0, 1] (eq. 8).

    Parameters
    ----------
    y : (n,) of 0 and 1
    p : (n,) in [0, 1]
    bins
        Their number.
    strategy
        "uniform", equal width, or "quantile".
    sample_weight
        As for ``brier_score``; whole numbers only with quantile bins.

    Examples
    --------
    >>> round(expected_calibration_error([1, 0, 1], [0.61, 0.63, 0.92]), 3)    # 2/3 · |0.5 − 0.62| + 1/3 · |1 − 0.92|
    0.107
    """
    n, observed, mean_p = filled_bins(y, p, bins, strategy, sample_weight)
    return float((n * np.abs(observed - mean_p)).sum() / n.sum())


def maximum_calibration_error(
    y: ArrayLike,
    p: ArrayLike,
    bins: int = 20,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Largest |observed frequency − mean p| over the bins that are not empty, in [0, 1].

    Parameters
    ----------
    y, p, bins, strategy, sample_weight
        See ``expected_calibration_error``.

    Examples
    --------
    >>> round(maximum_calibration_error([1, 0, 1], [0.61, 0.63, 0.92]), 3)
    0.12
    """
    _, observed, mean_p = filled_bins(y, p, bins, strategy, sample_weight)
    return float(np.abs(observed - mean_p).max())


def squared_ece(
    y: ArrayLike,
    p: ArrayLike,
    bins: int = 20,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Unweighted mean of (observed frequency − mean p)² over the bins that are not empty.

    Not eq. 8, but what Table 8 of Shaker & Hüllermeier (2025) holds: only for standing beside it. As there,
    it is the probability of class 0 that is binned, so that a p on an edge belongs to the bin below it.

    Parameters
    ----------
    y, p, bins, strategy, sample_weight
        See ``expected_calibration_error``.

    Examples
    --------
    >>> round(squared_ece([1, 0, 1], [0.61, 0.63, 0.92]), 4)                   # (0.12² + 0.08²) / 2
    0.0104
    """
    y, p = checks.labelled_probabilities(y, p)
    _, observed, mean_p = filled_bins(1 - y, 1 - p, bins, strategy, sample_weight)
    return float(((observed - mean_p) ** 2).mean())


def true_calibration_error(
    posterior: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Mean of (p − π)² against the true P(Y = 1 | x), in [0, 1] (eq. 4).

    Parameters
    ----------
    posterior, p : (n,) in [0, 1]
        Only synthetic data have a posterior.

    Examples
    --------
    >>> round(true_calibration_error([0.5, 0.9], [0.7, 0.9]), 3)
    0.02
    """
    weights, truth, p = checks.counted_rows(sample_weight, *_posterior_and_p(posterior, p))
    return mean((truth - p) ** 2, weights)


def excess_brier(
    y: ArrayLike, p: ArrayLike, posterior: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Brier score of p minus that of the true posterior on the same labels.

    In expectation the true calibration error, and the "CL+GL" curves of Shaker & Hüllermeier (2025); can be
    negative.

    Parameters
    ----------
    y, p, posterior, sample_weight
        (n,) each, as for ``brier_score`` and ``true_calibration_error``.

    Examples
    --------
    >>> round(excess_brier([1, 0], [1.0, 0.0], posterior=[0.5, 0.5]), 3)
    -0.25
    """
    return brier_score(y, p, sample_weight) - brier_score(y, posterior, sample_weight)


def group_entropy(p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Entropy, in bits, of the groups of identical predictions (Shaker & Hüllermeier 2025, Table 3).

    0 when all predictions are equal, log2 n when all differ.

    Parameters
    ----------
    p : (n,) in [0, 1]
    sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> group_entropy([0.25, 0.25, 0.5, 0.75])
    1.5
    """
    p = checks.probability_vector(p, "p")
    checks.not_empty(p, "p")
    weights, p, _ = checks.counted_rows(sample_weight, p, p)
    count = pool_ties(p, p, weights).weights
    share = count / count.sum()
    return float(-(share * np.log2(share)).sum()) + 0.0


@dataclass(frozen=True)
class CalibrationLine:
    """logit P(Y = 1) = intercept + slope · logit p, by maximum likelihood.

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
    """Calibration slope and intercept: a logistic regression of the labels on logit p, without a penalty (Cox 1958).

    A certain prediction (0 or 1) that is right fits every rising line and is left out; if one is wrong no
    line exists and all three are NaN. Slope and intercept are also NaN for one class or for equal
    predictions; when a threshold on p separates the classes the slope is ±∞ and the intercept NaN.
    in_the_large is ±∞ for one class.

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
    """The a that solves Σ w expit(x + a) = Σ w y; both ends of the bracket follow from the extremes of x."""
    middle = logit(np.average(y, weights=weights))
    low, high = middle - x.max(), middle - x.min()
    positives, a = float(weights @ y), float(np.clip(0.0, low, high))
    for _ in range(200):  # Newton's steps inside the bracket, which halve it where they would leave it
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


@dataclass(frozen=True)
class SpiegelhalterTest:
    """
    Attributes
    ----------
    statistic
        Standard normal under perfect calibration.
    pvalue
        Two-sided.
    """

    statistic: float
    pvalue: float


def spiegelhalter_test(
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> SpiegelhalterTest:
    """Are the labels compatible with Y ~ Bernoulli(p)? The Brier score against its expectation (Spiegelhalter 1986).

    z = Σ (y − p)(1 − 2p) / √(Σ (1 − 2p)² p (1 − p)). NaN when every p is 0, ½ or 1 and every certain one is
    right (nothing can contradict then); ±∞ with p-value 0 when a certain one is wrong and nothing else has a
    variance. A row of weight w adds w² times its variance, or w times if the weights count rows. Where clusters
    are known the variance is Σ over clusters of the square of their part of the sum above (Liang & Zeger 1986).

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.
    cluster : (n,)
        Who each row belongs to.
    counts : (n,)
        How many rows each row stands for, if the weights are more than counts, as at a deployment base rate.

    Examples
    --------
    >>> test = spiegelhalter_test([1, 1, 1, 0], [0.75, 0.75, 0.75, 0.75])      # 3 of 4, as predicted
    >>> abs(test.statistic), test.pvalue
    (0.0, 1.0)
    """
    y, p = checks.labelled_probabilities(y, p)
    whose = None if cluster is None else checks.counted_clusters(cluster, sample_weight, len(y))
    own = checks.checked_counts(counts, sample_weight, len(y))
    weights, y, p = checks.counted_rows(sample_weight, y, p, counts)
    weights = or_ones(weights, len(y))
    each = weights * (y - p) * (1 - 2 * p)
    difference = float(each.sum())
    variance = float((squares(weights, own) * (1 - 2 * p) ** 2 * p * (1 - p)).sum())
    if whose is not None and variance > 0:
        variance = float((np.bincount(whose, each) ** 2).sum())
    if variance == 0:
        z = math.copysign(math.inf, difference) if difference else math.nan
    else:
        z = difference / math.sqrt(variance)
    return SpiegelhalterTest(z, float(2 * ndtr(-abs(z))))


def filled_bins(
    y: ArrayLike, p: ArrayLike, bins: int, strategy: str, sample_weight: ArrayLike | None
) -> tuple[Array, Array, Array]:
    """Count, observed frequency and mean prediction of each bin that is not empty."""
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    placed = binned(p, checks.in_range(bins, "bins", low=1, integer=True), strategy, weights)
    count = group_sums(placed.index, placed.count, weights=weights)
    filled = count > 0
    ones, total = (group_sums(placed.index, placed.count, values, weights)[filled] for values in (y, p))
    return count[filled], ones / count[filled], total / count[filled]


def _posterior_and_p(posterior: ArrayLike, p: ArrayLike) -> tuple[Array, Array]:
    truth, p = checks.probability_vector(posterior, "posterior"), checks.probability_vector(p, "p")
    checks.same_length(posterior=truth, p=p)
    checks.not_empty(p, "p")
    return truth, p
