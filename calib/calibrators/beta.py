"""Beta calibration: a logistic fit on ln s and −ln(1 − s), which includes the identity.

Kull, Silva Filho and Flach 2017; Shaker and Hüllermeier 2025, eq. 12: ``logit p = a ln s − b ln(1 − s) + c``
with a, b ≥ 0, by maximum likelihood without a penalty.
"""

from __future__ import annotations

from typing import Any

from scipy.special import expit

from calib.calibrators.base import EXTRAPOLATED, ScoreCalibrator
from calib.calibrators.log_odds import (
    CLIP,
    clipping_notes,
    count_clipped,
    log_odds_columns,
    log_odds_of_frequency,
)
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, logit_parts, sigmoid
from calib.kernel.likelihood import LogisticFit, fit_logistic
from calib.kernel.weights import or_ones


class Beta(ScoreCalibrator):
    """Beta calibration of probabilities; optional weights.

    A negative coefficient is dropped and the other refitted; if both are negative, the likelier one is kept. ``a_``,
    ``b_``, ``c_`` are the coefficients. ``n_clipped_`` counts calibration scores clipped to [ε, 1 − ε], ε = 2.2e-16.
    ``bounded_`` is true if the classes are separable: the likelihood then has no maximum and the fit was stopped
    early. For constant scores or a single class, the class frequency is predicted.

    >>> beta = Beta().fit([0.2, 0.2, 0.2, 0.8, 0.8, 0.8], [0, 0, 1, 0, 1, 1])
    >>> beta.predict([0.2, 0.8]).round(6)    # two distinct scores: the frequencies
    array([0.333333, 0.666667])
    >>> Beta().fit([0.7, 0.7, 0.7, 0.7], [0, 1, 1, 1]).predict([0.1])
    array([0.75])
    """

    key = "beta"
    label = "Beta calibration"
    name = "beta calibration"
    source = "Kull et al. 2017; Shaker and Hüllermeier 2025, eq. 12"
    beyond = EXTRAPOLATED
    input = "probability"
    weighted = True
    complexity = 4
    kind = "beta"

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        weights = or_ones(weights, len(y))
        self.n_clipped_ = count_clipped(scores)
        frequency = weights @ y / weights.sum()
        if frequency in (0, 1) or scores.min() == scores.max():
            self.a_, self.b_, self.c_ = 0.0, 0.0, log_odds_of_frequency(frequency)
            self.bounded_ = False
            return
        kept, fit = self._likeliest(log_odds_columns(scores), y, weights)
        slopes = dict(zip(kept, fit.slopes.tolist(), strict=True))
        self.a_, self.b_, self.c_ = slopes.get(0, 0.0), slopes.get(1, 0.0), fit.intercept
        self.bounded_ = fit.bounded

    def _notes(self) -> tuple[str, ...]:
        return clipping_notes(self.n_clipped_, self.bounded_)

    @staticmethod
    def _likeliest(columns: Array, y: Array, weights: Array) -> tuple[tuple[int, ...], LogisticFit]:
        def fitted(kept: tuple[int, ...]) -> tuple[tuple[int, ...], LogisticFit]:
            return kept, fit_logistic(columns[:, list(kept)], y, weights)

        kept, fit = fitted((0, 1))
        if (fit.slopes >= 0).all():
            return kept, fit
        # The best fit with a, b >= 0 drops a coefficient that is negative here; if both are, the loss decides.
        single = [fitted((1 - dropped,)) for dropped in (0, 1) if fit.slopes[dropped] < 0]
        allowed = [candidate for candidate in single if candidate[1].slopes[0] >= 0]
        return min(allowed or [fitted(())], key=lambda candidate: candidate[1].loss)

    def _map(self, scores: Array) -> Array:
        return expit(log_odds_columns(scores) @ [self.a_, self.b_] + self.c_)

    def _formula(self, score: Expression) -> Expression:
        ln_s, minus_ln_rest = logit_parts(score, CLIP)
        return sigmoid(self.a_ * ln_s + self.b_ * minus_ln_rest + self.c_)

    def to_map(self) -> dict[str, Any]:
        return {**self._learned("a", "b", "c"), "clip": CLIP}

    @classmethod
    def from_map(cls, fields: Fields) -> Beta:
        fields.number("clip", CLIP, CLIP)
        a, b = (fields.number(name, 0) for name in "ab")
        return cls()._with_learned(a=a, b=b, c=fields.number("c", infinite=True))
