"""Offset calibration: one constant added to the logit, for a model of which only the level is wrong.

The intercept of Cox's (1958) recalibration with the slope held at 1, "calibration in the large": ``logit p = ℓ + c``
with ℓ = logit s, by maximum likelihood, which makes the mean of p equal the frequency of class 1. It is what a changed
base rate asks for: all odds move by one ratio.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from calib.calibrators.base import ScoreCalibrator
from calib.calibrators.beta import clip_notes, count_clipped, log_odds_columns
from calib.kernel.checks import Array, both_classes


class Offset(ScoreCalibrator):
    """``logit p = logit s + c`` for probabilities; optional weights.

    ``c_`` is the constant; exp(c) is the ratio by which all odds move. ``n_clipped_`` counts calibration scores moved
    to [ε, 1 − ε], ε = 2.2e-16. One class alone, which no finite constant would fit, is refused.

    >>> offset = Offset().fit([0.5, 0.5, 0.5, 0.5], [1, 1, 1, 0])    # odds 1 become odds 3
    >>> round(float(np.exp(offset.c_)), 6), offset.predict([0.25]).round(6)
    (3.0, array([0.5]))
    """

    key = "offset"
    label = "Offset"
    source = "Cox 1958; Steyerberg 2019, calibration in the large"
    input = "probability"
    weighted = True

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        both_classes(y, self.label)
        self.n_clipped_ = count_clipped(scores)
        logits = log_odds_columns(scores).sum(axis=1)
        weights = np.ones(len(y)) if weights is None else weights
        positive = float(weights @ y)

        def excess(c: float) -> float:
            """Expected minus observed number of class 1, which rises with c."""
            return float(weights @ expit(logits + c)) - positive

        level = float(np.log(positive) - np.log(weights.sum() - positive))
        low, high = level - float(logits.max()), level - float(logits.min())  # all odds below, all above those observed
        self.c_ = (
            low if excess(low) >= 0 else high if excess(high) <= 0 else float(brentq(excess, low, high, xtol=1e-14))
        )

    def _notes(self) -> tuple[str, ...]:
        return clip_notes(self.n_clipped_)

    def _map(self, scores: Array) -> Array:
        return expit(log_odds_columns(scores).sum(axis=1) + self.c_)
