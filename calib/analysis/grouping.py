"""Grouping loss of real data: the part of the loss that no calibrator can remove, bounded from below.

Rows with one prediction can have different true probabilities. A calibrator maps predictions to predictions, so it
cannot distinguish such rows; a better model can. Perez-Lebel, Le Morvan & Varoquaux (2023) split the features into
regions within each bin of predictions, on one half of the rows, and measure on the other half how far the regions'
frequencies differ:

- explained: the mean square of region frequency less bin frequency;
- bias: the part of it due to chance, from few rows per region;
- induced: the part of it due to the width of the bins, because predictions differ within a bin.

Features know the prediction, so regions would find its own calibration curve within a bin. The curve is therefore taken
out first, by the mean of the neighbours in the order of predictions without the row itself, whatever its shape. What
the estimate of the curve leaves is the induced part: rows that are neighbours in the order of predictions share it, and
nothing else.

The bound is explained − bias − induced. It depends on the regions: other regions can explain more. All numbers are on
the scale of the Brier score of one class, which is half of the authors' scale: they add up both classes.

The interval is a score interval, like Wilson's (1927) for a frequency. The less regions explain, the more precise the
estimate is, so the variance is that at each candidate value, not at the estimate: too low an estimate would have too
small an error. With n rows, whose labels have the mean variance v within regions, it is 4vθ/n at the value θ, plus a
term that does not depend on θ. The values that the estimate does not exclude at 5 % lie between the roots of a
quadratic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.tree import DecisionTreeRegressor

from calib.analysis.subgroups import group_rows
from calib.data.column_types import typed_frame
from calib.data.matrix import Matrix
from calib.kernel import checks
from calib.kernel.binning import binned, group_sums
from calib.kernel.binomial import NORMAL_QUANTILE
from calib.kernel.checks import Array, InputError

REDRAWS = 499
ALPHA = 0.05
CURVE_FACTOR = (
    1.5  # without it, 8 to 12 % of tables without grouping loss have p <= 5 % (scripts.grouping_rates)
)
MOST_BINS = 1000
FEWEST_GROUPING_ROWS = 100  # rows; with fewer, halves of bins are nearly empty
LEAF_ROWS, BIN_LEAVES = 15, 30  # fewest rows per leaf, and most leaves per bin
SIDE_NEIGHBOURS = 5  # fewest rows on one side of a row, in the order of predictions, that are its neighbours
CLUSTERS = (2, 4, 8, 16)  # candidate numbers of clusters per bin


@dataclass(frozen=True, eq=False)
class GroupingLoss:
    """A lower bound of the grouping loss, from one partition.

    Attributes
    ----------
    lower
        explained − bias − induced. Chance can make it negative.
    interval
        (low, high), 95 %. It includes the loss that this partition explains in the population; the low end allows for
        the induced part and is at least 0.
    explained, bias, induced
        The three parts, as defined in the module.
    p_value
        p-value of the hypothesis of no grouping loss: labels are redrawn from the calibration curve, so all rows of
        one prediction have one probability. It is raised by half, because the curve is an estimate.
    partition, regions, rows
        Its name, the number of regions, and the rows that they were evaluated on.
    dropped
        Rows that were alone in their region and are left out.
    """

    lower: float
    interval: tuple[float, float]
    explained: float
    bias: float
    induced: float
    p_value: float
    partition: str
    regions: int
    rows: int
    dropped: int


def grouping_loss(
    y: ArrayLike,
    p: ArrayLike,
    X: Any,
    bins: ArrayLike = 15,
    random_state: int = 0,
    *,
    partition: str = "tree",
) -> GroupingLoss:
    """Bound the grouping loss of predictions from below.

    Parameters
    ----------
    y : (n,)
        Labels of 0 and 1; at least 100 rows.
    p : (n,)
        Probabilities in [0, 1].
    X : (n, d)
        Features, as a table or an array. They can differ from the model's.
    bins
        Number of bins of equal width, at most 1,000, or their edges (B + 1,), which increase from 0 to 1.
    random_state
        Seed of the split into halves, the partition and the test.
    partition
        "tree", a regression tree per bin; "k-means", 2, 4, 8 or 16 clusters per bin; or "columns", the values or
        quantile ranges of one column per bin, as in the audit. The number of clusters and the column are those that
        explain most of the rows on which regions are learnt.

    Raises
    ------
    InputError
        For invalid input or input of different lengths, too few rows, and an unknown partition.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 2, 4000)                                 # 30 % and 70 %, but the model predicts 50 %
    >>> found = grouping_loss(rng.random(4000) < 0.3 + 0.4 * x, np.full(4000, 0.5), pd.DataFrame({"x": x}))
    >>> round(found.lower, 2), found.interval[0] < 0.04 < found.interval[1], found.p_value
    (0.04, True, 0.003)
    """
    labels, p = checks.labelled_probabilities(y, p)
    table = pd.DataFrame(X)
    checks.same_length(y=labels, X=table)
    if np.ndim(bins) == 0:
        checks.in_range(bins, "bins", 1, MOST_BINS, integer=True)
    held = binned(p, bins)
    checks.in_range(random_state, "random_state", 0, integer=True)
    checks.one_of(partition, PARTITIONS, "partition")
    if not table.shape[1]:
        raise InputError("X has no columns, but at least one feature is needed to form regions.")
    if len(labels) < FEWEST_GROUPING_ROWS:
        raise InputError(f"y must have at least {FEWEST_GROUPING_ROWS} rows, but has {len(labels)}.")
    rng = np.random.default_rng(random_state)
    first, second = np.split(rng.permutation(len(labels)), [len(labels) // 2])
    table = typed_frame(table.set_axis([str(name) for name in table.columns], axis=1))
    place, B = held.index, held.count
    assign = PARTITIONS[partition](table, labels, first, random_state)
    regions = _regions(assign, place, first, second, B)
    count = np.bincount(regions)
    kept = second[count[regions] > 1]
    if not len(kept):
        raise InputError("Every region contains only a single row. Use more rows or fewer bins.")
    region = np.unique(regions[count[regions] > 1], return_inverse=True)[1]
    order = np.lexsort((rng.random(len(kept)), p[kept]))
    y, region, place = (each[order] for each in (labels[kept], region, place[kept]))
    reach = _reach_of(y)

    def measured(y: Array) -> tuple[_Parts, float]:
        residual = y - _around(y, reach)
        return _Parts.of(residual, region, place, B), _induced(residual, place, B)

    found, induced = measured(y)
    low, high = found.interval
    curve = _around(y, reach)
    redrawn = [measured((rng.random(len(y)) < curve).astype(int)) for _ in range(REDRAWS)]
    reached = sum(parts.debiased - within >= found.debiased - induced - 1e-12 for parts, within in redrawn)
    p_value = min(1.0, CURVE_FACTOR * (1 + reached) / (1 + REDRAWS))
    if p_value > ALPHA:  # the interval does not know that the curve is an estimate
        low = 0.0
    return GroupingLoss(
        lower=found.debiased - induced,
        interval=(max(0.0, low - induced), max(0.0, high)),
        explained=found.explained,
        bias=found.bias,
        induced=induced,
        p_value=p_value,
        partition=partition,
        regions=int(region.max()) + 1,
        rows=len(kept),
        dropped=len(second) - len(kept),
    )


@dataclass(frozen=True)
class _Parts:
    """Explained part and bias of regions in bins; the variance of their difference θ is slope · θ + rest."""

    explained: float
    bias: float
    slope: float
    rest: float

    @property
    def debiased(self) -> float:
        return self.explained - self.bias

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of {θ: (debiased − θ)² ≤ z² (slope · θ + rest)}, z = 1.96."""
        shift = NORMAL_QUANTILE**2 * self.slope / 2
        under_root = self.slope * self.debiased + self.rest + NORMAL_QUANTILE**2 * self.slope**2 / 4
        half = NORMAL_QUANTILE * float(np.sqrt(max(0.0, under_root)))
        return self.debiased + shift - half, self.debiased + shift + half

    @classmethod
    def of(cls, residual: Array, region: Array, place: Array, bins: int) -> _Parts:
        """Measure residuals (n,) of labels in regions; place (n,) is the bin of each row.

        Linearised, a region of n rows with the mean μ and the variance v, in a bin of mean c, adds 4n(μ − c)²v to the
        variance of the sum; together this is 4v times the sum, if v is the mean variance. The squares of chance add
        2n/(n − 1) · v², and the shares of the regions vary.
        """
        k, n = int(region.max()) + 1, len(residual)
        whose = np.zeros(k, dtype=np.intp)
        whose[region] = place
        (count, mu, chance), (in_bin, mean, of_bin) = (
            _means(residual, at, many) for at, many in ((region, k), (place, bins))
        )
        gap = (mu - mean[whose]) ** 2
        explained, bias = float(count @ gap) / n, float(count @ chance - in_bin @ of_bin) / n
        variance = chance * count  # variance of one label, without bias
        debiased = gap - chance
        slope = 4 * float(count @ variance) / n**2
        product = float(2 * (count / np.maximum(count - 1, 1)) @ variance**2)
        shares = float(count @ (np.maximum(debiased, 0.0) - max(0.0, explained - bias)) ** 2)
        return cls(explained, bias, slope, (product + shares) / n**2)


def _means(values: Array, at: Array, k: int) -> tuple[Array, Array, Array]:
    """Return (rows, mean, variance of the mean) of values (n,) in each of k cells; 0 for the variance of one row."""
    count, sums, squares = group_sums(at, k), group_sums(at, k, values), group_sums(at, k, values**2)
    mean = np.divide(sums, count, out=np.zeros(k), where=count > 0)
    spread = np.maximum(squares - sums * mean, 0.0)
    return count, mean, np.divide(spread, count * (count - 1), out=np.zeros(k), where=count > 1)


def _induced(residual: Array, place: Array, bins: int) -> float:
    """Return the mean variance, at least 0, of what residuals (n,) in the order of p have left of a curve within bins.

    The product of two rows' residuals has the product of their means as its expectation. So pairs of neighbours give
    the mean square of the rest, pairs of any rows of a bin the square of its mean, and the difference the variance.
    """
    n, count = len(residual), group_sums(place, bins)
    sums, squares = group_sums(place, bins, residual), group_sums(place, bins, residual**2)
    after, upto = np.arange(1, n + 1), np.append(0.0, np.cumsum(residual))
    reach = np.maximum(SIDE_NEIGHBOURS, count // 10).astype(np.intp)
    ends = np.minimum(after + reach[place], np.cumsum(count).astype(np.intp)[place])
    near = group_sums(place, bins, residual * (upto[ends] - upto[after]))
    pairs, several = group_sums(place, bins, ends - after), count > 1
    every = (sums**2 - squares)[several] / (count - 1)[several]
    return max(0.0, float((count * near)[several] @ (1 / pairs[several]) - every.sum()) / n)


def _around(y: Array, reach: int) -> Array:
    """Return the mean of the ``reach`` rows on either side of each row of y (n,), without the row itself.

    >>> _around(np.array([1, 0, 0, 1]), 1)
    array([0. , 0.5, 0.5, 0. ])
    """
    at, upto = np.arange(len(y)), np.append(0, np.cumsum(y))
    low, high = np.maximum(at - reach, 0), np.minimum(at + reach + 1, len(y))
    return (upto[high] - upto[low] - y) / (high - low - 1)


def _reach_of(y: Array) -> int:
    """Return half the reach of ``_around`` that predicts labels y (n,), in the order of p, with the least error.

    A smaller reach follows the curve more closely than is best for prediction, because what is left of it does harm.
    """
    tried = [
        SIDE_NEIGHBOURS * 2**k
        for k in range(20)
        if SIDE_NEIGHBOURS * 2**k <= max(SIDE_NEIGHBOURS, len(y) // 4)
    ]
    best = min(tried, key=lambda reach: float(np.mean((y - _around(y, reach)) ** 2)))
    return max(SIDE_NEIGHBOURS, best // 2)


Assign = Callable[
    [Array, Array], Array
]  # (rows to learn regions from, rows to assign) → region of each row to assign


def _regions(assign: Assign, place: Array, first: Array, second: Array, bins: int) -> Array:
    """Return the region (m,) of each row of the second half, learnt on the first half within each bin."""
    found, next_number = np.zeros(len(second), dtype=np.intp), 0
    for b in range(bins):
        mine = np.flatnonzero(place[second] == b)
        if not len(mine):
            continue
        learning = first[place[first] == b]
        if len(learning) >= 2 * LEAF_ROWS:
            numbers = np.unique(assign(learning, second[mine]), return_inverse=True)[1]
        else:
            numbers = np.zeros(len(mine), dtype=np.intp)
        found[mine] = next_number + numbers
        next_number += int(numbers.max()) + 1
    return found


def _tree(table: pd.DataFrame, y: Array, first: Array, seed: int) -> Assign:
    values = _matrix(table, first)

    def assign(learning: Array, rows: Array) -> Array:
        tree = DecisionTreeRegressor(
            min_samples_leaf=max(LEAF_ROWS, len(learning) // BIN_LEAVES),
            max_leaf_nodes=BIN_LEAVES,
            random_state=seed,
        )
        return tree.fit(values[learning], y[learning]).apply(values[rows])

    return assign


def _clusters(table: pd.DataFrame, y: Array, first: Array, seed: int) -> Assign:
    from sklearn.cluster import KMeans  # here, because pages import this module at the start

    values = _matrix(table, first)
    spread = values[first].std(axis=0)
    values = values / np.where(spread > 0, spread, 1.0)

    def assign(learning: Array, rows: Array) -> Array:
        made = [
            KMeans(k, n_init=1, random_state=seed).fit(values[learning])
            for k in CLUSTERS
            if k <= max(2, len(learning) // LEAF_ROWS)
        ]
        return max(made, key=lambda each: _gain(each.labels_, y[learning])).predict(values[rows])

    return assign


def _columns(table: pd.DataFrame, y: Array, first: Array, seed: int) -> Assign:
    groupings = [group_rows(table[name]) for name in table.columns]

    def assign(learning: Array, rows: Array) -> Array:
        return max((each.index for each in groupings), key=lambda each: _gain(each[learning], y[learning]))[
            rows
        ]

    return assign


def _gain(index: Array, y: Array) -> float:
    """Return the explained part less bias of regions (m,) of rows with labels y (m,)."""
    region = np.unique(index, return_inverse=True)[1]
    held = np.bincount(region)[region] > 1
    if not held.any():
        return -np.inf
    region = np.unique(region[held], return_inverse=True)[1]
    return _Parts.of(y[held], region, np.zeros(int(held.sum()), dtype=np.intp), 1).debiased


def _matrix(table: pd.DataFrame, first: Array) -> Array:
    """Return the features as finite numbers (n, d), imputed with values learnt on the first half."""
    return np.asarray(Matrix().fit(table.iloc[first]).transform(table), dtype=np.float64)


PARTITIONS: dict[str, Callable[[pd.DataFrame, Array, Array, int], Assign]] = {
    "tree": _tree,
    "k-means": _clusters,
    "columns": _columns,
}
