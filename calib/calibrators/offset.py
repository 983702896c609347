"""Intercept-only recalibration: a constant is added to the log-odds, for a model that is wrong only in level.

It is Cox's (1958) recalibration with the slope fixed at 1, calibration-in-the-large: ``logit p = ℓ + c`` with ℓ =
logit s, by maximum likelihood, which makes the mean of p equal the frequency of class 1. It corrects a changed base
rate: all odds are multiplied by one ratio.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from calib.calibrators.log_odds import LogOddsPolynomial, count_clipped, log_odds, log_odds_of_frequency
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.weights import or_ones


class Offset(LogOddsPolynomial):
    """Intercept-only recalibration of probabilities, ``logit p = logit s + c``; optional weights.

    ``c_`` is the constant; exp(c) is the factor of all odds. ``n_clipped_`` counts calibration scores clipped to [ε, 1
    − ε], ε = 2.2e-16. A single class is refused, because no finite constant fits it.

    >>> offset = Offset().fit([0.5, 0.5, 0.5, 0.5], [1, 1, 1, 0])    # odds 1 become odds 3
    >>> round(float(np.exp(offset.c_)), 6), offset.predict([0.25]).round(6)
    (3.0, array([0.5]))
    """

    key = "offset"
    label = "Intercept only"
    name = "intercept-only recalibration"
    source = "Cox 1958; Steyerberg 2019, calibration-in-the-large"
    answers_one_class = False
    complexity = 0.5
    degree = 1

    @property
    def c_(self) -> float:
        return float(self.coefficients_[0])

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        self.n_clipped_, self.bounded_ = count_clipped(scores), False
        logits = log_odds(scores)
        weights = or_ones(weights, len(y))
        total, positive = float(weights.sum()), float(weights @ y)

        def excess(c: float) -> float:
            """Return the expected minus the observed number of rows of class 1, which increases with c."""
            return float(weights @ expit(logits + c)) - positive

        middle = log_odds_of_frequency(positive / total)
        # At the ends, all odds are too low or all too high
        low, high = middle - float(logits.max()), middle - float(logits.min())
        c = (
            low
            if excess(low) >= 0
            else high
            if excess(high) <= 0
            else float(brentq(excess, low, high, xtol=1e-14))
        )
        self.coefficients_ = np.array([c, 1.0])

    @classmethod
    def from_map(cls, fields: Fields) -> LogOddsPolynomial:
        read = super().from_map(fields)
        if read.coefficients_[1] != 1:
            raise fields.refuse("coefficients", "must have a slope of 1")
        return read
