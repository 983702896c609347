"""Spline calibration: a smooth curve of the log-odds, as straight as the data allow.

Lucena 2018 (arXiv 1809.07751): logistic regression on a natural cubic spline of ℓ = logit s, with knots at quantiles
of the calibration scores and a penalty chosen by cross-validation. Here the penalty is that of the smoothing spline,
the integral of f″(ℓ)² (Green and Silverman 1994, ch. 2 and 5), which does not penalise straight lines: the less the
data support a curve, the closer the map is to logistic recalibration. Lucena's package shrinks the coefficients
instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import expit

from calib.calibrators.base import STRAIGHT_ON, ScoreCalibrator
from calib.calibrators.log_odds import (
    CLIP,
    clipping_notes,
    count_clipped,
    linear_continuation,
    log_odds,
    log_odds_of_frequency,
    turn_notes,
)
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, Number, logit, piecewise, sigmoid
from calib.kernel.isotonic_regression import Tied, pool_ties
from calib.kernel.likelihood import log_loss_sum, ridge_fit
from calib.kernel.records import Parameter

FOLDS = 5
# Limits for knots in a file; knots of a fit are wider apart and flatter
NARROWEST_KNOTS, STEEPEST_KNOTS = (1e-17, 1e100)
SPLINE_PENALTIES = np.logspace(-7, 3, 21)[
    ::-1
]  # the smoothest first, which is chosen among equally good ones
# As a share of the range of scores: between closer knots, rounding would determine the curve
CLOSEST = 1e-6
# Largest number of groups of neighbouring scores for the choice of the penalty; more make no visible difference
CHOSEN_ON = 2048


@dataclass(frozen=True, eq=False)
class NaturalSpline:
    """Natural cubic splines through knots (k,), parameterised by their values at the knots.

    >>> spline = NaturalSpline(np.array([0.0, 1.0, 3.0]))
    >>> spline.columns(np.array([1.0, 2.0])) @ [2.0, 3.0, 5.0]    # values on a straight line give that line
    array([3., 4.])
    """

    knots: Array

    @cached_property
    def _interpolant(self) -> CubicSpline:
        """Splines (k) that are 1 at one knot and 0 at the others."""
        return CubicSpline(self.knots, np.eye(len(self.knots)), bc_type="natural")

    def columns(self, x: Array) -> Array:
        """Evaluate each of the k basis splines at x (n,), from the first knot to the last: array (n, k).

        Their weighted sum is the spline with those values.
        """
        return self._interpolant(x)

    @cached_property
    def bend(self) -> Array:
        """Matrix B (k, k): |B v|² is the integral of f″² of the spline with values v; f″ is linear between knots."""
        second, h = self._interpolant(self.knots, 2), np.diff(self.knots)
        mass = np.diag(np.append(h, 0) + np.append(0, h)) / 3 + (np.diag(h, 1) + np.diag(h, -1)) / 6
        return np.linalg.cholesky(mass).T @ second


class Spline(ScoreCalibrator):
    """Natural cubic spline of the log-odds, by penalised logistic regression, for probabilities; optional weights.

    ``knots_`` (k,) are log-odds, ``values_`` (k,) the curve there, as log-odds; ``penalty_`` is the penalty used.
    ``n_clipped_`` counts calibration scores clipped to [ε, 1 − ε], ε = 2.2e-16. ``bounded_`` is true if the classes
    are separable. For constant scores or a single class, the class frequency is predicted. Beyond the calibration
    scores, the curve continues along its tangent, or is constant if the tangent falls; a note states between which
    scores the curve falls.

    Parameters
    ----------
    knots
        Largest number of knots, at quantiles of the distinct calibration scores.
    penalty
        λ in mean log loss + λ/2 · ∫f″²; None chooses it by 5-fold cross-validation of the log loss. Folds are assigned
        in turn along the sorted distinct scores, so that nothing is random.

    Examples
    --------
    >>> p = np.linspace(0.05, 0.95, 19)
    >>> spline = Spline().fit(np.repeat(p, 20), np.tile(np.arange(20), 19) < np.repeat(np.round(20 * p**2), 20))
    >>> spline.predict([0.3, 0.5, 0.7]).round(1)    # the frequencies are about p²
    array([0.1, 0.2, 0.5])
    """

    key = "spline"
    label = "Spline calibration"
    name = "spline calibration"
    source = "Lucena 2018, arXiv 1809.07751"
    beyond = STRAIGHT_ON
    input = "probability"
    weighted = True
    complexity = 4.5
    kind = "log_odds_spline"
    parameters = (
        Parameter(
            "knots",
            "Knots",
            "integer",
            12,
            low=3,
            high=40,
            help="With more knots, the curve can bend more often; the penalty limits how much it bends.",
        ),
        Parameter(
            "penalty",
            "Roughness penalty",
            "number",
            None,
            low=0,
            high=1e9,
            optional=True,
            help="Larger values pull the curve towards a straight line on the log-odds scale. If unset, "
            "cross-validation chooses the value.",
        ),
    )

    def __init__(self, knots: int = 12, penalty: float | None = None):
        self.knots = knots
        self.penalty = penalty

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        self.n_clipped_ = count_clipped(scores)
        tied = pool_ties(log_odds(scores), y, weights)
        frequency = tied.sums.sum() / tied.weights.sum()
        if frequency in (0, 1) or len(tied.scores) == 1:
            self.knots_, self.values_ = tied.scores[:1], np.array([log_odds_of_frequency(frequency)])
            self.penalty_, self.bounded_ = 0.0, False
            return
        self.knots_ = curve_knots(tied.scores, self.knots)
        self.penalty_ = _cross_validated(tied, self.knots_) if self.penalty is None else float(self.penalty)
        shapes = curve_shapes(self.knots_)
        beta, self.bounded_ = penalised_fit(
            curve_columns(self.knots_, tied.scores) @ shapes, tied, self.penalty_
        )
        self.values_ = shapes @ beta

    def _notes(self) -> tuple[str, ...]:
        turns = (
            () if len(self.knots_) == 1 else turn_notes(*_turning_points(_through(self.knots_, self.values_)))
        )
        return (*clipping_notes(self.n_clipped_, self.bounded_), *turns)

    def _map(self, scores: Array) -> Array:
        return expit(continued_curve(self.knots_, self.values_, log_odds(scores)))

    def _formula(self, score: Expression) -> Expression:
        return sigmoid(curve_formula(self.knots_, self.values_, logit(score, CLIP)))

    def to_map(self) -> dict[str, Any]:
        return {**self._learned("knots", "values"), "clip": CLIP}

    @classmethod
    def from_map(cls, fields: Fields) -> Spline:
        fields.number("clip", CLIP, CLIP)
        return cls()._with_learned(**read_curve(fields))


def read_curve(fields: Fields) -> dict[str, Array]:
    """Read ``knots`` and ``values`` (k,) of a file's map, and check that they are a curve."""
    knots = fields.numbers("knots", increasing=True)
    if not knots.size:
        raise fields.refuse("knots", "must not be empty")
    values = fields.numbers("values", infinite=True, length=len(knots))
    if len(knots) > 1 and not np.isfinite(values).all():
        raise fields.refuse("values", "must be finite, unless there is only one")
    wide, high = np.diff(knots), np.diff(values / STEEPEST_KNOTS)
    if (wide < NARROWEST_KNOTS).any() or (np.abs(high) > wide).any():
        raise fields.refuse("values", "must have a finite slope between neighbouring knots")
    return {"knots": knots, "values": values}


def _through(knots: Array, values: Array) -> CubicSpline:
    """Return the natural cubic spline through two or more points."""
    return CubicSpline(knots, values, bc_type="natural")


def continued_curve(knots: Array, values: Array, x: Array) -> Array:
    """Evaluate the curve through points (k,) at log-odds x (n,); beyond the knots it is a line that does not fall.

    >>> continued_curve(np.array([0.0, 1.0]), np.array([0.0, 2.0]), np.array([-1.0, 0.5, 2.0]))
    array([-2.,  1.,  4.])
    """
    ends, slopes = knots[[0, -1]], np.zeros(2)
    if len(knots) > 1:
        slopes = _through(knots, values)(ends, 1)
    inside, added = linear_continuation(x, ends, slopes)
    return curve_columns(knots, inside) @ values + added


def curve_formula(knots: Array, values: Array, x: Expression) -> Expression:
    """Return ``continued_curve`` as a formula of the log-odds x."""
    if len(knots) == 1:
        return Number(float(values[0]))
    through, ends = _through(knots, values), knots[[0, -1]]
    beyond = np.column_stack([values[[0, -1]], np.maximum(through(ends, 1), 0.0), np.zeros((2, 2))])
    cubics = np.zeros((len(knots) - 1, 4))
    cubics[:, : len(through.c)] = through.c[::-1].T
    origins = np.concatenate([ends[:1], knots[:-1], ends[1:]])
    return piecewise(x, knots, origins, np.vstack([beyond[:1], cubics, beyond[1:]]))


def curve_knots(scores: Array, most: int) -> Array:
    """Return at most ``most`` of the distinct sorted scores (k,): both ends, and quantiles, not too close."""
    at = np.unique(np.linspace(0, len(scores) - 1, min(most, len(scores))).round().astype(np.intp))
    first, *inner, last = scores[at]
    apart, kept = CLOSEST * (last - first), [first]
    for knot in inner:
        if min(knot - kept[-1], last - knot) >= apart:
            kept.append(knot)
    return np.array([*kept, last])


def _turning_points(curve: CubicSpline) -> tuple[Array, Array]:
    """Return the points at which a curve begins, turns and ends, and its values there."""
    ends, turns = curve.x[[0, -1]], curve.derivative().roots(extrapolate=False)
    at = np.unique(np.concatenate([ends, turns[np.isfinite(turns)]]))
    return at, curve(at)


def curve_columns(knots: Array, x: Array) -> Array:
    """Return (n, k): basis curves through one, two (a line) or more knots."""
    if len(knots) == 1:
        return np.ones((len(x), 1))
    if len(knots) == 2:
        share = (x - knots[0]) / (knots[1] - knots[0])
        return np.column_stack([1 - share, share])
    return NaturalSpline(knots).columns(x)


def penalised_fit(
    design: Array, tied: Tied, penalty: float, start: Array | None = None
) -> tuple[Array, bool]:
    """Return the coefficients of the shapes (k,) that minimise the penalised loss, and whether there is no minimum."""
    rough = np.append(np.ones(design.shape[1] - 2), [0.0, 0.0])
    weights = tied.weights / tied.weights.mean()
    return ridge_fit(design, tied.sums / tied.weights, weights, penalty * len(weights) * rough, start)


def curve_shapes(knots: Array) -> Array:
    """Return a basis of all splines by values at the knots, (k, k): bent curves of roughness 1, a line, a constant.

    In this basis the penalty is a plain sum of squares, which keeps the fit well conditioned for any penalty.

    >>> curve_shapes(np.array([0.0, 1.0, 2.0])).shape
    (3, 3)
    """
    middle, reach = (knots[0] + knots[-1]) / 2, (knots[-1] - knots[0]) / 2
    straight = np.column_stack([(knots - middle) / reach, np.ones(len(knots))])
    if len(knots) == 2:
        return straight
    _, size, curves = np.linalg.svd(NaturalSpline(knots).bend)
    return np.column_stack([curves[:-2].T / size[:-2], straight])


def _cross_validated(tied: Tied, knots: Array) -> float:
    """Return the penalty with the smallest log loss on held-out folds, the smoothest of equally good ones."""
    tied = neighbour_groups(tied)
    if len(knots) == 2 or len(tied.scores) < FOLDS:
        return float(SPLINE_PENALTIES[0])
    design = curve_columns(knots, tied.scores) @ curve_shapes(knots)
    fold = np.arange(len(tied.scores)) % FOLDS
    losses = np.zeros(len(SPLINE_PENALTIES))
    for held in range(FOLDS):
        out, learn = (
            Tied(tied.scores[at], tied.weights[at], tied.sums[at]) for at in (fold == held, fold != held)
        )
        beta = None
        for i, penalty in enumerate(SPLINE_PENALTIES):
            beta, _ = penalised_fit(design[fold != held], learn, penalty, beta)
            losses[i] += log_loss_sum(design[fold == held] @ beta, out.sums / out.weights, out.weights)
    return float(SPLINE_PENALTIES[np.flatnonzero(losses <= losses.min() * (1 + 1e-9))[0]])


def neighbour_groups(tied: Tied) -> Tied:
    """Group the rows into at most CHOSEN_ON groups of neighbouring scores."""
    if len(tied.scores) <= CHOSEN_ON:
        return tied
    starts = np.unique(np.linspace(0, len(tied.scores), CHOSEN_ON, endpoint=False).astype(np.intp))
    return tied.grouped(starts)
