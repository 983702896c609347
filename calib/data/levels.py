"""Categories become columns of 0 and 1: one a level, rare levels and those beyond a cap together in one.

The rules are those of scikit-learn's OneHotEncoder with ``min_frequency``, ``max_categories`` and
``handle_unknown="infrequent_if_exist"``, which the tests hold this against. It checks and copies a table
column by column, and takes 4 s for 5 000 columns of 200 rows; here only the levels are gone through, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

GAP = "(missing)"
OTHERS = "other levels"


@dataclass(frozen=True)
class Levels:
    """What the training rows taught of one category.

    Attributes
    ----------
    names
        Of its columns; that of the rare levels is the last. Of two columns the first is left out.
    place
        Level → its column; −1 for none.
    unknown
        The column of a level that the training rows lack.
    """

    names: tuple[str, ...]
    place: Mapping[str, int]
    unknown: int

    def columns(self, column: pd.Series) -> np.ndarray:
        """The column (n,) in which each row has its 1; −1 for none."""
        names, codes = _coded(column)
        return np.array([self.place.get(name, self.unknown) for name in names])[codes]


def learn_levels(column: pd.Series, most: int, fewest: int) -> Levels:
    """The levels of a category: at most so many columns, of at least so many rows each.

    >>> learn_levels(pd.Series([*"aabbc"]), most=20, fewest=2)
    Levels(names=('a', 'b', 'other levels'), place={'a': 0, 'b': 1, 'c': 2}, unknown=2)
    """
    names, codes = _coded(column)
    rows = dict.fromkeys(sorted(names), 0)
    for name, count in zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True):
        rows[name] += count
    rows = {name: count for name, count in rows.items() if count}
    rare = _rare(rows, most, fewest)
    own = [name for name in rows if name not in rare]
    first = int(len(own) + bool(rare) == 2)  # of two columns one tells all
    place = {name: i - first for i, name in enumerate(own)} | dict.fromkeys(rare, len(own) - first)
    return Levels((*own, OTHERS)[first : len(own) + bool(rare)], place, len(own) - first if rare else -1)


def one_hot(columns: Iterable[pd.Series], learned: Sequence[Levels], rows: int) -> np.ndarray:
    """The matrix (n, k) of several categories of so many rows, side by side."""
    out = np.zeros((rows, sum(len(levels.names) for levels in learned)), order="F")  # written by columns
    start = 0
    for column, levels in zip(columns, learned, strict=True):
        places = levels.columns(column)
        there = np.flatnonzero(places >= 0)
        out[there, start + places[there]] = 1.0
        start += len(levels.names)
    return out


def _rare(rows: Mapping[str, int], most: int, fewest: int) -> set[str]:
    """The levels of too few rows, and as many of the next smallest as are above the cap."""
    rare = {name for name, count in rows.items() if count < fewest}
    if len(rows) - len(rare) + 1 > most:
        by_rows = sorted(rows, key=rows.__getitem__)
        rare |= set(by_rows[: len(rows) - (most - 1)])
    return rare


def _coded(column: pd.Series) -> tuple[list[str], np.ndarray]:
    """(names of levels, the first that of a gap; which of them each row has (n,))."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype("str").astype("category")
    held = column.array
    return [GAP, *held.categories.astype("str")], held.codes.astype(np.intp) + 1
