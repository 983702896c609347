"""ICI, E50, E90 and Emax: distances between predictions and a smooth curve of the observed frequency.

Austin and Steyerberg 2019, "The integrated calibration index (ICI) and related metrics for quantifying the calibration
of logistic regression models". The curve is their loess (Cleveland 1979): at each p, a parabola fitted to the nearest
three quarters of the rows, with tricube weights, clipped to [0, 1]. It is computed at every distinct prediction,
without R's interpolation between vertices of a tree. More than 2000 distinct predictions are first merged with their
neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.kernel.binning import tricube
from calib.kernel.checks import Array
from calib.kernel.isotonic_regression import Tied, pool_ties
from calib.metrics.base import Metric, NumberOf

SPAN = 0.75
MOST_PLACES = 2000


@dataclass(frozen=True, eq=False)
class SmoothDifferences:
    """Smoothed reliability curve at the distinct predictions.

    Attributes
    ----------
    points : (k,)
        Distinct predictions, increasing.
    weights : (k,)
        Number of rows at each prediction.
    observed : (k,) or (m, k)
        Curve at each prediction, in [0, 1]; ``quantile`` takes m curves too.
    """

    points: Array
    weights: Array
    observed: Array

    @property
    def distances(self) -> Array:
        return np.abs(self.observed - self.points)

    @property
    def mean(self) -> float:
        return float(np.average(self.distances, weights=self.weights))

    @property
    def median(self) -> float:
        return float(self.quantile(0.5))

    @property
    def percentile_90(self) -> float:
        return float(self.quantile(0.9))

    @property
    def largest(self) -> float:
        return float(self.distances.max())

    def quantile(self, share: float) -> Array:
        """Return the smallest distance that at least this share of the rows does not exceed, of each curve."""
        order = np.argsort(self.distances, axis=-1)
        reached = np.cumsum(self.weights[order], axis=-1) / self.weights.sum() >= share - 1e-12
        first = np.take_along_axis(order, np.argmax(reached, axis=-1)[..., None], axis=-1)
        return np.take_along_axis(self.distances, first, axis=-1)[..., 0]


def smooth_differences(
    y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None
) -> SmoothDifferences:
    """Compute the loess curve of the labels over the predictions.

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> found = smooth_differences([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75])
    >>> found.observed.round(6)
    array([0.5, 0.5])
    """
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    tied = pool_ties(p, y, weights)
    if len(tied.scores) > MOST_PLACES:  # groups of neighbours
        shares = np.cumsum(tied.weights) / tied.weights.sum()
        starts = np.unique(np.searchsorted(shares, np.arange(MOST_PLACES) / MOST_PLACES, side="right"))
        tied = tied.grouped(starts)
    observed = np.array([_local(tied, point) for point in tied.scores])
    return SmoothDifferences(tied.scores, tied.weights, np.clip(observed, 0, 1))


def _local(tied: Tied, point: float) -> float:
    """Return loess at one point: the value of the parabola fitted to its neighbours."""
    away = tied.scores - point
    far = np.abs(away)
    order = np.argsort(far, kind="stable")
    needed = np.searchsorted(np.cumsum(tied.weights[order]), (SPAN - 1e-12) * tied.weights.sum())
    reach = far[order[needed]]
    if reach == 0:
        return float(tied.sums[order[0]] / tied.weights[order[0]])
    near = far < reach * (1 + 1e-9)
    root = np.sqrt(tied.weights[near] * tricube(far[near] / reach, least=1e-12))
    design = np.vander(away[near] / reach, 3, increasing=True)
    means = tied.sums[near] / tied.weights[near]
    return float(np.linalg.lstsq(design * root[:, None], means * root, rcond=1e-10)[0][0])


ICI = Metric(
    "ici",
    "ICI",
    NumberOf(smooth_differences, "mean"),
    False,
    "Mean distance between prediction and loess curve (integrated calibration index).",
    everyday=False,
)
E50 = Metric(
    "e50",
    "E50",
    NumberOf(smooth_differences, "median"),
    False,
    "Median distance between prediction and loess curve.",
    everyday=False,
)
E90 = Metric(
    "e90",
    "E90",
    NumberOf(smooth_differences, "percentile_90"),
    False,
    "90th percentile of the distances between prediction and loess curve.",
    everyday=False,
)
EMAX = Metric(
    "emax",
    "Emax",
    NumberOf(smooth_differences, "largest"),
    False,
    "Largest distance between prediction and loess curve.",
    everyday=False,
)
