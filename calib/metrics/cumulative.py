"""Cumulative differences: the running sum of label minus probability, in the order of the probabilities.

Arrieta-Ibarra, Gujral, Tannen, Tygert and Xu 2022, "Metrics of calibration for probabilistic predictions". With rows
sorted by p, C_k = Σ_{j ≤ k} (y_j − p_j) / n. If predictions are calibrated, C is a random walk about 0. Where it
rises, probabilities are too low, and its slope is the difference. The Kolmogorov–Smirnov statistic is max |C_k|, the
Kuiper statistic max C_k − min C_k, with C_0 = 0. Divided by σ = √(Σ p(1 − p)) / n, they are asymptotically the largest
distance from 0 and the range of Brownian motion on [0, 1], whose distributions are known (Feller 1951). Equal
probabilities have no order: C is evaluated after all of them.

Rows of one cluster are similar, and the walk is then no such random walk. If clusters are known, the p-values are
those of walks in which the differences of each cluster change their sign together at random. Under calibration,
clusters are independent and their differences have mean 0 (a wild bootstrap, Cameron, Gelbach & Miller 2008).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import ndtr

from calib.kernel import checks
from calib.kernel.checks import Array
from calib.kernel.isotonic_regression import pool_ties
from calib.kernel.weights import or_ones, squares
from calib.metrics.base import Metric, NumberOf

SERIES_TERMS = 100
TOSSES, MOST_STRETCHES = 399, 2000  # walks with random signs; most stretches of such a walk
NUMBERS_AT_ONCE = 4_000_000  # numbers held at once


@dataclass(frozen=True, eq=False)
class CumulativeDifferences:
    """Walk of cumulative differences and its two statistics.

    Attributes
    ----------
    share
        Share of the rows up to each point, (k + 1,), from 0 to 1.
    walk
        C at these points, (k + 1,), from 0.
    probability
        Probability of each stretch, (k,).
    sigma
        Standard deviation of the end of the walk under calibration.
    by_chance
        If clusters are known, how often walks with random signs are as far from 0 (Kolmogorov–Smirnov) and span as
        much (Kuiper).
    """

    share: Array
    walk: Array
    probability: Array
    sigma: float
    by_chance: tuple[float, float] | None = None

    @property
    def kolmogorov_smirnov(self) -> float:
        return float(np.abs(self.walk).max())

    @property
    def kuiper(self) -> float:
        return float(np.ptp(self.walk))

    @property
    def kolmogorov_smirnov_p(self) -> float:
        return (
            self.by_chance[0] if self.by_chance else _tail(self.kolmogorov_smirnov, self.sigma, farthest_tail)
        )

    @property
    def kuiper_p(self) -> float:
        return self.by_chance[1] if self.by_chance else _tail(self.kuiper, self.sigma, range_tail)


def cumulative_differences(
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> CumulativeDifferences:
    """Compute the walk of cumulative differences, with one step per distinct probability.

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.
    cluster : (n,)
        Cluster of each row.
    counts : (n,)
        Number of rows that each row represents, if weights are more than counts, as with a deployment base rate.

    Examples
    --------
    >>> cumulative_differences([1, 1, 0, 0], [0.25, 0.25, 0.75, 0.75]).walk       # up by 2 · ¾ / 4, and down again
    array([0.   , 0.375, 0.   ])
    """
    y, p = checks.labelled_probabilities(y, p)
    whose = None if cluster is None else checks.counted_clusters(cluster, sample_weight, len(y))
    counted = checks.checked_counts(counts, sample_weight, len(y))
    weights, y, p = checks.counted_rows(sample_weight, y, p, counts)
    tied = pool_ties(p, y, weights)
    total = tied.weights.sum()
    steps = (tied.sums - tied.weights * tied.scores) / total
    sigma = math.sqrt(float(squares(or_ones(weights, len(p)), counted) @ (p * (1 - p)))) / total
    share, walk = (np.append(0.0, np.cumsum(values)) for values in (tied.weights / total, steps))
    if whose is None:
        return CumulativeDifferences(share, walk, tied.scores, float(sigma))
    stretch = np.searchsorted(tied.scores, p) * min(MOST_STRETCHES, len(tied.scores)) // len(tied.scores)
    sums = csr_array(((y - p) * or_ones(weights, len(y)) / total, (stretch, whose)))  # (stretches, clusters)
    return CumulativeDifferences(
        share, walk, tied.scores, float(np.linalg.norm(sums.sum(axis=0))), _p_values(sums)
    )


def _p_values(sums: csr_array) -> tuple[float, float]:
    """Return how often walks with random signs per cluster reach as far from 0 as the observed one, and span as
    much.
    """
    rng, k = np.random.default_rng(0), sums.shape[1]
    observed, reached, left = _distance_and_range(sums @ np.ones((k, 1))), np.zeros(2), TOSSES
    while left > 0:
        r = min(left, max(1, NUMBERS_AT_ONCE // max(sums.shape)))
        tossed = _distance_and_range(sums @ rng.choice([-1.0, 1.0], size=(k, r)))
        reached += (tossed >= observed * (1 - 1e-9)).sum(axis=1)
        left -= r
    return float((1 + reached[0]) / (1 + TOSSES)), float((1 + reached[1]) / (1 + TOSSES))


def _distance_and_range(steps: Array) -> Array:
    """Return the largest distance from 0 and the range with 0, (2, r), of r walks with steps (k, r)."""
    walks = np.cumsum(steps, axis=0)
    upper, lower = np.maximum(walks.max(axis=0), 0), np.minimum(walks.min(axis=0), 0)
    return np.stack([np.maximum(upper, -lower), upper - lower])


def farthest_tail(x: float) -> float:
    """Return P(max |B| > x) for Brownian motion on [0, 1].

    >>> round(farthest_tail(2.2414), 4)       # the 5% point
    0.05
    """
    odd = 2 * np.arange(SERIES_TERMS) + 1
    signs = np.where(np.arange(SERIES_TERMS) % 2, -1, 1)
    return (
        float(1 - 4 / np.pi * (signs / odd) @ np.exp(-((odd * np.pi / x) ** 2) / 8))
        if x < 4
        else 4 * ndtr(-x)
    )


def range_tail(x: float) -> float:
    """Return P(max B − min B > x) for Brownian motion on [0, 1] (Feller 1951), by the shorter of its two series.

    >>> round(range_tail(2.4977), 3)          # the 5% point
    0.05
    """
    if x > 2:
        k = np.arange(1, SERIES_TERMS)
        return float(8 * (np.where(k % 2, 1, -1) * k) @ ndtr(-k * x))
    half = (np.arange(SERIES_TERMS) + 0.5) * np.pi
    return float(1 - ((8 / x**2 + 2 / half**2) @ np.exp(-2 * (half / x) ** 2)))


def _tail(statistic: float, sigma: float, tail) -> float:
    """Return the asymptotic p-value; if all predictions are certain, 1 if they are right and 0 if not."""
    if statistic <= 1e-15:
        return 1.0
    return tail(statistic / sigma) if sigma else 0.0


KUIPER = Metric(
    "kuiper",
    "Kuiper (cumulative differences)",
    NumberOf(cumulative_differences, "kuiper"),
    False,
    "Largest rise or fall of the cumulative sum of label minus probability, divided by the number of "
    "rows. Uses no bins.",
    everyday=False,
)
KUIPER_P = Metric(
    "kuiper_p",
    "Kuiper's p-value",
    NumberOf(cumulative_differences, "kuiper_p"),
    None,
    "Probability of a rise or fall at least this large if the model is calibrated. Allows for clusters.",
    ".3f",
    everyday=False,
)
KOLMOGOROV_SMIRNOV = Metric(
    "kolmogorov_smirnov",
    "Kolmogorov–Smirnov (cumulative differences)",
    NumberOf(cumulative_differences, "kolmogorov_smirnov"),
    False,
    "Largest distance of the cumulative sum of label minus probability from 0, divided by the number of "
    "rows. Uses no bins.",
    everyday=False,
)
KOLMOGOROV_SMIRNOV_P = Metric(
    "kolmogorov_smirnov_p",
    "Kolmogorov–Smirnov p-value",
    NumberOf(cumulative_differences, "kolmogorov_smirnov_p"),
    None,
    "Probability of a distance at least this large if the model is calibrated. Allows for clusters.",
    ".3f",
    everyday=False,
)
