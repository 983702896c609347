"""Centred isotonic regression: each pool of the isotonic fit becomes one point, with straight lines between points.

Oron and Flournoy 2017, "Centered isotonic regression: point and interval estimation for dose–response studies". A
pool's value is the best estimate at the centre of its scores, not at all of them equally. Pools at 0 and 1 stay flat,
since the function cannot exceed them. Between the centres the map increases strictly, so no two scores there are tied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calib.calibrators.base import CLAMPED, ScoreCalibrator
from calib.calibrators.isotonic import increasing_steps, interpolated
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, piecewise_linear
from calib.kernel.isotonic_regression import pool_adjacent_violators, pool_ties


class CenteredIsotonic(ScoreCalibrator):
    """Isotonic regression whose pools are single points; any real scores, optional weights.

    ``scores_`` (k,) are the centres, weighted means of the pools' scores, and ``values_`` (k,) the values there. The
    map is constant beyond the outermost centres.

    >>> centered = CenteredIsotonic().fit([1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1])
    >>> centered.scores_, centered.values_    # the pools {2, 3} and {4, 5} have the same value: one pool of four
    (array([1. , 3.5, 6. ]), array([0. , 0.5, 1. ]))
    >>> centered.predict([1, 2.25, 9])
    array([0.  , 0.25, 1.  ])
    """

    key = "centered_isotonic"
    label = "Centred isotonic regression"
    name = "centred isotonic regression"
    source = "Oron and Flournoy 2017"
    beyond = CLAMPED
    weighted = True
    complexity = 5.5
    kind = "isotonic"

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        tied = pool_ties(scores, y, weights)
        blocks = pool_adjacent_violators(tied.sums, tied.weights)
        first, last = tied.scores[blocks.bounds[:-1]], tied.scores[blocks.bounds[1:] - 1]
        # Measure from the first score of the pool: sums of large scores close together would lose digits.
        reach = (
            np.add.reduceat((tied.scores - np.repeat(first, blocks.sizes)) * tied.weights, blocks.bounds[:-1])
            / blocks.weights
        )
        centres = np.clip(first + reach, first, last)
        flat = (blocks.values == 0) | (blocks.values == 1)
        starts, ends = np.where(flat, first, centres), np.where(flat, last, centres)
        points = np.column_stack([starts, ends]).ravel()
        distinct = np.append(True, np.diff(points) > 0)
        self.scores_, self.values_ = points[distinct], np.repeat(blocks.values, 2)[distinct]

    def _map(self, scores: Array) -> Array:
        return interpolated(scores, self.scores_, self.values_)

    def _formula(self, score: Expression) -> Expression:
        return piecewise_linear(score, self.scores_, self.values_)

    def to_map(self) -> dict[str, Any]:
        return {**self._learned("scores", "values"), "between": "linear"}

    @classmethod
    def from_map(cls, fields: Fields) -> CenteredIsotonic:
        fields.choice("between", ("linear",))
        return cls()._with_learned(**increasing_steps(fields))
