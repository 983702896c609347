"""Tables of an Evaluation of all its classes together: scores with intervals, changes, and one line per class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from calib.kernel.cache import cached_result
from calib.kernel.checks import InputError, one_of
from calib.kernel.records import Dataset, Predictions
from calib.kernel.rows import Rows
from calib.kernel.weights import are_whole
from calib.kernel.wording import listed
from calib.metrics.registry import OF_CLASSES, class_metrics
from calib.recipe import Recipe

if TYPE_CHECKING:
    from calib.metrics.calibration_test import KernelTest

MOST_NAMED_CLASSES = 20  # most classes that a message lists

LOSS_DECOMPOSITION = {
    "mcb": (
        "Miscalibration component of the log loss",
        "Reduction of the log loss by the best temperature (MCB); it is at most the whole calibration error.",
    ),
    "dsc": (
        "Discrimination component of the log loss",
        "Log loss of the class shares minus the log loss with the best temperature (DSC).",
    ),
    "unc": (
        "Uncertainty component of the log loss",
        "Log loss if the class shares are predicted for every row (UNC). Log loss = MCB − DSC + UNC.",
    ),
}
"""Part of the log loss of all classes → its name for people and what it is."""


class OfAllClasses:
    """Methods of an ``Evaluation`` on all its K ≥ 2 classes; ``name`` is a calibrator, by default the first."""

    recipe: Recipe
    dataset: Dataset
    y: np.ndarray
    scores: np.ndarray
    predictions: Mapping[str, Predictions]
    weight: np.ndarray | None
    if TYPE_CHECKING:  # members of an Evaluation

        @property
        def cluster(self) -> np.ndarray | None: ...
        @property
        def counts(self) -> np.ndarray | None: ...
        @property
        def sample(self) -> Rows: ...
        @property
        def metrics(self) -> pd.DataFrame: ...
        def interval(self, metric: str, key: str) -> tuple[float, float]: ...

    @property
    def classes(self) -> int:
        """Number of classes, K."""
        return self.scores.shape[1] if self.scores.ndim == 2 else 2

    @property
    def names(self) -> tuple[Any, ...]:
        """Names of the classes, (K,), or their numbers."""
        return self.dataset.class_names

    @property
    def distributions(self) -> dict[str, np.ndarray]:
        """Probabilities of all classes by calibrator, (m, K)."""
        return {
            key: one.p if one.p.ndim == 2 else np.column_stack([1 - one.p, one.p])
            for key, one in self.predictions.items()
        }

    @property
    def shares(self) -> np.ndarray:
        """Share of each class among the test rows, (K,)."""
        counts = np.bincount(self.y, self.weight, minlength=self.classes)
        return counts / counts.sum()

    def class_number(self, name: str) -> int:
        """Return the number of a class by its name.

        Raises
        ------
        InputError
            If there is no such class.
        """
        if name in self.names:
            return self.names.index(name)
        shown = listed([repr(each) for each in self.names[:MOST_NAMED_CLASSES]])
        more = (
            "" if self.classes <= MOST_NAMED_CLASSES else f" and {self.classes - MOST_NAMED_CLASSES} others"
        )
        raise InputError(f"view_class must be one of the classes {shown}{more}, but is {name!r}.")

    def _named(self, name: str | None) -> str:
        return next(iter(self.predictions)) if name is None else one_of(name, self.predictions, "name")

    @property
    def _bins(self) -> dict[str, Any]:
        return {"bins": self.recipe.bins, "strategy": self.recipe.binning}

    def intervals(self, name: str | None = None) -> pd.DataFrame:
        """Return the metrics of all classes with their 95 % intervals, one row per metric of ``class_metrics``.

        Columns: ``value``, ``low`` and ``high`` of ``class_metric_interval``, and ``corrected``, the bias-corrected
        form of calibration errors, the root of the mean squared gap that is more than chance, with ``corrected_low``
        and ``corrected_high``. They are missing for other metrics, and with weights that are not counts.
        """
        key = self._named(name)
        return cached_result(self, ("intervals", key, *self._bins.values()), lambda: self._intervals(key))

    def _intervals(self, key: str) -> pd.DataFrame:
        lines = {
            metric: (
                self.metrics.loc[key, metric],
                *self.interval(metric, key),
                *self._corrected(metric, key),
            )
            for metric in OF_CLASSES
        }
        columns = ["value", "low", "high", "corrected", "corrected_low", "corrected_high"]
        return pd.DataFrame.from_dict(lines, orient="index", columns=columns)

    def _corrected(self, metric: str, key: str) -> tuple[float, float, float]:
        """Return the bias-corrected form of a calibration error and the ends of its interval; NaN for other metrics."""
        from calib.metrics.class_metric_intervals import CALIBRATION_ERRORS, corrected_interval

        weights, bins, P = self.weight, self._bins, self.distributions[key]
        if metric not in CALIBRATION_ERRORS or not (weights is None or are_whole(weights)):
            return np.nan, np.nan, np.nan
        ends = corrected_interval(metric, self.y, P, weights, self.cluster, counts=self.counts, **bins)
        error = class_metrics()[metric].function
        return error(self.y, P, sample_weight=weights, debiased=True, **bins), *ends

    def loss_parts(self, name: str | None = None) -> pd.DataFrame:
        """Return MCB, DSC and UNC of the log loss, the rows of ``LOSS_DECOMPOSITION``.

        Columns: ``value``, ``low`` and ``high`` of ``decompose_class_log_loss``.
        """
        key = self._named(name)
        return cached_result(self, ("loss_parts", key), lambda: self._loss_parts(self.distributions[key]))

    def _loss_parts(self, P: np.ndarray) -> pd.DataFrame:
        from calib.metrics.class_log_loss import decompose_class_log_loss

        found = decompose_class_log_loss(self.y, P, self.weight, self.cluster, counts=self.counts)
        lines = {key: (getattr(found, key), *found.intervals[key]) for key in LOSS_DECOMPOSITION}
        return pd.DataFrame.from_dict(lines, orient="index", columns=["value", "low", "high"])

    def kernel_test(self, name: str | None = None) -> KernelTest | None:
        """Test whether all K probabilities are right together (``calib.metrics.calibration_test``).

        None for rows in clusters or with weights, whose labels cannot be redrawn one by one, and for a single row.
        """
        from calib.metrics.calibration_test import kernel_test

        key = self._named(name)
        if self.weight is not None or self.cluster is not None or len(self.y) < 2:
            return None
        return cached_result(self, ("kernel_test", key), lambda: kernel_test(self.y, self.distributions[key]))

    def differences(self) -> pd.DataFrame:
        """Return the change of the losses of all classes from the first predictions to each of the others.

        One row per name and metric ("brier", "log_loss"), with columns calibrator, metric, value, lower, upper: the
        mean difference of the rows' losses, with the 95 % interval of ``mean_interval``. The change of an infinite
        loss has no interval.
        """
        return cached_result(self, "differences", self._differences)

    def _differences(self) -> pd.DataFrame:
        from calib.metrics.confidence_intervals import mean_interval
        from calib.metrics.losses import class_log_losses, class_squared_errors

        reference, *others = self.predictions
        P, rows = self.distributions, self.sample
        lines = []
        for name in others:
            for metric, loss in (("brier", class_squared_errors), ("log_loss", class_log_losses)):
                with np.errstate(invalid="ignore"):  # ∞ − ∞ is NaN
                    change = loss(self.y, P[name]) - loss(self.y, P[reference])
                lines.append((name, metric, *mean_interval(rows, change)))
        return pd.DataFrame(lines, columns=["calibrator", "metric", "value", "lower", "upper"])

    def by_class(self, name: str | None = None) -> pd.DataFrame:
        """Return one row per class, the largest gap first.

        Columns: ``rows`` of the class, ``observed`` and mean ``predicted`` share, ``gap`` (predicted − observed) with
        its 95 % interval ``low`` to ``high`` (Wilson's, of the observed share), and ``ece`` against the rest.
        """
        key = self._named(name)
        return cached_result(
            self, ("by_class", key, *self._bins.values()), lambda: self._by_class(self.distributions[key])
        )

    def _by_class(self, P: np.ndarray) -> pd.DataFrame:
        columns = ["rows", "observed", "predicted", "gap", "low", "high", "ece"]
        lines = [self._class_line(self.y == k, P[:, k]) for k in range(P.shape[1])]
        table = pd.DataFrame(lines, columns=columns, index=pd.Index(self.names, name="class"))
        return table.sort_values("gap", key=np.abs, ascending=False, kind="stable")

    def _class_line(self, y: np.ndarray, p: np.ndarray) -> tuple[float, ...]:
        from calib.metrics import confidence_interval, expected_calibration_error

        weights = self.weight
        observed, predicted = (float(np.average(values, weights=weights)) for values in (y, p))
        low, high = confidence_interval("observed_expected", y, p, weights, self.cluster, counts=self.counts)
        ends = predicted * (1 - high), predicted * (1 - low)
        ece = expected_calibration_error(y, p, sample_weight=weights, **self._bins)
        return int(y.sum()), observed, predicted, predicted - observed, *ends, ece

    def class_frame(self) -> pd.DataFrame:
        """Return one line per row: its class, and probabilities of all classes in columns "name: class"."""
        names = np.asarray(self.names)
        columns = {
            f"{name}: {each}": P[:, k]
            for name, P in self.distributions.items()
            for k, each in enumerate(names)
        }
        return pd.DataFrame({"class": names[self.y], **columns})
