"""Multicalibration: probabilities that are calibrated in every segment of the features, by boosting on segments.

Hébert-Johnson, Kim, Reingold & Rothblum (2018) correct, one by one, segments in which predictions of one level are
wrong on average. MCGrad (Tax et al. 2025) does so by gradient boosting of log-odds with early stopping. Here the model
is first recalibrated on average (logistic recalibration). Each round then changes the log-odds of one segment, at one
level of the prediction or at all levels: the segment whose error is the most standard errors. The step is Newton's,
shrunk as in James & Stein. A third of the calibration rows are held out. Rounds end if the loss of these rows no
longer decreases. The fewest rounds whose loss is within one standard error of the lowest are kept (Breiman et al.
1984), or none unless the loss has clearly decreased, so that a model whose errors are chance is not changed. Rows are
held out one by one, even within clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from calib.calibrators.base import EXTRAPOLATED, ScoreCalibrator
from calib.calibrators.feature_groups import (
    NO_GROUP,
    FeatureGroups,
    indices,
    learnt_groups,
    levels_of,
    no_program,
)
from calib.calibrators.log_odds import log_odds
from calib.calibrators.logistic import Logistic
from calib.kernel.checks import Array
from calib.kernel.fields import Fields, json_numbers
from calib.kernel.formula import Expression
from calib.kernel.records import Parameter
from calib.kernel.weights import are_whole, or_ones, squares

ONE_IN_HELD_OUT = 3  # one row in three is held out
LEAST_INFORMATION = 5.0  # least information in a segment; a row of probability ½ has ¼
DOUBT = 2.0  # standard errors; a segment with a smaller error is not corrected
MOST_ROUNDS, ROUNDS_WITHOUT_GAIN = 200, 20  # most rounds; most rounds without a lower loss
CLEARLY = 1.645  # standard errors by which the loss must decrease: 5 %, one-sided
NEAR_LOWEST = 1.0  # within this many standard errors, the loss with fewer rounds is preferred
PAIRED = 20  # columns used in conjunctions
ONE_GROUP = 0  # column of the search that is one group of all rows
PLACES_AT_ONCE = 1 << 20  # places of rows held at once
BITS_OF_SUM = 52  # bits of a sum
EVERY_LEVEL = -1  # level that means all levels of the prediction
ROUNDING_OF_SUMS = 1e-9
SEED = 0


@dataclass(frozen=True)
class Correction:
    """Correction of the log-odds of the rows of a segment.

    Attributes
    ----------
    segment
        Pairs (column, group), by number.
    level
        Bin of the current prediction, or ``EVERY_LEVEL``.
    offset
        Number that is added to the log-odds.
    """

    segment: tuple[tuple[int, int], ...]
    level: int
    offset: float

    def apply(self, x: Array, groups: Array, breaks: Array) -> Array:
        """Return the corrected log-odds of rows with log-odds x (m,) and groups (m, d)."""
        mine = np.ones(len(x), dtype=bool)
        for column, group in self.segment:
            mine &= groups[:, column] == group
        if self.level != EVERY_LEVEL:
            mine &= np.searchsorted(breaks, x, side="right") == self.level
        return np.where(mine, x + self.offset, x)


class Multicalibration(ScoreCalibrator):
    """Multicalibration by corrections of segments; takes a table of the probability and the features.

    ``logit p = a + b ℓ + Σ`` of corrections. ``start_`` is the logistic recalibration, ``features_`` are the groups of
    each column, ``breaks_`` (bins − 1,) are the log-odds between levels, and ``corrections_`` are in the order in
    which they apply.

    Parameters
    ----------
    depth
        Columns per segment, 1 or 2; conjunctions use the 20 most promising columns.
    bins
        Number of levels of the prediction, from 1 to 10.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 2, 2000)                                         # the model says 50 % of both
    >>> table = pd.DataFrame({"p": 0.5, "group": group})
    >>> fitted = Multicalibration().fit(table, rng.random(2000) < 0.3 + 0.4 * group)
    >>> fitted.predict(pd.DataFrame({"p": 0.5, "group": [0, 1]})).round(1)
    array([0.3, 0.7])
    """

    key = "multicalibration"
    label = "Multicalibration"
    name = "multicalibration"
    source = "Hébert-Johnson et al. 2018; Tax et al. 2025"
    input = "features"
    monotone = False
    beyond = EXTRAPOLATED
    weighted = True
    complexity = 9
    kind = "segments"
    parameters = (
        Parameter(
            "depth",
            "Columns per segment",
            "integer",
            2,
            1,
            2,
            help="If the number is 2, combinations of two columns also form segments.",
        ),
        Parameter(
            "bins",
            "Levels of the prediction",
            "integer",
            5,
            1,
            10,
            help="Each correction applies to one level of the prediction or to all levels. With one level, "
            "each correction applies to all predictions.",
        ),
    )

    def __init__(self, depth: int = 2, bins: int = 5):
        self.depth = depth
        self.bins = bins

    def corrections_in_words(self) -> tuple[str, ...]:
        """List the corrected segments, the largest total change of log-odds first."""
        moves: dict[str, float] = {}
        for each in self.corrections_:
            parts = [self.features_[column].words(group) for column, group in each.segment]
            words = " and ".join(parts) or "all rows"
            moves[words] = moves.get(words, 0.0) + abs(each.offset)
        return tuple(sorted(moves, key=lambda words: -moves[words]))

    def _learn(self, scores: pd.DataFrame, y: Array, weights: Array | None) -> None:
        p = scores.iloc[:, 0].to_numpy()
        weights = or_ones(weights, len(y))
        self.start_ = Logistic().fit(p, y, sample_weight=weights)
        self.features_ = learnt_groups(scores, weights)
        groups = indices(self.features_, scores.iloc[:, 1:])
        order = np.lexsort((y, *groups.T, p))  # results do not depend on the order of the rows
        x, y, groups, weights = (
            log_odds(self.start_.predict(p))[order],
            y[order],
            groups[order],
            weights[order],
        )
        self.breaks_ = levels_of(x, self.bins, weights)
        self.corrections_: tuple[Correction, ...] = ()
        if y.min() < y.max():
            fitting, held = (_Rows(x, y, groups, each).with_weight() for each in _split_weights(weights))
            self.corrections_ = self._boosted(fitting, held)

    def _boosted(self, fitting: _Rows, held: _Rows) -> tuple[Correction, ...]:
        """Learn corrections on some rows, and keep as many as the held-out rows confirm."""
        if not len(fitting.y) or not len(held.y):
            return ()
        search = _Search(fitting, self.features_, self.breaks_, self.depth)
        losses = [held.losses()]
        made: list[Correction] = []
        lowest = 0
        while len(made) < min(MOST_ROUNDS, lowest + ROUNDS_WITHOUT_GAIN):
            correction = search.best()
            if correction is None:
                break
            made.append(correction)
            search.move(search.rows.corrected(correction, self.breaks_))
            held = held.corrected(correction, self.breaks_)
            losses.append(held.losses())
            if held.weights @ losses[-1] < held.weights @ losses[lowest]:
                lowest = len(made)
        kept = next(
            i
            for i, each in enumerate(losses)
            if not _loss_decreases(each, losses[lowest], held.weights, NEAR_LOWEST)
        )
        return tuple(made[:kept]) if _loss_decreases(losses[0], losses[kept], held.weights, CLEARLY) else ()

    def _notes(self) -> tuple[str, ...]:
        if not self.corrections_:
            return (
                *self.start_.notes_,
                "no segment is corrected, because no correction clearly lowered the log loss of the held-out "
                "calibration rows.",
            )
        words = self.corrections_in_words()
        more = f" and {len(words) - 3} more" if len(words) > 3 else ""
        return (*self.start_.notes_, f"corrected: {'; '.join(words[:3])}{more}.")

    def _map(self, scores: pd.DataFrame) -> Array:
        p = self.start_.predict(scores.iloc[:, 0].to_numpy())
        groups = indices(self.features_, scores.iloc[:, 1:])
        if not self.corrections_:
            return p
        x = log_odds(p)
        for each in self.corrections_:
            x = each.apply(x, groups, self.breaks_)
        return expit(x)

    def formula(self, *scores: Expression) -> dict[str, Expression]:
        raise no_program(self.label)

    def to_map(self) -> dict[str, Any]:
        corrections = [
            {
                "columns": [self.features_[column].name for column, _ in each.segment],
                "groups": [group for _, group in each.segment],
                "level": each.level,
                "offset": each.offset,
            }
            for each in self.corrections_
        ]
        return {
            "start": self.start_.to_map(),
            "levels": json_numbers(self.breaks_),
            "features": [each.to_map() for each in self.features_],
            "corrections": corrections,
        }

    @classmethod
    def from_map(cls, fields: Fields) -> Multicalibration:
        start = Logistic.from_map(fields.object("start"))
        breaks = fields.numbers("levels", increasing=True)
        features = tuple(FeatureGroups.from_map(each) for each in fields.objects("features"))
        names = [each.name for each in features]
        if len(set(names)) < len(names):
            raise fields.refuse("features", "must have different names")
        given = fields.objects("corrections", empty=True)
        corrections = tuple(_correction(each, features, len(breaks) + 1) for each in given)
        return cls()._with_learned(start=start, breaks=breaks, features=features, corrections=corrections)


def _correction(fields: Fields, features: tuple[FeatureGroups, ...], levels: int) -> Correction:
    names = [each.name for each in features]
    corrected = fields.texts("columns")
    if not set(corrected) <= set(names):
        raise fields.refuse("columns", "must name features of this file")
    columns = [names.index(name) for name in corrected]
    groups = fields.numbers("groups", length=len(columns))
    if not all(group in range(features[column].size) for column, group in zip(columns, groups, strict=True)):
        raise fields.refuse("groups", "must be group numbers, one per column, each within its column's range")
    level = fields.number("level", EVERY_LEVEL, levels - 1)
    if level % 1:
        raise fields.refuse("level", "must be a whole number")
    segment = tuple((column, int(group)) for column, group in zip(columns, groups, strict=True))
    return Correction(segment, int(level), fields.number("offset"))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows with log-odds x (n,), labels y (n,), groups (n, d) and weights (n,)."""

    x: Array
    y: Array
    groups: Array
    weights: Array

    def with_weight(self) -> _Rows:
        """Return the rows of positive weight."""
        kept = self.weights > 0
        return _Rows(self.x[kept], self.y[kept], self.groups[kept], self.weights[kept])

    def corrected(self, correction: Correction, breaks: Array) -> _Rows:
        return _Rows(correction.apply(self.x, self.groups, breaks), self.y, self.groups, self.weights)

    def losses(self) -> Array:
        """Return the log loss of each row."""
        return np.logaddexp(0, np.where(self.y == 1, -self.x, self.x))


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells of s pairs of columns, numbered pair by pair, with the sums of their rows.

    ``columns`` (s, 2), the first cell of each pair ``starts`` (s,), the groups of each cell ``groups`` (cells, 2),
    whether one of them holds the rows without a group ``none`` (cells,), and ``sums`` of the terms of
    ``_Search._terms`` (3, levels, cells).
    """

    columns: Array
    starts: Array
    groups: Array
    none: Array
    sums: Array

    @classmethod
    def of(cls, columns: Array, sizes: Array, without: Array, levels: int) -> _Cells:
        """Number the cells of pairs of columns (s, 2) with so many groups, of which one is ``without`` a group."""
        first, other = sizes[columns].T
        ends = np.cumsum(first * other)
        starts, pair = ends - first * other, np.repeat(np.arange(len(ends)), first * other)
        groups = np.column_stack(np.divmod(np.arange(len(pair)) - starts[pair], other[pair]))
        none = (groups == without[columns][pair]).any(axis=1)
        return cls(columns, starts, groups, none, np.zeros((3, levels, len(pair))))

    def tops(self, promise: Array) -> Array:
        """Return the largest promise (levels + 1, cells) of each pair, (s,)."""
        return np.maximum.reduceat(promise, self.starts, axis=1).max(axis=0)

    def segment(self, cell: int) -> tuple[tuple[int, int], ...]:
        """Return the (column, group) pairs of a cell."""
        columns = self.columns[np.searchsorted(self.starts, cell, side="right") - 1].tolist()
        pairs = zip(columns, self.groups[cell].tolist(), strict=True)
        return tuple((column - 1, group) for column, group in pairs if column != ONE_GROUP)


class _Search:
    """Search for the segment and level with the clearest error, for rows whose log-odds change from round to round.

    A segment is a cell of two columns, of which the column ``ALL`` has all rows in one group. Sums are exact, so rows
    that change are subtracted as they were and added as they are.
    """

    def __init__(self, rows: _Rows, features: Sequence[FeatureGroups], breaks: Array, depth: int) -> None:
        self.breaks, self.levels = breaks, len(breaks) + 1
        without = np.array([each.size for each in features], dtype=np.intp)
        groups = np.where(rows.groups == NO_GROUP, without, rows.groups)
        self.groups = np.vstack([np.zeros(len(groups), dtype=np.intp), groups.T])
        self.without = np.append(1, without)
        self.sizes = self.without + (self.groups == self.without[:, None]).any(axis=1)
        self.rows, self.squared = rows, squares(rows.weights)
        totals = np.array([rows.weights.sum(), rows.weights.sum(), self.squared.sum()])
        self.units = 2.0 ** (np.ceil(np.log2(totals)) - BITS_OF_SUM)
        varies = (rows.groups != rows.groups[:1]).any(axis=0)
        columns = [int(column) + 1 for column in np.flatnonzero(varies & (without > 0))]
        self.parts = self._parts([(ONE_GROUP, ONE_GROUP), *((ONE_GROUP, column) for column in columns)])
        if depth > 1:
            tops = np.concatenate([cells.tops(promise) for cells, promise in self._promises()])[1:]
            paired = sorted(columns[i] for i in np.argsort(-tops, kind="stable")[:PAIRED])
            self.parts += self._parts(list(combinations(paired, 2)))

    def _parts(self, columns: list[tuple[int, int]]) -> list[_Cells]:
        """Return the cells of pairs of columns, with so many pairs at once that memory suffices."""
        n = self.groups.shape[1]
        step, all_rows = max(1, PLACES_AT_ONCE // n), np.arange(n)
        parts = []
        for begin in range(0, len(columns), step):
            pairs = np.array(columns[begin : begin + step])
            parts.append(_Cells.of(pairs, self.sizes, self.without, self.levels))
            self._add(parts[-1], all_rows, *self._terms(self.rows, all_rows))
        return parts

    def _add(self, cells: _Cells, selected: Array, level: Array, terms: Array) -> None:
        """Add the terms (3, m) of the selected rows (m,), at their levels, to the sums."""
        first, other = cells.columns.T
        place = self.groups[first[:, None], selected]
        place *= self.sizes[other, None]
        place += self.groups[other[:, None], selected]
        place += cells.starts[:, None]
        place += level * len(cells.none)
        for sums, term in zip(cells.sums, terms, strict=True):
            sums += np.bincount(place.ravel(), np.tile(term, len(place)), sums.size).reshape(sums.shape)

    def _terms(self, rows: _Rows, selected: Array) -> tuple[Array, Array]:
        """Return the level of some of the rows (m,), and their residual, information and variance (3, m), rounded so
        that sums are exact.
        """
        x, weights, squared = rows.x[selected], rows.weights[selected], self.squared[selected]
        p = expit(x)
        terms = np.stack([weights * (rows.y[selected] - p), weights * p * (1 - p), squared * p * (1 - p)])
        unit = self.units[:, None]
        return np.searchsorted(self.breaks, x, side="right"), np.rint(terms / unit) * unit

    def move(self, rows: _Rows) -> None:
        """Take the new log-odds of rows."""
        changed = np.flatnonzero(rows.x != self.rows.x)
        (before, old), (after, new) = self._terms(self.rows, changed), self._terms(rows, changed)
        moved = before != after  # these rows leave the cells of another level
        selected, level = np.append(changed, changed[moved]), np.append(after, before[moved])
        terms = np.append(np.where(moved, new, new - old), -old[:, moved], axis=1)
        for cells in self.parts:
            self._add(cells, selected, level, terms)
        self.rows = rows

    def _promises(self) -> Iterator[tuple[_Cells, Array]]:
        """Yield cells with their squared standard errors by level, (levels + 1, cells).

        The last level means all levels.
        """
        for cells in self.parts:
            promise = _promise(*_with_all_levels(cells.sums))
            promise[:, cells.none] = 0.0
            yield cells, promise

    def best(self) -> Correction | None:
        """Return the most promising correction; the first of those that are equal up to rounding."""
        top, found = 0.0, None
        for cells, promise in self._promises():
            for begin, each in zip(cells.starts.tolist(), cells.tops(promise).tolist(), strict=True):
                if each > top * (1 + ROUNDING_OF_SUMS):
                    top, found = each, (cells, promise, begin)
        if not found:
            return None
        cells, promise, begin = found
        by_cell = promise[:, begin:].T
        cell, level = np.argwhere(by_cell >= top * (1 - ROUNDING_OF_SUMS))[0].tolist()
        return self._correction(cells, begin + cell, level)

    def _correction(self, cells: _Cells, cell: int, level: int) -> Correction:
        """Return the Newton step of a cell at a level; of many segments the worst looks worse than it is, so shrink
        (James & Stein 1961).
        """
        g, h, variance = _with_all_levels(cells.sums[:, :, cell])[:, level]
        shrunk = 1 - DOUBT**2 * variance / g**2
        return Correction(
            cells.segment(cell), EVERY_LEVEL if level == self.levels else level, float(shrunk * g / h)
        )


def _with_all_levels(sums: Array) -> Array:
    """Add the sum over all levels to sums by level (3, levels, …), as a last one."""
    return np.concatenate([sums, sums.sum(axis=1, keepdims=True)], axis=1)


def _promise(g: Array, h: Array, variance: Array) -> Array:
    """Return the squared standard errors of sums by level and cell; 0 where none is clear or the rows are too few."""
    enough = (h * h >= LEAST_INFORMATION * variance) & (variance > 0)
    promise = np.divide(g * g, variance, out=np.zeros(g.shape), where=enough)
    promise[promise <= DOUBT**2] = 0.0
    return promise


def _loss_decreases(before: Array, after: Array, weights: Array, errors: float) -> bool:
    """Tell whether the mean loss of weighted rows decreases by more than ``errors`` standard errors."""
    gain = before - after
    mean = float(np.average(gain, weights=weights))
    return bool(mean > errors * np.sqrt(squares(weights) @ (gain - mean) ** 2) / weights.sum())


def _split_weights(weights: Array) -> tuple[Array, Array]:
    """Split weights (n,) into those of the rows that learn and of those held out; counts are split row by row."""
    rng = np.random.default_rng(SEED)
    if are_whole(weights):
        times = weights.astype(np.intp)
        drawn = rng.integers(0, ONE_IN_HELD_OUT, int(times.sum()), dtype=np.uint8) == 0
        held = np.add.reduceat(drawn, np.cumsum(times) - times, dtype=np.float64)
    else:
        held = np.where(rng.integers(0, ONE_IN_HELD_OUT, len(weights)) == 0, weights, 0.0)
    return weights - held, held
