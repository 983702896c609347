"""What every calibrator is: a scikit-learn estimator from one-dimensional scores to the probability of class 1."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from calib.calibrators.merge import MERGE_RULES, merge_pair
from calib.kernel.checks import (
    Array,
    InputError,
    binary_labels,
    not_empty,
    probability_vector,
    same_length,
    score_matrix,
    score_vector,
    setting,
    weight_vector,
)
from calib.kernel.records import Parameter

READERS = {"score": score_vector, "probability": probability_vector, "tree_scores": score_matrix}


class ScoreCalibrator(BaseEstimator):
    """Base of the calibrators. A method writes ``_learn(scores, y, weights)`` and ``_map(scores)``, on checked arrays.

    key, label, source : its name in the registry, for people, and the paper
    input : "score" (any real number), "probability" (in [0, 1]) or "tree_scores" (n, n_trees)
    gives_interval : whether there is a ``predict_interval``
    weighted : whether ``fit`` takes sample weights
    parameters : the options of ``__init__`` with their ranges, for checks and for controls

    After ``fit``, ``notes_`` holds what a person should know of the fit, one sentence each; most often nothing.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    source: ClassVar[str]
    input: ClassVar[str] = "score"
    gives_interval: ClassVar[bool] = False
    weighted: ClassVar[bool] = False
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def fit(self, scores: Any, y: Any, sample_weight: Any = None) -> ScoreCalibrator:
        """Learn the map from calibration scores (n,) and their labels 0/1 (n,); nothing of an earlier fit remains.

        Raises InputError, by name, for scores or labels that are not what they should be, and for misspelt options.
        """
        self._check_options()
        scores = self._read(scores)
        y = binary_labels(y)
        same_length(scores=scores, y=y)
        not_empty(y, "The calibration set")
        if sample_weight is None:
            weights = None
        elif self.weighted:
            weights = weight_vector(sample_weight, len(y))
        else:
            raise InputError(f"{self.label} takes no sample_weight: every object counts once. Leave it out.")
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self._learn(scores, y, weights)
        self.notes_ = self._notes()
        return self

    def predict(self, scores: Any) -> Array:
        """The probability of class 1 at each score, (m,). Raises NotFittedError before ``fit``."""
        check_is_fitted(self)
        return self._map(self._read(scores))

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        raise NotImplementedError

    def _map(self, scores: Array) -> Array:
        raise NotImplementedError

    def _notes(self) -> tuple[str, ...]:
        """What a person should know of this fit, one sentence each."""
        return ()

    def _read(self, scores: Any) -> Array:
        return READERS[self.input](scores)

    def _check_options(self) -> None:
        for option in self.parameters:
            setting(getattr(self, option.name), option, f"{self.key}: {option.name}")


MERGE = Parameter(
    "merge",
    "Merge rule",
    "choice",
    "log",
    choices=tuple(MERGE_RULES),
    help="How p0 and p1 become one probability: minimax for log loss, minimax for square loss, or the midpoint.",
)


class IntervalCalibrator(ScoreCalibrator):
    """A calibrator whose answer is a pair (p0, p1), merged into p by the option ``merge``.

    A method writes ``_pairs(scores)`` and ``_pairs_without(scores, removed)``.
    """

    gives_interval = True
    merge: str
    labels_: Array

    def predict_interval(self, scores: Any) -> Array:
        """(m, 2): p0, the probability of class 1 had the object label 0, and p1, had it label 1; p0 <= p1."""
        check_is_fitted(self)
        return self._pairs(self._read(scores))

    def leave_one_out_interval(self, scores: Any, removed: Any) -> Array:
        """(m, 2): the pair at scores[j] with the calibration object number removed[j] left out.

        ``removed`` is an int (m,) of positions in the arrays given to ``fit`` (P0 eq. 10–11).
        """
        check_is_fitted(self)
        scores, removed = self._read(scores), np.asarray(removed)
        same_length(scores=scores, removed=removed)
        n = len(self.labels_)
        whole = removed.ndim == 1 and (removed.dtype.kind in "iu" or removed.size == 0)
        if not whole or ((removed < 0) | (removed >= n)).any():
            raise InputError(
                "removed must hold one position of a calibration object for each score, a whole number from 0 to "
                f"{n - 1}, but is {np.array2string(removed, threshold=8, edgeitems=3)}."
            )
        return self._pairs_without(scores, removed.astype(np.intp))

    def _map(self, scores: Array) -> Array:
        p0, p1 = self._pairs(scores).T
        return merge_pair(p0, p1, self.merge)

    def _pairs(self, scores: Array) -> Array:
        raise NotImplementedError

    def _pairs_without(self, scores: Array, removed: Array) -> Array:
        raise NotImplementedError
