"""Compare probability intervals with observed frequencies: over all rows, per bin, and for the predicted label.

Corollary 1 of Vovk & Petej (2014): for a Venn predictor, the probability of class 1 is between the expected p0 and the
expected p1. Intervals of the predicted label: eq. 5–6 and Table 4 of Johansson et al., forests (2019).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm

from calib.kernel import checks
from calib.kernel.binning import PerBin, binned, group_sums
from calib.kernel.checks import Array
from calib.kernel.weights import are_whole, or_ones
from calib.metrics.base import Metric, NumberOf

#: Sampling error allowed on either side of the mean interval: 95 %, two-sided.
ALLOWED_ERRORS = norm.ppf(0.975)


@dataclass(frozen=True)
class IntervalSummary:
    """Means of intervals over rows, and the observed frequency.

    Attributes
    ----------
    lower, upper
        Mean ends, each pair sorted first.
    width
        Difference upper − lower.
    observed
        Frequency of the event.
    valid
        Whether ``observed`` is in [lower, upper], within sampling error.
    """

    lower: float
    upper: float
    width: float
    observed: float
    valid: bool

    def to_frame(self) -> pd.DataFrame:
        return pd.DataFrame([asdict(self)])


@dataclass(frozen=True, eq=False)
class IntervalBins(PerBin):
    """Interval summaries of bins, as arrays (B,); NaN if a bin is empty. They are descriptive: no theorem holds per
    bin.

    Attributes
    ----------
    edges : (B + 1,)
    center
        Mean of the binned values.
    count
        Number of rows in the bin.
    """

    edges: Array
    center: Array
    count: Array
    lower: Array
    upper: Array
    width: Array
    observed: Array


def interval_summary(
    y: ArrayLike,
    intervals: ArrayLike,
    *,
    calibration_size: int | None = None,
    design_effect: float = 1.0,
    sample_weight: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> IntervalSummary:
    """Compare the mean interval with the observed frequency of class 1.

    ``valid`` allows for sampling error: the frequency may be below the mean lower end, or above the mean upper end, by
    1.96 standard errors √(v (1/m + 1/c)), with v the mean of q(1 − q) over that end, m the number of rows and c that
    of calibration rows. 1/c is omitted if c is not given. It matters if intervals are narrow, because their ends then
    vary more between calibration sets than they differ.

    Parameters
    ----------
    y : (m,) of 0 and 1
    intervals : (m, 2)
        p0 and p1 in either order.
    calibration_size
        Number of calibration rows of the intervals.
    design_effect
        Number of rows that are worth one independent row, if rows of a cluster are similar.
    sample_weight
        See ``brier_score``.
    counts : (m,)
        Number of rows that each row represents, if weights are more than counts, as at a deployment base rate.

    Raises
    ------
    InputError
        If an argument is invalid.

    Examples
    --------
    >>> interval_summary([1, 0], [[0.5, 0.75], [0.5, 0.25]])
    IntervalSummary(lower=0.375, upper=0.625, width=0.25, observed=0.5, valid=True)
    """
    weights, y, pairs = checks.counted_rows(sample_weight, *_labelled_pairs(y, intervals), counts)
    weights = or_ones(weights, len(y))
    ends = np.minimum(*pairs.T), np.maximum(*pairs.T)
    lower, upper = (np.average(end, weights=weights) for end in ends)
    observed = np.average(y, weights=weights)
    smaller = 1 / weights.sum()
    if calibration_size is not None:
        smaller += 1 / checks.in_range(calibration_size, "calibration_size", low=1, integer=True)
    variance = (
        np.array([np.average(end * (1 - end), weights=weights) for end in ends]) * smaller * design_effect
    )
    below, above = ALLOWED_ERRORS * np.sqrt(variance) + 1e-12  # 1e-12: rounding only
    valid = bool(lower - below <= observed <= upper + above)
    return IntervalSummary(float(lower), float(upper), float(upper - lower), float(observed), valid)


def interval_bins(
    y: ArrayLike,
    intervals: ArrayLike,
    by: ArrayLike,
    *,
    bins: ArrayLike = 10,
    strategy: str = "quantile",
    sample_weight: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> IntervalBins:
    """Return the mean interval and observed frequency within bins of ``by``, a score or a merged probability (m,).

    Parameters
    ----------
    strategy
        "quantile" for any score, "uniform" for probabilities.
    sample_weight, counts
        See ``interval_summary``.

    Examples
    --------
    >>> interval_bins([1, 0], [[0.5, 0.75], [0.5, 0.25]], by=[0.6, 0.3], bins=2, strategy="uniform").to_frame()
       left  right  center  count  lower  upper  width  observed
    0   0.0    0.5     0.3      1   0.25   0.50   0.25       0.0
    1   0.5    1.0     0.6      1   0.50   0.75   0.25       1.0
    """
    y, pairs = _labelled_pairs(y, intervals)
    by = (checks.probability_vector if strategy == "uniform" else checks.score_vector)(by, "by")
    checks.same_length(y=y, by=by)
    if sample_weight is not None:
        by = by[checks.weight_vector(sample_weight, len(y)) > 0]
    weights, y, pairs = checks.counted_rows(sample_weight, y, pairs, counts)
    placed = binned(by, bins, strategy, weights)
    ends = np.sort(pairs, axis=1)
    count = group_sums(placed.index, placed.count, weights=weights)
    divisor = np.where(count > 0, count, np.nan)
    center, lower, upper, observed = (
        group_sums(placed.index, placed.count, values, weights) / divisor
        for values in (by, ends[:, 0], ends[:, 1], y)
    )
    rows = count.astype(np.intp) if are_whole(count) else count
    return IntervalBins(placed.edges, center, rows, lower, upper, upper - lower, observed)


def predicted_label_intervals(intervals: ArrayLike) -> tuple[Array, Array]:
    """Return the label with the larger lower probability (m,), and the interval of its probability (m, 2).

    The interval is [p0, p1] if the label is 1, [1 − p1, 1 − p0] if it is 0 (eq. 5–6). The label is 1 if p0 > 1 − p1,
    which is when each of the three merge rules gives a p above 0.5.

    Parameters
    ----------
    intervals : (m, 2)
        p0 and p1 in either order.

    Examples
    --------
    >>> labels, ends = predicted_label_intervals([[0.5, 0.75], [0.125, 0.25]])
    >>> labels, ends
    (array([1, 0]), array([[0.5  , 0.75 ],
           [0.75 , 0.875]]))
    """
    ends = np.sort(checks.probability_pairs(intervals), axis=1)
    labels = (ends[:, 0] > 1 - ends[:, 1]).astype(np.intp)
    return labels, np.where(labels[:, None] == 1, ends, 1 - ends[:, ::-1])


def predicted_label_summary(
    y: ArrayLike,
    intervals: ArrayLike,
    *,
    calibration_size: int | None = None,
    design_effect: float = 1.0,
    sample_weight: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> IntervalSummary:
    """Compare the mean intervals of the predicted label with the accuracy (``observed``).

    Source: Table 4 of the forest paper, Table 7 of the trees paper.

    Parameters
    ----------
    y, intervals, calibration_size, design_effect, sample_weight, counts
        See ``interval_summary``.

    Examples
    --------
    >>> predicted_label_summary([1, 1], [[0.5, 0.75], [0.125, 0.25]])
    IntervalSummary(lower=0.625, upper=0.8125, width=0.1875, observed=0.5, valid=True)
    """
    y, pairs = _labelled_pairs(y, intervals)
    labels, ends = predicted_label_intervals(pairs)
    return interval_summary(
        labels == y,
        ends,
        calibration_size=calibration_size,
        design_effect=design_effect,
        sample_weight=sample_weight,
        counts=counts,
    )


def _labelled_pairs(y: ArrayLike, intervals: ArrayLike) -> tuple[Array, Array]:
    labels, pairs = checks.binary_labels(y), checks.probability_pairs(intervals)
    checks.same_length(y=labels, intervals=pairs)
    checks.not_empty(labels, "y")
    return labels, pairs


LOWER = Metric(
    "lower",
    "Mean lower end",
    NumberOf(interval_summary, "lower"),
    None,
    "Mean lower end of the intervals.",
    needs="intervals",
)
UPPER = Metric(
    "upper",
    "Mean upper end",
    NumberOf(interval_summary, "upper"),
    None,
    "Mean upper end of the intervals.",
    needs="intervals",
)
WIDTH = Metric(
    "width",
    "Mean width",
    NumberOf(interval_summary, "width"),
    False,
    "Mean width of the intervals.",
    needs="intervals",
)
LABEL_LOWER = Metric(
    "label_lower",
    "Mean lower end, predicted label",
    NumberOf(predicted_label_summary, "lower"),
    None,
    "Mean lower end of the intervals for the predicted label; compare it with the accuracy.",
    needs="intervals",
    everyday=False,
    of_label=True,
)
LABEL_UPPER = Metric(
    "label_upper",
    "Mean upper end, predicted label",
    NumberOf(predicted_label_summary, "upper"),
    None,
    "Mean upper end of the intervals for the predicted label; compare it with the accuracy.",
    needs="intervals",
    everyday=False,
    of_label=True,
)
