"""Merge a pair of probabilities into one, by one of three rules.

``log`` is minimax for log loss, ``p1 / (1 − p0 + p1)`` (Vovk and Petej 2014, eq. 10); ``square`` is minimax
for square loss, ``p1 + p0²/2 − p1²/2`` (eq. 11); ``midpoint`` is the mean of the two (Johansson et al. 2019).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calib.kernel.checks import Array, one_of
from calib.kernel.records import Parameter


def _log(p0: Array, p1: Array) -> Array:
    # Only the full predictor can give p0 = 1 with p1 = 0; both classes are then equally likely.
    mass = 1 - p0 + p1
    return np.divide(p1, mass, out=np.full_like(mass, 0.5), where=mass > 0)


def _square(p0: Array, p1: Array) -> Array:
    return p1 + (p0 * p0 - p1 * p1) / 2


def _midpoint(p0: Array, p1: Array) -> Array:
    return (p0 + p1) / 2


MERGE_RULES: dict[str, Callable[[Array, Array], Array]] = {
    "log": _log,
    "square": _square,
    "midpoint": _midpoint,
}

MERGE = Parameter(
    "merge",
    "Combine p0 and p1 with",
    "choice",
    "log",
    choices={"log": "Log loss", "square": "Square loss", "midpoint": "Midpoint"},
    help="How p0 and p1 become one probability: minimax for log loss, minimax for squared loss, or their midpoint.",
)


def merge_pair(p0: Any, p1: Any, rule: str = "log") -> Array:
    """Merge pairs p0, p1 in [0, 1] of equal shape into probabilities of class 1 between the two.

    Parameters
    ----------
    p0, p1
        Numbers or arrays of one shape.
    rule
        "log", "square" or "midpoint".

    Examples
    --------
    >>> [float(merge_pair(0.25, 0.75, rule)) for rule in MERGE_RULES]
    [0.5, 0.5, 0.5]
    >>> [round(float(merge_pair(0.0, 0.5, rule)), 4) for rule in MERGE_RULES]
    [0.3333, 0.375, 0.25]
    """
    one_of(rule, MERGE_RULES, "merge")
    p0, p1 = np.asarray(p0, dtype=np.float64), np.asarray(p1, dtype=np.float64)
    # Rounding must not move p past an end of a narrow interval.
    return np.clip(MERGE_RULES[rule](p0, p1), np.minimum(p0, p1), np.maximum(p0, p1))
