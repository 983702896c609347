"""Base classes of all calibrators: scikit-learn estimators from one-dimensional scores to the probability of class
1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from calib.calibrators.feature_groups import score_and_features
from calib.calibrators.merge import merge_pair
from calib.kernel.checks import (
    Array,
    InputError,
    binary_labels,
    both_classes,
    not_empty,
    probability_vector,
    row_counts,
    same_length,
    score_matrix,
    score_vector,
    setting,
    weight_vector,
    whole_weights,
)
from calib.kernel.fields import Fields, json_numbers
from calib.kernel.formula import Expression, steps
from calib.kernel.records import Parameter
from calib.kernel.weights import effective_weights, represented_rows

Steps = tuple[Array, Array]
EXTRAPOLATED, CLAMPED = "extrapolated", "clamped"
STRAIGHT_ON = "extrapolated linearly in log-odds, or clamped where the curve falls at its end"
INPUT_READERS: dict[str, Callable[[Any], Any]] = {
    "score": score_vector,
    "probability": probability_vector,
    "tree_scores": score_matrix,
    "features": score_and_features,
}


def count_outside(scores: Array, lowest: float, highest: float) -> int:
    """Count scores (m,), or rows of scores (m, k), outside [lowest, highest].

    Parameters
    ----------
    scores : (m,) or (m, k)
    lowest, highest : float
        Ends of the range, both included.

    Examples
    --------
    >>> count_outside(np.array([0.1, 0.2, 0.9]), 0.2, 0.8)
    2
    """
    outside = (scores < lowest) | (scores > highest)
    return int((outside.any(axis=1) if outside.ndim > 1 else outside).sum())


class ScoreCalibrator(BaseEstimator):
    """Base of the calibrators: a scikit-learn estimator from scores to the probability of class 1.

    A method defines ``_learn(scores, y, weights)``, which sets attributes that end in ``_``, and ``_map(scores)``,
    which returns the probabilities (m,). Both receive checked arrays. This class checks arguments, discards an earlier
    fit and applies sample weights. A method with intervals derives from ``IntervalCalibrator``.

    Attributes
    ----------
    key, label, source : str
        The name in a Recipe (lower-case letters, digits, underscores), the name for people, and the paper.
    name : str
        The name within a sentence, if it differs from the label.
    input : {"score", "probability", "tree_scores", "features"}
        Any real number, a number in [0, 1], a table (n, n_trees), or a table of a number in [0, 1] and the features.
    weighted : bool
        Whether ``_learn`` uses ``weights``, which are None or positive numbers (n,) on the scale of
        ``effective_weights``. If not, the method counts rows: each row is repeated as often as its weight says, and
        ``weights`` is None.
    counts_rows : bool
        Whether a ``weighted`` method, too, accepts whole weights only; others are refused.
    answers_one_class : bool
        Whether it answers if all labels are equal; if not, such rows are refused.
    monotone : bool
        Whether a higher score never has a lower probability, at least with the default options.
    beyond : str or None
        How the method treats scores outside the range of the fit, in a few words; None if every score is inside.
    parameters : tuple of Parameter
        The options of ``__init__`` with ranges and defaults, for checks and for controls.
    complexity : float
        The rank in order of simplicity: of similar methods, the one with the lowest is recommended.
    kind : str
        The name of its map in a file, if it has ``to_map`` and ``from_map``.
    notes_ : tuple of str
        What a person should know about the fit, one sentence each; usually empty.

    Examples
    --------
    >>> class Frequency(ScoreCalibrator):
    ...     key, label, source, input = "frequency", "Frequency", "the definition", "score"
    ...     def _learn(self, scores, y, weights):
    ...         self.frequency_ = y.mean()
    ...     def _map(self, scores):
    ...         return np.full(len(scores), self.frequency_)
    >>> Frequency().fit([0.2, 0.4], [0, 1], sample_weight=[1, 3]).predict([0.3])
    array([0.75])
    """

    __metadata_request__fit = {"sample_weight": True}  # noqa: RUF012 – scikit-learn reads this name

    key: ClassVar[str]
    label: ClassVar[str]
    name: ClassVar[str] = ""
    source: ClassVar[str]
    input: str = "score"
    gives_interval: ClassVar[bool] = False
    weighted: ClassVar[bool] = False
    counts_rows: ClassVar[bool] = False
    answers_one_class: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    beyond: ClassVar[str | None] = ""
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    complexity: ClassVar[float] = np.inf
    kind: ClassVar[str] = ""

    def fit(self, scores: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the map from calibration scores and their labels; an earlier fit is discarded.

        Parameters
        ----------
        scores : array (n,), or (n, n_trees) for tree scores
        y : array (n,) of 0 and 1
        sample_weight : array (n,), optional
            Whole numbers have the effect of repeating rows, and 0 of excluding them. The scale of other weights has no
            effect; only ``weighted`` methods accept them.

        Raises
        ------
        InputError
            If scores, labels or weights are invalid, or an option is misspelt; the message names it.
        """
        self._check_options()
        scores = self._read(scores)
        y = binary_labels(y)
        same_length(scores=scores, y=y)
        not_empty(y, "The calibration set")
        weights = None if sample_weight is None else weight_vector(sample_weight, len(y))
        if weights is not None:
            scores, y, weights = self._weigh(scores, y, weights)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        if not self.answers_one_class:
            both_classes(y, self.label)
        if self.counts_rows and weights is not None:
            row_counts(weights, self.label)
        self._learn(scores, y, weights)
        self.notes_ = self._notes()
        return self

    def predict(self, scores: Any) -> Array:
        """Return the probability of class 1 at each score, (m,).

        Raises
        ------
        NotFittedError
            Before ``fit``.
        """
        check_is_fitted(self)
        return self._map(self._read(scores))

    def adapt(self, scores: Array, probability: bool, decides: bool) -> None:
        """Set, before a fit, the options that depend on the kind of score; placements call it.

        Parameters
        ----------
        scores : (n,)
            The calibration scores.
        probability
            Whether they are probabilities; else they are margins.
        decides
            Whether the model's probabilities are the sigmoid of its decision function.
        """

    def to_map(self) -> dict[str, Any]:
        """Return the fitted map as JSON-able fields for a file.

        Raises
        ------
        InputError
            If it cannot be saved.
        """
        raise InputError(f"{self.label} cannot be saved to a file: it does not define to_map and from_map.")

    @classmethod
    def from_map(cls, fields: Fields) -> ScoreCalibrator:
        """Make the fitted calibrator from the fields that ``to_map`` wrote; an error names the field."""
        raise InputError(f"{cls.label} cannot be read from a file: it does not define to_map and from_map.")

    def formula(self, *scores: Expression) -> dict[str, Expression]:
        """Return the fitted map as formulas of the score: p, and before it p0 and p1 if the method has them.

        SQL, ONNX, Python and JavaScript are generated from them.

        Raises
        ------
        InputError
            If the method has no formula.
        """
        check_is_fitted(self)
        return {"p": self._formula(*scores)}

    @property
    def takes(self) -> str:
        """Kind of score that it needs with these options; usually ``input``."""
        return self.input

    @property
    def columns(self) -> int:
        """Number of scores per row, once fitted: one, except for tree scores."""
        return 1

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        raise NotImplementedError

    def _map(self, scores: Array) -> Array:
        raise NotImplementedError

    def _formula(self, score: Expression) -> Expression:
        raise InputError(
            f"{self.label} cannot be written as SQL, ONNX or a program: it has no formula. Save it as a calibrator "
            "file (JSON), or choose another calibrator."
        )

    def _notes(self) -> tuple[str, ...]:
        """Return what a person should know about this fit, one sentence each."""
        return ()

    def _read(self, scores: Any) -> Array:
        return INPUT_READERS[self.input](scores)

    def _weigh(self, scores: Array, y: Array, weights: Array) -> tuple[Array, Array, Array | None]:
        """Return the rows for ``_learn``: without rows of weight 0, and repeated if the method counts rows."""
        counted = weights > 0
        if not counted.all():
            scores, y, weights = scores[counted], y[counted], weights[counted]
        weights = effective_weights(weights)
        if self.weighted:
            return scores, y, weights
        times = whole_weights(weights, self.label)
        return np.repeat(scores, times, axis=0), np.repeat(y, times), None

    def _check_options(self) -> None:
        for option in self.parameters:
            setting(getattr(self, option.name), option, f"{self.key}: {option.name}")

    def _learned(self, *names: str) -> dict[str, Any]:
        """Return learned numbers by name, as JSON writes them."""
        return {name: json_numbers(getattr(self, f"{name}_")) for name in names}

    def _with_learned(self, **values: Any) -> Self:
        """Set learned attributes, as if fitted, and return this calibrator."""
        for name, value in values.items():
            setattr(self, f"{name}_", value)
        return self


class IntervalCalibrator(ScoreCalibrator):
    """Base of the calibrators that give a pair (p0, p1), merged into p by the option ``merge``.

    A method defines ``_pairs(scores)`` and has ``MERGE`` among its options. For out-of-bag calibration it also stores
    the labels (n,) as ``labels_``, their weights, if it accepts any, as ``weights_``, and defines
    ``_pairs_without(scores, removed)``. If p0 and p1 are step functions, it returns them from ``_steps()``; it can
    then be written as SQL, ONNX or a program.
    """

    gives_interval = True
    merge: str
    labels_: Array

    def predict_interval(self, scores: Any) -> Array:
        """Return (m, 2): p0, the probability of class 1 if the row had label 0, and p1, if it had label 1; p0 <= p1."""
        check_is_fitted(self)
        return self._pairs(self._read(scores))

    def leave_one_out_interval(self, scores: Any, removed: Any) -> Array:
        """Return the pair (p0, p1) at each score with one calibration row excluded, (m, 2).

        Parameters
        ----------
        scores : (m,)
        removed : int (m,)
            Excluded row for each score, by its position in the arrays given to ``fit`` (P0 eq. 10–11). With weights,
            positions count every row as often as its weight states.
        """
        check_is_fitted(self)
        scores, removed = self._read(scores), np.asarray(removed)
        same_length(scores=scores, removed=removed)
        weights = getattr(self, "weights_", None)
        n = represented_rows(weights, len(self.labels_))
        whole = removed.ndim == 1 and (removed.dtype.kind in "iu" or removed.size == 0)
        if not whole or ((removed < 0) | (removed >= n)).any():
            raise InputError(
                "removed must contain the position of one calibration row per score, a whole number from 0 to "
                f"{n - 1}, but is {np.array2string(removed, threshold=8, edgeitems=3)}."
            )
        if weights is not None:
            removed = np.searchsorted(np.cumsum(weights), removed, side="right")
        return self._pairs_without(scores, removed.astype(np.intp))

    def formula(self, *scores: Expression) -> dict[str, Expression]:
        check_is_fitted(self)
        breaks, p0, p1 = self.aligned_steps()
        answers = {"p0": p0, "p1": p1, "p": merge_pair(p0, p1, self.merge)}
        return {name: steps(scores[0], breaks, values) for name, values in answers.items()}

    def aligned_steps(self) -> tuple[Array, Array, Array]:
        """Return shared breaks (t,), p0 and p1 (t + 1,): the value at s is number i if i breaks are <= s."""
        (breaks0, values0), (breaks1, values1) = self._steps()
        breaks1 = np.nextafter(breaks1, np.inf)  # s > x is the same as s >= the next float after x
        breaks = np.union1d(breaks0, breaks1)
        at0, at1 = (np.append(0, np.searchsorted(b, breaks, side="right")) for b in (breaks0, breaks1))
        return breaks, values0[at0], values1[at1]

    def merged(self, pairs: Array) -> Array:
        """Merge pairs (m, 2) of this calibrator into probabilities (m,)."""
        p0, p1 = pairs.T
        return merge_pair(p0, p1, self.merge)

    def _map(self, scores: Array) -> Array:
        return self.merged(self._pairs(scores))

    def _pairs(self, scores: Array) -> Array:
        raise NotImplementedError

    def _steps(self) -> tuple[Steps, Steps]:
        """Return p0 and p1 as (breaks (t,), values (t + 1,)).

        A break belongs to the step on its right for p0, on its left for p1.
        """
        raise InputError(
            f"{self.label} cannot be written as SQL, ONNX or a program: its p0 and p1 are not step functions."
        )

    def _pairs_without(self, scores: Array, removed: Array) -> Array:
        raise InputError(
            f"{self.label} does not support out-of-bag calibration, because it cannot exclude individual "
            "rows. Choose placement='split'."
        )
