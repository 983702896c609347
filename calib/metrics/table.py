"""Compute all metrics of all methods on the same test rows, as one table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.kernel.binning import BINS
from calib.kernel.cache import cached_result
from calib.kernel.records import Predictions
from calib.metrics.base import Metric, NumberOf, takes_weights
from calib.metrics.registry import METRICS


def metric_value(
    metric: Metric,
    predictions: Predictions,
    *,
    bins: ArrayLike = BINS,
    strategy: str = "uniform",
    posterior: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> float:
    """Return one metric of one method; NaN if it lacks intervals or a posterior, or does not accept the weights.

    Parameters
    ----------
    metric
        Metric, as in ``METRICS``.
    predictions
        Predictions of one method, with intervals and weights if it has any.
    bins, strategy
        Bins of binned metrics, as in ``expected_calibration_error``.
    posterior : (n,) in [0, 1], optional
        True probability of class 1 of each row.
    cluster : (n,), optional
        Cluster of each row, for metrics whose p-value depends on it. It must be equal in all calls for
        ``predictions``, because shared results are cached.
    counts : (n,), optional
        Number of rows that each row represents, if its weight is more than that; equal in all calls, as ``cluster``.

    Raises
    ------
    InputError
        If a plug-in metric fails on these rows; names it.
    """
    try:
        return _value(metric, predictions, bins, strategy, posterior, {"cluster": cluster, "counts": counts})
    except Exception as error:
        if isinstance(error, checks.InputError) or metric.key in {*METRICS.shipped, *METRICS.unlisted}:
            raise
        raise checks.InputError(
            f"{metric.label} fails on these data: {type(error).__name__}: {error}."
        ) from error


def _value(
    metric: Metric,
    predictions: Predictions,
    bins: ArrayLike,
    strategy: str,
    posterior: ArrayLike | None,
    draws: Mapping[str, ArrayLike | None],
) -> float:
    weight = predictions.weight
    if weight is not None and not takes_weights(metric, weight):
        return math.nan
    weighted = {} if weight is None else {"sample_weight": weight}
    shared = metric.function if isinstance(metric.function, NumberOf) else None
    if metric.needs == "intervals":
        if predictions.lower is None or predictions.upper is None:
            return math.nan
        pairs = np.column_stack([predictions.lower, predictions.upper])
        if shared is not None:
            return shared.read(
                cached_result(predictions, shared.of, partial(shared.of, predictions.y, pairs, **weighted))
            )
        return metric.function(predictions.y, pairs, **weighted)
    if metric.needs == "posterior":
        return math.nan if posterior is None else metric.function(posterior, predictions.p, **weighted)
    if shared is not None:
        return shared.read(shared_result(shared.of, predictions, **draws if metric.clustered else {}))
    options: dict[str, Any] = {"bins": bins, "strategy": strategy} if metric.binned else {}
    options |= draws if metric.clustered else {}
    return metric.function(predictions.y, predictions.p, **options, **weighted)


def shared_result(of: Callable[..., Any], predictions: Predictions, **draws: ArrayLike | None) -> Any:
    """Return a result that several metrics and a figure share, computed once per set of names in ``draws``.

    Parameters
    ----------
    of
        Function (y, p, …) → result.
    predictions
        Predictions of one method.
    draws
        ``cluster`` and ``counts``, if known; else None.

    Examples
    --------
    >>> from calib.metrics import cumulative_differences
    >>> shared_result(cumulative_differences, Predictions(np.array([1, 0]), np.array([0.75, 0.25]))).walk
    array([ 0.   , -0.125,  0.   ])
    """
    known = {name: values for name, values in draws.items() if values is not None}
    weighted = {} if predictions.weight is None else {"sample_weight": predictions.weight}
    return cached_result(
        predictions, (of, *known), partial(of, predictions.y, predictions.p, **weighted, **known)
    )


def metric_table(
    predictions: Mapping[str, Predictions],
    *,
    bins: ArrayLike = BINS,
    strategy: str = "uniform",
    posterior: ArrayLike | None = None,
    metrics: Iterable[str] | None = None,
) -> pd.DataFrame:
    """Compute metrics: one row per method, one column per metric.

    Parameters
    ----------
    predictions
        Method → Predictions.
    bins, strategy
        Bins of the binned metrics.
    posterior : (m,)
        True P(Y = 1 | x).
    metrics
        Keys of METRICS; by default the everyday metrics, without those that need a posterior if none is given.

    Examples
    --------
    >>> predictions = Predictions(np.array([1, 0]), np.array([0.75, 0.25]))
    >>> metric_table({"none": predictions}, metrics=["accuracy", "brier", "width"])
          accuracy   brier  width
    none       1.0  0.0625    NaN
    """
    if metrics is None:
        chosen = [
            m for m in METRICS.values() if m.everyday and (m.needs != "posterior" or posterior is not None)
        ]
    else:
        chosen = [METRICS[checks.one_of(key, METRICS, "metrics")] for key in metrics]
    columns = {
        metric.key: [
            metric_value(metric, one, bins=bins, strategy=strategy, posterior=posterior)
            for one in predictions.values()
        ]
        for metric in chosen
    }
    return pd.DataFrame(columns, index=list(predictions), dtype=np.float64)
