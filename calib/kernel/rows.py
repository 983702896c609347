"""Sample of labelled rows: the weight of each row, its number of independent draws, and its cluster.

All standard errors are computed here. With w the weight of a row, m the number of independent draws it represents and
h its influence on a statistic, the variance of the statistic is Σ (w²/m) h² / (Σw)². Rows of one cluster are one draw:
their influences are added up before they are squared (Liang & Zeger 1986). If clusters differ in size, the sum of a
large one pulls the mean towards itself, so each is divided by the share of the weight outside (CR3, the jackknife; Bell
& McCaffrey 2002). The quantile is Student's with Satterthwaite's degrees of freedom, which are the number of clusters
less one if these are equal, and fewer otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy
from scipy.special import ndtri, stdtrit

from calib.kernel import checks
from calib.kernel.weights import are_whole, effective_weights, or_ones, represented_rows

ROWS_AT_ONCE = 1 << 16


def row_slices(n: int) -> Iterator[slice]:
    """Cut n rows into slices of ``ROWS_AT_ONCE``.

    >>> list(row_slices(70_000))
    [slice(0, 65536, None), slice(65536, 70000, None)]
    """
    return (slice(begin, min(begin + ROWS_AT_ONCE, n)) for begin in range(0, n, ROWS_AT_ONCE))


Array = np.ndarray

ALIKE = 0.01  # correlation of the rows of a cluster, only for degrees of freedom: the median of Adams et al. (2004)
ONE_CLUSTER = "All rows belong to one cluster, so the variation between clusters is unknown."


@dataclass(frozen=True, eq=False)
class Rows:
    """Labelled rows and how they were sampled.

    Attributes
    ----------
    y
        Int array (n,) of 0 and 1.
    weight
        Float array (n,) of weights, or None. Whole numbers are counts of repeated rows.
    counts
        Float array (n,), number of rows that each one represents, if its weight means something else (a deployment
        base rate weights counts by class); or None.
    cluster
        Int array (n,), equal for rows that belong together, or None if rows are independent.

    Examples
    --------
    >>> rows = Rows(np.array([0, 1]), weight=np.array([3.0, 1.0]))         # four rows, three of class 0
    >>> rows.size, rows.share
    (4, 0.25)
    """

    y: Array
    weight: Array | None = field(default=None, kw_only=True)
    counts: Array | None = field(default=None, kw_only=True)
    cluster: Array | None = field(default=None, kw_only=True)

    @classmethod
    def checked(
        cls, y: Any, *arrays: Any, sample_weight: Any = None, counts: Any = None, cluster: Any = None
    ) -> tuple[Self, list[Array]]:
        """Check labels and weights, and return (rows of positive weight, ``arrays`` (n, …) for these rows).

        Weights that are not counts are scaled to sum to their effective sample size.

        Raises
        ------
        InputError
            If labels, weights, counts or clusters are invalid.
        """
        labels = checks.binary_labels(y)
        whose = None if cluster is None else np.asarray(cluster)
        if whose is not None:
            checks.same_length(y=labels, cluster=whose)
        held = np.ones(len(labels), dtype=bool)
        weights = None
        if sample_weight is not None:
            weights = checks.weight_vector(sample_weight, len(labels))
            held = weights > 0
            weights = weights[held]
        own = None if weights is None else checks.checked_counts(counts, sample_weight, len(labels))
        weights = None if weights is None else effective_weights(weights, own)
        rows = cls(labels[held], weight=weights, counts=own, cluster=None if whose is None else whose[held])
        return rows, [np.asarray(each)[held] for each in arrays]

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def weights(self) -> Array:
        """Weights, float (n,); ones if none are given."""
        return or_ones(self.weight, self.n)

    @property
    def size(self) -> int:
        """Number of rows that these rows represent."""
        return represented_rows(self.weight, self.n)

    @property
    def share(self) -> float:
        """Frequency of class 1."""
        return self.mean(self.y)

    def _held(self) -> dict[str, Array]:
        """Return name → array, for arrays that are not None."""
        held = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: values for name, values in held.items() if isinstance(values, np.ndarray)}

    def of(self, rows: Array) -> Self:
        """Select rows by position or by a mask."""
        return replace(self, **{name: values[rows] for name, values in self._held().items()})

    def mean(self, values: Array) -> float:
        """Return the weighted mean of values (n,)."""
        return float(np.average(values, weights=self.weight))

    @cached_property
    def draws(self) -> Array:
        """Independent draws that each row represents, float (n,): its count if weights are counts, else one."""
        if self.counts is not None:
            return self.counts
        return self.weights if self.weight is not None and are_whole(self.weight) else np.ones(self.n)

    @cached_property
    def cluster_index(self) -> Array | None:
        """Cluster of each row, numbered from 0, int (n,), or None."""
        return None if self.cluster is None else np.unique(self.cluster, return_inverse=True)[1]

    @property
    def freedom(self) -> float:
        """Number of clusters less one, else of draws less one."""
        return float(self.draws.sum() if self.cluster_index is None else self.cluster_index.max() + 1) - 1

    @property
    def single_cluster(self) -> bool:
        """Tell whether all rows belong to one cluster, so that variation between clusters is unknown."""
        return self.cluster is not None and self.freedom < 1

    def each_alone(self) -> Self:
        """Return the rows without clusters: each is a draw of its own."""
        return replace(self, cluster=None)

    def effective_number(self, which: Array) -> float:
        """Return Kish's number of independent draws behind the mean over some rows (n,) bool: (Σw)² / Σ(w²/m).

        >>> Rows(np.zeros(3, int), weight=np.array([0.5, 0.5, 2.0])).effective_number(np.array([True, True, False]))
        2.0
        """
        if self.weight is None and self.counts is None:
            return float(np.count_nonzero(which))
        w, m = self.weights[which], self.draws[which]
        return float(w.sum() ** 2 / (w**2 / m).sum()) if w.size else 0.0

    @property
    def plain(self) -> bool:
        """Tell whether rows are independent and each counts as one, or as the rows that it repeats."""
        return (
            self.cluster is None and self.counts is None and (self.weight is None or are_whole(self.weight))
        )

    @cached_property
    def effective_size(self) -> float:
        """Effective sample size of all rows; see ``effective_number``."""
        return self.effective_number(np.ones(self.n, dtype=bool))

    @cached_property
    def fewest(self) -> float:
        """Number of independent draws in the minority class."""
        return min(self.effective_number(self.y == 0), self.effective_number(self.y == 1))

    def covariance(self, values: Any) -> Array:
        """Return the covariance (k, k) of the weighted means of ``values`` (n, k), dense or sparse; NaN for one draw.

        >>> Rows(np.zeros(3, int)).covariance(np.array([[1.0], [2.0], [3.0]]))       # variance 1, three rows
        array([[0.333...]])
        """
        k, total = values.shape[1], float(self.weights.sum())
        if self.freedom <= 0:
            return np.full((k, k), np.nan)
        squares, sums, size = np.zeros((k, k)), np.zeros(k), 0.0
        for drawn, each in self._pooled(values):
            product = drawn.T @ drawn
            squares += product.toarray() if scipy.sparse.issparse(product) else product
            sums, size = sums + drawn.T @ each, size + each @ each
        center = self.weights @ values / total
        cross = np.outer(sums, center)
        squares = squares - cross - cross.T + size * np.outer(center, center)
        return squares * ((self.freedom + 1) / self.freedom) / total**2

    def _pooled(self, values: Any) -> Iterator[tuple[Any, Array]]:
        """Yield blocks of (draws, k) and (draws,): sums of the influences of each draw's rows, and of their weights.

        The influence of a row that represents m draws is divided by √m.
        """
        if self.cluster_index is not None:
            # factors are 1 if clusters are equal, because ``covariance`` divides all by 1 − 1 / clusters
            factors = (1 - 1 / len(self._held_by)) / (1 - self._held_by)
            sums = self._of_cluster @ values
            yield scipy.sparse.diags_array(factors) @ sums, factors * self._of_cluster.sum(axis=1)
            return
        weights, draws = self.weights, self.draws
        for piece in row_slices(self.n):
            each = weights[piece] / np.sqrt(draws[piece])
            yield scipy.sparse.diags_array(each) @ values[piece], each

    @cached_property
    def _of_cluster(self) -> scipy.sparse.csr_array:
        """Matrix (clusters, n) that sums the influences of the rows of each cluster."""
        return scipy.sparse.csr_array((self.weights, (self.cluster_index, np.arange(self.n))))

    @cached_property
    def _held_by(self) -> Array:
        """Share of the weight in each cluster, (clusters,)."""
        held = self._of_cluster.sum(axis=1)
        return held / held.sum()

    @cached_property
    def effective_freedom(self) -> float:
        """Degrees of freedom of a clustered standard error (Bell & McCaffrey 2002), fewer if clusters are unequal.

        The variance is a quadratic form of the clusters' sums, Σ_g d_g (S_g − a_g S)² with a_g the share of the
        weight, d_g = 1 / (1 − a_g)² and S = Σ S_g. For sums with variances v_g it has 2 mean² / variance degrees of
        freedom (Satterthwaite 1946). The rows of a cluster are taken to correlate by ``ALIKE``.

        >>> [
        ...     round(Rows(np.zeros(12, int), cluster=np.repeat(range(3), sizes)).effective_freedom, 2)
        ...     for sizes in ((4, 4, 4), (8, 2, 2))
        ... ]
        [2.0, 1.22]
        """
        if self.cluster_index is None or self.freedom < 1:
            return self.freedom
        a, independent = self._held_by, np.bincount(self.cluster_index, self.weights**2 / self.draws)
        v = (1 - ALIKE) * independent / self.weights.sum() ** 2 + ALIKE * a**2
        d = 1 / (1 - a) ** 2
        # The form's matrix is diag(d) − 1 (d a)ᵀ − (d a) 1ᵀ + s 1 1ᵀ
        b, s, total = d * a, d @ a**2, v.sum()
        first, second, own = b @ v, b**2 @ v, d - 2 * b + s
        pairs = s**2 * total**2 + 2 * total * second - 4 * s * total * first + 2 * first**2
        return float((own @ v) ** 2 / (pairs + (own**2 - (s - 2 * b) ** 2) @ v**2))

    def standard_error(self, values: Array) -> float:
        """Return the standard error of the weighted mean of values (n,); NaN for a single draw.

        >>> rows = Rows(np.zeros(4, int), cluster=np.array([7, 7, 9, 9]))           # two draws, 0 and 1
        >>> rows.standard_error(np.array([0.0, 0.0, 1.0, 1.0]))
        0.5
        """
        return float(np.sqrt(max(self.covariance(values[:, None])[0, 0], 0.0)))

    def skewness(self, values: Array) -> float:
        """Return the skewness of the clusters' influences on the mean of values (n,), over √clusters; 0 if unknown.

        >>> rows = Rows(np.zeros(4, int), cluster=np.arange(4))                     # deviations −1, −1, −1 and 3
        >>> round(rows.skewness(np.array([0.0, 0.0, 0.0, 4.0])), 3)                 # 16 / (3 · 2) · 6 / 8, over √4
        1.0
        """
        if self.cluster_index is None or self.freedom < 2:
            return 0.0
        ((sums, sizes),) = self._pooled((values - self.mean(values))[:, None])
        away = np.ravel(sums.toarray() if scipy.sparse.issparse(sums) else sums)
        away, k = away - away.mean(), len(sizes)
        spread = float((away @ away) ** 1.5)
        return float((away**3).sum() / spread * math.sqrt(k - 1) * math.sqrt(k) / (k - 2)) if spread else 0.0

    def jackknife_error(self, moves: Array) -> float:
        """Return the standard error of an estimate that moves by ``moves`` (clusters,) without each of the clusters.

        >>> rows = Rows(np.zeros(4, int), cluster=np.array([7, 7, 9, 9]))           # two means, 0 and 1
        >>> rows.jackknife_error(np.array([-0.5, 0.5]))
        0.5
        """
        k = len(moves)
        return float(np.sqrt((k - 1) / k * np.sum((moves - moves.mean()) ** 2))) if k > 1 else math.nan

    def quantile(self, level: float) -> float:
        """Return the two-sided quantile of a standardised statistic: normal, or Student's if rows are clustered."""
        tail = (1 + level) / 2
        return float(
            ndtri(tail) if self.cluster is None else stdtrit(max(self.effective_freedom, 1e-300), tail)
        )
