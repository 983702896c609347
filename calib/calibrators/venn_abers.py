"""Inductive Venn–Abers prediction: the result of two isotonic fits for every score, without fitting them.

Vovk and Petej 2014; Johansson et al. 2019, eq. 9; Shaker and Hüllermeier 2025, Algorithm 1. p0 is the isotonic fit to
the calibration set with (s, 0) added, evaluated at s, and p1 the same with (s, 1).

p1 for every s is computed at once. Pool ties, and draw the cumulative-sum diagram P_i = (rows, rows of class 1) of the
i smallest distinct scores. Adding (s, 1) with a scores below s shifts the points to the right of P_a by (1, 1), and p1
is the slope of the segment that bridges the lower hulls of the two parts. Three facts make this cheap:

1. p1(a) is the running maximum over a of λ(a), the least slope from P_a to a shifted point on its right;
2. this slope is attained at a corner of the lower hull of the whole diagram, that is, at the end of a pool of the
   plain isotonic fit; bisection finds the corner, since slopes along a hull increase;
3. λ(a) can be a new maximum only if P_a is at most 1 − v above the chord of its pool, with v the pool's slope; in
   mixed data this holds at few points.

So one compiled isotonic fit and array operations on the candidates suffice. p0 is one minus p1 of the mirrored
problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from calib.calibrators.base import CLAMPED, IntervalCalibrator, Steps
from calib.calibrators.merge import MERGE, merge_pair
from calib.calibrators.step_pairs import StepPairs, pairs_map
from calib.kernel.checks import Array, in_range
from calib.kernel.fields import Fields
from calib.kernel.isotonic_regression import Blocks, Tied, places, pool_adjacent_violators, pool_ties

# Venn–Abers with one calibration row excluded, a different one for every score.
#
# Out-of-bag calibration (Johansson et al. 2019, eq. 10–11) excludes a random row for each test row, so no
# fit serves two test rows. But neighbours may be pooled in any order. The calibration set is therefore cut
# into runs that are pooled once. A query pools these blocks again, with single entries only in the runs
# where a row is removed or added.
LEFT_OUT_AT_ONCE = 64


def pairs_without(tied: Tied, scores: Array, removed_scores: Array, removed_labels: Array) -> Array:
    """Return p0 and p1 (m, 2) at scores[j], without one calibration row of this score and label, (m,) each."""
    runs = _Runs(tied)
    # (s, 0) is placed above calibration rows of equal score and (s, 1) below them: both are pooled with them.
    below, upto = places(tied.scores, scores)
    group = np.searchsorted(tied.scores, removed_scores)
    queries, which = np.unique(
        np.column_stack([upto, below, group, removed_labels]).astype(np.intp), axis=0, return_inverse=True
    )
    pairs = np.empty((len(queries), 2))
    for j, (after, before, taken, label) in enumerate(queries.tolist()):
        pairs[j] = runs.value(after, 0, taken, label), runs.value(before, 1, taken, label)
    return pairs[which]


class _Runs:
    """Weights and sums, as rows of a table, for every distinct score and for the pools within runs of 64 scores."""

    def __init__(self, tied: Tied):
        self.single = np.stack([tied.weights, tied.sums])
        pools = [
            pool_adjacent_violators(
                tied.sums[first : first + LEFT_OUT_AT_ONCE], tied.weights[first : first + LEFT_OUT_AT_ONCE]
            )
            for first in range(0, len(tied.scores), LEFT_OUT_AT_ONCE)
        ]
        self.pooled = np.concatenate([np.stack([pool.weights, pool.sums]) for pool in pools], axis=1)
        self.starts = np.cumsum([0] + [len(pool.values) for pool in pools])

    def value(self, place: int, label: int, group: int, removed_label: int) -> float:
        """Return the isotonic fit at an added row, without one row of ``removed_label`` at score ``group``."""
        rest = self.single[:, group : group + 1] - [[1], [removed_label]]
        if rest[0, 0] == 0:
            rest = rest[:, :0]
        added = np.array([[1.0], [label]])
        end = self.single.shape[1]
        if place <= group:
            before, after = (
                self._span(0, place),
                [*self._span(place, group), rest, *self._span(group + 1, end)],
            )
        else:
            before, after = (
                [*self._span(0, group), rest, *self._span(group + 1, place)],
                self._span(place, end),
            )
        weights, sums = np.concatenate([*before, added, *after], axis=1)
        blocks = pool_adjacent_violators(sums, weights)
        position = sum(piece.shape[1] for piece in before)
        return blocks.values[np.searchsorted(blocks.bounds, position, side="right") - 1]

    def _span(self, start: int, stop: int) -> list[Array]:
        """Return the distinct scores ``start`` to ``stop`` − 1: pools of whole runs, single entries at the ends."""
        first, last = -(-start // LEFT_OUT_AT_ONCE), stop // LEFT_OUT_AT_ONCE
        if first >= last:
            return [self.single[:, start:stop]]
        return [
            self.single[:, start : first * LEFT_OUT_AT_ONCE],
            self.pooled[:, self.starts[first] : self.starts[last]],
            self.single[:, last * LEFT_OUT_AT_ONCE : stop],
        ]


@dataclass(frozen=True, eq=False)
class Bridges:
    """Step function p1 of a, the number of distinct calibration scores below s.

    Attributes
    ----------
    starts : int (t,)
        Smallest a of each step; the first is 0.
    rise, run : (t,)
        Numerator and denominator of p1 = rise / run, increasing.
    """

    starts: Array
    rise: Array
    run: Array


def bridges(W: Array, C: Array, sizes: Array) -> Bridges:
    """Return all bridges of a calibration set of k distinct scores.

    Parameters
    ----------
    W, C : (k + 1,)
        Number of rows with the 0, 1, …, k smallest scores, and of those in class 1: whole, so that results are exact.
    sizes : (m,)
        Number of distinct scores in each pool of the isotonic fit.
    """
    corners = _sums(sizes)
    W_end, C_end = W[corners[1:]] + 1, C[corners[1:]] + 1
    slopes = np.diff(C[corners]) / np.diff(W[corners])

    # Try the end of the point's own pool first; most candidates need no other.
    rise, run, least = (np.repeat(each, sizes) for each in (C_end, W_end, slopes))
    rise -= C[:-1]
    run -= W[:-1]
    least *= run
    candidates = np.flatnonzero(rise >= least)
    rise, run = rise[candidates], run[candidates]
    pool = np.searchsorted(corners, candidates, side="right") - 1
    further = np.flatnonzero(rise / run > np.append(slopes[1:], np.inf)[pool])
    W_begin, C_begin = W[candidates[further]], C[candidates[further]]
    pool = _touched_pool(W_begin, C_begin, pool[further] + 1, W_end, C_end, slopes)
    rise[further], run[further] = C_end[pool] - C_begin, W_end[pool] - W_begin

    # Above the largest calibration score there is only the added row: slope 1.
    starts, rise, run = np.append(candidates, len(W) - 1), np.append(rise, 1.0), np.append(run, 1.0)
    slope = rise / run
    fresh = np.append(True, slope[1:] > np.maximum.accumulate(slope)[:-1])
    return Bridges(starts[fresh], rise[fresh], run[fresh])


def _sums(values: Array) -> Array:
    """Return the sums of the first 0, 1, …, k values, (k + 1,)."""
    sums = np.zeros(len(values) + 1, values.dtype)
    np.cumsum(values, out=sums[1:])
    return sums


def _touched_pool(W: Array, C: Array, pool: Array, W_end: Array, C_end: Array, slopes: Array) -> Array:
    """Return for points (W, C) the first pool, from ``pool`` on, whose end the tangent from the point touches.

    The ends (W_end, C_end) are a convex chain; slopes[u] is the slope from end u − 1 to end u. The tangent touches end
    u if the slope to it is at most that of the next pool; this then holds for all later ends. Near pools are tried
    first, in strides that double; then the last stride is bisected.
    """
    following = np.append(slopes[1:], np.inf)

    def touches(scores: Array, u: Array) -> Array:
        return (C_end[u] - C[scores]) / (W_end[u] - W[scores]) <= following[u]

    low, high = pool.copy(), pool.copy()
    open_, stride = np.arange(len(pool)), 1
    while open_.size:
        open_ = open_[~touches(open_, high[open_])]
        low[open_] = high[open_] + 1
        high[open_] = np.minimum(high[open_] + stride, len(slopes) - 1)
        stride *= 2
    open_ = np.flatnonzero(low < high)
    while open_.size:
        middle = (low[open_] + high[open_]) // 2
        touching = touches(open_, middle)
        high[open_[touching]] = middle[touching]
        low[open_[~touching]] = middle[~touching] + 1
        open_ = open_[low[open_] < high[open_]]
    return high


@dataclass(frozen=True, eq=False)
class StepCurves:
    """Curves p0(s) and p1(s), constant between thresholds.

    Between thresholds[i − 1] and thresholds[i] they are p0[i] and p1[i]. On a threshold, p0 has the value on its right
    and p1 that on its left.

    Attributes
    ----------
    thresholds : (t,)
    p0, p1 : (t + 1,)
    """

    thresholds: Array
    p0: Array
    p1: Array


@dataclass(frozen=True, eq=False)
class AddedFit:
    """Isotonic fit to the calibration set and the row (score, label).

    Attributes
    ----------
    scores, values : (k,)
        Distinct scores, with the row's, and the fit there.
    counts, ones : (k,)
        Number of rows with each of these scores, including the row, and of those with label 1.
    pool
        Smallest and largest score of the pool that contains the row.
    rows
        Number of rows in the pool, including the row.
    positives
        Number of those with label 1.
    """

    label: int
    score: float
    scores: Array
    values: Array
    counts: Array
    ones: Array
    pool: tuple[float, float]
    rows: int
    positives: int

    @property
    def value(self) -> float:
        """Fit at the row: p0 or p1."""
        return self.positives / self.rows


@dataclass(frozen=True, eq=False)
class Explanation:
    """Explanation of the pair at a score: the fits with labels ``zero`` and ``one``, and the merged probability p."""

    score: float
    zero: AddedFit
    one: AddedFit
    p: float


class VennAbers(IntervalCalibrator):
    """Inductive Venn–Abers predictor; any real scores; exact for ties, outliers and labels of a single class.

    It learns ``thresholds_`` (t,) increasing, ``p0_`` and ``p1_`` (t + 1,), with

        p0(s) = p0_[number of thresholds <= s]        p1(s) = p1_[number of thresholds < s]

    This suffices to predict; ``calibration_scores_`` and ``labels_`` are stored to exclude rows and to explain.

    Parameters
    ----------
    merge
        Rule that merges the pair: "log", "square" or "midpoint".

    Examples
    --------
    >>> venn_abers = VennAbers().fit([0.1, 0.2, 0.3, 0.4, 0.5], [0, 1, 0, 1, 1])
    >>> venn_abers.predict_interval([0.25, 0.6])    # 1/3 to 2/3: of {1, 0} and the row itself
    array([[0.33333333, 0.66666667],
           [0.66666667, 1.        ]])
    >>> venn_abers.predict([0.25, 0.6])
    array([0.5 , 0.75])
    >>> one = venn_abers.explain(0.25).one    # with (0.25, 1) added: labels 0 1 1 0 1 1
    >>> one.pool, one.positives, one.rows
    ((0.2, 0.3), 2, 3)
    """

    key = "venn_abers"
    label = "Venn–Abers"
    source = "Vovk and Petej 2014; Johansson et al. 2019, eq. 9"
    counts_rows = True
    beyond = CLAMPED
    complexity = 7
    kind = "pairs"
    weighted = True
    parameters = (MERGE,)

    def __init__(self, merge: Literal["log", "square", "midpoint"] = "log"):
        self.merge = merge

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        self.calibration_scores_, self.labels_ = scores.copy(), y
        self.weights_ = weights
        self._learn_steps(pool_ties(scores, y, self.weights_))

    @classmethod
    def of_ties(cls, tied: Tied) -> VennAbers:
        """Fit to tied scores whose weights need not be whole; it can predict, but exclude and explain no rows."""
        made = cls()
        made._learn_steps(tied)
        return made

    def _learn_steps(self, tied: Tied) -> None:
        blocks = pool_adjacent_violators(tied.sums, tied.weights)
        self.thresholds_, self.p0_, self.p1_ = step_functions(tied, blocks)

    def _pairs(self, scores: Array) -> Array:
        below, upto = places(self.thresholds_, scores)
        pairs = np.empty((len(scores), 2))
        pairs[:, 0], pairs[:, 1] = self.p0_[upto], self.p1_[below]
        return pairs

    def _pairs_without(self, scores: Array, removed: Array) -> Array:
        tied = pool_ties(self.calibration_scores_, self.labels_, self.weights_)
        return pairs_without(tied, scores, self.calibration_scores_[removed], self.labels_[removed])

    def to_map(self) -> dict[str, Any]:
        return pairs_map(*self._steps())

    @classmethod
    def from_map(cls, fields: Fields) -> StepPairs:
        return StepPairs.from_map(fields)

    def _steps(self) -> tuple[Steps, Steps]:
        return _changes(self.thresholds_, self.p0_), _changes(self.thresholds_, self.p1_)

    def step_curves(self) -> StepCurves:
        """Return p0(s) and p1(s) for a chart: constant between thresholds."""
        check_is_fitted(self)
        return StepCurves(self.thresholds_, self.p0_, self.p1_)

    def explain(self, score: float, removed: int | None = None) -> Explanation:
        """Return the two isotonic fits behind one prediction, and the pools that the row joins in them.

        Parameters
        ----------
        removed
            Calibration row to exclude (out of bag), by its position in the arrays given to ``fit``.
        """
        zero, one = self.added_fit(score, 0, removed), self.added_fit(score, 1, removed)
        return Explanation(zero.score, zero, one, float(merge_pair(zero.value, one.value, self.merge)))

    def added_fit(self, score: float, label: int, removed: int | None = None) -> AddedFit:
        """Return the isotonic fit with (score, label) added, which gives p0 for label 0 and p1 for label 1."""
        check_is_fitted(self)
        score = float(in_range(score, "score"))
        if removed is not None:
            in_range(removed, "removed", 0, len(self.labels_) - 1, integer=True)
        counts = np.ones(len(self.labels_) + 1) if self.weights_ is None else np.append(self.weights_, 1.0)
        counts[:-1] -= np.arange(len(self.labels_)) == removed  # with None, all comparisons are False
        tied = pool_ties(np.append(self.calibration_scores_, score), np.append(self.labels_, label), counts)
        blocks = pool_adjacent_violators(tied.sums, tied.weights)
        position = np.searchsorted(tied.scores, score)
        pool = np.searchsorted(blocks.bounds, position, side="right") - 1
        return AddedFit(
            label,
            score,
            tied.scores,
            blocks.fitted,
            tied.weights,
            tied.sums,
            (float(tied.scores[blocks.bounds[pool]]), float(tied.scores[blocks.bounds[pool + 1] - 1])),
            int(blocks.weights[pool]),
            int(blocks.sums[pool]),
        )


def _changes(thresholds: Array, values: Array) -> tuple[Array, Array]:
    """Return a step function without the thresholds at which it does not change."""
    moves = np.diff(values) != 0
    return thresholds[moves], values[np.append(True, moves)]


def step_functions(tied: Tied, blocks: Blocks) -> tuple[Array, Array, Array]:
    """Return thresholds (t,), p0 and p1 (t + 1,) of VennAbers."""
    k = len(tied.scores)
    W, C = _sums(tied.weights), _sums(tied.sums)
    ones = bridges(W, C, blocks.sizes)
    zeros = bridges((W[-1] - W)[::-1], ((W[-1] - C[-1]) - (W - C))[::-1], blocks.sizes[::-1])
    # A step of p1 from a on begins above the a-th smallest score; one of p0, mirrored, ends at the a-th largest.
    ends_p0, begins_p1 = np.zeros(k, dtype=bool), np.zeros(k, dtype=bool)
    ends_p0[k - zeros.starts[1:]] = begins_p1[ones.starts[1:] - 1] = True
    thresholds = np.flatnonzero(ends_p0 | begins_p1)
    p0 = ((zeros.run - zeros.rise) / zeros.run)[::-1]
    p1 = ones.rise / ones.run
    return (
        tied.scores[thresholds],
        p0[np.append(0, np.cumsum(ends_p0[thresholds]))],
        p1[np.append(0, np.cumsum(begins_p1[thresholds]))],
    )
