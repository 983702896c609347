"""Another base rate: probabilities that are right at one frequency of class 1, adjusted to another.

Where positives and negatives themselves look the same and only their shares differ (label shift; Elkan 2001,
theorem 2; Saerens, Latinne & Decaestecker 2002), all odds move by one ratio, ``odds(p') = r ·
odds(p)`` with ``r = [π'/(1 − π')] / [π/(1 − π)]``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel.checks import Array, InputError, in_range
from calib.kernel.formula import Arithmetic, Expression, Number, Pieces, pieces
from calib.kernel.weights import are_whole, effective_weights, or_ones


@dataclass(frozen=True)
class BaseRate:
    """Change of the base rate: the frequency of class 1 at the fit, and in deployment.

    Attributes
    ----------
    fitted
        In (0, 1), the frequency at which the probabilities are right: π.
    stated
        In (0, 1), where they are used: π'.

    Examples
    --------
    >>> rate = BaseRate(fitted=0.5, stated=0.2)    # all odds become a quarter
    >>> rate.ratio, rate.adjust([0.0, 0.5, 0.8, 1.0])
    (0.25, array([0. , 0.2, 0.5, 1. ]))
    """

    fitted: float
    stated: float

    def __post_init__(self) -> None:
        in_range(self.fitted, "base_rate.fitted", 0, 1, open_ends=True)
        in_range(self.stated, "base_rate.stated", 0, 1, open_ends=True)

    @property
    def ratio(self) -> float:
        """Return the factor that multiplies all odds."""
        return self.stated * (1 - self.fitted) / ((1 - self.stated) * self.fitted)

    def adjust(self, p: ArrayLike) -> Array:
        """Probabilities of any shape where the stated rate holds; 0 and 1 stay, and so does every order."""
        return multiply_odds(p, self.ratio)

    def adjust_term(self, p: Expression) -> Expression:
        """Adjust a formula: values of steps are adjusted here, all else where the formula is evaluated."""
        if isinstance(p, Number):
            return Number(float(self.adjust(p.value)))
        if isinstance(p, Pieces) and p.coefficients.shape[1] == 1:
            return pieces(p.of, p.breaks, p.origins, self.adjust(p.coefficients))
        ones = self.ratio * p
        return Arithmetic("/", ones, (1 - p) + ones, 0.0, 1.0)


def multiply_odds(p: ArrayLike, ratio: ArrayLike) -> Array:
    """``r p / (1 − p + r p)``, in a form of which every step keeps the order of its values when it is rounded.

    Parameters
    ----------
    p, ratio
        Arrays that fit each other's shape.
    """
    p = np.asarray(p, dtype=np.float64)
    # At p = 0 the odds against are infinite, which is right
    with np.errstate(divide="ignore", over="ignore"):
        return 1 / (1 + (1 - p) / (ratio * p))


def class_weights(y: Array, stated: float, weights: Array | None = None) -> Array:
    """Weights (n,) with which rows stand for a place where class 1 has the stated frequency.

    ``w c`` with ``c = π'/π`` for rows of class 1 and ``(1 − π')/(1 − π)`` for the others, π being the
    frequency among these rows; on the scale of ``effective_weights``, whole w being counts of rows.

    Parameters
    ----------
    y
        0 and 1, both of them.
    stated
        In (0, 1).
    weights
        Counts of rows, or other weights on any scale.

    Examples
    --------
    >>> class_weights(np.array([1, 0, 1, 0]), 0.25).round(6)    # one of four, worth 16 / 5 rows
    array([0.4, 1.2, 0.4, 1.2])
    """
    w = or_ones(weights, len(y))
    fitted = float(np.average(y, weights=w))
    if not 0 < fitted < 1:
        raise InputError(
            "base_rate: all test rows are of one class, so they cannot represent another base rate. Hold out more "
            "rows, or leave base_rate unset."
        )
    c = np.where(y == 1, stated / fitted, (1 - stated) / (1 - fitted))
    return effective_weights(w * c, w if are_whole(w) else None)
