"""Calibration errors of K classes: of the confidence, of the predicted label, and of one class at a time.

A model can be calibrated in one sense but not in another. *Confidence*: of the rows whose highest probability is 0.8,
80 % are predicted correctly. *Top label*: this holds for each predicted class separately (Gupta and Ramdas 2022).
*Class-wise*: of the rows that give class k a probability of 0.8, 80 % are of class k (Kull et al. 2019).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.kernel.checks import Array
from calib.metrics.base import Metric
from calib.metrics.ece import debiased_calibration_error, expected_calibration_error


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
