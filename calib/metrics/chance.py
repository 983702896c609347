"""Calibration error by chance alone: labels are redrawn as if the predictions were right, y* ~ Bernoulli(p).

A calibrated model has an ECE above 0 on every test set, and more so with few rows. An ECE means little without this
bound (Bröcker & Smith 2007 use the same redraws in reliability diagrams).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.kernel.binning import BINS, binned, checked_bins
from calib.kernel.binomial import SPELT_OUT, null_draws
from calib.kernel.rows import Rows
from calib.metrics.base import Metric
from calib.metrics.confidence_intervals import LEVEL
from calib.metrics.distances import gaps_by_chance, in_cells

Array = np.ndarray

REDRAWS = 999


def gap_draws(rows: Rows, p: Array, at: Array, k: int, repeats: int = REDRAWS, seed: int = 0) -> Array:
    """Draw gaps Σ w (y* − p) / Σ w in k cells, (repeats, k), with labels redrawn from p (n,); ``at`` (n,) are cells.

    For many rows, and for real weights, the normal distribution of the sums is used; for clusters also, with the
    covariance of their residuals.

    >>> rows, p = Rows(np.array([0, 1])), np.array([1.0, 0.0])                 # certain: nothing is left to chance
    >>> float(np.abs(gap_draws(rows, p, np.array([0, 1]), 2)).max())
    0.0
    """
    rng = np.random.default_rng(seed)
    if rows.cluster is not None:
        covariance = rows.covariance(in_cells(rows.y - p, at, k))
        return rng.multivariate_normal(np.zeros(k), covariance, size=repeats, method="eigh")
    if not rows.plain or rows.size * repeats > SPELT_OUT:
        return rng.standard_normal((repeats, k)) * np.sqrt(gaps_by_chance(rows, p, at, k))
    order = np.lexsort((at, p))  # so that the draws do not depend on the order of the rows
    p, count = p[order], rows.draws[order]
    gaps = null_draws(p, count, repeats, rng) - count * p
    return np.asarray(gaps @ in_cells(np.ones(rows.n), at[order], k)) / rows.size


def ece_by_chance(
    y: ArrayLike,
    p: ArrayLike,
    bins: ArrayLike = BINS,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
    *,
    cluster: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> float:
    """Return the ECE that a calibrated model with these predictions stays below in 95 of 100 draws, in [0, 1].

    NaN for a single cluster.

    Parameters
    ----------
    y, p, bins, strategy, sample_weight
        See ``expected_calibration_error``; for independent rows the labels have no effect.
    cluster : (n,)
        Cluster of each row.
    counts : (n,)
        Number of rows that each row represents, if its weight means something else.

    Examples
    --------
    >>> ece_by_chance([0, 1], [0.0, 1.0])                                   # nothing is left to chance
    0.0
    >>> ece_by_chance([0, 1], [0.5, 0.5])                                   # both the same: every second time
    0.5
    """
    labels, probabilities = checks.labelled_probabilities(y, p)
    bins = checked_bins(bins)
    sampled = {"sample_weight": sample_weight, "counts": counts, "cluster": cluster}
    rows, (held,) = Rows.checked(labels, probabilities, **sampled)
    if rows.single_cluster:
        return np.nan
    placed = binned(held, bins, strategy, rows.weight)
    return float(np.quantile(np.abs(gap_draws(rows, held, placed.index, placed.count)).sum(axis=1), LEVEL))


ECE_BY_CHANCE = Metric(
    "ece_chance",
    "ECE by chance (95 %)",
    ece_by_chance,
    None,
    "In 95 % of test sets of this size, a calibrated model has a lower ECE. An ECE below this value "
    "therefore does not show miscalibration.",
)
