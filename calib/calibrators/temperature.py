"""Temperature scaling: the model's log-odds, all divided by one number.

Guo et al. 2017, for two classes and scores that are probabilities already: ``logit p = logit(s) / T`` with T
> 0 chosen by log loss.
"""

from __future__ import annotations

from typing import Any

from scipy.optimize import brentq
from scipy.special import expit

from calib.calibrators.base import CONTINUED, ScoreCalibrator
from calib.calibrators.log_odds import CLIP, count_clipped, fit_notes, log_odds
from calib.kernel.checks import Array, both_classes
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, logit, sigmoid
from calib.kernel.weights import or_ones

COLDEST, HOTTEST = 1e-3, 1e3


class Temperature(ScoreCalibrator):
    """Temperature scaling of probabilities; optional weights.

    ``T_`` is the temperature: above 1 for an overconfident model. It is kept in [0.001, 1000],
    and ``bounded_`` says that it stopped at an end (probabilities on the right side of ½ throughout, or no
    better than chance). ``n_clipped_`` counts calibration scores moved to [ε, 1 − ε], ε = 2.2e-16. One class
    alone is refused.

    >>> temperature = Temperature().fit([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0])    # logit 3/4 = logit 9/10 ÷ 2
    >>> round(temperature.T_, 6), temperature.predict([0.9, 0.1]).round(6)
    (2.0, array([0.75, 0.25]))
    """

    key = "temperature"
    label = "Temperature scaling"
    name = "temperature scaling"
    source = "Guo et al. 2017"
    beyond = CONTINUED
    input = "probability"
    weighted = True
    complexity = 1
    kind = "scaling"

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        both_classes(y, self.label)
        self.n_clipped_ = count_clipped(scores)
        logits = log_odds(scores)
        weights = or_ones(weights, len(y))

        def slope(inverse: float) -> float:
            """Derivative of the log loss in 1/T, which increases."""
            return float((weights * logits) @ (expit(inverse * logits) - y))

        low, high = 1 / HOTTEST, 1 / COLDEST
        self.bounded_ = True
        if not logits.any():
            self.T_, self.bounded_ = 1.0, False
        elif slope(low) >= 0:
            self.T_ = HOTTEST
        elif slope(high) <= 0:
            self.T_ = COLDEST
        else:
            self.T_, self.bounded_ = 1 / float(brentq(slope, low, high, xtol=1e-15, rtol=1e-14)), False

    def _notes(self) -> tuple[str, ...]:
        stopped = f"The best temperature is outside [{COLDEST:g}, {HOTTEST:g}], so the search stopped at {self.T_:g}."
        return fit_notes(self.n_clipped_) + ((stopped,) if self.bounded_ else ())

    def _map(self, scores: Array) -> Array:
        return expit(log_odds(scores) / self.T_)

    def _formula(self, score: Expression) -> Expression:
        return sigmoid(logit(score, CLIP) / self.T_)

    def to_map(self) -> dict[str, Any]:
        return {**self._learned("T"), "clip": CLIP}

    @classmethod
    def from_map(cls, fields: Fields) -> Temperature:
        fields.number("clip", CLIP, CLIP)
        return cls()._with_learned(T=fields.number("T", 1e-6, 1e6))
