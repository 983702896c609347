"""Parameterised probability adjustment: part of the mass of every other class moves to the most probable class.

Boström 2008; Shaker and Hüllermeier 2025, A.3: ``p' = (1 − r) p + r q``, where q puts all mass on the most probable
class (shared if tied), and r in [0, 1] minimises the Brier score on the calibration set.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from calib.calibrators.base import EXTRAPOLATED, ScoreCalibrator
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, falling, steps
from calib.kernel.records import Parameter
from calib.kernel.weights import or_ones

PROBABILITY_GRID = np.arange(51)
PROBABILITIES_AT_ONCE = 4096  # probabilities per block, which fit into the processor's cache


def most_probable(p: Array) -> Array:
    """Return q of class 1: 1 above one half, 0 below, one half if tied.

    >>> most_probable(np.array([0.4, 0.5, 0.6]))
    array([0. , 0.5, 1. ])
    """
    return (np.sign(p - 0.5) + 1) / 2


def adjustment_share(p: Array, a: Any, b: Any) -> Array:
    """Return r(p) = 1 / (1 + exp(a p + b)), the share of the mass that moves; several b are columns, with p (n, 1)."""
    return 1 / (1 + np.exp(a * p) * np.exp(b))


class PPA(ScoreCalibrator):
    """Parameterised probability adjustment of Boström; the predicted label never changes.

    ``r_`` is the share of the mass that moves: the constant, or the mean of r(p) over the calibration rows.

    Parameters
    ----------
    variant
        "constant" for one r, in closed form; "sigmoid" for ``r(p) = 1 / (1 + exp(a p + b))`` with p of class 1 and
        whole numbers a, b from 0 to 50, ``a_`` and ``b_``, by grid search (as in the published tables of Shaker
        and Hüllermeier).

    Examples
    --------
    >>> ppa = PPA().fit([0.6, 0.6, 0.6, 0.6, 0.6], [1, 1, 1, 1, 0])    # 0.6 + 0.4 r = 0.8
    >>> round(ppa.r_, 6), ppa.predict([0.6, 0.5, 0.2]).round(6)
    (0.5, array([0.8, 0.5, 0.1]))
    """

    key = "ppa"
    label = "PPA"
    source = "Boström 2008; Shaker and Hüllermeier 2025, A.3"
    beyond = EXTRAPOLATED
    input = "probability"
    weighted = True
    complexity = 2
    kind = "shift"
    parameters = (
        Parameter(
            "variant",
            "Adjustment",
            "choice",
            "constant",
            choices=("constant", "sigmoid"),
            help="Parameterised probability adjustment (PPA) uses one share r for all rows, or a share that depends "
            "on the probability.",
        ),
    )

    def __init__(self, variant: Literal["constant", "sigmoid"] = "constant"):
        self.variant = variant

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        gap = most_probable(scores) - scores
        weights = or_ones(weights, len(y))
        if self.variant == "constant":
            mass = weights @ gap**2
            self.r_ = float(np.clip(weights @ ((y - scores) * gap) / mass, 0, 1)) if mass > 0 else 0.0
            return
        # Up to a constant, the Brier score Σ (y − p − r gap)² is Σ r² gap² − 2 Σ r (y − p) gap, here over distinct p.
        p, place = np.unique(scores, return_inverse=True)
        pull = np.bincount(place, weights=weights * (y - scores) * gap)
        mass_at = np.bincount(place, weights=weights * gap * gap)
        loss = np.zeros((len(PROBABILITY_GRID), len(PROBABILITY_GRID)))
        for start in range(0, len(p), PROBABILITIES_AT_ONCE):
            block = slice(start, start + PROBABILITIES_AT_ONCE)
            for a in PROBABILITY_GRID:
                r = adjustment_share(p[block, None], a, PROBABILITY_GRID)
                loss[a] += mass_at[block] @ (r * r) - 2 * pull[block] @ r
        self.a_, self.b_ = (int(i) for i in np.unravel_index(loss.argmin(), loss.shape))
        self.r_ = float(np.average(adjustment_share(scores, self.a_, self.b_), weights=weights))

    def _map(self, scores: Array) -> Array:
        r = self.r_ if self.variant == "constant" else adjustment_share(scores, self.a_, self.b_)
        return scores + r * (most_probable(scores) - scores)

    def _formula(self, score: Expression) -> Expression:
        r = self.r_ if self.variant == "constant" else falling(self.a_ * score + self.b_)
        q = steps(score, np.array([0.5, np.nextafter(0.5, 1)]), most_probable(np.array([0.0, 0.5, 1.0])))
        return score + r * (q - score)

    def to_map(self) -> dict[str, Any]:
        return self._learned("r") if self.variant == "constant" else self._learned("a", "b")

    @classmethod
    def from_map(cls, fields: Fields) -> PPA:
        if "r" in fields:
            return cls()._with_learned(r=fields.number("r", 0, 1))
        return cls("sigmoid")._with_learned(a=fields.number("a"), b=fields.number("b"))
