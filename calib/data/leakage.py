"""Columns that give the label away: each of them alone, or the dummies of one category together.

A column is reported when it alone ranks the classes almost perfectly, AUC of at least ``NEARLY`` either way
round, and the rows are enough to say so: the lower end of its interval, at a level shared among all columns
(Bonferroni), exceeds ``AT_LEAST``. So of many columns of noise on few rows none is, and hardly ever an honest
one. Of K classes a column is reported when it does so for all pairs of them, or when it has two values that mark
one class. Levels of a category count by the share of class 1 among the *other* rows of the level, so that a name
for every row gives nothing away. Gaps count in the middle of the values and, once more, by where they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from calib.data.columns import Column, as_float, coded, held, is_number
from calib.data.ranking import auc, auc_interval

NEARLY, AT_LEAST = 0.99, 0.8  # the best honest columns of forty real sets reach 0.975
SCREENED = 2_000  # rows of each class that a column is looked at first
WORTH_MORE = 0.95  # AUC on these from which on all rows are asked
TOGETHER = 500  # columns whose ranks are worked out in one go
FEWEST = 5  # rows that a dummy must mark to count
IN_ALL_PAIRS = 12  # of many classes, whose pairs are thousands
FEW_OF_CLASS = 10  # of several classes, smaller ones say nothing


@dataclass(frozen=True, eq=False)
class Leak:
    """Columns that give the label away and the area under the curve that they reach, at least one half."""

    columns: tuple[str, ...]
    auc: float
    separates: str = "the classes"


def leaks(typed: pd.DataFrame, y: np.ndarray, columns: list[Column]) -> list[Leak]:
    """Find columns of a table that give the label away, alone or together.

    Parameters
    ----------
    typed : (n, d)
        A typed table.
    y : (n,)
        Labels, 0 and 1.
    columns
        Those that are looked at.

    Examples
    --------
    >>> table = pd.DataFrame({"x": np.arange(60) % 7, "survived": np.arange(60) / 2})
    >>> leaks(table, (np.arange(60) > 30).astype(int), [Column(name, "number", 0, 60) for name in table])[0].columns
    ('survived',)
    """
    ones, zeros = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    usable = [column for column in columns if column.usable]
    if not (len(ones) and len(zeros) and usable):
        return []
    rows = np.concatenate([_spread(ones), _spread(zeros)])
    level = 1 - 0.05 / len(usable)
    found = []
    for column in _worth_more(typed, y, usable, rows):
        area = _best(typed[column.name], y)
        if area >= NEARLY and auc_interval(area, len(ones), len(zeros), level)[0] > AT_LEAST:
            found.append(Leak((column.name,), area))
    alone = {leak.columns[0] for leak in found}
    return [*found, *_together(typed, y, [column for column in usable if column.name not in alone])]


def leaks_of_classes(typed: pd.DataFrame, labels: np.ndarray, columns: list[Column]) -> list[Leak]:
    """Find columns of a table that give K > 2 classes away.

    Parameters
    ----------
    typed : (n, d)
        A typed table.
    labels : int (n,)
        0 … K − 1.
    columns
        Those that are looked at.

    Examples
    --------
    >>> label = np.repeat([0, 1, 2], 40)
    >>> table = pd.DataFrame({"x": np.arange(120) % 7, "code": label * 10.0, "third": label == 2})
    >>> known = [Column("x", "number", 0, 7), Column("code", "number", 0, 3), Column("third", "boolean", 0, 2)]
    >>> [(leak.columns, leak.separates) for leak in leaks_of_classes(table, label, known)]
    [(('code',), 'the classes'), (('third',), 'one class from the others')]
    """
    rows = np.bincount(labels)
    by_size = [k for k in np.argsort(-rows, kind="stable") if rows[k] >= FEW_OF_CLASS]
    left, areas = {column.name: column for column in columns}, dict[str, float]()
    for one, other in _pairs(by_size):
        both = (labels == one) | (labels == other)
        y = (labels[both] == one).astype(np.intp)
        found = [leak for leak in leaks(typed.loc[both], y, list(left.values())) if len(leak.columns) == 1]
        areas = {leak.columns[0]: min(leak.auc, areas.get(leak.columns[0], 1.0)) for leak in found}
        left = {name: left[name] for name in areas}
        if not left:
            break
    marks = _marks(typed, labels, [column for column in columns if column.name not in areas])
    return [*(Leak((name,), area) for name, area in areas.items()), *marks]


def _pairs(classes: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Each class and the next one, since hardly a column separates all of these; then all pairs of the first few."""
    yield from pairwise(classes)
    for i, one in enumerate(classes[:IN_ALL_PAIRS]):
        yield from ((one, other) for other in classes[i + 2 : IN_ALL_PAIRS])


def _marks(typed: pd.DataFrame, labels: np.ndarray, columns: list[Column]) -> Iterator[Leak]:
    """Columns of two values, one of which marks the rows of one class."""
    rows = np.bincount(labels).astype(float)
    two = [column for column in columns if column.usable and column.distinct == 2 and not column.missing]
    level = 1 - 0.05 / max(1, len(two))
    for column in two:
        marked = coded(typed[column.name])[0] == 1
        inside = np.bincount(labels[marked], minlength=len(rows))
        outside = (marked.sum() - inside) / (len(labels) - rows)
        areas = (1 + np.abs(inside / np.maximum(rows, 1) - outside)) / 2
        k = int(np.argmax(areas))
        if areas[k] >= NEARLY and auc_interval(areas[k], rows[k], len(labels) - rows[k], level)[0] > AT_LEAST:
            yield Leak((column.name,), float(areas[k]), "one class from the others")


def _worth_more(
    typed: pd.DataFrame, y: np.ndarray, columns: list[Column], rows: np.ndarray
) -> Iterator[Column]:
    """The columns that tell the classes apart in these rows; those without gaps are looked at many at once."""
    whole = len(rows) == len(typed)
    rows, y = (np.arange(len(y)), y) if whole else (rows, y[rows])
    for start in range(0, len(columns), TOGETHER):
        some = columns[start : start + TOGETHER]
        known = _known(typed, y, [column for column in some if not column.missing], rows)
        for column in some:
            if (area := known.get(column.name)) is None:
                series = typed[column.name]
                area = _best(series if whole else series.iloc[rows], y)
            if area >= WORTH_MORE:
                yield column


def _known(typed: pd.DataFrame, y: np.ndarray, columns: list[Column], rows: np.ndarray) -> dict[str, float]:
    """Name → ``_best`` of these rows of columns without gaps, where they hold finite numbers, dates or texts."""
    plain = [column.name for column in columns if column.kind in ("number", "date") and not column.infinite]
    words = [column.name for column in columns if held(typed[column.name]) == "text"]
    numbers = (_numbers(typed[name].iloc[rows]) for name in plain)
    levels = (_others_of_level(coded(typed[name])[0][rows], y) for name in words)
    areas, by_level = (
        auc(np.column_stack(list(each)), y) if names else np.empty(0)
        for names, each in ((plain, numbers), (words, levels))
    )
    return dict(zip(plain, np.maximum(areas, 1 - areas), strict=True)) | dict(
        zip(words, by_level, strict=True)
    )


def _spread(rows: np.ndarray) -> np.ndarray:
    """Up to SCREENED of these rows, evenly spread."""
    return rows[:: -(-len(rows) // SCREENED)]


def _best(column: pd.Series, y: np.ndarray) -> float:
    """The area under the curve that the column alone reaches."""
    areas = [_either_way(where, y) for where in _gaps(column)]
    if is_number(column) or column.dtype.kind == "M":
        areas.append(_either_way(_filled(column), y))
    else:
        # One way only: leaving a row out puts it below the other class in a level that says nothing.
        areas.append(float(auc(_others_of_level(coded(column)[0], y)[:, None], y)[0]))
    return max(areas)


def _either_way(scores: np.ndarray, y: np.ndarray) -> float:
    area = float(auc(scores[:, None], y)[0])
    return max(area, 1 - area)


def _gaps(column: pd.Series) -> list[np.ndarray]:
    missing = column.isna().to_numpy(dtype=bool)
    return [missing.astype(float)] if missing.any() else []


def _filled(column: pd.Series) -> np.ndarray:
    """Numbers or dates (n,), gaps in the middle."""
    missing = column.isna().to_numpy(dtype=bool)
    values = _numbers(column)
    known = values[~missing & np.isfinite(values)]
    return np.where(missing, np.median(known) if len(known) else 0.0, values)


def _numbers(column: pd.Series) -> np.ndarray:
    """Numbers or dates as float64 (n,)."""
    return column.to_numpy("datetime64[us]").astype(float) if column.dtype.kind == "M" else as_float(column)


def _others_of_level(codes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """For each row (n,) the share of class 1 among the other rows of its level; gaps, of code −1, are a level."""
    codes = codes.astype(np.intp) + 1
    count, of_class_1 = np.bincount(codes), np.bincount(codes, weights=y)
    return np.where(count[codes] > 1, (of_class_1[codes] - y) / np.maximum(count[codes] - 1, 1), y.mean())


def _together(typed: pd.DataFrame, y: np.ndarray, columns: list[Column]) -> list[Leak]:
    """Columns of 0 and 1, never two of them 1 in one row, which mark the rows of one class and these alone.

    So do the dummies of a category whose own column is the label.
    """
    two = [c.name for c in columns if c.distinct == 2 and not c.missing and is_number(typed[c.name])]
    dummies = {name: as_float(typed[name]) for name in two}
    dummies = {name: values for name, values in dummies.items() if set(np.unique(values)) == {0.0, 1.0}}
    for one_class in (y == 0, y == 1):
        pure = {
            name: values
            for name, values in dummies.items()
            if FEWEST <= values.sum() < one_class.sum() and not values[~one_class].any()
        }
        marked = np.sum(list(pure.values()), axis=0) if pure else np.zeros(len(y))
        if len(pure) > 1 and marked.max() <= 1 and marked[one_class].mean() >= 2 * NEARLY - 1:
            return [Leak(tuple(pure), (1 + float(marked[one_class].mean())) / 2)]
    return []
