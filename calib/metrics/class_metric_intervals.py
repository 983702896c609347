"""Confidence intervals of metrics of K classes on test rows, built on the two-class intervals of ``confidence``.

Accuracy is a share (Wilson). Log loss and Brier score are means over rows, split by whether the predicted class was
right. AUC is the mean of K areas: the influences of a row on them (DeLong) are added up before they are squared. The
three calibration errors are sums Σ |Γ_c| over cells: a bin of the confidence, a bin among the rows of a predicted
class, or a bin of one class's probability. ``distances`` bounds such sums, even near 0. Cells are ordered by bin first
and by class second, because most models are over- or underconfident above some probability in all classes.

An interval of the calibration errors holds for the error of the population in the same bins. So does that of their
bias-corrected forms, N = Σ_v c_v √(Σ_b Γ_b² / s_b) over views v (a class, or all rows) with s_b the share of rows in a
cell. It inverts a test: N is kept if the estimate lies between the quantiles of the estimates for gaps of the observed
shape and that size, with noise drawn as for Σ |Γ_c|. In cells of few rows the size of the noise is uncertain. So the
noise is drawn twice, as the rows show it and as at least that of a calibrated model, and the interval includes both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import expit, logit, stdtrit

from calib.kernel import checks
from calib.kernel.binning import binned, checked_bins, group_sums
from calib.kernel.checks import Array
from calib.kernel.rows import Rows
from calib.metrics.confidence_intervals import (
    LEAST_ERROR,
    LEVEL,
    NO_ENDS,
    Ends,
    View,
    auc_influence,
    mean_interval,
    share_interval,
)
from calib.metrics.distances import LEAST_SPREAD as LEAST
from calib.metrics.distances import Gaps, Noise, distance_interval, simulate_noise
from calib.metrics.ece import (
    classwise_calibration_error,
    confidence_calibration_error,
    top_label_calibration_error,
)
from calib.metrics.losses import class_hits, class_log_losses, class_squared_errors

CLASS_BINS = 15
MOST_CLASS_CELLS = 700  # cells whose noise is drawn jointly; time grows with the third power
# Fewest rows of each class, also of one that is absent, for an interval of the AUC or of UNC
TOO_FEW_OF_CLASS = 5
HALVINGS = 17  # of the range in which an end is searched: to 0.00001
Cell = tuple[Array, Array, Array, Array, Array]
"""Rows, outcomes, probabilities, and the numbers of the cell and of the view."""
Placer = Callable[[Array, Array], Array]
"""Function (probabilities, their rows) → their bins."""


def class_rows(
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> tuple[Rows, Array, Array]:
    """Return the checked rows, with the outcome "the predicted class is right", their classes (n,) and P (n, K)."""
    labels, P = checks.labelled_rows(y, p)
    right = class_hits(labels, P).astype(np.intp)
    rows, (labels, P) = Rows.checked(
        right, labels, P, sample_weight=sample_weight, counts=counts, cluster=cluster
    )
    return rows, labels, P


def class_metric_interval(
    metric: str,
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    *,
    counts: ArrayLike | None = None,
    level: float = LEVEL,
    bins: ArrayLike = CLASS_BINS,
    strategy: str = "uniform",
    random_state: int = 0,
) -> Ends:
    """Return (low, high) of one of ``CLASS_METRIC_INTERVALS`` on rows of K classes; NaN if no interval would cover.

    Parameters
    ----------
    metric
        Key of ``CLASS_METRIC_INTERVALS``.
    y : (n,) of 0 … K − 1
    p : (n, K)
    sample_weight, cluster, counts, level, bins, strategy, random_state
        See ``confidence_interval``; the bins are those of calibration errors.

    Raises
    ------
    InputError
        If an argument is invalid.

    Examples
    --------
    >>> P = np.tile(np.eye(3) * 0.7 + 0.1, (20, 1))
    >>> low, high = class_metric_interval("accuracy", np.tile([0, 1, 2], 20), P)       # all right: 60 / (60 + 1.96²)
    >>> round(low, 4), high
    (0.9398, 1.0)
    """
    checks.one_of(metric, CLASS_METRIC_INTERVALS, "metric")
    checks.in_range(level, "level", 0, 1, open_ends=True)
    rows, labels, P = class_rows(y, p, sample_weight, cluster, counts)
    return CLASS_METRIC_INTERVALS[metric](
        rows, labels, P, View(level, checked_bins(bins), strategy, random_state)
    )


def corrected_interval(
    metric: str,
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    *,
    counts: ArrayLike | None = None,
    level: float = LEVEL,
    bins: ArrayLike = CLASS_BINS,
    strategy: str = "uniform",
    random_state: int = 0,
) -> Ends:
    """Return (low, high) of the bias-corrected form of a calibration error of ``CALIBRATION_ERRORS``.

    The parameters are those of ``class_metric_interval``. NaN if there are more than ``MOST_CLASS_CELLS`` cells, or
    one cluster.

    Examples
    --------
    >>> P = np.tile([0.8, 0.1, 0.1], (400, 1))
    >>> [round(end, 2) for end in corrected_interval("confidence_ece", np.tile([0, 0, 1, 2], 100), P)]  # 0.3 ± 0.05
    [0.25, 0.35]
    """
    checks.one_of(metric, CALIBRATION_ERRORS, "metric")
    checks.in_range(level, "level", 0, 1, open_ends=True)
    rows, labels, P = class_rows(y, p, sample_weight, cluster, counts)
    (cells, views), estimate = CALIBRATION_ERRORS[metric], ESTIMATES[metric]
    view = View(level, checked_bins(bins), strategy, random_state)
    found = _cells_of(rows, list(cells(labels, P, _placer(rows, view))), views(P))
    if found is None:
        return NO_ENDS
    weight = rows.weight if rows.counts is None else rows.counts
    seen = estimate(labels, P, bins=bins, strategy=strategy, sample_weight=weight, debiased=True)
    ends = [(seen, seen)]
    for least in (found.gaps.least, np.zeros(len(found.view))):
        noise = simulate_noise([replace(found.gaps, least=least)], rows, random_state)
        if noise is None:
            return NO_ENDS
        ends += _norm_intervals(found, noise[0], seen, level)
    return min(low for low, _ in ends), max(high for _, high in ends)


def _accuracy(rows: Rows, y: Array, P: Array, view: View) -> Ends:
    return share_interval(rows, class_hits(y, P), view.level)


def _of_mean(loss: Callable[[Array, Array], Array], most: float) -> Callable[..., Ends]:
    def ends(rows: Rows, y: Array, P: Array, view: View) -> Ends:
        _, low, high = mean_interval(rows, loss(y, P), view.level)
        return (max(low, 0.0), min(high, most)) if math.isfinite(low) else NO_ENDS

    return ends


def fewest_of_class(rows: Rows, y: Array, classes: int) -> float:
    """Return the effective number of rows of the rarest of the classes 0 … ``classes`` − 1 in y (n,).

    >>> fewest_of_class(Rows(np.zeros(3, int)), np.array([0, 1, 1]), 2)
    1.0
    """
    return min(rows.effective_number(y == k) for k in range(classes))


def _auc(rows: Rows, y: Array, P: Array, view: View) -> Ends:
    fewest = fewest_of_class(rows, y, P.shape[1])
    if fewest < TOO_FEW_OF_CLASS or rows.single_cluster:
        return NO_ENDS
    areas, influence = [], np.zeros(rows.n)
    for k in range(P.shape[1]):
        binary = Rows((y == k).astype(np.intp), weight=rows.weight, counts=rows.counts, cluster=rows.cluster)
        area, moves = auc_influence(binary, P[:, k])
        areas.append(area)
        influence += moves / P.shape[1]
    area, error = float(np.mean(areas)), rows.standard_error(influence)
    if not (0 < area < 1 and error > LEAST_ERROR):
        return NO_ENDS
    tail = (1 + view.level) / 2
    quantile = (
        rows.quantile(view.level) if rows.cluster is not None else float(stdtrit(max(fewest - 1, 1.0), tail))
    )
    half = quantile * error / (area * (1 - area))
    return float(expit(logit(area) - half)), float(expit(logit(area) + half))


def _distance(metric: str) -> Callable[..., Ends]:
    def ends(rows: Rows, y: Array, P: Array, view: View) -> Ends:
        cells, views = CALIBRATION_ERRORS[metric]
        found = _cells_of(rows, list(cells(y, P, _placer(rows, view))), views(P))
        return NO_ENDS if found is None else distance_interval(found.gaps, rows, view.level, view.seed)

    return ends


@dataclass(frozen=True, eq=False)
class Cells:
    """The gaps of C cells that are not empty.

    Attributes
    ----------
    gaps
        Over the number of views.
    share : (C,)
        Share of the rows in a cell, of all rows.
    view : int (C,)
        The class of a cell, whose gaps form one root of a mean square.
    """

    gaps: Gaps
    share: Array
    view: Array


def _cells_of(rows: Rows, cells: list[Cell], views: int) -> Cells | None:
    """Return all non-empty cells, gaps divided by the number of views; None if there are too many."""
    at, hit, p, number, view = (np.concatenate(each) for each in zip(*cells, strict=True))
    filled, first, number = np.unique(number, return_index=True, return_inverse=True)
    k = len(filled)
    if k > MOST_CLASS_CELLS:
        return None
    total = rows.weights.sum()
    away = (hit - p) / views
    influence = csr_array((away, (at, number)), shape=(rows.n, k))
    squares = (rows.weights**2 / rows.draws)[at]
    least = group_sums(number, k, p * (1 - p), squares) / (total * views) ** 2
    gaps = Gaps(group_sums(number, k, away, rows.weights[at]) / total, influence, np.eye(k), least)
    return Cells(gaps, group_sums(number, k, weights=rows.weights[at]) / total, view[first])


def _norm_intervals(cells: Cells, noise: Noise, seen: float, level: float) -> list[Ends]:
    """Return the ends of Σ_v c_v √(Σ_b Γ_b² / s_b), c_v² the share of the rows in a view, for two shapes of the gaps.

    The shapes are the observed gaps, and what is left of them without noise.
    """
    _, view = np.unique(cells.view, return_inverse=True)
    of_view = np.equal.outer(view, np.arange(view.max() + 1)).astype(float)
    factor = np.sqrt(cells.share @ of_view)
    gaps, draws = noise.values / np.sqrt(cells.share), noise.draws / np.sqrt(cells.share)
    bias, squared = noise.deviation**2 / cells.share @ of_view, draws**2 @ of_view

    def size(squares: Array) -> Array:
        return np.sqrt(np.maximum(squares - bias, 0.0)) @ factor

    left = np.sqrt(np.maximum(1 - noise.deviation**2 / np.maximum(noise.values**2, LEAST), 0.0))
    ends = []
    for shape in (gaps, gaps * left):
        whole = float(np.sqrt(shape**2 @ of_view) @ factor)
        if whole > 0:
            unit = shape / whole
            ends.append(_kept(seen, unit**2 @ of_view, 2 * (draws * unit) @ of_view, squared, size, level))
    return ends


def _kept(
    seen: float, squared: Array, cross: Array, noise: Array, size: Callable[[Array], Array], level: float
) -> Ends:
    """Return the smallest and the largest N for which ``seen`` is between the quantiles of the estimates.

    ``squared`` (V,), ``cross`` and ``noise`` (draws, V) are terms of the squared norm of N · unit + noise in each view.
    """
    tail = (1 - level) / 2

    def end(reached: Callable[[Array], bool]) -> float:
        """Return the smallest N of which the estimates have ``reached`` what was seen."""
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            found = size(middle**2 * squared + middle * cross + noise)
            low, high = (low, middle) if reached(found) else (middle, high)
        return high if low > 0 else 0.0

    return (
        end(lambda found: float(np.quantile(found, 1 - tail)) >= seen),
        end(lambda found: float(np.quantile(found, tail)) > seen),
    )


def _placer(rows: Rows, view: View) -> Placer:
    """Return a function for the bins (m,) of probabilities p (m,) of the rows at (m,)."""

    def bins_of(p: Array, at: Array) -> Array:
        weight = None if rows.weight is None else rows.weight[at]
        return binned(p, view.bins, view.strategy, weight).index

    return bins_of


def _of_confidence(y: Array, P: Array, bins_of: Placer) -> Iterator[Cell]:
    at, p = np.arange(len(y)), P.max(axis=1)
    yield at, class_hits(y, P), p, bins_of(p, at), np.zeros(len(y), np.intp)


def _of_top_label(y: Array, P: Array, bins_of: Placer) -> Iterator[Cell]:
    p, top, number = P.max(axis=1), P.argmax(axis=1), np.empty(len(y), np.intp)
    for k in np.unique(top):
        at = np.flatnonzero(top == k)
        number[at] = bins_of(p[at], at) * P.shape[1] + k
    yield np.arange(len(y)), class_hits(y, P), p, number, top


def _of_classes(y: Array, P: Array, bins_of: Placer) -> Iterator[Cell]:
    at = np.arange(len(y))
    for k in range(P.shape[1]):
        number = bins_of(P[:, k], at) * P.shape[1] + k
        yield at, (y == k).astype(float), P[:, k], number, np.full(len(y), k)


CALIBRATION_ERRORS: Mapping[
    str, tuple[Callable[[Array, Array, Placer], Iterator[Cell]], Callable[[Array], int]]
] = {
    "confidence_ece": (_of_confidence, lambda P: 1),
    "top_label_ece": (_of_top_label, lambda P: 1),
    "classwise_ece": (_of_classes, lambda P: P.shape[1]),
}
"""Calibration error → its cells, and the number of views over which it is a mean."""
ESTIMATES: Mapping[str, Callable[..., float]] = {
    "confidence_ece": confidence_calibration_error,
    "top_label_ece": top_label_calibration_error,
    "classwise_ece": classwise_calibration_error,
}
"""Calibration error → its function, with ``debiased``."""

CLASS_METRIC_INTERVALS: Mapping[str, Callable[..., Ends]] = {
    "log_loss": _of_mean(class_log_losses, math.inf),
    "brier": _of_mean(class_squared_errors, 2.0),
    "accuracy": _accuracy,
    "auc": _auc,
    **{metric: _distance(metric) for metric in CALIBRATION_ERRORS},
}
"""Metric of K classes → function (rows, y, P, view) → (low, high)."""
