"""Rare events: metrics that say something of them, and diagrams whose predictions fill one corner from 0 to 1."""

from __future__ import annotations

import math

import numpy as np

from calib.analysis.decision import net_benefit
from calib.evaluate import Evaluation
from calib.kernel.binning import quantiles

RARE_SHARE = 0.05
LEADING_METRICS = ("brier", "ece", "log_loss")
LEADING_IF_RARE = ("log_loss", "brier", "observed_expected", "average_precision")
LEAST_GAIN = 0.05  # relative to the net benefit of a perfect rule, which is the share of class 1
THRESHOLDS = np.geomspace(1e-7, 0.99, 500)


def leading_metrics(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the four metrics to show first.

    Accuracy is not among them if the minority class has fewer than 5 % of the rows, because a model that never
    predicts it is nearly always right.

    >>> from calib import check
    >>> [leading_metrics(check([0] * n + [1] * m, [0.5] * (n + m)))[-1] for n, m in ((99, 1), (50, 50), (1, 99))]
    ['average_precision', 'accuracy', 'auc']
    """
    if evaluation.share < RARE_SHARE:
        return LEADING_IF_RARE
    return (*LEADING_METRICS, "auc" if evaluation.share > 1 - RARE_SHARE else "accuracy")


def small_median(evaluation: Evaluation) -> float | None:
    """Return the median prediction (the middle one over calibrators) if it is below 5 %, else None."""
    if not evaluation.predictions:
        return None
    half = np.array([0.5])
    medians = [float(quantiles(each.p, half, each.weight)[0]) for each in evaluation.predictions.values()]
    middle = float(np.median(medians))
    return middle if middle < RARE_SHARE else None


def thresholds_in_use(evaluation: Evaluation) -> float | None:
    """Return the upper end of useful thresholds if predictions are small: 1, 2 or 5 at some decimal place.

    Beyond it no calibrator has a twentieth of the net benefit of a perfect rule. It is at least twice the
    share of class 1, up to which acting on all rows competes. None if predictions are not small.
    """
    if small_median(evaluation) is None:
        return None
    share, weight = evaluation.share, evaluation.weight
    each = [net_benefit(evaluation.y, one.p, THRESHOLDS, weight) for one in evaluation.predictions.values()]
    gained = THRESHOLDS[np.max(each, axis=0) >= LEAST_GAIN * share]
    return _rounded_up(max(2 * share, gained.max(initial=THRESHOLDS[0])))


def _rounded_up(value: float) -> float:
    """Round up to the next of 1, 2 and 5 at any decimal place, at most 1.

    >>> _rounded_up(0.0031), _rounded_up(0.02), _rounded_up(0.6)
    (0.005, 0.02, 1.0)
    """
    places = -math.floor(math.log10(value))
    ends = (round(step * 10.0**-places, places) for step in (1, 2, 5, 10))
    return min(1.0, next(end for end in ends if end >= value))
