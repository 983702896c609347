"""Logistic recalibration: a straight line through the log-odds of the score.

Cox 1958: ``logit p = a + b ℓ`` with ℓ = logit s. The intercept a corrects the level, the slope b over- or
underconfidence; a = 0 with b = 1 is the identity. Platt scaling on log-odds is the same line with targets slightly
inside 0 and 1.
"""

from __future__ import annotations

from calib.calibrators.log_odds import LogOddsPolynomial, slope_notes


class Logistic(LogOddsPolynomial):
    """Logistic regression on ℓ = logit s, without a penalty, for probabilities; optional weights.

    ``coefficients_`` (2,) are the intercept and the slope.

    >>> logistic = Logistic().fit([0.2, 0.2, 0.2, 0.8, 0.8, 0.8], [0, 0, 1, 0, 1, 1])
    >>> logistic.predict([0.2, 0.5, 0.8]).round(6)    # two distinct scores: the frequencies
    array([0.333333, 0.5     , 0.666667])
    """

    key = "logistic"
    label = "Logistic recalibration"
    name = "logistic recalibration"
    source = "Cox 1958"
    complexity = 2.5
    degree = 1

    def _notes(self) -> tuple[str, ...]:
        return (*super()._notes(), *slope_notes(self.coefficients_[1]))
