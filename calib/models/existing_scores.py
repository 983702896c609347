"""Existing scores as a model: a column of the table, or one per class; only calibration remains to be done."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from calib.kernel.checks import (
    InputError,
    class_labels,
    class_probabilities,
    probability_vector,
    score_vector,
)
from calib.kernel.records import Parameter
from calib.models.base import ModelEntry


def may_be_probabilities(scores: np.ndarray) -> bool:
    """Tell whether all scores (n,) could be probabilities."""
    return bool(((scores >= 0) & (scores <= 1)).all())


def _probability(self: GivenScores) -> bool:
    check_is_fitted(self)
    return self.probability_


def _margin(self: GivenScores) -> bool:
    return not _probability(self)


class GivenScores(ClassifierMixin, BaseEstimator):
    """Classifier whose score is the column ``score`` of a data frame (the first column if None).

    It learns nothing from the labels, so that every row may calibrate.

    Parameters
    ----------
    probability
        Whether the scores are probabilities, not margins; None infers it: yes if all scores in ``fit`` are in [0, 1].

    Examples
    --------
    >>> table = pd.DataFrame({"theirs": [0.2, 0.9]})
    >>> GivenScores("theirs").fit(table, [0, 1]).predict_proba(table)
    array([[0.8, 0.2],
           [0.1, 0.9]])
    """

    trained_elsewhere: ClassVar[bool] = True

    def __init__(
        self, score: str | None = None, probability: bool | None = None, random_state: int | None = None
    ) -> None:
        self.score = score
        self.probability = probability
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> GivenScores:
        scores = self._column(X)
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        self.probability_ = may_be_probabilities(scores) if self.probability is None else self.probability
        return self

    def _column(self, X: Any) -> np.ndarray:
        if self.score is None:
            return score_vector(
                X.iloc[:, 0] if isinstance(X, pd.DataFrame) else np.asarray(X)[:, 0], "The score column"
            )
        if not isinstance(X, pd.DataFrame) or self.score not in X.columns:
            columns = ", ".join(map(str, X.columns)) if isinstance(X, pd.DataFrame) else "not a data frame"
            raise InputError(f"score must name a column of the table ({columns}), but is {self.score!r}.")
        return score_vector(X[self.score], f"The score column {self.score!r}")

    @available_if(_probability)
    def predict_proba(self, X: Any) -> np.ndarray:
        p = probability_vector(self._column(X), "The score column")
        return np.column_stack([1 - p, p])

    @available_if(_margin)
    def decision_function(self, X: Any) -> np.ndarray:
        return self._column(X)

    def predict(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self.classes_[(self._column(X) > (0.5 if self.probability_ else 0)).astype(int)]


class GivenProbabilities(ClassifierMixin, BaseEstimator):
    """Classifier whose probabilities of K classes are columns of a data frame.

    It learns nothing from the labels, so that every row may calibrate.

    Parameters
    ----------
    columns
        Columns of the classes 0 … K − 1, in this order; None takes all columns.

    Examples
    --------
    >>> table = pd.DataFrame({"cat": [0.2, 0.5], "dog": [0.7, 0.5], "fox": [0.1, 0.0]})
    >>> model = GivenProbabilities(("fox", "cat", "dog")).fit(table, [0, 2])
    >>> model.predict_proba(table), model.predict(table)
    (array([[0.1, 0.2, 0.7],
           [0. , 0.5, 0.5]]), array([2, 1]))
    """

    trained_elsewhere: ClassVar[bool] = True

    def __init__(self, columns: tuple[str, ...] | None = None, random_state: int | None = None) -> None:
        self.columns = columns
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> GivenProbabilities:
        """Set ``classes_`` to 0 … K − 1; a class without a row keeps its column.

        Raises
        ------
        InputError
            If rows do not sum to 1, or labels are not positions of columns.
        """
        width = self._table(X).shape[1]
        class_labels(y, width)
        self.classes_ = np.arange(width)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def _table(self, X: Any) -> np.ndarray:
        """Return the columns in the order of the classes, without a copy if all columns of a table are used."""
        if self.columns is not None and isinstance(X, pd.DataFrame) and list(X.columns) != list(self.columns):
            absent = [name for name in self.columns if name not in X.columns]
            if absent:
                raise InputError(f"columns: there is no column {absent[0]!r} in the table.")
            X = X[list(self.columns)]
        return X.to_numpy() if isinstance(X, pd.DataFrame) else np.asarray(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities, (n, K)."""
        check_is_fitted(self)
        return class_probabilities(self._table(X), "The probabilities")

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row, (n,)."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


ENTRY = ModelEntry(
    key="given",
    label="Existing scores",
    make=GivenScores,
    parameters=(
        Parameter(
            "score",
            "Score column",
            "choice",
            None,
            optional=True,
            help="The column that contains the scores.",
        ),
        Parameter(
            "probability",
            "Probabilities",
            "boolean",
            None,
            optional=True,
            help="If unset, the scores are treated as probabilities when all scores are in [0, 1].",
        ),
    ),
    help="The scores come from another program, so no model is trained.",
)
