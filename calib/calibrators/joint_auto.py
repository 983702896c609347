"""Automatic calibration of K classes: a mixture of four calibrators, weighted by cross-validation.

Stacking as for two classes (``auto``), with log-probabilities in place of log-odds: the weights minimise the log loss
of calibration rows that were held out,

    p = softmax(Σ w_j ln p_j),    w_j ≥ 0,    Σ w_j = 1

with a Dirichlet prior that counts as one row. The candidates stay away from 0, so that none ruins the mixture on rows
unlike those held out: structured vector and matrix scaling, in which classes depend on each other, and two that
calibrate each class against the rest. These are Platt's sigmoid of the probability, which is smooth, and Venn–Abers,
which can bend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax

from calib.calibrators.auto import exact_weights, merged_steps
from calib.calibrators.by_class import OneVsRest
from calib.calibrators.joint import (
    JointCalibrator,
    log_probabilities,
    log_terms,
    normalised,
    normalised_terms,
)
from calib.calibrators.platt import Platt
from calib.calibrators.scaling import StructuredMatrix, StructuredVector
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, softmax_terms, steps
from calib.kernel.isotonic_regression import pool_ties
from calib.kernel.likelihood import (
    PRIOR_ROWS,
    STACKING_FOLDS,
    in_folds,
    joint_stacking_weights,
    without_small,
)
from calib.kernel.weights import are_whole, or_ones
from calib.kernel.wording import brief_percent, listed

# Enough rows, and classes times folds, to weigh the candidates; with more, fewer folds are held out
ENOUGH_HELD_OUT, HELD_OUT_CLASSES = (2000, 100)


class ClassSteps(JointCalibrator):
    """Venn–Abers' merged probability of each class against the rest, in rounded steps, divided by their sum.

    ``steps_`` holds per class the scores (t,) at which a step begins, and the probabilities (t + 1,).
    """

    key = "class_steps"
    label = "Venn–Abers per class"
    source = "Vovk and Petej 2012"

    def _learn(self, P: Array, y: Array, weights: Array | None) -> None:
        exact = None if weights is None else exact_weights(weights)
        found = (merged_steps(pool_ties(P[:, k], y == k, exact)) for k in range(P.shape[1]))
        self.steps_ = [(breaks, expit(values)) for breaks, values in found]

    def _map(self, P: Array) -> Array:
        found = (
            p[np.searchsorted(breaks, s, side="right")]
            for s, (breaks, p) in zip(P.T, self.steps_, strict=True)
        )
        return normalised(np.column_stack(list(found)))

    def _formula(self, P: list[Expression]) -> list[Expression]:
        return normalised_terms([steps(s, breaks, p) for s, (breaks, p) in zip(P, self.steps_, strict=True)])

    def _fields(self) -> dict[str, Any]:
        return {"classes": [{"breaks": b.tolist(), "steps": p.tolist()} for b, p in self.steps_]}

    @classmethod
    def _read_fields(cls, fields: Fields, present: Array) -> Self:
        made, given = cls(), fields.objects("classes")
        if len(given) != len(present):
            raise fields.refuse("classes", f"must contain {len(present)} step functions, one per class")
        breaks = [one.numbers("breaks", increasing=True) for one in given]
        values = [one.numbers("steps", length=len(b) + 1) for one, b in zip(given, breaks, strict=True)]
        if any((p < 0).any() or (p > 1).any() for p in values):
            raise fields.refuse("classes", "must contain probabilities")
        made.steps_ = list(zip(breaks, values, strict=True))
        return made


JOINT_CANDIDATES: dict[str, Callable[[], JointCalibrator]] = {
    "structured vector scaling": StructuredVector,
    "structured matrix scaling": StructuredMatrix,
    "Platt scaling per class": lambda: OneVsRest(Platt()),
    "Venn–Abers per class": ClassSteps,
}


class JointAuto(JointCalibrator):
    """Mixture of ``JOINT_CANDIDATES``, weighted by cross-validation; optional weights.

    ``weights_`` (4,) are the weights, 0 for a candidate that is left out, and ``calibrators_`` the fitted others.

    >>> P, y = [[0.5, 0.25, 0.25]] * 400 + [[0.2, 0.2, 0.6]] * 400, [0, 0, 1, 2] * 100 + [0, 1, 2, 2] * 100
    >>> auto = JointAuto().fit(P, y)
    >>> bool(np.abs(auto.predict(P[:1]) - [0.5, 0.25, 0.25]).max() < 0.01)    # the frequencies
    True
    >>> round(float(auto.weights_.sum()), 9)
    1.0
    """

    key = "auto"
    label = "Automatic calibration"
    name = "automatic calibration"
    source = "stacking: Wolpert 1992; Breiman 1996"
    complexity = 7.5
    kind = "joint_mixture"

    def _learn(self, P: Array, y: Array, weights: Array | None) -> None:
        self.weights_ = _weights(P, y, or_ones(weights, len(y)))
        self.calibrators_ = [each.fit(P, y, weights) for each in _used(self.weights_)]

    def _map(self, P: Array) -> Array:
        weights = self.weights_[self.weights_ > 0]
        return softmax(_log_predictions(self.calibrators_, P) @ weights, axis=1)

    def _formula(self, P: list[Expression]) -> list[Expression]:
        mixed = [
            [float(weight) * each for each in log_terms(candidate._formula_all(P))]
            for weight, candidate in zip(self.weights_[self.weights_ > 0], self.calibrators_, strict=True)
        ]
        return softmax_terms([sum(terms[1:], terms[0]) for terms in zip(*mixed, strict=True)])

    def _notes(self) -> tuple[str, ...]:
        names = list(JOINT_CANDIDATES)
        order = [int(i) for i in np.argsort(-self.weights_, kind="stable") if self.weights_[i]]
        return (f"mixes {listed([f'{names[i]} {brief_percent(self.weights_[i])}' for i in order])}.",)

    def _fields(self) -> dict[str, Any]:
        return {
            "weights": self.weights_.tolist(),
            "calibrators": [each.to_map() for each in self.calibrators_],
        }

    @classmethod
    def _read_fields(cls, fields: Fields, present: Array) -> Self:
        made, given = cls(), fields.objects("calibrators")
        made.weights_ = fields.numbers("weights", length=len(JOINT_CANDIDATES))
        if (made.weights_ < 0).any() or not np.isclose(made.weights_.sum(), 1):
            raise fields.refuse("weights", "must be at least 0 and sum to 1")
        used = _used(made.weights_)
        if len(given) != len(used):
            raise fields.refuse(
                "calibrators", f"must contain {len(used)} calibrators, one per positive weight"
            )
        made.calibrators_ = [each.from_map(one, len(present)) for each, one in zip(used, given, strict=True)]
        return made


def _used(weights: Array) -> list[JointCalibrator]:
    """Return the unfitted candidates whose weight is positive."""
    return [new() for new, weight in zip(JOINT_CANDIDATES.values(), weights, strict=True) if weight]


def _log_predictions(calibrators: list[JointCalibrator], P: Array) -> Array:
    """Return the log-probabilities of each calibrator, (n, K, calibrators)."""
    return np.stack([log_probabilities(each.predict(P)) for each in calibrators], axis=-1)


def _weights(P: Array, y: Array, weights: Array) -> Array:
    """Return the candidates' weights (4,) by the log loss of held-out rows; equal ones if none can be held out."""
    prior = np.full(len(JOINT_CANDIDATES), PRIOR_ROWS / len(JOINT_CANDIDATES))
    held: list[tuple[Array, Array, Array]] = []
    for P_own, y_own, learn, out in _folds(P, y, weights):
        kept, tested = learn > 0, out > 0
        if len(np.unique(y_own[kept])) > 1 and tested.any():
            fitted = [each.fit(P_own[kept], y_own[kept], learn[kept]) for each in _used(prior)]
            held.append((_log_predictions(fitted, P_own[tested]), y_own[tested], out[tested]))
    if not held:
        return prior / PRIOR_ROWS
    logs, labels, shares = (np.concatenate(each) for each in zip(*held, strict=True))
    return without_small(joint_stacking_weights(logs, labels, shares, prior))


def _folds(P: Array, y: Array, weights: Array) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Yield (P, y, weights to learn from, weights held out) of random folds; the seed is fixed."""
    rows, where = np.unique(np.column_stack([P, y]), axis=0, return_inverse=True)
    total = np.bincount(where.ravel(), weights)
    enough = min(np.ceil(STACKING_FOLDS * ENOUGH_HELD_OUT / weights.sum()), HELD_OUT_CLASSES // P.shape[1])
    folds = in_folds(total, np.random.default_rng(0), are_whole(weights))
    for held in folds.T[: max(1, int(enough))]:
        yield rows[:, :-1], rows[:, -1].astype(np.intp), total - held, held
