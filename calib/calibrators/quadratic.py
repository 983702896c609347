"""Quadratic calibration: a logistic fit on the logit of the score and on its square.

Berta, Holzmüller, Jordan and Bach 2025 (arXiv 2511.03685), for two classes: ``logit p = a + b ℓ + c ℓ²`` with
ℓ = logit s, by maximum likelihood without a penalty. b = 1 with a = c = 0 is the identity; c = 0 is the logistic
recalibration of Cox 1958. The map need not rise everywhere: two scores may change places.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from calib.calibrators.base import ScoreCalibrator
from calib.calibrators.beta import clip_notes, count_clipped, log_odds_columns
from calib.kernel.checks import Array
from calib.kernel.likelihood import fit_logistic

SEPARABLE = "The scores separate the classes, so the likelihood has no maximum: the fit was stopped on the way."


class Quadratic(ScoreCalibrator):
    """Logistic regression on ℓ and ℓ² of probabilities; optional weights.

    ``a_``, ``b_``, ``c_`` are the coefficients; ``n_clipped_`` counts calibration scores moved to [ε, 1 − ε],
    ε = 2.2e-16; ``bounded_`` says that the classes are separable. Constant scores and one-class labels are answered
    with the class frequency.

    >>> scores, y = [0.2, 0.2, 0.5, 0.5, 0.8, 0.8, 0.8], [0, 1, 0, 1, 0, 1, 1]
    >>> Quadratic().fit(scores, y).predict([0.2, 0.5, 0.8]).round(6)    # three distinct scores: the frequencies
    array([0.5     , 0.5     , 0.666667])
    """

    key = "quadratic"
    label = "Quadratic"
    source = "Berta et al. 2025, arXiv 2511.03685"
    input = "probability"
    weighted = True

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        weights = np.ones(len(y)) if weights is None else weights
        self.n_clipped_ = count_clipped(scores)
        frequency = weights @ y / weights.sum()
        if frequency in (0, 1) or scores.min() == scores.max():
            with np.errstate(divide="ignore"):
                self.a_ = float(np.log(frequency) - np.log1p(-frequency))
            self.b_ = self.c_ = 0.0
            self.bounded_ = False
            return
        fit = fit_logistic(_powers(scores), y, weights)
        self.a_, (self.b_, self.c_) = fit.intercept, fit.slopes.tolist()
        self.bounded_ = fit.bounded

    def _notes(self) -> tuple[str, ...]:
        return clip_notes(self.n_clipped_) + ((SEPARABLE,) if self.bounded_ else ())

    def _map(self, scores: Array) -> Array:
        return expit(_powers(scores) @ [self.b_, self.c_] + self.a_)


def _powers(scores: Array) -> Array:
    """ℓ and ℓ² as columns (n, 2)."""
    logits = log_odds_columns(scores).sum(axis=1)
    return np.column_stack([logits, logits**2])
