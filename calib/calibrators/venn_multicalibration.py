"""Venn multicalibration: a pair per row, one of which is right on average in every group at every level.

van der Laan & Alaa 2025 (arXiv 2502.05676). Let f(x) be the probability before calibration, and G the span of the
indicators of groups at levels of f; groups are the values or ranges of one column each. For y in {0, 1}, the row (x,
y) joins the calibration rows, the residuals y_i − f(x_i) are projected onto G by least squares, and p_y is f plus the
projection at x. If rows are exchangeable, the p_y of the true label satisfies E[g(X)(Y − p_Y(X))] = 0 for every g in
G, for any number of rows; which of the two this is, is unknown.

With M = Σ φφᵀ over the calibration rows, φ the indicators of a row, β the projection without the new row, and the
leverage h = φᵀM⁺φ at x, two updates of one factorisation are needed (Sherman & Morrison 1950):

    p_y = (f(x) + φᵀβ + h y) / (1 + h),    p1 − p0 = h / (1 + h)

The guarantee is exact for groups and levels that are fixed in advance, and for the pair before it is clipped to [0,
1]. Here groups and levels are learnt from the calibration rows, without their labels, which costs little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from calib.calibrators.base import EXTRAPOLATED, IntervalCalibrator
from calib.calibrators.feature_groups import (
    NO_GROUP,
    FeatureGroups,
    indices,
    learnt_groups,
    levels_of,
    no_program,
)
from calib.calibrators.merge import MERGE
from calib.kernel.checks import Array
from calib.kernel.fields import Fields, json_numbers
from calib.kernel.formula import Expression
from calib.kernel.records import Parameter
from calib.kernel.weights import or_ones

WIDE_INTERVALS = 0.5  # mean width from which a note says that the groups have too few rows
TOLERANCE_OUTSIDE = 1e-6  # tolerance for a direction without calibration rows
SURE = 1 - 1e-9  # leverage of a row that is alone in its direction
BITS_OF_RESIDUALS = 62  # bits of a sum of residuals
RESIDUALS_HELD = 1 << 22  # numbers held at once


@dataclass(frozen=True, eq=False)
class _Level:
    """Sums over the rows of one level: M (k, k), whole numbers, and Σ φ(y − f) (k,)."""

    counts: Array
    sums: Array

    def solved(self) -> tuple[Array, Array, Array]:
        """Return (M⁺, β, a basis of the complement of the span of M (k, null))."""
        values, vectors = np.linalg.eigh(self.counts)
        kept = values > 1e-9 * max(float(values[-1]), 1.0)
        span = vectors[:, kept]
        inverse = (span / values[kept]) @ span.T
        return inverse, inverse @ self.sums, vectors[:, ~kept]


class VennMulticalibration(IntervalCalibrator):
    """Venn multicalibration, ``p_y = (f + φᵀβ + h y)/(1 + h)``, clipped; takes a table of probability and features.

    For n calibration rows p0 is in [0, n/(n + 1)] and p1 in [1/(n + 1), 1].

    ``features_`` are the groups of each column, ``breaks_`` (bins − 1,) are the probabilities between levels, and
    ``levels_`` are the sums of each level.

    Parameters
    ----------
    bins
        Number of levels of the prediction, from 1 to 10.
    merge
        Rule that merges the pair: "log", "square" or "midpoint".

    Examples
    --------
    >>> group = np.repeat([0, 1], 20)                               # the model says 50 % of both
    >>> table = pd.DataFrame({"p": 0.5, "group": group})
    >>> venn = VennMulticalibration().fit(table, [0] * 15 + [1] * 5 + [0] * 5 + [1] * 15)
    >>> venn.predict_interval(pd.DataFrame({"p": 0.5, "group": [0, 1]})).round(3)  # 5 of 20 and 15 of 20, and the row
    array([[0.238, 0.286],
           [0.714, 0.762]])
    """

    key = "venn_multicalibration"
    label = "Venn multicalibration"
    source = "van der Laan and Alaa 2025"
    input = "features"
    answers_one_class = False
    monotone = False
    counts_rows = True
    beyond = EXTRAPOLATED
    weighted = True
    complexity = 10
    kind = "levels"
    parameters = (
        Parameter(
            "bins",
            "Levels of the prediction",
            "integer",
            3,
            1,
            10,
            help="p0 and p1 are valid on average in every group at each of these levels. More levels need "
            "more rows.",
        ),
        MERGE,
    )

    def __init__(self, bins: int = 3, merge: Literal["log", "square", "midpoint"] = "log"):
        self.bins = bins
        self.merge = merge

    def raw_pairs(self, scores: Any) -> Array:
        """Return the pairs before they are clipped, (m, 2), for which the guarantee is exact.

        A row in a direction without calibration rows gets (0, 1).
        """
        return self._raw_pairs(self._read(scores))

    def _learn(self, scores: pd.DataFrame, y: Array, weights: Array | None) -> None:
        self.weights_ = weights
        counts = or_ones(self.weights_, len(y))
        p = scores.iloc[:, 0].to_numpy()
        self.features_, self.breaks_ = learnt_groups(scores, counts), levels_of(p, self.bins, counts)
        self.labels_ = y
        self.cells_, self.level_ = self._placed(scores)
        self.residual_ = y - p
        self.levels_ = tuple(
            self._summed(np.flatnonzero(self.level_ == level), counts)
            for level in range(len(self.breaks_) + 1)
        )
        self._solve()
        raw = self._raw(p, self.cells_, self.level_)
        outside = ((raw < -TOLERANCE_OUTSIDE) | (raw > 1 + TOLERANCE_OUTSIDE)).any(axis=1)
        self.mean_width_ = float(np.average(raw[:, 1] - raw[:, 0], weights=counts))
        self.share_outside_ = float(np.average(outside, weights=counts))

    def _summed(self, rows: Array, counts: Array) -> _Level:
        """Add up rows, with residuals as integers in a small unit, so that order and repetition have no effect."""
        size, unit = self._size, 2.0 ** (BITS_OF_RESIDUALS - np.ceil(np.log2(counts.sum() + 1)))
        residuals = np.rint(self.residual_ * unit).astype(np.int64) * counts.astype(np.int64)
        halves = np.stack(np.divmod(residuals, 1 << 31)).astype(np.float64)  # whose sums are exact
        both, sums = np.zeros((size, size)), np.zeros(size, dtype=np.int64)
        for piece in _pieces(rows, size):
            indicators = self._indicators(self.cells_[piece])
            both += (indicators * counts[piece, None]).T @ indicators
            high, low = (halves[:, piece] @ indicators).astype(np.int64)
            sums += (high << 31) + low
        return _Level(both, sums / unit)

    @property
    def _size(self) -> int:
        """Number of cells of a level: all rows, and each group."""
        return 1 + sum(each.size for each in self.features_)

    def _placed(self, scores: pd.DataFrame) -> tuple[Array, Array]:
        """Return (cell of each row in each column (m, d) or ``NO_GROUP``, level of each row (m,))."""
        groups = indices(self.features_, scores.iloc[:, 1:])
        first = 1 + np.append(0, np.cumsum([each.size for each in self.features_]))[:-1].astype(np.intp)
        cells = np.where(groups == NO_GROUP, NO_GROUP, groups + first)
        return cells, np.searchsorted(self.breaks_, scores.iloc[:, 0].to_numpy(), side="right")

    def _indicators(self, cells: Array) -> Array:
        """Return φ of rows in these cells, float (m, k)."""
        found = np.zeros((len(cells), self._size))
        found[:, 0] = 1
        rows, columns = np.nonzero(cells != NO_GROUP)
        found[rows, cells[rows, columns]] = 1
        return found

    def _solve(self) -> None:
        self.solved_ = tuple(level.solved() for level in self.levels_)

    def _raw_pairs(self, scores: pd.DataFrame) -> Array:
        return self._raw(scores.iloc[:, 0].to_numpy(), *self._placed(scores))

    def _raw(self, p: Array, cells: Array, level: Array) -> Array:
        found = np.tile([0.0, 1.0], (len(p), 1))
        for piece, inverse, beta, outside in self._by_level(level):
            phi = self._indicators(cells[piece])
            h = ((phi @ inverse) * phi).sum(axis=1)
            known = (np.abs(phi @ outside) < TOLERANCE_OUTSIDE).all(axis=1)
            found[piece[known]] = _pair(p[piece] + phi @ beta, h)[known]
        return found

    def _by_level(self, level: Array) -> Iterator[tuple[Array, Array, Array, Array]]:
        """Yield (some rows of one level, its M⁺, β and the basis of the complement)."""
        for i, solved in enumerate(self.solved_):
            for piece in _pieces(np.flatnonzero(level == i), self._size):
                yield piece, *solved

    def _pairs(self, scores: pd.DataFrame) -> Array:
        return self._clipped(self._raw_pairs(scores))

    def _clipped(self, raw: Array) -> Array:
        """Clip pairs (m, 2) to [0, n/(n + 1)] and [1/(n + 1), 1], the possible frequencies with one row added."""
        rows = sum(float(each.counts[0, 0]) for each in self.levels_)
        ends = np.array([[0.0, 1 / (rows + 1)], [rows / (rows + 1), 1.0]])
        return np.clip(raw, *ends)

    def _pairs_without(self, scores: pd.DataFrame, removed: Array) -> Array:
        """Return the pairs after rank-one downdates; a level other than that of the removed row is not changed."""
        p, (cells, level) = scores.iloc[:, 0].to_numpy(), self._placed(scores)
        found = self._raw(p, cells, level)
        for piece, inverse, beta, outside in self._by_level(
            np.where(level == self.level_[removed], level, NO_GROUP)
        ):
            phi, gone = self._indicators(cells[piece]), self._indicators(self.cells_[removed[piece]])
            known = (np.abs(phi @ outside) < TOLERANCE_OUTSIDE).all(axis=1)
            turned = gone @ inverse
            leverage, between = (turned * gone).sum(axis=1), (turned * phi).sum(axis=1)
            alone = leverage > SURE
            left = np.where(alone, 1.0, 1 - leverage)
            missed = self.residual_[removed[piece]] - gone @ beta
            h = ((phi @ inverse) * phi).sum(axis=1) + np.where(alone, 0.0, between**2 / left)
            value = p[piece] + phi @ beta - np.where(alone, 0.0, between * missed / left)
            known &= ~alone | (np.abs(between) < TOLERANCE_OUTSIDE)
            found[piece] = np.where(known[:, None], _pair(value, h), [0.0, 1.0])
        return self._clipped(found)

    def _notes(self) -> tuple[str, ...]:
        notes = []
        if self.mean_width_ >= WIDE_INTERVALS:
            notes.append(
                f"the intervals are wide (mean {self.mean_width_:.2f}), because there are many groups and "
                "levels for these calibration rows. Use fewer levels, fewer columns or more rows."
            )
        if self.share_outside_ > 0:
            notes.append(
                f"for {100 * self.share_outside_:.0f} % of the calibration rows, one end of the interval "
                "was outside [0, 1] and was clipped."
            )
        return tuple(notes)

    def formula(self, *scores: Expression) -> dict[str, Expression]:
        raise no_program(self.label)

    def to_map(self) -> dict[str, Any]:
        below = np.tril_indices(self._size)
        return {
            "breaks": json_numbers(self.breaks_),
            "features": [each.to_map() for each in self.features_],
            "levels": [
                {"counts": json_numbers(each.counts[below]), "sums": json_numbers(each.sums)}
                for each in self.levels_
            ],
        }

    @classmethod
    def from_map(cls, fields: Fields) -> VennMulticalibration:
        breaks = fields.numbers("breaks", increasing=True, probabilities=True)
        features = tuple(FeatureGroups.from_map(each) for each in fields.objects("features"))
        names = [each.name for each in features]
        if len(set(names)) < len(names):
            raise fields.refuse("features", "must have different names")
        size = 1 + sum(each.size for each in features)
        levels = fields.objects("levels")
        if len(levels) != len(breaks) + 1:
            raise fields.refuse(
                "levels", f"must contain {len(breaks) + 1} levels, but contains {len(levels)}"
            )
        read = cls()._with_learned(
            breaks=breaks, features=features, levels=tuple(_level(each, size) for each in levels)
        )
        read._solve()
        return read


def _pair(value: Array, h: Array) -> Array:
    """Return (p0, p1) of rows with value f + φᵀβ and leverage h, (m, 2)."""
    return np.column_stack([value / (1 + h), (value + h) / (1 + h)])


def _level(fields: Fields, size: int) -> _Level:
    given = fields.numbers("counts", length=size * (size + 1) // 2)
    if (given != np.floor(given)).any() or (given < 0).any():
        raise fields.refuse("counts", "must be whole numbers of at least 0")
    counts = np.zeros((size, size))
    counts[np.tril_indices(size)] = given
    counts += np.tril(counts, -1).T
    return _Level(counts, fields.numbers("sums", length=size))


def _pieces(rows: Array, size: int) -> Iterator[Array]:
    """Yield parts of rows whose indicators are held at once."""
    step = max(1, RESIDUALS_HELD // size)
    for begin in range(0, len(rows), step):
        yield rows[begin : begin + step]
