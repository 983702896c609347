"""Temperature scaling: the model's log-odds, or the log-probabilities of K classes, divided by one number.

Guo et al. 2017, for scores that are already probabilities: ``logit p = logit(s) / T``, or ``softmax(ln P / T)``, with
T > 0 chosen by log loss.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.utils.validation import check_is_fitted

from calib.calibrators.base import EXTRAPOLATED, ScoreCalibrator
from calib.calibrators.joint import JointCalibrator
from calib.calibrators.log_odds import CLIP, clipping_notes, count_clipped, log_odds
from calib.kernel.checks import Array, InputError
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, function, logit, sigmoid, softmax_terms
from calib.kernel.softmax import COLDEST, HOTTEST, LOG_FLOOR, best_temperature, joint_temperature
from calib.kernel.weights import or_ones


def stopped_notes(T: float, bounded: bool) -> tuple[str, ...]:
    """Return a note on a search that stopped at an end, if it did."""
    stopped = f"The best temperature is outside [{COLDEST:g}, {HOTTEST:g}], so the search stopped at {T:g}."
    return (stopped,) if bounded else ()


class JointTemperature(JointCalibrator):
    """Temperature scaling of K classes, ``softmax(ln(P + 1e-12) / T)``, as in scikit-learn; optional weights.

    T > 0 is fitted by maximum likelihood. ``T_`` and ``bounded_`` are as in ``Temperature``.

    >>> temperature = JointTemperature().fit([[0.8, 0.1, 0.1]] * 3 + [[0.1, 0.8, 0.1]] * 3, [0, 0, 2, 1, 1, 0])
    >>> temperature.predict([[0.8, 0.1, 0.1]]).round(4)    # right two times of three
    array([[0.6667, 0.1667, 0.1667]])
    """

    key = "temperature"
    label = "Temperature scaling"
    name = "temperature scaling"
    source = "Guo et al. 2017"
    complexity = 1
    kind = "softmax_temperature"

    def _learn(self, P: Array, y: Array, weights: Array | None) -> None:
        self.T_, self.bounded_ = joint_temperature(np.log(P + LOG_FLOOR), y, or_ones(weights, len(y)))

    def _map(self, P: Array) -> Array:
        return softmax(np.log(P + LOG_FLOOR) / self.T_, axis=1)

    def _fields(self) -> dict[str, Any]:
        return {"T": self.T_, "added": LOG_FLOOR}

    @classmethod
    def _read_fields(cls, fields: Fields, present: Array) -> Self:
        made = cls()
        fields.number("added", LOG_FLOOR, LOG_FLOOR)
        made.T_ = fields.number("T", 1e-6, 1e6)
        return made

    def _formula(self, P: list[Expression]) -> list[Expression]:
        return softmax_terms([function("ln", each + LOG_FLOOR) / self.T_ for each in P])

    def _notes(self) -> tuple[str, ...]:
        return stopped_notes(self.T_, self.bounded_)


class Temperature(ScoreCalibrator):
    """Temperature scaling of probabilities; optional weights.

    ``T_`` is the temperature, above 1 for an overconfident model, in [0.001, 1000]. ``bounded_`` is true if the search
    stopped at an end (all probabilities on the right side of ½, or no better than chance). ``n_clipped_`` counts
    calibration scores clipped to [ε, 1 − ε], ε = 2.2e-16. A single class is refused. Rows of K probabilities (n, K)
    are calibrated jointly, as by ``JointTemperature``.

    >>> temperature = Temperature().fit([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0])    # logit 3/4 = logit 9/10 ÷ 2
    >>> round(temperature.T_, 6), temperature.predict([0.9, 0.1]).round(6)
    (2.0, array([0.75, 0.25]))
    """

    key = "temperature"
    label = "Temperature scaling"
    name = "temperature scaling"
    source = "Guo et al. 2017"
    answers_one_class = False
    beyond = EXTRAPOLATED
    input = "probability"
    weighted = True
    complexity = 1
    kind = "scaling"

    def fit(self, scores: Any, y: Any, sample_weight: Any = None) -> Self:
        if np.ndim(scores) != 2:
            return super().fit(scores, y, sample_weight)
        joint = JointTemperature().fit(scores, y, sample_weight)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        return self._with_learned(joint=joint, T=joint.T_, bounded=joint.bounded_, notes=joint.notes_)

    def predict(self, scores: Any) -> Array:
        check_is_fitted(self)
        return self.joint_.predict(scores) if hasattr(self, "joint_") else super().predict(scores)

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        self.n_clipped_ = count_clipped(scores)
        logits = log_odds(scores)
        weights = or_ones(weights, len(y))

        def slope(inverse: float) -> float:
            """Return the derivative of the log loss in 1/T, which is increasing."""
            return float((weights * logits) @ (expit(inverse * logits) - y))

        self.T_, self.bounded_ = best_temperature(slope, not logits.any())

    def _notes(self) -> tuple[str, ...]:
        return clipping_notes(self.n_clipped_) + stopped_notes(self.T_, self.bounded_)

    def _map(self, scores: Array) -> Array:
        return expit(log_odds(scores) / self.T_)

    def _formula(self, score: Expression) -> Expression:
        self._check_two_classes()
        return sigmoid(logit(score, CLIP) / self.T_)

    def _check_two_classes(self) -> None:
        if hasattr(self, "joint_"):
            raise InputError(
                f"Temperature scaling of three or more classes cannot be saved to a file or written as a "
                f"program. To apply it yourself, divide the log probabilities by {self.T_:.6g} and take the "
                "softmax."
            )

    def to_map(self) -> dict[str, Any]:
        self._check_two_classes()
        return {**self._learned("T"), "clip": CLIP}

    @classmethod
    def from_map(cls, fields: Fields) -> Temperature:
        fields.number("clip", CLIP, CLIP)
        return cls()._with_learned(T=fields.number("T", 1e-6, 1e6))
