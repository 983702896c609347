"""Interval of the difference between two methods on the same rows, for each metric.

Variation common to both methods cancels, so a difference is known much better than either value. A mean of losses has
the interval of ``mean_interval`` for the rows' differences. Accuracy has that of Agresti and Min (2005), because rows
on which two methods agree do not prove that they always do. AUC has that of DeLong, DeLong and Clarke-Pearson (1988),
ECE the bounds of ``distances``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.stats import rankdata

from calib.kernel.checks import Array
from calib.kernel.rows import Rows
from calib.metrics.confidence_intervals import (
    FEWEST_PER_CLASS,
    LEAST_ERROR,
    NO_ENDS,
    View,
    auc_influence,
    auc_reach,
    mean_interval,
    plus_four,
)
from calib.metrics.distances import binned_gaps, distance_difference
from calib.metrics.losses import hits, log_losses, squared_errors

Difference = tuple[float, float, float]  # value, low, high


def difference_interval(
    metric: str, rows: Rows, first: Array, second: Array, view: View | None = None
) -> Difference:
    """Return (difference, low, high) of a metric of the predictions ``first`` minus that of ``second``, (n,) each.

    Parameters
    ----------
    metric
        Key of ``METRIC_DIFFERENCES``.
    view
        Level, bins and seed; the defaults of ``View``.

    Returns
    -------
    tuple
        Difference and interval. Differences below 1e-12 become 0. The ends are NaN if no interval would cover.

    Examples
    --------
    >>> rows, p = Rows(np.array([0, 1] * 50)), np.array([0.25, 0.75] * 50)
    >>> difference_interval("brier", rows, p, p)
    (0.0, 0.0, 0.0)
    """
    if np.allclose(first, second, rtol=0, atol=LEAST_ERROR):
        return 0.0, 0.0, 0.0
    found = METRIC_DIFFERENCES[metric](rows, first, second, view or View())
    return _without_rounding(found[0]), _without_rounding(found[1]), _without_rounding(found[2])


def _without_rounding(value: float) -> float:
    return 0.0 if abs(value) < LEAST_ERROR else float(value)


def _of_losses(loss: Callable[[Array, Array], Array]) -> Callable[[Rows, Array, Array, View], Difference]:
    def difference(rows: Rows, first: Array, second: Array, view: View) -> Difference:
        with np.errstate(invalid="ignore"):  # ∞ − ∞ is NaN
            return mean_interval(rows, loss(rows.y, first) - loss(rows.y, second), view.level)

    return difference


def _accuracy(rows: Rows, first: Array, second: Array, view: View) -> Difference:
    """Return the difference and its interval, with half a row added to each of the four outcomes."""
    change = hits(rows.y, first) - hits(rows.y, second)
    center, quantile = rows.mean(change), rows.quantile(view.level)
    if rows.cluster is not None:
        half = quantile * rows.standard_error(change)
        return center, center - half, center + half
    n = rows.effective_size
    middle, half = plus_four(n, n * rows.mean(np.abs(change)), n * center, quantile)
    return center, max(middle - half, -1.0), min(middle + half, 1.0)


def _auc(rows: Rows, first: Array, second: Array, view: View) -> Difference:
    (one, influence), (other, less) = auc_influence(rows, first), auc_influence(rows, second)
    alike = abs(one - other) < LEAST_ERROR and np.allclose(influence, less, rtol=0, atol=LEAST_ERROR)
    # With few rows, agreement may be chance, unless both rank all rows alike
    if alike and (rows.fewest >= FEWEST_PER_CLASS or np.array_equal(rankdata(first), rankdata(second))):
        return 0.0, 0.0, 0.0
    half = auc_reach(rows, influence - less, view.level)
    return (
        (one - other, one - other - half, one - other + half)
        if half > LEAST_ERROR
        else (one - other, *NO_ENDS)
    )


def _ece(rows: Rows, first: Array, second: Array, view: View) -> Difference:
    one, other = (binned_gaps(rows, p, view.bins, view.strategy) for p in (first, second))
    value = float(np.abs(one.values).sum() - np.abs(other.values).sum())
    return value, *distance_difference(one, other, rows, view.level, view.seed)


METRIC_DIFFERENCES: Mapping[str, Callable[[Rows, Array, Array, View], Difference]] = {
    "brier": _of_losses(squared_errors),
    "log_loss": _of_losses(log_losses),
    "ece": _ece,
    "auc": _auc,
    "accuracy": _accuracy,
}
