"""What every calibrator is: a scikit-learn estimator from one-dimensional scores to the probability of class 1."""

from __future__ import annotations

from typing import Any, ClassVar, Self

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
    whole_weights,
)
from calib.kernel.fields import Fields, plain
from calib.kernel.formula import Term, steps
from calib.kernel.records import Parameter
from calib.kernel.weights import effective_weights, rows_behind

Steps = tuple[Array, Array]
CONTINUED, KEPT = "formula continued", "outermost answer kept"
STRAIGHT_ON = "straight on in log-odds, or kept at an end that falls"
READERS = {"score": score_vector, "probability": probability_vector, "tree_scores": score_matrix}


def count_outside(scores: Array, lowest: float, highest: float) -> int:
    """How many scores (m,), or rows of scores (m, k), lie outside [lowest, highest].

    Parameters
    ----------
    scores : (m,) or (m, k)
    lowest, highest : float
        Both belong to the range.

    Examples
    --------
    >>> count_outside(np.array([0.1, 0.2, 0.9]), 0.2, 0.8)
    2
    """
    outside = (scores < lowest) | (scores > highest)
    return int((outside.any(axis=1) if outside.ndim > 1 else outside).sum())


class ScoreCalibrator(BaseEstimator):
    """Base of the calibrators: a scikit-learn estimator from scores to the probability of class 1.

    A method writes ``_learn(scores, y, weights)``, which sets attributes that end in ``_``, and
    ``_map(scores)``, which returns the probabilities (m,). Both are given checked arrays; fitting, checking,
    forgetting an earlier fit and sample weights are done here. One that gives intervals derives from
    ``IntervalCalibrator``.

    Attributes
    ----------
    key, label, source : str
        Its name in a Recipe (lower-case letters, digits, underscores), its name for people, and the paper.
    name : str
        Its name within a sentence, if that differs from the label.
    input : {"score", "probability", "tree_scores"}
        Any real number, a number in [0, 1], or a table (n, n_trees).
    weighted : bool
        Whether ``_learn`` makes use of ``weights``, None or positive numbers (n,) on the scale of
        ``effective_weights``. For one that does not, which counts rows, each row is repeated as often as its
        weight says, and ``weights`` is None.
    beyond : str or None
        What becomes of scores outside those of the fit, in two or three words; None where there is no
        outside.
    parameters : tuple of Parameter
        The options of ``__init__`` with ranges and defaults, for checks and for controls.
    complexity : float
        Its place in the order of simplicity: of methods that are alike, the one with the lowest is
        recommended.
    kind : str
        What its map in a file is called, where it has ``to_map`` and ``from_map``.
    notes_ : tuple of str
        What a person should know of the fit, one sentence each; most often nothing.

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

    key: ClassVar[str]
    label: ClassVar[str]
    name: ClassVar[str] = ""
    source: ClassVar[str]
    input: str = "score"
    gives_interval: ClassVar[bool] = False
    weighted: ClassVar[bool] = False
    beyond: ClassVar[str | None] = ""
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    complexity: ClassVar[float] = np.inf
    kind: ClassVar[str] = ""

    def fit(self, scores: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the map from calibration scores and their labels; nothing of an earlier fit remains.

        Parameters
        ----------
        scores : array (n,), or (n, n_trees) for tree scores
        y : array (n,) of 0 and 1
        sample_weight : array (n,), optional
            Whole numbers give what repeating the rows gives, and 0 what leaving them out gives. Other weights
            give the same on any scale; methods that are ``weighted`` take them.

        Raises
        ------
        InputError
            By name, for scores, labels or weights that are not what they should be, and for misspelt options.
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
        self._learn(scores, y, weights)
        self.notes_ = self._notes()
        return self

    def predict(self, scores: Any) -> Array:
        """The probability of class 1 at each score, (m,).

        Raises
        ------
        NotFittedError
            Before ``fit``.
        """
        check_is_fitted(self)
        return self._map(self._read(scores))

    def to_map(self) -> dict[str, Any]:
        """What a file holds of the fitted map, as JSON writes it.

        Raises
        ------
        InputError
            Where it cannot be kept.
        """
        raise InputError(f"{self.label} cannot be kept as a file: it defines neither to_map nor from_map.")

    @classmethod
    def from_map(cls, fields: Fields) -> ScoreCalibrator:
        """The fitted calibrator of what ``to_map`` wrote, every field checked and refused by its name."""
        raise InputError(f"{cls.label} cannot be read from a file: it defines neither to_map nor from_map.")

    def formula(self, *scores: Term) -> dict[str, Term]:
        """The fitted map as formulas of the score: p, and before it p0 and p1 where the method has them.

        SQL, ONNX, Python and JavaScript are written from them.

        Raises
        ------
        InputError
            Where the method says none.
        """
        check_is_fitted(self)
        return {"p": self._formula(*scores)}

    @property
    def takes(self) -> str:
        """The kind of score that it takes with these options; that of the method, most often."""
        return self.input

    @property
    def columns(self) -> int:
        """How many scores a row has, once fitted: one, but for tree scores."""
        return 1

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        raise NotImplementedError

    def _map(self, scores: Array) -> Array:
        raise NotImplementedError

    def _formula(self, score: Term) -> Term:
        raise InputError(
            f"{self.label} cannot be written as SQL, ONNX or a program: it has no formula. Keep it as a calibrator "
            "file (JSON), or choose another calibrator."
        )

    def _notes(self) -> tuple[str, ...]:
        """What a person should know of this fit, one sentence each."""
        return ()

    def _read(self, scores: Any) -> Array:
        return READERS[self.input](scores)

    def _weigh(self, scores: Array, y: Array, weights: Array) -> tuple[Array, Array, Array | None]:
        """The rows as ``_learn`` takes them: without those of weight 0, and repeated where the method counts rows."""
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
        """Learned numbers by name, as JSON writes them."""
        return {name: plain(getattr(self, f"{name}_")) for name in names}

    def _with_learned(self, **values: Any) -> Self:
        """This calibrator as if fitted, with these learned attributes."""
        for name, value in values.items():
            setattr(self, f"{name}_", value)
        return self


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

    A method writes ``_pairs(scores)`` and takes ``MERGE`` among its options. For out-of-bag calibration it
    also keeps the labels (n,) as ``labels_``, their weights, where it takes any, as ``weights_``, and writes
    ``_pairs_without(scores, removed)``. Where p0 and p1 are step functions it says them as ``_steps()``, and
    can then be written as SQL, ONNX or a program.
    """

    gives_interval = True
    merge: str
    labels_: Array

    def predict_interval(self, scores: Any) -> Array:
        """(m, 2): p0, the probability of class 1 had the row label 0, and p1, had it label 1; p0 <= p1."""
        check_is_fitted(self)
        return self._pairs(self._read(scores))

    def leave_one_out_interval(self, scores: Any, removed: Any) -> Array:
        """The pair (p0, p1) at each score with one calibration row left out, (m, 2).

        Parameters
        ----------
        scores : (m,)
        removed : int (m,)
            The row left out for each, by its position in the arrays given to ``fit`` (P0 eq. 10–11); where weights
            were given, in those arrays with every row repeated as often as its weight says.
        """
        check_is_fitted(self)
        scores, removed = self._read(scores), np.asarray(removed)
        same_length(scores=scores, removed=removed)
        weights = getattr(self, "weights_", None)
        n = rows_behind(weights, len(self.labels_))
        whole = removed.ndim == 1 and (removed.dtype.kind in "iu" or removed.size == 0)
        if not whole or ((removed < 0) | (removed >= n)).any():
            raise InputError(
                "removed must hold one position of a calibration row for each score, a whole number from 0 to "
                f"{n - 1}, but is {np.array2string(removed, threshold=8, edgeitems=3)}."
            )
        if weights is not None:
            removed = np.searchsorted(np.cumsum(weights), removed, side="right")
        return self._pairs_without(scores, removed.astype(np.intp))

    def formula(self, *scores: Term) -> dict[str, Term]:
        check_is_fitted(self)
        breaks, p0, p1 = self.aligned_steps()
        answers = {"p0": p0, "p1": p1, "p": merge_pair(p0, p1, self.merge)}
        return {name: steps(scores[0], breaks, values) for name, values in answers.items()}

    def aligned_steps(self) -> tuple[Array, Array, Array]:
        """breaks (t,) that both share, p0 and p1 (t + 1,): the answer at s is number i, i counting the breaks <= s."""
        (breaks0, values0), (breaks1, values1) = self._steps()
        breaks1 = np.nextafter(breaks1, np.inf)  # to lie above a number is to reach the next float
        breaks = np.union1d(breaks0, breaks1)
        at0, at1 = (np.append(0, np.searchsorted(own, breaks, side="right")) for own in (breaks0, breaks1))
        return breaks, values0[at0], values1[at1]

    def merged(self, pairs: Array) -> Array:
        """The single probability (m,) of pairs (m, 2) that this calibrator gave."""
        p0, p1 = pairs.T
        return merge_pair(p0, p1, self.merge)

    def _map(self, scores: Array) -> Array:
        return self.merged(self._pairs(scores))

    def _pairs(self, scores: Array) -> Array:
        raise NotImplementedError

    def _steps(self) -> tuple[Steps, Steps]:
        """p0 and p1 as (breaks (t,), values (t + 1,)); a break belongs to the step on its right for p0, left for p1."""
        raise InputError(
            f"{self.label} cannot be written as SQL, ONNX or a program: its p0 and p1 are not step functions."
        )

    def _pairs_without(self, scores: Array, removed: Array) -> Array:
        raise InputError(
            f"{self.label} cannot leave single rows out, as out of bag asks. Choose the placement split."
        )
