"""No calibration, as a method like the others: the model's own probabilities, for comparison."""

from __future__ import annotations

from typing import Any

from calib.calibrators.base import ScoreCalibrator
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression


class Uncalibrated(ScoreCalibrator):
    """Identity map of probabilities; margins are refused, because they are not probabilities.

    >>> Uncalibrated().fit([0.2, 0.9], [0, 1]).predict([0.3])
    array([0.3])
    """

    key = "none"
    label = "Uncalibrated"
    name = "the uncalibrated model"
    source = "the model's own probabilities"
    beyond = None  # nothing is learned
    input = "probability"
    weighted = True
    complexity = 0
    kind = "identity"

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        pass

    def _map(self, scores: Array) -> Array:
        return scores.copy()

    def _formula(self, score: Expression) -> Expression:
        return score

    def to_map(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_map(cls, fields: Fields) -> Uncalibrated:
        return cls()._with_learned(notes=())
