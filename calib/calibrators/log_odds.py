"""Log-odds of probabilities, ℓ = ln(p / (1 − p)), on which most calibrators work, and polynomials of them.

Scores of 0 and 1 have infinite log-odds; they are clipped to ε and 1 − ε, ε = 2.2e-16, and counted.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from calib.calibrators.base import EXTRAPOLATED, ScoreCalibrator
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, Number, logit, sigmoid
from calib.kernel.likelihood import fit_logistic
from calib.kernel.weights import or_ones
from calib.kernel.wording import listed, number

CLIP = float(np.finfo(np.float64).eps)
ROUNDING_OF_LOG_ODDS = 1e-12  # rounding error of log-odds
LEAST_DECREASE = 1e-6  # a smaller decrease of a curve of log-odds does not count
SEPARABLE = (
    "The scores separate the classes perfectly, so the likelihood has no maximum and the fit stopped early."
)
FALLS = (
    "the fitted line falls, because calibration rows with higher scores were less often in class 1. The "
    "calibrator therefore reverses the ranking."
)


def log_odds_columns(p: Array, clip: float = CLIP) -> Array:
    """Return ln p and −ln(1 − p) as columns (n, 2), with p clipped to [clip, 1 − clip]; their sum is the log-odds."""
    p = np.clip(p, clip, 1 - clip)
    return np.column_stack([np.log(p), -np.log1p(-p)])


def log_odds(p: Array, clip: float = CLIP) -> Array:
    """Return ℓ (n,), with p clipped to [clip, 1 − clip].

    >>> log_odds(np.array([0.5, 0.75])).round(6)    # ln 1 and ln 3
    array([0.      , 1.098612])
    """
    p = np.clip(p, clip, 1 - clip)  # in place, because there may be millions of rows
    found = np.log(p)
    np.negative(p, out=p)
    found -= np.log1p(p, out=p)
    return found


def log_odds_of_frequency(frequency: float) -> float:
    """Return the log-odds of a class frequency, infinite if there is only one class."""
    with np.errstate(divide="ignore"):
        return float(np.log(frequency) - np.log1p(-frequency))


def count_clipped(p: Array) -> int:
    """Count the probabilities that ``log_odds`` clips."""
    return int(((p < CLIP) | (p > 1 - CLIP)).sum())


def clipping_notes(clipped: int, separable: bool = False) -> tuple[str, ...]:
    """Return notes on calibration scores of 0 or 1, and on classes that the scores separate."""
    note = (
        f"{clipped} calibration scores of 0 or 1 were clipped to {CLIP:.1e} or 1 − {CLIP:.1e}, so that log-odds "
        "stay finite."
    )
    return ((note,) if clipped else ()) + ((SEPARABLE,) if separable else ())


def slope_notes(slope: float) -> tuple[str, ...]:
    """Return a note on a decreasing line, with a tolerance for rounding."""
    return (FALLS,) if slope < -1e-9 else ()


def turn_notes(x: Array, values: Array) -> tuple[str, ...]:
    """Return a note on the scores between which a curve decreases.

    Parameters
    ----------
    x, values : (k,)
        Log-odds of the scores at which the curve begins, turns and ends, increasing, and its values there.

    Examples
    --------
    >>> turn_notes(log_odds(np.array([0.1, 0.8, 0.9])), np.array([-2.0, 1.0, 0.5]))
    ('the fitted curve falls from 0.8000 to 0.9000, so higher scores get lower probabilities there.',)
    """
    falls = np.diff(values) < -LEAST_DECREASE
    if not falls.any():
        return ()
    if falls.all():
        return (FALLS,)
    change = np.diff(np.concatenate([[False], falls, [False]]).astype(np.int8))
    return (_fall_note(x[change == 1], x[change == -1]),)


def _fall_note(begins: Array, ends: Array) -> str:
    """Return the note on a curve that falls between these log-odds (k,)."""
    stretches = [
        f"from {number(low, 4)} to {number(high, 4)}"
        for low, high in zip(expit(begins), expit(ends), strict=True)
    ]
    return f"the fitted curve falls {listed(stretches)}, so higher scores get lower probabilities there."


def deepest_fall_notes(x: Array, values: Array) -> tuple[str, ...]:
    """Return a note on the largest decrease of values (k,) along the log-odds x (k,), if they decrease.

    >>> deepest_fall_notes(np.array([-1.0, 0.0, 1.0]), np.array([0.0, 2.0, 1.0]))
    ('the fitted curve falls from 0.5000 to 0.7311, so higher scores get lower probabilities there.',)
    >>> deepest_fall_notes(np.array([-1.0, 0.0, 1.0]), np.array([0.0, 2.0, 2.0]))
    ()
    """
    low = int(np.argmax(np.maximum.accumulate(values) - values))
    high = int(np.argmax(values[: low + 1]))
    return (_fall_note(x[[high]], x[[low]]),) if values[high] > values[low] + LEAST_DECREASE else ()


def linear_continuation(x: Array, ends: Array, slopes: Array) -> tuple[Array, Array]:
    """Return where to evaluate a curve for log-odds x (n,), and what to add beyond its ends; it never decreases there.

    Parameters
    ----------
    x : (n,)
    ends, slopes : (2,)
        Smallest and largest x of the fit, and the curve's slopes there; a negative slope counts as 0.

    Examples
    --------
    >>> linear_continuation(np.array([-2.0, 0.0, 3.0]), np.array([-1.0, 1.0]), np.array([0.5, -0.5]))
    (array([-1.,  0.,  1.]), array([-0.5,  0. ,  0. ]))
    """
    inside = np.clip(x, *ends)
    beyond = x - inside
    return inside, beyond * np.where(beyond < 0, *np.maximum(slopes, 0.0))


class LogOddsPolynomial(ScoreCalibrator):
    """Polynomial recalibration of probabilities: ``logit p = c₀ + c₁ ℓ + c₂ ℓ² …`` up to ``degree``; optional weights.

    It is fitted by maximum likelihood without a penalty. ``coefficients_`` (degree + 1,) are c. ``n_clipped_`` counts
    calibration scores clipped to [ε, 1 − ε]. ``bounded_`` is true if the classes are separable. For constant scores or
    a single class, the class frequency is predicted.
    """

    degree: ClassVar[int]
    beyond = EXTRAPOLATED
    input = "probability"
    weighted = True
    kind = "log_odds_polynomial"

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        weights = or_ones(weights, len(y))
        self.n_clipped_, self.bounded_ = count_clipped(scores), False
        frequency = weights @ y / weights.sum()
        if frequency in (0, 1) or scores.min() == scores.max():
            self.coefficients_ = np.append(log_odds_of_frequency(frequency), np.zeros(self.degree))
            return
        powers = self._powers(scores)[:, 1:]
        low, high = powers[:, 0].min(), powers[:, 0].max()
        if not (
            (powers[:, 0] > low + ROUNDING_OF_LOG_ODDS) & (powers[:, 0] < high - ROUNDING_OF_LOG_ODDS)
        ).any():
            # Two distinct scores determine only a line; the squares of 0.2 and 0.8 differ by rounding.
            powers[:, 1:] = 0
        fit = fit_logistic(powers, y, weights)
        self.coefficients_, self.bounded_ = np.append(fit.intercept, fit.slopes), fit.bounded

    def _notes(self) -> tuple[str, ...]:
        return clipping_notes(self.n_clipped_, self.bounded_)

    def _powers(self, scores: Array) -> Array:
        return np.vander(log_odds(scores), self.degree + 1, increasing=True)

    def _map(self, scores: Array) -> Array:
        constant, *slopes = self.coefficients_
        return expit(self._powers(scores)[:, 1:] @ slopes + constant)

    def _formula(self, score: Expression) -> Expression:
        x: Expression = Number(0.0)
        for coefficient in self.coefficients_[::-1]:
            x = logit(score, CLIP) * x + coefficient
        return sigmoid(x)

    def to_map(self) -> dict[str, Any]:
        return {**self._learned("coefficients"), "clip": CLIP}

    @classmethod
    def from_map(cls, fields: Fields) -> LogOddsPolynomial:
        fields.number("clip", CLIP, CLIP)
        coefficients = fields.numbers("coefficients", infinite=True, length=cls.degree + 1)
        if not np.isfinite(coefficients[1:]).all():
            raise fields.refuse("coefficients", "must be finite, except for the first")
        return cls()._with_learned(coefficients=coefficients)
