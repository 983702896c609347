"""p0 and p1 as two step functions of the score: the saved form of Venn and Venn–Abers.

A break belongs to the step on its right for p0 and to that on its left for p1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calib.calibrators.base import IntervalCalibrator, Steps
from calib.kernel.checks import Array
from calib.kernel.fields import Fields, json_numbers
from calib.kernel.isotonic_regression import places


def pairs_map(p0: Steps, p1: Steps) -> dict[str, Any]:
    """Return p0 and p1 for JSON, each as (breaks (t,) increasing, values (t + 1,))."""
    return {
        name: {"breaks": json_numbers(breaks), "values": json_numbers(values)}
        for name, (breaks, values) in (("p0", p0), ("p1", p1))
    }


class StepPairs(IntervalCalibrator):
    """Venn or Venn–Abers predictor read from a file; ``input`` is the kind of score that it needs.

    >>> pairs = StepPairs("midpoint").set_steps(([0.5], [0.0, 0.5]), ([0.5], [0.5, 1.0]))
    >>> pairs.predict_interval([0.4, 0.5, 0.6])    # on a break p0 has passed it, and p1 has not
    array([[0. , 0.5],
           [0.5, 0.5],
           [0.5, 1. ]])
    """

    key = "pairs"
    label = "Table of pairs"
    name = "a table of pairs"
    source = "a saved calibrator"

    def __init__(self, merge: str = "log", input: str = "score"):
        self.merge = merge
        self.input = input

    @classmethod
    def from_map(cls, fields: Fields) -> StepPairs:
        steps = []
        for name in ("p0", "p1"):
            end = fields.object(name)
            breaks = end.numbers("breaks", increasing=True)
            steps.append((breaks, end.numbers("values", probabilities=True, length=len(breaks) + 1)))
        pairs = cls().set_steps(*steps)
        breaks = np.concatenate([steps[0][0], steps[1][0], [0.0]])
        p0, p1 = pairs._pairs(
            np.concatenate([breaks, np.nextafter(breaks, -np.inf), np.nextafter(breaks, np.inf)])
        ).T
        if (p0 > p1).any():
            raise fields.refuse("p0", "must not exceed p1")
        return pairs

    def set_steps(self, p0: tuple[Any, Any], p1: tuple[Any, Any]) -> StepPairs:
        """Set p0 and p1, each as (breaks (t,) increasing, values (t + 1,)); the two may break at different scores."""
        self.breaks0_, self.values0_, self.breaks1_, self.values1_ = map(np.asarray, (*p0, *p1))
        return self

    def _steps(self) -> tuple[Steps, Steps]:
        return (self.breaks0_, self.values0_), (self.breaks1_, self.values1_)

    def _pairs(self, scores: Array) -> Array:
        p0 = self.values0_[places(self.breaks0_, scores)[1]]
        p1 = self.values1_[places(self.breaks1_, scores)[0]]
        return np.column_stack([p0, p1])
