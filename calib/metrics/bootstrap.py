"""How sure a metric is: its spread when the test rows are drawn again with replacement (Efron 1979).

A resample is a vector of counts, how often each test row was drawn. Means, ECE and AUC are then sums over
rows times counts, so that a thousand resamples cost a matrix product; every other metric is called once a
resample. Two calibrators are compared on the same resamples. Intervals are percentile intervals: resampling
adds noise of its own, so those of ECE and of other distances between bins and predictions lie too high, by
the bias that is reported with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from calib.kernel import checks
from calib.kernel.binning import bin_index
from calib.kernel.progress import Watch
from calib.kernel.weights import are_whole
from calib.metrics import scoring
from calib.metrics.calibration_error import expected_calibration_error
from calib.metrics.registry import METRICS

Array = np.ndarray
MetricLike = str | Callable[..., float]

CELLS = 2_000_000  # counts held at once: 16 MB
MOST_DRAWN = 2_000_000  # rows behind a table of counts that are drawn one by one


@dataclass(frozen=True)
class BootstrapInterval:
    """A metric (or a difference) with its percentile interval.

    Attributes
    ----------
    value
        On the data itself.
    lower, upper
        Quantiles (1 ∓ level)/2 of the resamples.
    standard_error
        Standard deviation of the resamples.
    bias
        Their mean minus value.
    repeats
        Resamples on which the metric was defined (AUC is not where only one class was drawn).
    """

    value: float
    lower: float
    upper: float
    standard_error: float
    bias: float
    level: float
    repeats: int


def bootstrap_interval(
    metric: MetricLike,
    y: ArrayLike,
    p: ArrayLike,
    *,
    repeats: int = 1000,
    level: float = 0.95,
    random_state: int | np.random.Generator,
    sample_weight: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    **options: Any,
) -> BootstrapInterval:
    """Percentile bootstrap interval of one metric.

    Parameters
    ----------
    metric
        A key of METRICS or a function (y, p) → number.
    y, p
        What the metric takes, n rows each.
    repeats
        Resamples.
    level
        In (0, 1).
    sample_weight : (n,)
        Counts are so many rows, drawn one by one; of other weights the rows are drawn, and keep them.
    counts : (n,)
        How many rows each is, where its weight is more than that, as at a stated base rate: its rows are drawn one
        by one, and each keeps its share of the weight.
    cluster : (n,)
        Equal for rows that belong together: these are drawn whole, with their weights.
    options
        Handed to the metric (``bins``, ``strategy``, ``base``).

    Examples
    --------
    >>> bootstrap_interval("accuracy", [1, 1, 1, 1], [0.9, 0.9, 0.9, 0.9], random_state=0)     # right in every resample
    BootstrapInterval(value=1.0, lower=1.0, upper=1.0, standard_error=0.0, bias=0.0, level=0.95, repeats=1000)
    """
    checks.in_range(level, "level", 0, 1, open_ends=True)
    function = _function(metric)
    weighted, (labels, predicted) = Weighted.of(sample_weight, y, p, counts=counts, cluster=cluster)
    value = function(labels, predicted, **options, **weighted.keyword)
    replicate = _replicate(function, labels, predicted, options)
    values = np.concatenate([replicate(counts) for counts in weighted.resamples(repeats, random_state)])
    return _summary(value, values, level)


def bootstrap_differences(
    metrics: Mapping[str, Mapping[str, Any]],
    y: ArrayLike,
    methods: Mapping[str, ArrayLike],
    reference: str,
    *,
    repeats: int = 1000,
    level: float = 0.95,
    random_state: int,
    watch: Watch | None = None,
    sample_weight: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> dict[tuple[str, str], BootstrapInterval]:
    """Percentile intervals of metric(method) − metric(reference) on the same rows, all on the same resamples.

    Parameters
    ----------
    metrics, methods
        Key of METRICS → its options; name → p (n,).
    reference
        The method the others are set against.
    sample_weight, counts, cluster
        As for ``bootstrap_interval``.

    Returns
    -------
    dict[tuple[str, str], BootstrapInterval]
        (metric, method) → interval, the reference left out.

    Raises
    ------
    Cancelled
        When ``watch`` was called off.

    Examples
    --------
    >>> p = {"none": [0.1, 0.9], "other": [0.9, 0.1]}
    >>> bootstrap_differences({"accuracy": {}}, [1, 0], p, "none", random_state=0)[("accuracy", "other")].value
    1.0
    """
    checks.in_range(level, "level", 0, 1, open_ends=True)
    checks.one_of(reference, methods, "reference")
    held = {"counts": counts, "cluster": cluster}
    weighted, (labels, *columns) = Weighted.of(sample_weight, y, *methods.values(), **held)
    p = dict(zip(methods, columns, strict=True))
    replicates = {
        key: {name: _replicate(_function(key), labels, p[name], dict(options)) for name in p}
        for key, options in metrics.items()
    }
    resamples = weighted.resamples(repeats, random_state)
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is no difference
        drawn = _drawn_differences(replicates, reference, resamples, repeats, watch or Watch())
        on_data = {
            key: {name: _function(key)(labels, p[name], **metrics[key], **weighted.keyword) for name in p}
            for key in metrics
        }
        found = {at: float(np.subtract(on_data[at[0]][at[1]], on_data[at[0]][reference])) for at in drawn}
        return {at: _summary(found[at], values, level) for at, values in drawn.items()}


def _drawn_differences(
    replicates: Mapping[str, Mapping[str, Callable[[Array], Array]]],
    reference: str,
    resamples: Iterator[Array],
    repeats: int,
    watch: Watch,
) -> dict[tuple[str, str], Array]:
    """(metric, method) → its difference to the reference on each of the resamples, (repeats,)."""
    values: dict[tuple[str, str], list[Array]] = {}
    done = 0
    for counts in resamples:
        for key, methods in replicates.items():
            watch.step(done / repeats, "Resampling the test rows")
            base = methods[reference](counts)
            for name, replicate in methods.items():
                if name != reference:
                    values.setdefault((key, name), []).append(replicate(counts) - base)
        done += len(counts)
    return {cell: np.concatenate(found) for cell, found in values.items()}


def _function(metric: MetricLike) -> Callable[..., float]:
    if callable(metric):
        return metric
    return METRICS[checks.one_of(metric, METRICS, "metric")].function


@dataclass(frozen=True, eq=False)
class Weighted:
    """n rows that are drawn again.

    Attributes
    ----------
    n
        Number of rows.
    weights : (n,)
        Positive, or None.
    counts : (n,)
        How many rows each is, where its weight is more than that; or None.
    cluster : (n,)
        Who each row belongs to, where clusters are drawn whole; or None.
    """

    n: int
    weights: Array | None = None
    counts: Array | None = None
    cluster: Array | None = None

    @classmethod
    def of(
        cls,
        sample_weight: ArrayLike | None,
        *arrays: ArrayLike,
        counts: ArrayLike | None = None,
        cluster: ArrayLike | None = None,
    ) -> tuple[Weighted, list[Array]]:
        """(the rows of positive weight, the arrays of these)."""
        held = [np.asarray(each) for each in arrays]
        whose = None if cluster is None else np.asarray(cluster)
        if whose is not None:
            checks.same_length(y=held[0], cluster=whose)
        if sample_weight is None:
            return cls(len(held[0]), cluster=whose), held
        weights = checks.weight_vector(sample_weight, len(held[0]))
        there = weights > 0
        rows = (
            None
            if counts is None
            else checks.row_counts(checks.weight_vector(counts, len(weights)), "counts")
        )
        own = None if rows is None else rows[there]
        whose = None if whose is None else whose[there]
        return cls(int(there.sum()), weights[there], own, whose), [each[there] for each in held]

    @property
    def keyword(self) -> dict[str, Array]:
        """The argument that a metric on the data itself takes."""
        return {} if self.weights is None else {"sample_weight": self.weights}

    def resamples(self, repeats: int, random_state: int | np.random.Generator) -> Iterator[Array]:
        """Chunks (r, n) of how often, or with which weight, each row is in a resample.

        Counts that stand for at most ``MOST_DRAWN`` rows are drawn as those rows would be, one by one; of
        more, each count is drawn by the Poisson law that this comes to.
        """
        checks.in_range(repeats, "repeats", low=1, integer=True)
        rng, counts, worth = np.random.default_rng(random_state), self.counts, self.weights
        if self.cluster is not None:
            yield from self._clusters_drawn(self.cluster, repeats, rng)
            return
        if counts is not None and worth is not None:
            worth = worth / counts
        elif worth is not None and are_whole(worth):
            counts, worth = worth, None
        for drawn in self._drawn(counts, repeats, rng):
            yield drawn if worth is None else drawn * worth

    def _clusters_drawn(self, cluster: Array, repeats: int, rng: np.random.Generator) -> Iterator[Array]:
        """Chunks (r, n) of the rows' weights, times how often the cluster of each is drawn."""
        _, index = np.unique(cluster, return_inverse=True)
        k = int(index.max()) + 1
        for r in _chunks(repeats, self.n):
            drawn = rng.integers(k, size=(r, k)) + k * np.arange(r)[:, None]
            times = np.bincount(drawn.ravel(), minlength=r * k).reshape(r, k)[:, index]
            yield times if self.weights is None else times * self.weights

    def _drawn(self, counts: Array | None, repeats: int, rng: np.random.Generator) -> Iterator[Array]:
        """Chunks (r, n) of how often each row is drawn, or of each line one of the ``counts`` (n,) of its rows."""
        if counts is not None and counts.sum() > MOST_DRAWN:
            yield from (rng.poisson(counts, size=(r, self.n)) for r in _chunks(repeats, self.n))
            return
        owner = None if counts is None else np.repeat(np.arange(self.n), counts.astype(np.intp))
        total = self.n if owner is None else len(owner)
        for r in _chunks(repeats, total):
            drawn = rng.integers(total, size=(r, total))
            cells = (drawn if owner is None else owner[drawn]) + self.n * np.arange(r)[:, None]
            yield np.bincount(cells.ravel(), minlength=r * self.n).reshape(r, self.n)


def _chunks(repeats: int, n: int) -> list[int]:
    """Resamples of n rows that are held at once."""
    most = max(1, CELLS // n)
    return [min(most, repeats - start) for start in range(0, repeats, most)]


def _replicate(
    function: Callable[..., float], y: Array, p: Array, options: dict[str, Any]
) -> Callable[[Array], Array]:
    """The function counts (r, n) → values (r,) of a metric."""
    fixed_bins = options.keys() <= {"bins", "strategy"} and options.get("strategy", "uniform") == "uniform"
    if function in FAST and fixed_bins:
        return FAST[function](
            *checks.labelled_probabilities(y, p), **{k: options[k] for k in options if k == "bins"}
        )
    rows = np.arange(len(y))

    def one_by_one(counts: Array) -> Array:
        if counts.dtype.kind == "f" or counts[0].sum() > MOST_DRAWN:
            return np.array([function(y, p, **options, sample_weight=row) for row in counts])
        drawn = (np.repeat(rows, row) for row in counts)
        return np.array([function(y[i], p[i], **options) for i in drawn])

    return one_by_one


def _mean_of(
    losses: Callable[[Array, Array], Array], then: Callable[[Array], Array] = np.asarray
) -> Callable:
    def prepare(y: Array, p: Array) -> Callable[[Array], Array]:
        values = losses(y, p)
        infinite = np.isinf(values)
        finite = np.where(infinite, 0.0, values)

        def replicate(counts: Array) -> Array:
            means = counts @ (finite / len(values)) * (len(values) / counts.sum(axis=1))
            means[counts[:, infinite].any(axis=1)] = np.inf
            return then(means)

        return replicate

    return prepare


def _binned_gaps(y: Array, p: Array, bins: int = 20) -> Callable[[Array], Array]:
    """ECE is Σ over bins of |Σ (y − p)| / n."""
    gaps = csr_array(((y - p) / len(y), (bin_index(p, bins), np.arange(len(y)))), shape=(bins, len(y)))
    return lambda counts: np.abs(gaps @ counts.T).sum(axis=0) * (len(y) / counts.sum(axis=1))


def _ordered_pairs(y: Array, p: Array) -> Callable[[Array], Array]:
    """AUC from the numbers drawn of each class at each distinct p."""
    order = np.argsort(p, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(p[order]) > 0])

    def replicate(counts: Array) -> Array:
        ordered = counts[:, order]
        ones = np.add.reduceat(ordered * y[order], starts, axis=1)
        zeros = np.add.reduceat(ordered, starts, axis=1) - ones
        below = np.cumsum(zeros, axis=1) - zeros / 2
        n1 = ones.sum(axis=1)
        with np.errstate(invalid="ignore"):  # 0/0 where one class was drawn: undefined
            return (ones * below).sum(axis=1) / (n1 * (counts.sum(axis=1) - n1))

    return replicate


FAST: dict[Callable[..., float], Callable[..., Callable[[Array], Array]]] = {
    scoring.accuracy: _mean_of(scoring.hits),
    scoring.brier_score: _mean_of(scoring.squared_errors),
    scoring.rmse: _mean_of(scoring.squared_errors, np.sqrt),
    scoring.log_loss: _mean_of(scoring.log_losses),
    scoring.accuracy_gap: _mean_of(scoring.overconfidence),
    scoring.auc: _ordered_pairs,
    expected_calibration_error: _binned_gaps,
}


def _summary(value: float, values: Array, level: float) -> BootstrapInterval:
    defined = np.sort(values[~np.isnan(values)])
    if np.isnan(value) or defined.size == 0:
        return BootstrapInterval(float(value), np.nan, np.nan, np.nan, np.nan, level, defined.size)
    # A quantile that is one of the values: between a number and ∞ nothing can be interpolated.
    lower, upper = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    with np.errstate(invalid="ignore"):  # no spread where a resample is infinite
        spread = float(defined.std(ddof=1)) if defined.size > 1 else np.nan
        bias = float(defined.mean() - value)
    return BootstrapInterval(float(value), float(lower), float(upper), spread, bias, level, defined.size)
