"""The description of a metric for tables, studies and menus, and the contract of a metric from outside."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.registry import check_named
from calib.kernel.weights import are_whole, effective_weights

NEEDS = ("probabilities", "intervals", "posterior")


@dataclass(frozen=True)
class Metric:
    """Description of one metric.

    Parameters
    ----------
    key
        Column name in tables and studies.
    label
        For people.
    function
        (y, p) → float for needs "probabilities"; (y, intervals (m, 2)) for "intervals"; (posterior, p) for
        "posterior".
    higher_is_better
        True, False, or None where neither end is best (``target`` may then name the best).
    format
        Format specification of a value.
    help
        One line that says what it means.
    binned
        Whether the function also takes ``bins`` and ``strategy``.
    target
        The best value of a metric that can miss it on either side.
    counted
        Whether weights must be counts of rows.
    everyday
        Shown by default; the other metrics are for comparison with published tables.
    of, read
        Of a metric that is one of several numbers of a result: (y, p) → the result, which is then worked out
        once for all of them, and result → float, what ``function`` returns.
    clustered
        Whether ``of``, or the function of a metric that is its own result, also takes ``cluster``, who each row
        belongs to, and ``counts``, how many rows each row is.
    """

    key: str
    label: str
    function: Callable[..., float]
    higher_is_better: bool | None
    help: str
    format: str = ".4f"
    needs: str = "probabilities"
    binned: bool = False
    target: float | None = None
    everyday: bool = True
    counted: bool = False
    of: Callable[..., Any] | None = None
    read: Callable[[Any], float] = float
    clustered: bool = False


def takes_weights(metric: Metric, weights: np.ndarray) -> bool:
    """Tell whether the metric takes these weights (n,): it has ``sample_weight``, and needs no counts or they are
    counts.

    Parameters
    ----------
    metric
        As in ``METRICS``.
    weights : (n,)
        Not negative.

    Examples
    --------
    >>> takes_weights(Metric("mine", "Mine", lambda y, p: 0.0, False, "Nothing."), np.ones(3))
    False
    """
    if "sample_weight" not in inspect.signature(metric.function).parameters:
        return False
    return not metric.counted or are_whole(effective_weights(weights[weights > 0]))


def check_metric(metric: Any) -> None:
    """Refuse, by name, anything that is not a Metric or gives no number on a small example."""
    if not isinstance(metric, Metric):
        raise InputError(f"{metric!r} is not a calib.metrics.Metric.")
    check_named(metric, f"Metric {metric.key!r}")
    checks.one_of(metric.needs, NEEDS, f"{metric.key}: needs")
    checks.one_of(metric.higher_is_better, (True, False, None), f"{metric.key}: higher_is_better")
    y, p = np.array([0, 1, 0, 1]), np.array([0.2, 0.4, 0.6, 0.9])
    first = p**2 if metric.needs == "posterior" else y
    second = np.column_stack([p / 2, p]) if metric.needs == "intervals" else p
    options = {"bins": 2, "strategy": "quantile"} if metric.binned else {}
    try:
        format(float(metric.function(first, second, **options)), metric.format)
    except Exception as error:
        raise InputError(
            f"{metric.key}: the function and the format fail on an example of four rows: "
            f"{type(error).__name__}: {error}."
        ) from error
