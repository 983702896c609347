"""Calibrators of K classes together: from rows of probabilities to rows of probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from calib.calibrators.log_odds import CLIP
from calib.kernel.checks import (
    Array,
    InputError,
    class_labels,
    class_probabilities,
    not_empty,
    same_length,
    setting,
    weight_vector,
)
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, function, steps
from calib.kernel.records import Parameter
from calib.kernel.weights import effective_weights
from calib.kernel.wording import listed


def log_probabilities(P: Array, least: float = CLIP) -> Array:
    """Return ln P (n, K), with P at least ``least``."""
    return np.log(np.maximum(P, least))


def normalised(P: Array) -> Array:
    """Divide each row (n, K) by its sum; a row of zeros becomes 1/K each, as in scikit-learn."""
    total = P.sum(axis=1, keepdims=True)
    return np.divide(P, total, out=np.full(P.shape, 1 / P.shape[1]), where=total > 0)


LEAST_SHARE = 1e-300  # smaller sums of probabilities count as 0


def normalised_terms(terms: Sequence[Expression]) -> list[Expression]:
    """Divide formulas of numbers in [0, 1] by their sum, like ``normalised``."""
    total = sum(terms[1:], terms[0])
    none = steps(total, np.array([LEAST_SHARE]), np.array([1.0, 0.0]))
    return [(each + none / len(terms)) / (total + none) for each in terms]


def log_terms(P: Sequence[Expression], least: float = CLIP) -> list[Expression]:
    """Return the logarithms of formulas, like ``log_probabilities``."""
    return [function("ln", each.clip(least, 1.0)) for each in P]


class JointCalibrator(BaseEstimator):
    """Base of the calibrators of K classes: a scikit-learn estimator from P (n, K) to calibrated rows (m, K).

    A method defines ``_learn(P, y, weights)`` and ``_map(P)``, which receive checked arrays: rows of P sum to 1, y is
    in 0 … K − 1, and every class has a row. A class without a calibration row keeps its probability, the others share
    the rest, and ``notes_`` names it.

    Attributes
    ----------
    key, label, source : str
        The name in the registry, the name for people, and the paper.
    parameters : tuple of Parameter
        The options of ``__init__``.
    n_classes_ : int
        Number of classes K, once fitted.
    notes_ : tuple of str
        What a person should know about the fit, one sentence each.
    """

    __metadata_request__fit = {"sample_weight": True}  # noqa: RUF012 – scikit-learn reads this name

    key: ClassVar[str]
    label: ClassVar[str]
    name: ClassVar[str] = ""
    source: ClassVar[str]
    input: ClassVar[str] = "probability"
    gives_interval: bool = False
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    complexity: ClassVar[float] = np.inf
    weighted: ClassVar[bool] = True
    beyond: ClassVar[str | None] = (
        None  # the map is defined on the whole simplex, so no score is outside its range
    )
    kind: ClassVar[str] = "softmax"
    merge: Any = None
    takes: ClassVar[str] = "probability"

    def fit(self, P: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the map from the calibration rows; an earlier fit is discarded.

        Parameters
        ----------
        P : (n, K)
            Probabilities, one column per class.
        y : int (n,)
            Column of each row's class, 0 … K − 1.
        sample_weight : (n,), optional
            Whole numbers have the effect of repeating rows.

        Raises
        ------
        InputError
            If rows do not sum to 1, labels are invalid, or all rows belong to one class.
        """
        for option in self.parameters:
            setting(getattr(self, option.name), option, f"{self.label}: {option.name}")
        P = class_probabilities(P)
        y = class_labels(y, P.shape[1])
        same_length(P=P, y=y)
        not_empty(y, "The calibration set")
        weights = None if sample_weight is None else weight_vector(sample_weight, len(y))
        if weights is not None:
            kept = weights > 0
            P, y, weights = P[kept], y[kept], effective_weights(weights[kept])
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self.n_classes_ = P.shape[1]
        self.present_ = np.unique(y)
        if len(self.present_) < 2:
            raise InputError(
                f"{self.label} needs rows of at least two classes to be fitted, but got only class {y[0]} "
                f"({len(y)} rows). Use more calibration rows."
            )
        self._learn_all(P, y, weights)
        self.notes_ = (*self._absent_notes(), *self._notes())
        return self

    def predict(self, P: Any) -> Array:
        """Return calibrated probabilities (m, K); each row sums to 1.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        """
        return np.minimum(self._map_all(self._read(P)), 1.0)  # rounding can exceed 1

    @property
    def columns(self) -> int:
        """Number of probabilities per row, K."""
        return self.n_classes_

    def formula(self, *P: Expression) -> dict[str, Expression]:
        """Return the calibrated probabilities p_0, p_1 … as formulas of the K probabilities, which sum to 1.

        Raises
        ------
        InputError
            If the calibrator has no formula.
        """
        check_is_fitted(self)
        return {f"p_{k}": each.clip(0.0, 1.0) for k, each in enumerate(self._formula_all(P))}

    def _formula_all(self, P: Sequence[Expression]) -> list[Expression]:
        """Return what ``_map_all`` computes, as formulas."""
        found, among = list(P), [P[k] for k in self.present_]
        total = sum(among[1:], among[0])
        shares = [each / total.clip(LEAST_SHARE, np.inf) for each in among]
        for k, each in zip(self.present_, self._formula([one.clip(0.0, 1.0) for one in shares]), strict=True):
            found[k] = total * each
        return found

    def _formula(self, P: list[Expression]) -> list[Expression]:
        raise InputError(f"{self.label} cannot be written as SQL, ONNX or a program.")

    @property
    def method(self) -> str:
        """Key that names it in a file or a Recipe."""
        return self.key

    def to_map(self) -> dict[str, Any]:
        """Return the fitted map as JSON-able fields for a file."""
        check_is_fitted(self)
        return {"present": self.present_.tolist(), **self._fields()}

    @classmethod
    def from_map(cls, fields: Fields, classes: int) -> Self:
        """Make the fitted calibrator of ``classes`` classes from the fields that ``to_map`` wrote."""
        present = fields.numbers("present", increasing=True)
        if (
            len(present) < 2
            or (present != present.astype(int)).any()
            or present[0] < 0
            or present[-1] >= classes
        ):
            raise fields.refuse("present", f"must contain at least two whole numbers from 0 to {classes - 1}")
        made = cls._read_fields(fields, present.astype(np.intp))
        made.n_classes_, made.present_, made.notes_ = classes, present.astype(np.intp), ()
        return made

    def _fields(self) -> dict[str, Any]:
        return {}

    @classmethod
    def _read_fields(cls, fields: Fields, present: Array) -> Self:
        return cls()

    def _learn_all(self, P: Array, y: Array, weights: Array | None) -> None:
        """Learn from the classes with rows, as if there were no others."""
        self._learn(self._shares(P), np.searchsorted(self.present_, y), weights)

    def _map_all(self, P: Array) -> Array:
        """Calibrate the shares of classes with calibration rows; the others keep their probabilities."""
        found, among = P.copy(), P[:, self.present_]
        found[:, self.present_] = among.sum(axis=1, keepdims=True) * self._map(self._shares(P))
        return found

    def _shares(self, P: Array) -> Array:
        """Return the probabilities among the classes with calibration rows, (n, k)."""
        return normalised(P[:, self.present_])

    def _absent_notes(self) -> tuple[str, ...]:
        absent = np.setdiff1d(np.arange(self.n_classes_), self.present_)
        if not absent.size:
            return ()
        which = (
            f"Class {absent[0]} has"
            if absent.size == 1
            else f"Classes {listed([str(k) for k in absent])} have"
        )
        kept = "its probability is" if absent.size == 1 else "their probabilities are"
        return (f"{which} no calibration row, so {kept} not changed.",)

    def _read(self, P: Any) -> Array:
        check_is_fitted(self)
        P = class_probabilities(P)
        if P.shape[1] != self.n_classes_:
            raise InputError(f"P must have {self.n_classes_} columns, as in the fit, but has {P.shape[1]}.")
        return P

    def _learn(self, P: Array, y: Array, weights: Array | None) -> None:
        raise NotImplementedError

    def _map(self, P: Array) -> Array:
        raise NotImplementedError

    def _notes(self) -> tuple[str, ...]:
        return ()


class Unchanged(JointCalibrator):
    """Probabilities of K classes, unchanged, for comparison.

    >>> Unchanged().fit([[0.2, 0.3, 0.5]] * 2, [0, 1]).predict([[0.1, 0.1, 0.8]])
    array([[0.1, 0.1, 0.8]])
    """

    key = "none"
    label = "Uncalibrated"
    source = "the model's own probabilities"
    complexity = 0
    kind = "unchanged"

    def _learn_all(self, P: Array, y: Array, weights: Array | None) -> None:
        pass

    def _map_all(self, P: Array) -> Array:
        return P

    def _formula_all(self, P: Sequence[Expression]) -> list[Expression]:
        return list(P)

    def _absent_notes(self) -> tuple[str, ...]:
        return ()
