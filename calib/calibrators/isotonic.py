"""Isotonic calibration: the increasing function of the score that is closest to the labels.

Zadrozny and Elkan 2002; Johansson et al. 2019 §2.4. Pool adjacent violators; tied scores (equal as float64) are pooled
first.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from calib.calibrators.base import CLAMPED, ScoreCalibrator
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, first_reaching, piecewise_linear, steps
from calib.kernel.isotonic_regression import pool_adjacent_violators, pool_ties
from calib.kernel.records import Parameter


class Isotonic(ScoreCalibrator):
    """Isotonic regression of the labels on the scores; any real scores, optional weights.

    ``scores_`` (k,) and ``values_`` (k,) are the ends of the pools, at which the function bends, and its values there.

    Parameters
    ----------
    between
        Value between two neighbouring calibration scores: "linear" interpolates, "step" takes the value of the lower
        score (as the papers describe), "nearest" that of the nearer score, or of the lower if both are equally near
        (direct isotonic regression, Vovk and Petej 2014 §3). Beyond the outermost scores the map is constant.
    regularise
        Whether to add a row of class 1 below all scores and one of class 0 above them, so that no value is 0 or 1
        (Johansson et al., SDM 2019, §2.4).

    Examples
    --------
    >>> isotonic = Isotonic().fit([1, 2, 3, 4], [0, 1, 0, 1])
    >>> isotonic.predict([0, 1, 1.5, 2, 3, 9])
    array([0.  , 0.  , 0.25, 0.5 , 0.5 , 1.  ])
    >>> Isotonic(between="step").fit([1, 2, 3, 4], [0, 1, 0, 1]).predict([1.9, 3.9])
    array([0. , 0.5])
    """

    key = "isotonic"
    label = "Isotonic regression"
    name = "isotonic regression"
    source = "Zadrozny and Elkan 2002; Johansson et al. 2019 §2.4"
    beyond = CLAMPED
    weighted = True
    complexity = 5
    kind = "isotonic"
    parameters = (
        Parameter(
            "between",
            "Between scores",
            "choice",
            "linear",
            choices=("linear", "step", "nearest"),
            help="Between two calibration scores, interpolate, or use the value of the lower or the nearer "
            "score.",
        ),
        Parameter(
            "regularise",
            "Two dummy rows",
            "boolean",
            False,
            help="Add a row of class 1 below all scores and a row of class 0 above them, so that no value is 0 or 1.",
        ),
    )

    def __init__(self, between: Literal["linear", "step", "nearest"] = "linear", regularise: bool = False):
        self.between = between
        self.regularise = regularise

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        tied = pool_ties(scores, y, weights)
        sums, totals = tied.sums, tied.weights
        if self.regularise:
            sums, totals = np.concatenate([[1], sums, [0]]), np.concatenate([[1], totals, [1]])
        fitted = pool_adjacent_violators(sums, totals).fitted
        if self.regularise:
            fitted = fitted[1:-1]
        steps = np.flatnonzero(np.diff(fitted))
        ends = np.unique(np.concatenate([[0], steps, steps + 1, [len(fitted) - 1]]))
        self.scores_, self.values_ = tied.scores[ends], fitted[ends]

    def _map(self, scores: Array) -> Array:
        if self.between == "linear":
            return interpolated(scores, self.scores_, self.values_)
        below = np.maximum(np.searchsorted(self.scores_, scores, side="right") - 1, 0)
        if self.between == "nearest":
            above = np.minimum(below + 1, len(self.scores_) - 1)
            below = np.where(_nearer(scores, self.scores_[below], self.scores_[above]), above, below)
        return self.values_[below]

    def _formula(self, score: Expression) -> Expression:
        if self.between == "linear":
            return piecewise_linear(score, self.scores_, self.values_)
        return steps(score, self._begins(), self.values_)

    def _begins(self) -> Array:
        """Return the smallest score with each value but the first, (k − 1,)."""
        below, above = self.scores_[:-1], self.scores_[1:]
        return (
            first_reaching(lambda s: _nearer(s, below, above), below, above)
            if self.between == "nearest"
            else above
        )

    def to_map(self) -> dict[str, Any]:
        return {**self._learned("scores", "values"), "between": self.between}

    @classmethod
    def from_map(cls, fields: Fields) -> Isotonic:
        between = fields.choice("between", ("linear", "step", "nearest"))
        return cls(between)._with_learned(**increasing_steps(fields))


def _nearer(scores: Array, below: Array, above: Array) -> Array:
    """Tell whether each score is nearer to the one above than to the one below."""
    with np.errstate(over="ignore"):
        return above - scores < scores - below


def interpolated(scores: Array, knots: Array, values: Array) -> Array:
    """Interpolate linearly between the points (knots, values), (k,) and increasing; constant beyond them."""
    # np.interp may exceed the values by rounding
    return np.clip(np.interp(scores, knots, values), values[0], values[-1])


def increasing_steps(fields: Fields) -> dict[str, Array]:
    """Read ``scores`` and ``values`` (k,) of a file's map, and check that both increase."""
    scores = fields.numbers("scores", increasing=True)
    if not scores.size:
        raise fields.refuse("scores", "must not be empty")
    values = fields.numbers("values", probabilities=True, length=len(scores))
    if (np.diff(values) < 0).any():
        raise fields.refuse("values", "must not decrease")
    return {"scores": scores, "values": values}
