"""Predictions of K classes, looked at one class at a time or through their confidence.

Each view is an Evaluation of two classes, so that every diagram, table and interval serves unchanged: class k against
the rest, or the predicted class, whose probability is the confidence, against whether it came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calib.evaluate.record import HOOKS, Evaluation, named
from calib.kernel.cache import once
from calib.kernel.checks import InputError, labelled_rows, one_of, weight_vector
from calib.metrics import (
    accuracy,
    auc,
    brier_score,
    classwise_calibration_error,
    confidence_calibration_error,
    confidence_interval,
    expected_calibration_error,
    log_loss,
    top_label_calibration_error,
)

TOP = "top"
SCORES: dict[str, Callable[..., float]] = {
    "log_loss": log_loss,
    "brier": brier_score,
    "accuracy": accuracy,
    "auc": auc,
    "confidence_ece": confidence_calibration_error,
    "top_label_ece": top_label_calibration_error,
    "classwise_ece": classwise_calibration_error,
}


@dataclass(frozen=True, eq=False)
class JointEvaluation:
    """Frozen predictions of K classes and the labels that came.

    Attributes
    ----------
    y : int (n,)
        The column of each row's class, 0 … K − 1.
    predictions
        Name → P, (n, K).
    sample_weight, cluster : (n,) or None
    features
        DataFrame (n, d) of other columns, or None.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet([1, 1, 1], 2000)
    >>> y = [rng.choice(3, p=row) for row in P]
    >>> found = JointEvaluation.from_predictions(y, P)
    >>> found.of("top").verdict.finding, found.of(2).verdict.finding
    ('no sign', 'no sign')
    >>> list(found.metrics.columns)
    ['log_loss', 'brier', 'accuracy', 'auc', 'confidence_ece', 'top_label_ece', 'classwise_ece']
    >>> found.by_class()[["observed", "predicted"]].round(2).loc[1].tolist()
    [0.34, 0.33]
    """

    y: np.ndarray
    predictions: Mapping[str, np.ndarray]
    sample_weight: np.ndarray | None = None
    cluster: np.ndarray | None = None
    features: Any = None

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        p: ArrayLike | Mapping[str, ArrayLike],
        sample_weight: ArrayLike | None = None,
        cluster: ArrayLike | None = None,
        features: Any = None,
    ) -> JointEvaluation:
        """Evaluate existing probabilities of K classes on all rows.

        Parameters
        ----------
        y : int (n,)
            The column of each row's class, 0 … K − 1.
        p : (n, K), or a mapping name → such an array
        sample_weight, cluster, features
            See ``Evaluation.from_predictions``.

        Raises
        ------
        InputError
            For labels other than 0 … K − 1, rows that do not sum to 1, or arrays of different shapes.
        """
        read = {name: labelled_rows(y, values) for name, values in named(p).items()}
        widths = {name: rows.shape[1] for name, (_, rows) in read.items()}
        if len(set(widths.values())) > 1:
            raise InputError(f"All predictions must have as many classes, but have {widths}.")
        labels = next(iter(read.values()))[0]
        weights = None if sample_weight is None else weight_vector(sample_weight, len(labels))
        return cls(
            labels,
            {name: rows for name, (_, rows) in read.items()},
            weights,
            None if cluster is None else np.asarray(cluster),
            features,
        )

    @property
    def classes(self) -> int:
        """Return the number of classes, K."""
        return next(iter(self.predictions.values())).shape[1]

    def of(self, k: int | str, name: str | None = None) -> Evaluation:
        """Return the two-class Evaluation of class k against the rest, or of the confidence.

        Parameters
        ----------
        k
            A class, or "top": each row's most probable class, and whether it came.
        name
            Whose confidence, if there are several predictions; the first if None. Classes show all predictions, since
            their labels are the same.

        Raises
        ------
        InputError
            If there is no such class or no such name.
        """
        one_of(k, (*range(self.classes), TOP), "k")
        name = next(iter(self.predictions)) if name is None else one_of(name, self.predictions, "name")
        return once(self, (k, name if k == TOP else None), lambda: self._of(k, name))

    def _of(self, k: int | str, name: str) -> Evaluation:
        y, p = self._confidence(name) if k == TOP else (self.y == k, self._columns(k))
        return Evaluation.from_predictions(y, p, self.sample_weight, self.cluster, self.features)

    def _confidence(self, name: str) -> tuple[np.ndarray, Any]:
        P = self.predictions[name]
        confidence = P.max(axis=1)
        return P.argmax(axis=1) == self.y, confidence if name == "none" else {name: confidence}

    def _columns(self, k: Any) -> Any:
        columns = {name: P[:, k] for name, P in self.predictions.items()}
        return columns["none"] if list(columns) == ["none"] else columns

    @property
    def metrics(self) -> pd.DataFrame:
        """One row per name, one column per score of all classes together; errors use 15 bins of equal width.

        The Brier score is summed over the classes, which for two is twice the usual one.
        """
        return once(self, "metrics", lambda: self._scored(SCORES))

    def _scored(self, scores: Iterable[str]) -> pd.DataFrame:
        rows = {
            name: {key: SCORES[key](self.y, P, sample_weight=self.sample_weight) for key in scores}
            for name, P in self.predictions.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index")

    def by_class(self, name: str | None = None) -> pd.DataFrame:
        """Return one row per class, the largest gap first.

        Columns: ``rows`` of the class, ``observed`` and mean ``predicted`` share, ``gap`` (predicted − observed) with
        its 95 % interval ``low`` to ``high`` (Wilson's, of the observed share), and ``ece`` against the rest in 15
        bins.
        """
        name = next(iter(self.predictions)) if name is None else one_of(name, self.predictions, "name")
        return once(self, ("by_class", name), lambda: self._by_class(self.predictions[name]))

    def _by_class(self, P: np.ndarray) -> pd.DataFrame:
        weights = self.sample_weight
        rows = []
        for k in range(P.shape[1]):
            y, p = self.y == k, P[:, k]
            observed, predicted = (float(np.average(values, weights=weights)) for values in (y, p))
            low, high = confidence_interval(
                "observed_expected", y, p, sample_weight=weights, cluster=self.cluster
            )
            ends = predicted * (1 - high), predicted * (1 - low)
            ece = expected_calibration_error(y, p, 15, sample_weight=weights)
            rows.append((int(y.sum()), observed, predicted, predicted - observed, *ends, ece))
        columns = ["rows", "observed", "predicted", "gap", "low", "high", "ece"]
        table = pd.DataFrame(rows, columns=columns, index=pd.RangeIndex(P.shape[1], name="class"))
        return table.sort_values("gap", key=np.abs, ascending=False, kind="stable")

    @property
    def verdict(self) -> Any:
        """Say whether the confidence of the first predictions is calibrated; ask ``of(k).verdict`` of a class."""
        return self.of(TOP).verdict

    def figure(self, key: str = "reliability", k: int | str = TOP, **view: Any) -> Any:
        """Draw a figure of the confidence, or of class k against the rest; see ``Evaluation.figure``."""
        return self.of(k).figure(key, **view)

    def _repr_html_(self) -> str:
        """Verdict, scores and diagram of the confidence, and the table of classes, for notebooks."""
        table = self.by_class().style.format(precision=3).to_html()
        return f"{self.of(TOP)._repr_html_()}{self.metrics.to_html(border=0, float_format='%.4f')}{table}"


def of_two(evaluation: Evaluation, k: int | str, name: str | None) -> Evaluation:
    """Return the two-class Evaluation of class 0, or of the confidence, of the test rows of an Evaluation."""
    return once(evaluation, "joint", lambda: _joined(evaluation)).of(k, name)


def _joined(evaluation: Evaluation) -> JointEvaluation:
    """Return the test rows with a column for each of the two classes."""
    pairs = {key: np.column_stack([1 - one.p, one.p]) for key, one in evaluation.predictions.items()}
    return JointEvaluation.from_predictions(
        evaluation.y, pairs, evaluation.weight, evaluation.cluster, evaluation.dataset.X.iloc[evaluation.rows]
    )


HOOKS["of"] = of_two
