"""Platt scaling: a sigmoid through the scores, with targets drawn in from 0 and 1.

Platt 1999; Johansson et al., SDM 2019, eq. 2.4–2.6. With k₊ and k₋ calibration objects of each class the targets are
``t₊ = (k₊ + 1)/(k₊ + 2)`` and ``t₋ = 1/(k₋ + 2)``, which keeps the fit finite on separable data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from calib.calibrators.base import ScoreCalibrator
from calib.kernel.checks import Array, both_classes
from calib.kernel.fields import Fields
from calib.kernel.likelihood import fit_logistic


class Platt(ScoreCalibrator):
    """``p = 1 / (1 + exp(A s + B))`` by cross-entropy against Platt's targets; any real scores, optional weights.

    ``A_`` and ``B_`` are the fitted numbers, ``A_`` negative for scores that grow with the belief in class 1. Constant
    scores leave A at 0 and give the mean target; one class alone is refused.

    >>> platt = Platt().fit([-1, 1], [0, 1])    # targets 1/3 and 2/3, met exactly: A = −ln 2, B = 0
    >>> bool(np.isclose(platt.A_, -np.log(2))), bool(np.isclose(platt.B_, 0))
    (True, True)
    >>> platt.predict([0, 1]).round(6)
    array([0.5     , 0.666667])
    """

    key = "platt"
    label = "Platt"
    source = "Platt 1999; Johansson et al., SDM 2019, eq. 2.4–2.6"
    weighted = True
    complexity = 3
    kind = "sigmoid"

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        both_classes(y, self.label)
        weights = np.ones(len(y)) if weights is None else weights
        positive = weights @ y
        negative = weights.sum() - positive
        targets = np.where(y == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
        fit = fit_logistic(scores[:, None], targets, weights)
        self.A_, self.B_ = -float(fit.slopes[0]), -fit.intercept

    def _map(self, scores: Array) -> Array:
        with np.errstate(over="ignore"):
            return expit(-(self.A_ * scores + self.B_))

    def to_map(self) -> dict[str, Any]:
        return self._learned("A", "B")

    @classmethod
    def from_map(cls, fields: Fields) -> Platt:
        return cls()._with_learned(A=fields.number("A"), B=fields.number("B", infinite=True))
