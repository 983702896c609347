"""Binned calibration errors: expected (eq. 8 of Shaker & Hüllermeier 2025), maximum, and bias-corrected.

The mean squared gap is too large by Σ n_b/n · π_b(1 − π_b)/n_b, even for a perfect model. Bröcker (2012, "Estimating
reliability and resolution of probability forecasts through decomposition of the empirical score") and Ferro and
Fricker (2012) subtract its unbiased estimate f_b(1 − f_b)/(n_b − 1). Kumar, Liang and Ma (2019, "Verified uncertainty
calibration") take the root of the difference, or 0 if it is negative.

A model of K classes can be calibrated in one sense but not in another. *Confidence*: of the rows whose highest
probability is 0.8, 80 % are predicted correctly. *Top label*: this holds for each predicted class separately (Gupta and
Ramdas 2022). *Class-wise*: of the rows that give class k a probability of 0.8, 80 % are of class k (Kull et al. 2019).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.kernel.binning import BINS, binned, group_sums
from calib.kernel.checks import Array
from calib.metrics.base import Metric


def expected_calibration_error(
    y: ArrayLike,
    p: ArrayLike,
    bins: ArrayLike = BINS,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return Σ over bins of n_b/n · |observed frequency − mean p|, in [0, 1] (eq. 8).

    Parameters
    ----------
    y : (n,) of 0 and 1
    p : (n,) in [0, 1]
    bins
        Number of bins.
    strategy
        "uniform" for equal width, or "quantile".
    sample_weight
        See ``brier_score``.

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
    bins: ArrayLike = BINS,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the largest |observed frequency − mean p| over non-empty bins, in [0, 1].

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


def corrected_reliability(
    y: ArrayLike,
    p: ArrayLike,
    bins: ArrayLike = BINS,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return Σ n_b/n · ((f_b − p̄_b)² − f_b(1 − f_b)/(n_b − 1)) over bins with at least two rows; 0 or less is best.

    Parameters
    ----------
    y, p, bins, strategy
        See ``expected_calibration_error``.
    sample_weight
        Counts of rows (whole numbers).

    Examples
    --------
    >>> round(corrected_reliability([1, 0, 1, 1], [0.9] * 4), 6)          # (0.75 − 0.9)² − 0.1875 / 3
    -0.04
    """
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    if weights is not None:
        checks.whole_weights(weights, "A bias-corrected calibration error")
    n, observed, mean_p = filled_bins(y, p, bins, strategy, weights)
    chance = np.divide(observed * (1 - observed), n - 1, out=np.zeros(len(n)), where=n > 1)
    corrected = np.where(n > 1, (observed - mean_p) ** 2 - chance, 0.0)
    return float(n @ corrected / n.sum())


def debiased_calibration_error(
    y: ArrayLike,
    p: ArrayLike,
    bins: ArrayLike = BINS,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return √max(0, ``corrected_reliability``), in [0, 1]: the root of the mean squared gap beyond chance.

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


def filled_bins(
    y: ArrayLike, p: ArrayLike, bins: ArrayLike, strategy: str, sample_weight: ArrayLike | None
) -> tuple[Array, Array, Array]:
    """Return the count, observed frequency and mean prediction of each non-empty bin."""
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    placed = binned(p, bins, strategy, weights)
    count = group_sums(placed.index, placed.count, weights=weights)
    filled = count > 0
    ones, total = (group_sums(placed.index, placed.count, values, weights)[filled] for values in (y, p))
    return count[filled], ones / count[filled], total / count[filled]


ECE = Metric(
    "ece",
    "ECE",
    expected_calibration_error,
    False,
    "Expected calibration error: mean absolute difference between mean prediction and observed "
    "frequency, over bins.",
)
MCE = Metric(
    "mce",
    "MCE",
    maximum_calibration_error,
    False,
    "Maximum calibration error: the difference in the worst bin, even if this bin has few rows.",
)
DEBIASED_CE = Metric(
    "debiased_ce",
    "Calibration error, bias-corrected",
    debiased_calibration_error,
    False,
    "Square root of the mean squared gap of the bins, after subtracting the part expected by chance; 0 if "
    "chance explains all of it.",
    everyday=False,
    counted=True,
)


def confidence_calibration_error(
    y: ArrayLike,
    p: ArrayLike,
    bins: ArrayLike = 15,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
    debiased: bool = False,
) -> float:
    """Return the calibration error of the highest probabilities against whether they were right (Guo et al. 2017).

    Parameters
    ----------
    y : (n,) of 0 … K − 1
    p : (n, K)
    bins, strategy, sample_weight
        See ``expected_calibration_error``.
    debiased
        Whether to use ``debiased_calibration_error``.

    Examples
    --------
    >>> P = [[0.8, 0.1, 0.1], [0.8, 0.1, 0.1]]
    >>> round(confidence_calibration_error([0, 1], P), 3)      # right once of two times
    0.3
    """
    y, p = checks.labelled_rows(y, p)
    return _error(debiased)(p.argmax(axis=1) == y, p.max(axis=1), bins, strategy, sample_weight)


def top_label_calibration_error(
    y: ArrayLike,
    p: ArrayLike,
    bins: ArrayLike = 15,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
    debiased: bool = False,
) -> float:
    """Return the calibration error of the confidence within each predicted class, averaged by number of rows.

    Parameters
    ----------
    y, p, bins, strategy, sample_weight, debiased
        See ``confidence_calibration_error``.

    Examples
    --------
    The model is overconfident for class 0 and underconfident for class 1; on average its confidence is right:

    >>> P = [[0.75, 0.25]] * 2 + [[0.25, 0.75]] * 2
    >>> confidence_calibration_error([0, 1, 1, 1], P), top_label_calibration_error([0, 1, 1, 1], P)
    (0.0, 0.25)
    """
    y, p = checks.labelled_rows(y, p)
    weights = checks.weight_vector(sample_weight, len(y))
    predicted, found = p.argmax(axis=1), 0.0
    for k in np.unique(predicted[weights > 0]):
        rows = predicted == k
        selected = None if sample_weight is None else weights[rows]
        error = _error(debiased)(y[rows] == k, p[rows, k], bins, strategy, selected)
        found += weights[rows].sum() / weights.sum() * error
    return float(found)


def classwise_calibration_error(
    y: ArrayLike,
    p: ArrayLike,
    bins: ArrayLike = 15,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
    debiased: bool = False,
) -> float:
    """Return the mean over the classes of the calibration error of each class against the rest (Kull et al. 2019).

    Parameters
    ----------
    y, p, bins, strategy, sample_weight, debiased
        See ``confidence_calibration_error``.

    Examples
    --------
    >>> P = [[0.8, 0.1, 0.1], [0.8, 0.1, 0.1]]
    >>> round(classwise_calibration_error([0, 1], P), 4)       # (0.3 + 0.4 + 0.1) / 3
    0.2667
    """
    y, p = checks.labelled_rows(y, p)
    errors = [_error(debiased)(y == k, p[:, k], bins, strategy, sample_weight) for k in range(p.shape[1])]
    return float(np.mean(errors))


def _error(debiased: bool) -> Callable[[Array, Array, ArrayLike, str, Any], float]:
    return debiased_calibration_error if debiased else expected_calibration_error


def _metric(key: str, label: str, function: Callable[..., float], help: str) -> Metric:
    return Metric(key, label, function, False, help, of_classes=(label, help))


CONFIDENCE_ECE = _metric(
    "confidence_ece",
    "Confidence ECE",
    confidence_calibration_error,
    "Calibration error of each row's highest probability (the confidence), in the bins of the diagram.",
)
TOP_LABEL_ECE = _metric(
    "top_label_ece",
    "Top-label ECE",
    top_label_calibration_error,
    "ECE of the confidence within each predicted class, averaged over rows.",
)
CLASSWISE_ECE = _metric(
    "classwise_ece",
    "Class-wise ECE",
    classwise_calibration_error,
    "Calibration error of each class against the rest, averaged over the classes.",
)
