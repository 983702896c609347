"""Confidence intervals of metrics of K classes on test rows, built on the two-class intervals of ``confidence``.

Accuracy is a share (Wilson). Log loss and Brier score are means over rows, split by whether the predicted class was
right. AUC is the mean of K areas: the influences of a row on them (DeLong) are added up before they are squared. The
three calibration errors are sums Σ |Γ_c| over cells: a bin of the confidence, a bin among the rows of a predicted
class, or a bin of one class's probability. ``distances`` bounds such sums, even near 0. Cells are ordered by bin first
and by class second, because most models are over- or underconfident above some probability in all classes.

An interval of the calibration errors is for the population's error in the same bins. The bias-corrected forms, which
estimate the root of the mean squared gap, have no other interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import expit, logit, stdtrit

from calib.kernel import checks
from calib.kernel.binning import bin_index, group_sums
from calib.kernel.checks import Array
from calib.kernel.rows import Rows
from calib.metrics.confidence import (
    FINEST,
    LEVEL,
    UNKNOWN,
    Ends,
    auc_influence,
    mean_interval,
    share_interval,
)
from calib.metrics.distances import Gaps, distance_interval
from calib.metrics.losses import joint_hits, joint_log_losses, joint_squared_errors

BINS = 15
MOST_CELLS = 700  # cells whose noise is drawn jointly; time grows with the third power
FEWEST_OF_CLASS = 5  # fewest rows of a class for an interval of the AUC
Cell = tuple[Array, Array, Array, Array]  # rows, outcomes, probabilities, number of the cell


def joint_interval(
    metric: str,
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    *,
    counts: ArrayLike | None = None,
    level: float = LEVEL,
    random_state: int = 0,
) -> Ends:
    """Return (low, high) of one of ``JOINT_INTERVALS`` on rows of K classes; NaN if no interval would cover.

    Parameters
    ----------
    metric
        Key of ``JOINT_INTERVALS``.
    y : (n,) of 0 … K − 1
    p : (n, K)
    sample_weight, cluster, counts, level, random_state
        See ``confidence_interval``.

    Raises
    ------
    InputError
        If an argument is invalid.

    Examples
    --------
    >>> P = np.tile(np.eye(3) * 0.7 + 0.1, (20, 1))
    >>> low, high = joint_interval("accuracy", np.tile([0, 1, 2], 20), P)       # all right: 60 / (60 + 1.96²)
    >>> round(low, 4), high
    (0.9398, 1.0)
    """
    checks.one_of(metric, JOINT_INTERVALS, "metric")
    checks.in_range(level, "level", 0, 1, open_ends=True)
    labels, P = checks.labelled_rows(y, p)
    right = joint_hits(labels, P).astype(np.intp)
    rows, (labels, P) = Rows.checked(
        right, labels, P, sample_weight=sample_weight, counts=counts, cluster=cluster
    )
    return JOINT_INTERVALS[metric](rows, labels, P, level, random_state)


def _accuracy(rows: Rows, y: Array, P: Array, level: float, seed: int) -> Ends:
    return share_interval(rows, joint_hits(y, P), level)


def _of_mean(loss: Callable[[Array, Array], Array], most: float) -> Callable[..., Ends]:
    def ends(rows: Rows, y: Array, P: Array, level: float, seed: int) -> Ends:
        _, low, high = mean_interval(rows, loss(y, P), level)
        return (max(low, 0.0), min(high, most)) if math.isfinite(low) else UNKNOWN

    return ends


def _auc(rows: Rows, y: Array, P: Array, level: float, seed: int) -> Ends:
    present = np.unique(y)
    fewest = min((rows.effective_number(y == k) for k in present), default=0.0)
    if len(present) < 2 or fewest < FEWEST_OF_CLASS or rows.single_cluster:
        return UNKNOWN
    areas, influence = [], np.zeros(rows.n)
    for k in present:
        own = Rows((y == k).astype(np.intp), weight=rows.weight, counts=rows.counts, cluster=rows.cluster)
        area, moves = auc_influence(own, P[:, k])
        areas.append(area)
        influence += moves / len(present)
    area, error = float(np.mean(areas)), rows.standard_error(influence)
    if not (0 < area < 1 and error > FINEST):
        return UNKNOWN
    tail = (1 + level) / 2
    quantile = (
        rows.quantile(level) if rows.cluster is not None else float(stdtrit(max(fewest - 1, 1.0), tail))
    )
    half = quantile * error / (area * (1 - area))
    return float(expit(logit(area) - half)), float(expit(logit(area) + half))


def _distance(
    cells: Callable[[Array, Array], Iterator[Cell]], views: Callable[[Array], int]
) -> Callable[..., Ends]:
    def ends(rows: Rows, y: Array, P: Array, level: float, seed: int) -> Ends:
        gaps = _gaps(rows, list(cells(y, P)), views(P))
        return UNKNOWN if gaps is None else distance_interval(gaps, rows, level, seed)

    return ends


def _gaps(rows: Rows, cells: list[Cell], views: int) -> Gaps | None:
    """Return the gaps of all non-empty cells, divided by the number of views; None if there are too many."""
    at, hit, p, number = (np.concatenate(each) for each in zip(*cells, strict=True))
    filled, number = np.unique(number, return_inverse=True)
    k = len(filled)
    if k > MOST_CELLS:
        return None
    total = rows.weights.sum()
    away = (hit - p) / views
    influence = csr_array((away, (at, number)), shape=(rows.n, k))
    squares = (rows.weights**2 / rows.draws)[at]
    least = group_sums(number, k, p * (1 - p), squares) / (total * views) ** 2
    return Gaps(group_sums(number, k, away, rows.weights[at]) / total, influence, np.eye(k), least)


def _of_confidence(y: Array, P: Array) -> Iterator[Cell]:
    p = P.max(axis=1)
    yield np.arange(len(y)), joint_hits(y, P), p, bin_index(p, BINS)


def _of_top_label(y: Array, P: Array) -> Iterator[Cell]:
    p = P.max(axis=1)
    yield np.arange(len(y)), joint_hits(y, P), p, bin_index(p, BINS) * P.shape[1] + P.argmax(axis=1)


def _of_classes(y: Array, P: Array) -> Iterator[Cell]:
    for k in range(P.shape[1]):
        yield np.arange(len(y)), (y == k).astype(float), P[:, k], bin_index(P[:, k], BINS) * P.shape[1] + k


JOINT_INTERVALS: Mapping[str, Callable[..., Ends]] = {
    "log_loss": _of_mean(joint_log_losses, math.inf),
    "brier": _of_mean(joint_squared_errors, 2.0),
    "accuracy": _accuracy,
    "auc": _auc,
    "confidence_ece": _distance(_of_confidence, lambda P: 1),
    "top_label_ece": _distance(_of_top_label, lambda P: 1),
    "classwise_ece": _distance(_of_classes, lambda P: P.shape[1]),
}
"""Metric of K classes → function (rows, y, P, level, seed) → (low, high)."""
