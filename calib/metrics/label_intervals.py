"""Mean ends of the interval of the predicted label's probability (Johansson et al., forests 2019, eq. 5–6, Table 4).

The ends of class 1's interval where 1 is predicted, one minus them where 0 is: to compare with the
accuracy.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from calib.metrics.base import Metric
from calib.metrics.intervals import predicted_label_summary


def label_lower(y: ArrayLike, intervals: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Mean lower end of the predicted label's intervals, in [0, 1].

    Parameters
    ----------
    y, intervals, sample_weight
        See ``predicted_label_summary``.

    Examples
    --------
    >>> label_lower([1, 1], [[0.5, 0.75], [0.125, 0.25]])    # 0.5, and 1 − 0.25 of label 0
    0.625
    """
    return predicted_label_summary(y, intervals, sample_weight=sample_weight).lower


def label_upper(y: ArrayLike, intervals: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Mean upper end of the predicted label's intervals, in [0, 1].

    Parameters
    ----------
    y, intervals, sample_weight
        See ``predicted_label_summary``.

    Examples
    --------
    >>> label_upper([1, 1], [[0.5, 0.75], [0.125, 0.25]])    # 0.75, and 1 − 0.125 of label 0
    0.8125
    """
    return predicted_label_summary(y, intervals, sample_weight=sample_weight).upper


LABEL_LOWER = Metric(
    "label_lower",
    "Mean lower end, predicted label",
    label_lower,
    None,
    "Mean lower end of the intervals for the predicted label; compare it with the accuracy.",
    needs="intervals",
    everyday=False,
)
LABEL_UPPER = Metric(
    "label_upper",
    "Mean upper end, predicted label",
    label_upper,
    None,
    "Mean upper end of the intervals for the predicted label; compare it with the accuracy.",
    needs="intervals",
    everyday=False,
)
