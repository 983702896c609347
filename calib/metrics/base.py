"""Description of a metric for tables, studies and menus, and the contract of a plug-in metric."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.registry import check_named
from calib.kernel.weights import are_whole, effective_weights

NEEDS = ("probabilities", "intervals", "posterior")
TIE_DECIMALS = 12  # decimals; values that differ by less are equal
OPTIONS_OF_RESULTS = ("bins", "calibration_size", "design_effect")


@dataclass(frozen=True)
class NumberOf:
    """Metric that is one number of a shared result: (y, p, …) → ``of(y, p, …).number``.

    Tables and figures compute the result once for all its metrics (``shared_result``).

    Parameters
    ----------
    of
        Function (y, p, sample_weight=…) → record. It takes ``cluster`` and ``counts`` if its numbers depend on them.
    number
        Name of the record's attribute.

    Examples
    --------
    >>> from calib.metrics import murphy_decomposition
    >>> NumberOf(murphy_decomposition, "reliability")([1, 0], [0.75, 0.25])        # each bin off by ¼
    0.0625
    """

    of: Callable[..., Any]
    number: str

    def __post_init__(self) -> None:
        # The signature is that of ``of`` without the options of a result: metrics use their defaults
        taken = inspect.signature(self.of).parameters
        kept = [each for name, each in taken.items() if name not in OPTIONS_OF_RESULTS]
        object.__setattr__(self, "__signature__", inspect.Signature(kept))

    def __call__(self, y: ArrayLike, p: ArrayLike, **options: Any) -> float:
        return self.read(self.of(y, p, **options))

    def read(self, result: Any) -> float:
        return float(getattr(result, self.number))


@dataclass(frozen=True)
class Metric:
    """Description of one metric.

    Parameters
    ----------
    key
        Column name in tables and studies.
    label
        Name for people.
    function
        Function of (y, p) if it needs "probabilities", of (y, intervals (m, 2)) if it needs "intervals", of
        (posterior, p) if it needs a "posterior". It is a ``NumberOf`` if several metrics are numbers of one result.
    higher_is_better
        True, False, or None if neither end is best (``target`` may then be the best value).
    format
        Format specification of a value.
    help
        Explanation in one line.
    target
        Best value of a metric that can miss it on either side.
    counted
        Whether weights must be counts of rows.
    of_label
        Whether it judges the predicted label, 1 if p > 0.5. A confidence of K classes has no such label: the predicted
        class may be right with a confidence below 0.5.
    everyday
        Whether it is shown by default; other metrics are for comparison with published tables.
    of_classes : (label, help)
        Name and explanation if the function also takes labels 0 … K − 1 and probabilities (n, K) of all classes; else
        None.
    """

    key: str
    label: str
    function: Callable[..., float]
    higher_is_better: bool | None
    help: str
    format: str = ".4f"
    needs: str = "probabilities"
    target: float | None = None
    everyday: bool = True
    counted: bool = False
    of_label: bool = False
    of_classes: tuple[str, str] | None = None

    @property
    def together(self) -> Metric:
        """Describe the metric of K classes together.

        >>> from calib.metrics import METRICS
        >>> METRICS["brier"].together.label
        'Brier score, all classes'
        """
        if self.of_classes is None:
            raise InputError(f"{self.label} is a metric for two classes only.")
        label, help = self.of_classes
        return replace(self, label=label, help=help, format=".4f", of_label=False)

    @cached_property
    def _arguments(self) -> frozenset[str]:
        """Names of the function's arguments, cached because tables need them for each metric of each method."""
        return frozenset(inspect.signature(self.function).parameters)

    def takes(self, name: str) -> bool:
        """Tell whether the function has this argument: "bins", "sample_weight" or "cluster"."""
        return name in self._arguments

    @property
    def binned(self) -> bool:
        """Tell whether the function takes ``bins`` and ``strategy``."""
        return self.takes("bins")

    @property
    def clustered(self) -> bool:
        """Tell whether the function takes ``cluster`` (the cluster of each row) and ``counts`` (its number of
        rows).
        """
        return self.takes("cluster")

    def best(self, values: ArrayLike) -> np.ndarray:
        """Tell which values are the best: the largest, the smallest, or the nearest to the target.

        Several are the best only if they are equal, to ``TIE_DECIMALS`` decimals. No value is the best if the metric
        has no better end; infinite values never are.

        Parameters
        ----------
        values : (n,)

        Returns
        -------
        bool (n,)

        Examples
        --------
        >>> Metric("mine", "Mine", lambda y, p: 0.0, False, "Nothing.").best([0.3, 0.30001, 0.1 + 0.2]).tolist()
        [True, False, True]
        """
        values = np.asarray(values, dtype=np.float64)
        losses = -values if self.higher_is_better else values
        if self.target is not None:
            losses = np.abs(values - self.target)
        elif self.higher_is_better is None:
            return np.zeros(len(values), dtype=bool)
        losses = np.round(losses, TIE_DECIMALS)
        finite = np.isfinite(losses)
        return finite & (losses == losses[finite].min(initial=np.inf))


def takes_weights(metric: Metric, weights: np.ndarray) -> bool:
    """Tell whether the metric accepts these weights (n,): any weights, or only counts of rows.

    Parameters
    ----------
    metric
        Metric, as in ``METRICS``.
    weights : (n,)
        Weights, not negative.

    Examples
    --------
    >>> takes_weights(Metric("mine", "Mine", lambda y, p: 0.0, False, "Nothing."), np.ones(3))
    False
    """
    if not metric.takes("sample_weight"):
        return False
    return not metric.counted or are_whole(effective_weights(weights[weights > 0]))


def check_metric(metric: Any) -> None:
    """Refuse, by name, anything that is not a Metric or returns no number for a small example."""
    if not isinstance(metric, Metric):
        raise InputError(f"{metric!r} is not a calib.metrics.Metric.")
    check_named(metric, f"Metric {metric.key!r}")
    checks.one_of(metric.needs, NEEDS, f"{metric.key}: needs")
    checks.one_of(metric.higher_is_better, (True, False, None), f"{metric.key}: higher_is_better")
    y, p = np.array([0, 1, 0, 1]), np.array([0.2, 0.4, 0.6, 0.9])
    first = p**2 if metric.needs == "posterior" else y
    second = np.column_stack([p / 2, p]) if metric.needs == "intervals" else p
    try:
        options = {"bins": 2, "strategy": "quantile"} if metric.binned else {}
        format(float(metric.function(first, second, **options)), metric.format)
    except Exception as error:
        raise InputError(
            f"{metric.key}: the function and the format fail on an example of four rows: "
            f"{type(error).__name__}: {error}."
        ) from error
