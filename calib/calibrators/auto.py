"""Automatic calibration of two classes or K: a mixture of candidates, weighted by cross-validation.

No single method is best at every number of calibration rows (docs/results.md). Stacking (Wolpert 1992; Breiman 1996)
lets the rows decide: each candidate predicts calibration rows that it was not fitted on, and the weights minimise the
log loss of the mixture on these rows,

    logit p = Σ w_k f_k(ℓ),    w_k ≥ 0,    Σ w_k = 1,    ℓ = logit s

A Dirichlet prior that counts as one row keeps the mixture of few rows near the mean of all candidates. Of two classes,
they go from stiff to flexible:

- the model's own log-odds, f = ℓ, unless most scores are 0 or 1, as those of a tree with pure leaves;
- a line, a stiff and a flexible curve: natural cubic splines (Lucena 2018) on log-odds of standard deviation 1, with
  the roughness penalties ``PENALTIES``, and with Platt's targets, which keep them finite if the classes are separable;
- Venn–Abers' merged probability, a step function, which suits tied scores and jumps.

A sum of splines is a spline, so the fitted map is one curve of ℓ and one step function of s.

Of K classes, log-probabilities take the place of log-odds: p = softmax(Σ w_j ln p_j). The candidates stay away from 0,
so that none ruins the mixture on rows unlike those held out: structured vector and matrix scaling, in which classes
depend on each other, and two that calibrate each class against the rest. These are Platt's sigmoid of the probability,
which is smooth, and Venn–Abers, which can bend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from scipy.special import expit, logit, softmax

from calib.calibrators.base import STRAIGHT_ON, ScoreCalibrator
from calib.calibrators.by_class import OneVsRest
from calib.calibrators.joint import (
    JointCalibrator,
    log_probabilities,
    log_terms,
    normalised,
    normalised_terms,
)
from calib.calibrators.log_odds import CLIP, deepest_fall_notes, log_odds, log_odds_of_frequency
from calib.calibrators.merge import merge_pair
from calib.calibrators.platt import Platt, half_step, platt_targets
from calib.calibrators.scaling import StructuredMatrix, StructuredVector
from calib.calibrators.spline import (
    continued_curve,
    curve_columns,
    curve_formula,
    curve_knots,
    curve_shapes,
    neighbour_groups,
    read_curve,
)
from calib.calibrators.venn_abers import VennAbers
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, sigmoid, softmax_terms, steps
from calib.kernel.formula import logit as logit_term
from calib.kernel.isotonic_regression import Tied, pool_ties
from calib.kernel.likelihood import (
    PRIOR_ROWS,
    STACKING_FOLDS,
    in_folds,
    joint_stacking_weights,
    log_loss_sum,
    ridge_fits,
    stacking_weights,
    without_small,
)
from calib.kernel.weights import are_whole, or_ones
from calib.kernel.wording import brief_percent, listed, number

PENALTIES = (1e6, 0.1, 0.001)  # of a line, a stiff and a flexible curve, for log-odds of standard deviation 1
CURVES_WEIGHED = ("the model's own log-odds", "a line", "a stiff curve", "a flexible curve", "Venn–Abers")
KNOTS = 12
PART = 2.0**-20  # of a row
ROUNDED_STEP = 0.05  # log-odds to whose multiples the steps are rounded


class Auto(ScoreCalibrator):
    """Mixture of candidates, weighted by 5-fold cross-validation, for probabilities; optional weights.

    ``weights_`` (5,) are the weights of ``CURVES_WEIGHED``; ``losses_`` (6,) the mean log losses of held-out
    calibration rows, of each candidate and of the mixture, NaN if no row can be held out. ``knots_`` and ``values_``
    (k,) are the curve; ``breaks_`` (t,) and ``steps_`` (t + 1,) the step function: step i holds if i breaks are at
    most s. Scores are clipped to [``clip_``, 1 − ``clip_``], half the smallest distance of a calibration score from 0
    or 1, so that log-odds stay finite. A single class is refused; for constant scores, the class frequency is
    predicted.

    >>> p = np.linspace(0.05, 0.95, 19)
    >>> auto = Auto().fit(np.repeat(p, 20), np.tile(np.arange(20), 19) < np.repeat(np.round(20 * p**2), 20))
    >>> auto.predict([0.3, 0.5, 0.7]).round(2)    # the frequencies are about p²
    array([0.1 , 0.24, 0.48])
    >>> bool(np.isclose(auto.weights_.sum(), 1)), len(auto.weights_)
    (True, 5)
    """

    key = "auto"
    label = "Automatic calibration"
    name = "automatic calibration"
    source = "stacking: Wolpert 1992; Breiman 1996"
    input = "probability"
    answers_one_class = False
    weighted = True
    monotone = False
    beyond = STRAIGHT_ON
    complexity = 7.5
    kind = "mixture"

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        self.clip_ = half_step(scores)
        tied = pool_ties(scores, y, None if weights is None else exact_weights(weights))
        self.weights_, self.losses_ = (
            np.full(len(CURVES_WEIGHED), np.nan),
            np.full(len(CURVES_WEIGHED) + 1, np.nan),
        )
        self.breaks_, self.steps_ = np.empty(0), np.zeros(1)
        x = np.maximum.accumulate(log_odds(tied.scores, self.clip_))
        if x[0] == x[-1]:
            frequency = tied.sums.sum() / tied.weights.sum()
            self.knots_, self.values_ = x[:1], np.array([log_odds_of_frequency(frequency)])
            self.turns_: tuple[str, ...] = ()
            return
        curves = _Curves(tied, x)
        certain = tied.weights[(tied.scores == 0) | (tied.scores == 1)].sum() > tied.weights.sum() / 2
        learns, held = zip(*_folds(curves.tied), strict=True)
        values = curves.values([curves.tied, *learns])
        self.weights_, self.losses_ = _stacked(held, curves.logits(learns, values[1:]), int(certain))
        own = self.weights_
        self.knots_, self.values_ = curves.knots, values[0] @ own[:-1]
        if own[-1]:
            self.breaks_, steps = merged_steps(tied)
            self.steps_ = own[-1] * steps
        self.turns_ = deepest_fall_notes(x, self._logits(tied.scores))

    def _notes(self) -> tuple[str, ...]:
        if np.isnan(self.weights_[0]):
            return ()
        mixed = np.argsort(-self.weights_, kind="stable")[: np.count_nonzero(self.weights_)]
        parts = listed([f"{CURVES_WEIGHED[i]} {brief_percent(self.weights_[i])}" for i in mixed])
        return (f"mixes {parts}.", *self._loss_notes(), *self.turns_)

    def _loss_notes(self) -> tuple[str, ...]:
        if np.isnan(self.losses_[-1]):
            return ()
        best = int(self.losses_[:-1].argmin())
        return (
            f"On held-out calibration rows, the log loss is {number(self.losses_[-1])} for the mixture and "
            f"{CURVES_WEIGHED[best]} for the best candidate ({number(self.losses_[best])}).",
        )

    def _map(self, scores: Array) -> Array:
        return expit(self._logits(scores))

    def _logits(self, scores: Array) -> Array:
        curve = continued_curve(self.knots_, self.values_, log_odds(scores, self.clip_))
        return curve + self.steps_[np.searchsorted(self.breaks_, scores, side="right")]

    def _formula(self, score: Expression) -> Expression:
        curve = curve_formula(self.knots_, self.values_, logit_term(score, self.clip_))
        return sigmoid(curve + steps(score, self.breaks_, self.steps_))

    def to_map(self) -> dict[str, Any]:
        return self._learned("knots", "values", "breaks", "steps", "clip")

    @classmethod
    def from_map(cls, fields: Fields) -> Auto:
        breaks = fields.numbers("breaks", increasing=True)
        jumps = fields.numbers("steps", length=len(breaks) + 1)
        clip = fields.number("clip", CLIP, 0.5)
        return cls()._with_learned(**read_curve(fields), breaks=breaks, steps=jumps, clip=clip)


class _Curves:
    """Candidates that are curves of the log-odds x, on at most 2,048 groups of neighbouring scores.

    Attributes
    ----------
    tied
        The groups.
    knots : (k,)
        Log-odds, of which they are curves.
    """

    def __init__(self, tied: Tied, x: Array) -> None:
        starts = np.flatnonzero(np.diff(x, prepend=-np.inf) > 0)  # clipped scores are tied
        self.tied = neighbour_groups(Tied(x, tied.weights, tied.sums).grouped(starts))
        self.knots = curve_knots(self.tied.scores, KNOTS)
        self._columns = curve_columns(self.knots, self.tied.scores)
        self._shapes = curve_shapes(self.knots / _deviation(self.tied))

    def values(self, parts: Sequence[Tied]) -> Array:
        """Return the curves' values at the knots (parts, k, 4), fitted to parts of the rows of each group."""
        weights, sums = (np.array([getattr(part, name) for part in parts]) for name in ("weights", "sums"))
        ends = [platt_targets(*totals) for totals in zip(sums.sum(axis=1), weights.sum(axis=1), strict=True)]
        positive, negative = np.array(ends).T[:, :, None]
        targets = (sums * positive + (weights - sums) * negative) / np.maximum(weights, np.finfo(float).tiny)
        shares = weights / weights.sum(axis=1, keepdims=True)
        shapes = self._shapes
        rough = np.outer(PENALTIES, np.arange(shapes.shape[1]) < shapes.shape[1] - 2)
        each = len(PENALTIES)
        beta = ridge_fits(
            self._columns @ shapes,
            np.repeat(targets, each, axis=0),
            np.repeat(shares, each, axis=0) * len(self.tied.scores),
            np.tile(rough, (len(parts), 1)) * len(self.tied.scores),
        )
        curves = beta.reshape(len(parts), each, -1) @ shapes.T
        own = np.broadcast_to(self.knots, (len(parts), 1, len(self.knots)))
        return np.concatenate([own, curves], axis=1).transpose(0, 2, 1)

    def steps(self, learn: Tied) -> Array:
        """Return Venn–Abers' log-odds for each group (groups, 1), fitted to some rows of each group."""
        breaks, values = merged_steps(_present(learn))
        return values[np.searchsorted(breaks, self.tied.scores, side="right")][:, None]

    def logits(self, learns: Sequence[Tied], values: Array) -> list[Array]:
        """Return log-odds of all candidates for each group, (groups, 5), from the curves' values of each part."""
        return [
            np.hstack([self._columns @ curves, self.steps(learn)])
            for learn, curves in zip(learns, values, strict=True)
        ]


def _stacked(held: Sequence[Tied], logits: Sequence[Array], first: int) -> tuple[Array, Array]:
    """Return the weights of the candidates (5,), 0 before the first that may enter, and mean held-out log losses (6,).

    The losses are those of each candidate and of their mixture, NaN if no row is held out; weights are then equal.
    """
    rows = [_present(out) for out in held]
    found = np.concatenate([z[out.weights > 0] for z, out in zip(logits, held, strict=True)])
    weights = np.concatenate([each.weights for each in rows])
    targets = np.concatenate([each.sums for each in rows]) / weights
    prior = np.full(found.shape[1] - first, PRIOR_ROWS / (found.shape[1] - first))
    own = without_small(
        np.append(np.zeros(first), stacking_weights(found[:, first:], targets, weights, prior))
    )
    losses = [log_loss_sum(z, targets, weights) for z in (*found.T, found @ own)]
    return own, np.array(losses) / (weights.sum() or np.nan)


def _folds(tied: Tied) -> Iterator[tuple[Tied, Tied]]:
    """Yield (learn, held-out) rows: each row goes to a random fold, whatever its label; the seed is fixed.

    A fold that would hold out all rows is left out.
    """
    random, classes = np.random.default_rng(0), (tied.sums, tied.weights - tied.sums)
    whole = are_whole(tied.weights) and are_whole(tied.sums)
    ones, zeros = (in_folds(each, random, whole) for each in classes)
    for first, second in zip(ones.T, zeros.T, strict=True):
        held = Tied(tied.scores, first + second, first)
        learn = Tied(tied.scores, tied.weights - held.weights, tied.sums - held.sums)
        if learn.weights.any():
            yield learn, held


def exact_weights(weights: Array) -> Array:
    """Round weights (n,) to multiples of ``PART``, so that their sums are exact, as Venn–Abers needs."""
    return np.maximum(np.round(weights / PART), 1.0) * PART


def _present(rows: Tied) -> Tied:
    """Return the entries that have rows."""
    has = rows.weights > 0
    return Tied(rows.scores[has], rows.weights[has], rows.sums[has])


def merged_steps(tied: Tied) -> tuple[Array, Array]:
    """Return Venn–Abers' merged probability as (breaks (t,), log-odds (t + 1,)): value i holds if i breaks are <= s."""
    breaks, p0, p1 = VennAbers.of_ties(tied).aligned_steps()
    # Smaller steps change p by less than ROUNDED_STEP / 8, and would make programs ten times as long
    values = np.round(logit(merge_pair(p0, p1)) / ROUNDED_STEP) * ROUNDED_STEP
    moves = np.diff(values) != 0
    return breaks[moves], values[np.append(True, moves)]


def _deviation(tied: Tied) -> float:
    """Return the weighted standard deviation of scores (k,), k > 1."""
    apart = tied.scores - np.average(tied.scores, weights=tied.weights)
    return float(np.sqrt(np.average(apart**2, weights=tied.weights)))


# Enough rows, and classes times folds, to weigh the candidates; with more, fewer folds are held out
ENOUGH_HELD_OUT, HELD_OUT_CLASSES = (2000, 100)


class ClassSteps(JointCalibrator):
    """Venn–Abers' merged probability of each class against the rest, in rounded steps, divided by their sum.

    ``steps_`` holds per class the scores (t,) at which a step begins, and the probabilities (t + 1,).
    """

    key = "class_steps"
    label = "Venn–Abers per class"
    source = "Vovk and Petej 2012"

    def _learn(self, P: Array, y: Array, weights: Array | None) -> None:
        exact = None if weights is None else exact_weights(weights)
        found = (merged_steps(pool_ties(P[:, k], y == k, exact)) for k in range(P.shape[1]))
        self.steps_ = [(breaks, expit(values)) for breaks, values in found]

    def _map(self, P: Array) -> Array:
        found = (
            p[np.searchsorted(breaks, s, side="right")]
            for s, (breaks, p) in zip(P.T, self.steps_, strict=True)
        )
        return normalised(np.column_stack(list(found)))

    def _formula(self, P: list[Expression]) -> list[Expression]:
        return normalised_terms([steps(s, breaks, p) for s, (breaks, p) in zip(P, self.steps_, strict=True)])

    def _fields(self) -> dict[str, Any]:
        return {"classes": [{"breaks": b.tolist(), "steps": p.tolist()} for b, p in self.steps_]}

    @classmethod
    def _read_fields(cls, fields: Fields, present: Array) -> Self:
        made, given = cls(), fields.objects("classes")
        if len(given) != len(present):
            raise fields.refuse("classes", f"must contain {len(present)} step functions, one per class")
        breaks = [one.numbers("breaks", increasing=True) for one in given]
        values = [one.numbers("steps", length=len(b) + 1) for one, b in zip(given, breaks, strict=True)]
        if any((p < 0).any() or (p > 1).any() for p in values):
            raise fields.refuse("classes", "must contain probabilities")
        made.steps_ = list(zip(breaks, values, strict=True))
        return made


JOINT_CANDIDATES: dict[str, Callable[[], JointCalibrator]] = {
    "structured vector scaling": StructuredVector,
    "structured matrix scaling": StructuredMatrix,
    "Platt scaling per class": lambda: OneVsRest(Platt()),
    "Venn–Abers per class": ClassSteps,
}


class JointAuto(JointCalibrator):
    """Mixture of ``JOINT_CANDIDATES``, weighted by cross-validation; optional weights.

    ``weights_`` (4,) are the weights, 0 for a candidate that is left out, and ``calibrators_`` the fitted others.

    >>> P, y = [[0.5, 0.25, 0.25]] * 400 + [[0.2, 0.2, 0.6]] * 400, [0, 0, 1, 2] * 100 + [0, 1, 2, 2] * 100
    >>> auto = JointAuto().fit(P, y)
    >>> bool(np.abs(auto.predict(P[:1]) - [0.5, 0.25, 0.25]).max() < 0.01)    # the frequencies
    True
    >>> round(float(auto.weights_.sum()), 9)
    1.0
    """

    key = "auto"
    label = "Automatic calibration"
    name = "automatic calibration"
    source = "stacking: Wolpert 1992; Breiman 1996"
    complexity = 7.5
    kind = "joint_mixture"

    def _learn(self, P: Array, y: Array, weights: Array | None) -> None:
        self.weights_ = _candidate_weights(P, y, or_ones(weights, len(y)))
        self.calibrators_ = [each.fit(P, y, weights) for each in _used(self.weights_)]

    def _map(self, P: Array) -> Array:
        weights = self.weights_[self.weights_ > 0]
        return softmax(_log_predictions(self.calibrators_, P) @ weights, axis=1)

    def _formula(self, P: list[Expression]) -> list[Expression]:
        mixed = [
            [float(weight) * each for each in log_terms(candidate._formula_all(P))]
            for weight, candidate in zip(self.weights_[self.weights_ > 0], self.calibrators_, strict=True)
        ]
        return softmax_terms([sum(terms[1:], terms[0]) for terms in zip(*mixed, strict=True)])

    def _notes(self) -> tuple[str, ...]:
        names = list(JOINT_CANDIDATES)
        order = [int(i) for i in np.argsort(-self.weights_, kind="stable") if self.weights_[i]]
        return (f"mixes {listed([f'{names[i]} {brief_percent(self.weights_[i])}' for i in order])}.",)

    def _fields(self) -> dict[str, Any]:
        return {
            "weights": self.weights_.tolist(),
            "calibrators": [each.to_map() for each in self.calibrators_],
        }

    @classmethod
    def _read_fields(cls, fields: Fields, present: Array) -> Self:
        made, given = cls(), fields.objects("calibrators")
        made.weights_ = fields.numbers("weights", length=len(JOINT_CANDIDATES))
        if (made.weights_ < 0).any() or not np.isclose(made.weights_.sum(), 1):
            raise fields.refuse("weights", "must be at least 0 and sum to 1")
        used = _used(made.weights_)
        if len(given) != len(used):
            raise fields.refuse(
                "calibrators", f"must contain {len(used)} calibrators, one per positive weight"
            )
        made.calibrators_ = [each.from_map(one, len(present)) for each, one in zip(used, given, strict=True)]
        return made


def _used(weights: Array) -> list[JointCalibrator]:
    """Return the unfitted candidates whose weight is positive."""
    return [new() for new, weight in zip(JOINT_CANDIDATES.values(), weights, strict=True) if weight]


def _log_predictions(calibrators: list[JointCalibrator], P: Array) -> Array:
    """Return the log-probabilities of each calibrator, (n, K, calibrators)."""
    return np.stack([log_probabilities(each.predict(P)) for each in calibrators], axis=-1)


def _candidate_weights(P: Array, y: Array, weights: Array) -> Array:
    """Return the candidates' weights (4,) by the log loss of held-out rows; equal ones if none can be held out."""
    prior = np.full(len(JOINT_CANDIDATES), PRIOR_ROWS / len(JOINT_CANDIDATES))
    held: list[tuple[Array, Array, Array]] = []
    for P_own, y_own, learn, out in _class_folds(P, y, weights):
        kept, tested = learn > 0, out > 0
        if len(np.unique(y_own[kept])) > 1 and tested.any():
            fitted = [each.fit(P_own[kept], y_own[kept], learn[kept]) for each in _used(prior)]
            held.append((_log_predictions(fitted, P_own[tested]), y_own[tested], out[tested]))
    if not held:
        return prior / PRIOR_ROWS
    logs, labels, shares = (np.concatenate(each) for each in zip(*held, strict=True))
    return without_small(joint_stacking_weights(logs, labels, shares, prior))


def _class_folds(P: Array, y: Array, weights: Array) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Yield (P, y, weights to learn from, weights held out) of random folds; the seed is fixed."""
    rows, where = np.unique(np.column_stack([P, y]), axis=0, return_inverse=True)
    total = np.bincount(where.ravel(), weights)
    enough = min(np.ceil(STACKING_FOLDS * ENOUGH_HELD_OUT / weights.sum()), HELD_OUT_CLASSES // P.shape[1])
    folds = in_folds(total, np.random.default_rng(0), are_whole(weights))
    for held in folds.T[: max(1, int(enough))]:
        yield rows[:, :-1], rows[:, -1].astype(np.intp), total - held, held
