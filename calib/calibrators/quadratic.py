"""Quadratic recalibration: a logistic fit on the log-odds of the score and on their square.

Berta, Holzmüller, Jordan and Bach 2025 (arXiv 2511.03685), for two classes: ``logit p = a + b ℓ + c ℓ²``. b = 1 with a
= c = 0 is the identity; c = 0 is logistic recalibration. The map need not increase everywhere: a note states between
which scores the parabola falls. Beyond the calibration scores, where no row supports the parabola, the map continues
along its tangent, or is constant if the tangent falls.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval
from scipy.special import expit

from calib.calibrators.base import STRAIGHT_ON
from calib.calibrators.log_odds import CLIP, LogOddsPolynomial, linear_continuation, log_odds, turn_notes
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, logit, piecewise, sigmoid


class Quadratic(LogOddsPolynomial):
    """Logistic regression on ℓ = logit s and ℓ², without a penalty, for probabilities; optional weights.

    ``coefficients_`` (3,) are a, b, c; ``ends_`` (2,) are the smallest and the largest ℓ of the calibration rows.

    >>> scores, y = [0.2, 0.2, 0.5, 0.5, 0.8, 0.8, 0.8], [0, 1, 0, 1, 0, 1, 1]
    >>> quadratic = Quadratic().fit(scores, y)
    >>> quadratic.predict([0.2, 0.5, 0.8]).round(6)    # three distinct scores: the frequencies
    array([0.5     , 0.5     , 0.666667])
    >>> quadratic.predict([0.0, 0.1])    # the parabola falls at 0.2: below, its value there holds
    array([0.5, 0.5])
    >>> quadratic.notes_
    ('the fitted curve falls from 0.2000 to 0.3333, so higher scores get lower probabilities there.',)
    """

    key = "quadratic"
    label = "Quadratic recalibration"
    name = "quadratic recalibration"
    source = "Berta et al. 2025, arXiv 2511.03685"
    monotone = False
    beyond = STRAIGHT_ON
    complexity = 4.2
    degree = 2

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        super()._learn(scores, y, weights)
        self.ends_ = log_odds(np.array([scores.min(), scores.max()]))

    def _notes(self) -> tuple[str, ...]:
        _, b, c = self.coefficients_
        turn = -b / (2 * c) if c else np.inf
        at = np.unique(np.clip([self.ends_[0], turn, self.ends_[1]], *self.ends_))
        return (*super()._notes(), *turn_notes(at, polyval(at, self.coefficients_) if b or c else 0 * at))

    @property
    def _slopes(self) -> Array:
        """Slopes (2,) of the parabola at the two ends."""
        return polyval(self.ends_, polyder(self.coefficients_))

    def _map(self, scores: Array) -> Array:
        inside, added = linear_continuation(log_odds(scores), self.ends_, self._slopes)
        constant, *slopes = self.coefficients_
        return expit(np.column_stack([inside, inside**2]) @ slopes + constant + added)

    def _formula(self, score: Expression) -> Expression:
        if not self.coefficients_[1:].any():
            return sigmoid(self.coefficients_[0])
        low, high = self.ends_
        values, slopes = polyval(self.ends_, self.coefficients_), np.maximum(self._slopes, 0.0)
        lower, upper = np.column_stack([values, slopes, np.zeros(2)])
        return sigmoid(
            piecewise(
                logit(score, CLIP),
                self.ends_,
                np.array([low, 0.0, high]),
                np.stack([lower, self.coefficients_, upper]),
            )
        )

    def to_map(self) -> dict[str, Any]:
        return {**super().to_map(), **self._learned("ends")}

    @classmethod
    def from_map(cls, fields: Fields) -> LogOddsPolynomial:
        ends = fields.numbers("ends", length=2) if "ends" in fields.value else log_odds(np.array([0.0, 1.0]))
        if ends[0] > ends[1]:
            raise fields.refuse("ends", "must not decrease")
        return super().from_map(fields)._with_learned(ends=ends)
