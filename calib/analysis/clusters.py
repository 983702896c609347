"""Correlation of rows within clusters, and how many independent rows clustered rows are worth.

The intraclass correlation ρ of the residuals comes from the analysis of variance (Donner 1986; Ridout, Demétrio &
Firth 1999 for labels of 0 and 1). A sum over rows, m of each cluster, then varies 1 + ρ(Σm²/Σm − 1) times as much as
over as many independent rows, its design effect (Kish 1965), and counts are divided by that (Rao & Scott 1992).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import ndtri, stdtrit

from calib.evaluate import Evaluation
from calib.kernel import checks
from calib.kernel.binning import binned, group_sums
from calib.kernel.cache import cached_result
from calib.kernel.weights import are_whole, squares

Array = np.ndarray

CLUSTERED = " Rows of one cluster resemble each other, so they carry less information than independent rows."
STRATA, CLUSTERS_EACH = 5, 10  # most strata of predictions, and fewest clusters per stratum


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of rows, and the correlation ρ of the residuals of two rows of one cluster.

    Attributes
    ----------
    whose : int (n,)
        Cluster of each row, numbered from 0.
    correlation
        From 0 to 1.
    weights : (n,)
    counts : (n,)
        Number of rows that each row represents, if it differs from the weight; or None.
    """

    whose: Array
    correlation: float
    weights: Array
    counts: Array | None = None

    @classmethod
    def of(
        cls,
        cluster: ArrayLike,
        y: Array,
        p: Array,
        sample_weight: ArrayLike | None,
        counts: ArrayLike | None = None,
    ) -> Clusters:
        """Return the clusters of the rows of positive weight, with the correlation of their residuals.

        >>> whose = np.repeat(np.arange(50), 4)                               # four copies of each of fifty rows
        >>> y, p = (whose % 2).astype(float), np.full(200, 0.5)
        >>> copies = Clusters.of(whose, y, p, None)
        >>> copies.correlation, copies.worth(np.zeros(200, int), 1)
        (1.0, array([0.237...]))
        """
        weights = checks.weight_vector(sample_weight, len(y))
        held = weights > 0
        whose = checks.counted_clusters(cluster, weights, len(y))
        own = checks.checked_counts(counts, weights, len(y))
        times = own if own is not None else weights[held] if are_whole(weights[held]) else np.ones(held.sum())
        return cls(whose, _correlation(whose, y[held], p[held], times), weights[held], own)

    @property
    def design_effect(self) -> float:
        """Return how many clustered rows are worth one independent row, over all rows, for sums over many clusters."""
        return self.sampling_effect / self.few if self.count > 1 else 1.0

    @property
    def sampling_effect(self) -> float:
        """Return the ``design_effect``, corrected for the small number of clusters; infinite for one cluster."""
        worth = float(self.worth(np.zeros(len(self.whose), dtype=np.intp), 1)[0])
        return 1 / worth if worth else math.inf

    @property
    def count(self) -> int:
        return int(self.whose.max()) + 1

    def worth(self, index: Array, groups: int) -> Array:
        """Return how many independent rows one row of each group (groups,) is worth, at most 1.

        Index (n,) gives each row's group. A single cluster is worth 0, because it does not show how clusters vary.
        """
        cell, m = self.by_group(index, groups)
        alone = group_sums(index, groups, weights=squares(self.weights, self.counts))
        together = group_sums(cell % groups, groups, m**2)
        return 1 / self._effect(together / np.where(alone > 0, alone, 1), alone > 0)

    def effect(self, weights: Array, cell: Array) -> Array:
        """Return design effects (k,) of sums with weights (k, cells) per row; cell (n,) gives each row's cell."""
        held = csr_array((self.weights, (self.whose, cell)), shape=(self.count, weights.shape[1]))
        alone = weights**2 @ group_sums(cell, weights.shape[1], weights=squares(self.weights, self.counts))
        return self._effect(np.array([np.sum((held @ each) ** 2) for each in weights]) / alone)

    def _effect(self, ratio: Array, there: Array | bool = True) -> Array:
        """Return the design effect of sums whose squared cluster sums are ``ratio`` times the squares of the rows."""
        return np.where(there, self.few * np.maximum(1 + self.correlation * (ratio - 1), 1), 1)

    @property
    def few(self) -> float:
        """Factor (t / z)² by which few clusters widen squared intervals."""
        if self.count < 2:
            return math.inf
        return float((stdtrit(self.count - 1, 0.975) / ndtri(0.975)) ** 2)

    def by_group(self, index: Array, groups: int) -> tuple[Array, Array]:
        """Return (cluster · groups + group, its weight) for every pair of a cluster and a group with rows."""
        cell, at = np.unique(self.whose * groups + index, return_inverse=True)
        return cell, np.bincount(at, weights=self.weights)


def _correlation(whose: Array, y: Array, p: Array, w: Array) -> float:
    """Return ρ of y − p, centred and scaled in strata of p, from mean squares between and within clusters.

    Between clusters of one stratum the mean square is σ²(1 + (m₀ − 1)ρ), within them σ²(1 − ρ), even if rows of
    one cluster in two strata are correlated; w (n,) counts the rows.
    """
    strata = max(1, min(STRATA, (int(whose.max()) + 1) // CLUSTERS_EACH))
    placed = binned(p, strata, "quantile", w)
    k = placed.count
    n = group_sums(placed.index, k, weights=w)
    observed, gap = (group_sums(placed.index, k, values, w) / np.where(n > 0, n, 1) for values in (y, y - p))
    spread = np.sqrt(observed * (1 - observed))[placed.index]
    residual = np.divide(y - p - gap[placed.index], spread, out=np.zeros(len(y)), where=spread > 0)
    cell, at = np.unique(whose * k + placed.index, return_inverse=True)
    m, sums = np.bincount(at, weights=w), np.bincount(at, weights=w * residual)
    between = float(np.sum(sums**2 / m))
    within = max(0.0, float(w @ residual**2) - between)
    free, rest = len(m) - int((n > 0).sum()), float(m.sum()) - len(m)
    if free <= 0 or rest <= 0:
        return 0.0
    m0 = (m.sum() - np.sum(group_sums(cell % k, k, m**2) / np.where(n > 0, n, 1))) / free
    between, within = between / free, within / rest
    whole = between + (m0 - 1) * within
    return float(np.clip((between - within) / whole, 0, 1)) if whole > 0 else 0.0


def clusters_of(evaluation: Evaluation, calibrator: str) -> Clusters | None:
    """Return the clusters of a calibrator's test rows, cached; None if no clusters are known."""
    whose, predictions = evaluation.dataset.cluster, evaluation.predictions[calibrator]
    if whose is None:
        return None
    return cached_result(
        predictions,
        "clusters",
        lambda: Clusters.of(
            whose[evaluation.rows], predictions.y, predictions.p, predictions.weight, evaluation.counts
        ),
    )


def design_effect(evaluation: Evaluation, calibrator: str) -> float:
    """Return how many test rows are worth one independent row: 1 if there are no clusters."""
    clusters = clusters_of(evaluation, calibrator)
    return 1.0 if clusters is None else clusters.design_effect


def sampling_effect(evaluation: Evaluation, calibrator: str) -> float:
    """Return the ``design_effect`` for intervals and tests on these clusters, which may be few."""
    clusters = clusters_of(evaluation, calibrator)
    return 1.0 if clusters is None else clusters.sampling_effect
