"""Segments to audit: every value or quantile range of every column, and their conjunctions.

A segment is selected by its rows and by its *expected* events and non-events, never by observed ones: the
test redraws labels, and a selection that looked at labels would not be part of the redraws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from calib.analysis.subgroups import MISSING_GROUP, MOST_GROUPS, REST, Grouping, group_rows
from calib.kernel.binning import group_sums
from calib.kernel.checks import Array, InputError
from calib.kernel.wording import without_direction_marks

OUT = -1  # index of a row that belongs to no segment
Conditions = tuple[tuple[str, str], ...]  # (column, group) of a conjunction, in the order of the columns


@dataclass(frozen=True, eq=False)
class DisjointSegments:
    """Disjoint segments: conjunctions of groups of the same columns.

    Attributes
    ----------
    conditions
        One per segment.
    index : int (n,)
        Segment of each row, or ``OUT``.
    """

    conditions: tuple[Conditions, ...]
    index: Array


@dataclass(frozen=True, eq=False)
class Least:
    """Size that a segment needs, and the contribution of each row.

    Attributes
    ----------
    rows, events
        Least number of rows, and of expected events Σp and non-events Σ(1 − p). Σp(1 − p) is at least half as large, or
        0: if labels are nearly certain, a single surprise in a redraw would raise the threshold of all segments.
    draws, p : (n,)
        Rows that each row represents, and their probability.
    """

    rows: float
    events: float
    draws: Array
    p: Array

    def enough(self, index: Array, groups: int) -> Array:
        """Return bool (groups,), the groups that are large enough; index (n,) is each row's group, or ``OUT``."""
        held = index != OUT
        at, draws, p = index[held], self.draws[held], self.p[held]
        rows = group_sums(at, groups, weights=draws)
        events, variance = (group_sums(at, groups, weights=draws * each) for each in (p, p * (1 - p)))
        likely = np.minimum(events, rows - events)
        return (
            (rows >= self.rows) & (likely >= self.events) & ((variance >= self.events / 2) | (variance == 0))
        )


def groupings_of(frame: pd.DataFrame, min_rows: int) -> dict[str, Grouping]:
    """Group the values of every column of a table; missing values are a group.

    A column with more than ``MOST_GROUPS`` distinct numbers or dates gives quantile ranges. Any other column gives a
    group for each value that can have ``min_rows`` rows, and one for all other values.

    >>> groupings_of(pd.DataFrame({"job": ["a", "b", "b", None]}), 1)["job"].names
    ('b', 'a', '(missing)')
    """
    names = [str(name) for name in frame.columns]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"frame: {names.count(twice[0])} columns are called {twice[0]!r}. Rename them.")
    return {name: _grouped(frame.iloc[:, i], min_rows) for i, name in enumerate(names)}


def _grouped(values: pd.Series, min_rows: int) -> Grouping:
    ordered = values.dtype.kind in "iufM" and values.nunique() > MOST_GROUPS
    return group_rows(values, most=MOST_GROUPS if ordered else max(MOST_GROUPS, len(values) // min_rows + 1))


def partitions(groupings: Mapping[str, Grouping], depth: int, least: Least) -> Iterator[DisjointSegments]:
    """Yield all segments of conjunctions of up to ``depth`` columns, single columns first.

    If several segments have the same rows, only the first is kept. No segment has all rows.
    """
    columns = {name: _single(grouping, least) for name, grouping in groupings.items()}
    useful = [name for name, (_, names) in columns.items() if names]
    sign = np.random.default_rng(0).random(len(least.p))  # random signs: equal sums mean equal sets of rows
    seen = {float(np.bincount(np.zeros(len(sign), dtype=np.intp), weights=sign)[0])}
    for size in range(1, depth + 1):
        for chosen in combinations(useful, size):
            found = _conjunctions(chosen, columns, least)
            index, conditions = _unseen(*found, sign, seen)
            if conditions:
                yield DisjointSegments(conditions, index)


def _single(grouping: Grouping, least: Least) -> tuple[Array, list[str]]:
    """Return (group of each row or ``OUT``, names) of the groups that are large enough.

    "All others" is left out if every single value is too rare, as in a column of row names.
    """
    kept = least.enough(grouping.index, len(grouping.names))
    names = list(grouping.names)
    if not any(k for name, k in zip(names, kept, strict=True) if name not in (REST, MISSING_GROUP)):
        kept &= np.array([name != REST for name in names])
    return _renumbered(grouping.index, kept), [name for name, k in zip(names, kept, strict=True) if k]


def _renumbered(index: Array, kept: Array) -> Array:
    """Number the kept groups from 0; rows of other groups become ``OUT``."""
    return np.append(np.where(kept, np.cumsum(kept) - 1, OUT), OUT)[index]  # the last serves ``OUT``, −1


def _conjunctions(
    chosen: tuple[str, ...], columns: Mapping[str, tuple[Array, list[str]]], least: Least
) -> tuple[Array, list[Conditions]]:
    """Return (segment of each row, conditions), column by column.

    Cells that are too small are dropped after each column, so that memory does not grow with all combinations.
    """
    index, names = columns[chosen[0]]
    conditions: list[Conditions] = [((chosen[0], name),) for name in names]
    for column in chosen[1:]:
        other, names = columns[column]
        joint = np.where((index == OUT) | (other == OUT), OUT, index * len(names) + other)
        kept = least.enough(joint, len(conditions) * len(names))
        index = _renumbered(joint, kept)
        conditions = [
            (*conditions[cell // len(names)], (column, names[cell % len(names)]))
            for cell in np.flatnonzero(kept)
        ]
    return index, conditions


def _unseen(
    index: Array, conditions: list[Conditions], sign: Array, seen: set[float]
) -> tuple[Array, tuple[Conditions, ...]]:
    """Leave out segments with the same rows as an earlier segment, and remember the others."""
    held = index != OUT
    sums = group_sums(index[held], len(conditions), weights=sign[held])
    new = np.array([float(each) not in seen for each in sums], dtype=bool)
    seen.update(map(float, sums))
    return _renumbered(index, new), tuple(c for c, k in zip(conditions, new, strict=True) if k)


def describe_segment(conditions: Conditions) -> str:
    """Describe a segment in words.

    >>> describe_segment((("age", "60 to 75"), ("employment", "self-employed")))
    'age = 60 to 75 and employment = self-employed'
    """
    return without_direction_marks(" and ".join(f"{column} = {group}" for column, group in conditions))
