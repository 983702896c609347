"""Accuracy, and the difference between estimated and observed accuracy (Table 3 of Johansson et al., probability
estimation trees, 2019).
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from calib.metrics.base import Metric
from calib.metrics.losses import class_hits, hits, mean_loss, overconfidence


def accuracy(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the share of rows whose predicted label (1 if p > 0.5) is right; of K classes, the most probable one.

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> accuracy([1, 0, 1], [0.9, 0.5, 0.5])          # p = 0.5 predicts 0
    0.6666666666666666
    """
    return mean_loss(hits, y, p, sample_weight, class_hits)


def accuracy_gap(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return estimated minus observed accuracy, in [−1, 1]: the mean of max(p, 1 − p) minus the accuracy.

    Above 0 the model is overconfident, below 0 underconfident (Johansson et al. 2019, trees, Table 3).

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> round(accuracy_gap([1, 0], [0.9, 0.7]), 3)    # claims 0.8 on average, is right half the time
    0.3
    """
    return mean_loss(overconfidence, y, p, sample_weight)


ACCURACY = Metric(
    "accuracy",
    "Accuracy",
    accuracy,
    True,
    "Share of rows with the right predicted label.",
    ".1%",
    of_label=True,
    of_classes=("Accuracy, all classes", "Share of rows whose most probable class is the true class."),
)
ACCURACY_GAP = Metric(
    "accuracy_gap",
    "Estimated − observed accuracy",
    accuracy_gap,
    None,
    "Mean confidence minus accuracy. A positive value means that the model is overconfident, a negative "
    "value underconfident.",
    "+.4f",
    target=0.0,
    of_label=True,
)
