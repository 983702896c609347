"""No calibration is a method like the others: the model's own probabilities, to hold the rest against."""

from __future__ import annotations

from calib.calibrators.base import ScoreCalibrator
from calib.kernel.checks import Array


class Uncalibrated(ScoreCalibrator):
    """The probabilities as they are; margins are refused by name, for they are none.

    >>> Uncalibrated().fit([0.2, 0.9], [0, 1]).predict([0.3])
    array([0.3])
    """

    key = "none"
    label = "Uncalibrated"
    source = "the model's own probabilities"
    input = "probability"

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        pass

    def _map(self, scores: Array) -> Array:
        return scores.copy()
