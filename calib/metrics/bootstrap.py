"""Bootstrap interval of any metric, by resampling test rows with replacement (Efron 1979).

Pages and reports print the intervals of ``confidence``, whose coverage is tested. This one is for metrics without such
an interval, and for user-defined metrics. It is a percentile interval, and resampling adds noise: for ECE, ICI and
other distances between predictions and frequencies it is too high and does not cover. The reported bias states by how
much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.kernel.rows import Rows
from calib.kernel.weights import are_whole
from calib.metrics.registry import METRICS

Array = np.ndarray
MetricLike = str | Callable[..., float]

MOST_DRAWN = 2_000_000  # largest number of counted rows that are drawn one by one


@dataclass(frozen=True)
class BootstrapInterval:
    """Metric with its percentile interval.

    Attributes
    ----------
    value
        Value on the data itself.
    lower, upper
        Quantiles (1 ∓ level)/2 of the resamples.
    standard_error
        Standard deviation of the resamples.
    bias
        Mean of the resamples minus ``value``.
    repeats
        Number of resamples in which the metric was defined (AUC needs both classes).
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
    """Compute the percentile bootstrap interval of one metric.

    Parameters
    ----------
    metric
        Key of METRICS, or a function (y, p) → number.
    y, p
        Arguments of the metric, n rows each.
    repeats
        Number of resamples.
    level
        Level of the interval, in (0, 1).
    sample_weight : (n,)
        Weights. Counts are resampled as single rows; with other weights, whole rows are resampled with their weights.
    counts : (n,)
        Number of rows that each row represents, if its weight is more than that, as at a deployment base rate. These
        rows are resampled one by one, each with its share of the weight.
    cluster : (n,)
        Cluster of each row. Whole clusters are resampled, with their weights.
    options
        Further arguments of the metric (``bins``, ``strategy``, ``base``).

    Examples
    --------
    >>> bootstrap_interval("accuracy", [1, 1, 1, 1], [0.9, 0.9, 0.9, 0.9], random_state=0)     # right in every resample
    BootstrapInterval(value=1.0, lower=1.0, upper=1.0, standard_error=0.0, bias=0.0, level=0.95, repeats=1000)
    """
    checks.in_range(level, "level", 0, 1, open_ends=True)
    checks.in_range(repeats, "repeats", low=1, integer=True)
    function = metric if callable(metric) else METRICS[checks.one_of(metric, METRICS, "metric")].function
    labels, predicted = np.asarray(y), np.asarray(p)
    weights = None if sample_weight is None else checks.weight_vector(sample_weight, len(labels))
    rows = Rows(
        labels,
        weight=weights,
        counts=None if counts is None else checks.row_counts(np.asarray(counts, dtype=float), "counts"),
        cluster=None if cluster is None else np.asarray(cluster),
    )
    keyword = {} if weights is None else {"sample_weight": weights}
    value = function(labels, predicted, **options, **keyword)
    found = [
        function(labels, predicted, **options, sample_weight=times)
        if times.dtype.kind == "f"
        # A metric without weights gets repeated rows
        else function(np.repeat(labels, times), np.repeat(predicted, times, axis=0), **options)
        for times in _resamples(rows, repeats, np.random.default_rng(random_state))
    ]
    return _summary(float(value), np.array(found), level)


def _resamples(rows: Rows, repeats: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield how often each row is in a resample, int (n,), or its weight, float (n,).

    Counts of at most ``MOST_DRAWN`` rows in total are drawn as single rows; of more, each count is Poisson
    distributed.
    """
    if rows.cluster_index is not None:
        k = int(rows.cluster_index.max()) + 1
        for _ in range(repeats):
            times = np.bincount(rng.integers(k, size=k), minlength=k)[rows.cluster_index]
            yield times if rows.weight is None else times * rows.weight
        return
    draws, total = rows.draws, round(float(rows.draws.sum()))
    kept = rows.counts is None and (rows.weight is None or are_whole(rows.weight))
    for _ in range(repeats):
        if total > MOST_DRAWN:
            times = rng.poisson(draws).astype(np.float64)
        else:
            times = rng.multinomial(total, draws / draws.sum())
        yield times if kept else times * (rows.weights / draws)


def _summary(value: float, values: Array, level: float) -> BootstrapInterval:
    defined = np.sort(values[~np.isnan(values)])
    if np.isnan(value) or defined.size == 0:
        return BootstrapInterval(value, np.nan, np.nan, np.nan, np.nan, level, defined.size)
    # A quantile that is one of the values, because there is no interpolation between a number and ∞.
    lower, upper = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    with np.errstate(invalid="ignore"):  # the spread is NaN if a resample is infinite
        spread = float(defined.std(ddof=1)) if defined.size > 1 else np.nan
        bias = float(defined.mean() - value)
    return BootstrapInterval(value, float(lower), float(upper), spread, bias, level, defined.size)
