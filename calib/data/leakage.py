"""Find columns that leak the label: single columns, or the dummies of one category together.

A column is reported if it alone ranks the classes almost perfectly (AUC of at least ``NEARLY`` in either direction)
and there are enough rows: the lower end of its confidence interval, with a Bonferroni correction over columns, exceeds
``LEAST_AUC``. So noise on few rows is not reported, and an honest column hardly ever. With K classes, a column is
reported if this holds for all pairs of classes, or if it has two values and one of them marks one class. Levels of a
category are scored by the share of class 1 among the *other* rows of the level, so that an identifier leaks nothing.
Gaps are imputed by the median, and their positions are also tested as a column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from calib.data.columns import Column, as_float, coded, coded_rows, content_type, is_number, sortable
from calib.data.ranking import auc_interval, column_aucs

NEARLY, LEAST_AUC = 0.99, 0.8  # the best honest columns of forty real data sets reach 0.975
SCREENED = 2_000  # rows per class in a first screening
WORTH_MORE = 0.95  # AUC in the screening from which a column is tested on all rows
GLANCED = 250  # rows per class in a glance before it, at columns of numbers
WORTH_A_LOOK = 0.8  # AUC in the glance from which a column is screened, ten standard errors below WORTH_MORE
RANKED_AT_ONCE = 500  # columns that are ranked together
FEWEST_MARKED = 5  # fewest rows that a dummy must mark
IN_ALL_PAIRS = 12  # largest number of classes of which all pairs are tested
FEW_OF_CLASS = 10  # rows of a class; smaller ones of several classes are ignored


@dataclass(frozen=True, eq=False)
class Leak:
    """Columns that leak the label, and the area under the ROC curve (AUC) that they reach, at least one half."""

    columns: tuple[str, ...]
    auc: float
    separates: str = "the classes"


def leaks(typed: pd.DataFrame, y: np.ndarray, columns: list[Column]) -> list[Leak]:
    """Find columns of a table that leak a label of two classes, alone or together.

    Parameters
    ----------
    typed : (n, d)
        A typed table.
    y : (n,)
        Labels, 0 and 1.
    columns
        Columns to test.

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
    level = 1 - 0.05 / len(usable)
    found = []
    for column in _promising(typed, y, usable):
        area = _area(typed[column.name], y)
        if area >= NEARLY and auc_interval(area, len(ones), len(zeros), level)[0] > LEAST_AUC:
            found.append(Leak((column.name,), area))
    alone = {leak.columns[0] for leak in found}
    return [*found, *_leaking_dummies(typed, y, [column for column in usable if column.name not in alone])]


def leaks_of_classes(typed: pd.DataFrame, labels: np.ndarray, columns: list[Column]) -> list[Leak]:
    """Find columns of a table that leak a label of K > 2 classes.

    Parameters
    ----------
    typed : (n, d)
        A typed table.
    labels : int (n,)
        Class indices, 0 … K − 1.
    columns
        Columns to test.

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
    """Yield pairs of neighbouring classes, which hardly any column separates; then all pairs of the first few."""
    yield from pairwise(classes)
    for i, one in enumerate(classes[:IN_ALL_PAIRS]):
        yield from ((one, other) for other in classes[i + 2 : IN_ALL_PAIRS])


def _marks(typed: pd.DataFrame, labels: np.ndarray, columns: list[Column]) -> Iterator[Leak]:
    """Yield columns with two values, one of which marks the rows of one class."""
    rows = np.bincount(labels).astype(float)
    two = [column for column in columns if column.usable and column.distinct == 2 and not column.missing]
    level = 1 - 0.05 / max(1, len(two))
    for column in two:
        marked = coded(typed[column.name])[0] == 1
        inside = np.bincount(labels[marked], minlength=len(rows))
        outside = (marked.sum() - inside) / (len(labels) - rows)
        areas = (1 + np.abs(inside / np.maximum(rows, 1) - outside)) / 2
        k = int(np.argmax(areas))
        if (
            areas[k] >= NEARLY
            and auc_interval(areas[k], rows[k], len(labels) - rows[k], level)[0] > LEAST_AUC
        ):
            yield Leak((column.name,), float(areas[k]), "one class from the others")


def _promising(typed: pd.DataFrame, y: np.ndarray, columns: list[Column]) -> Iterator[Column]:
    """Yield columns that separate the classes in some rows; columns without gaps are ranked together."""
    glanced, rows = _evenly_spaced(y, GLANCED), _evenly_spaced(y, SCREENED)
    for start in range(0, len(columns), RANKED_AT_ONCE):
        piece = {column.name: column for column in columns[start : start + RANKED_AT_ONCE]}
        series = {name: typed[name] for name in piece}
        whole = {
            name: series[name] for name, column in piece.items() if not (column.missing or column.infinite)
        }
        plain = {name: column for name, column in whole.items() if piece[name].kind in ("number", "date")}
        words = {name: column for name, column in whole.items() if content_type(column) == "text"}
        areas = _areas(plain, y, glanced)
        areas |= _areas({name: plain[name] for name, area in areas.items() if area >= WORTH_A_LOOK}, y, rows)
        areas |= _areas_by_level(words, y, rows)
        for name, column in piece.items():
            if (areas[name] if name in areas else _area(series[name].iloc[rows], y[rows])) >= WORTH_MORE:
                yield column


def _areas(columns: dict[str, pd.Series], y: np.ndarray, rows: np.ndarray) -> dict[str, float]:
    """Return name → AUC in these rows, in either direction, for columns of finite numbers or dates."""
    if not columns:
        return {}
    areas = column_aucs(np.column_stack([_numbers(column, rows) for column in columns.values()]), y[rows])
    return dict(zip(columns, np.maximum(areas, 1 - areas), strict=True))


def _areas_by_level(columns: dict[str, pd.Series], y: np.ndarray, rows: np.ndarray) -> dict[str, float]:
    """Return name → AUC in these rows, for columns of texts without gaps."""
    if not columns:
        return {}
    y = y[rows]
    scores = [_others_of_level(coded_rows(column, rows), y) for column in columns.values()]
    return dict(zip(columns, column_aucs(np.column_stack(scores), y), strict=True))


def _evenly_spaced(y: np.ndarray, most: int) -> np.ndarray:
    """Return positions of up to ``most`` rows of each class, evenly spaced."""
    classes = [np.flatnonzero(y == label) for label in (1, 0)]
    return np.concatenate([rows[:: -(-len(rows) // most)] for rows in classes])


def _area(column: pd.Series, y: np.ndarray) -> float:
    """Return the AUC that the column alone reaches."""
    missing = column.isna().to_numpy(dtype=bool)
    areas = [_either_way(missing.astype(float), y)] if missing.any() else []
    if is_number(column) or column.dtype.kind == "M":
        areas.append(_either_way(_filled(column), y))
    else:
        # Not in reverse: leaving a row out ranks it below the other class in a level without information.
        areas.append(float(column_aucs(_others_of_level(coded(column)[0], y)[:, None], y)[0]))
    return max(areas)


def _either_way(scores: np.ndarray, y: np.ndarray) -> float:
    area = float(column_aucs(scores[:, None], y)[0])
    return max(area, 1 - area)


def _filled(column: pd.Series) -> np.ndarray:
    """Return numbers or dates (n,), with gaps replaced by the median."""
    missing = column.isna().to_numpy(dtype=bool)
    values = _numbers(column, slice(None))
    known = values[~missing & np.isfinite(values)]
    return np.where(missing, np.median(known) if len(known) else 0.0, values)


def _numbers(column: pd.Series, rows: np.ndarray | slice) -> np.ndarray:
    """Convert the chosen rows of a column of numbers or dates to float64 (k,)."""
    if column.dtype.kind == "M":
        return column.to_numpy()[rows].astype("datetime64[us]").astype(float)
    return column.to_numpy()[rows].astype(float) if sortable(column.dtype) else as_float(column.iloc[rows])


def _others_of_level(codes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return for each row (n,) the share of class 1 among the other rows of its level; gaps (code −1) are a level."""
    codes = codes.astype(np.intp) + 1
    count, of_class_1 = np.bincount(codes), np.bincount(codes, weights=y)
    return np.where(count[codes] > 1, (of_class_1[codes] - y) / np.maximum(count[codes] - 1, 1), y.mean())


def _leaking_dummies(typed: pd.DataFrame, y: np.ndarray, columns: list[Column]) -> list[Leak]:
    """Find columns of 0 and 1, never two of them 1 in the same row, that together mark exactly the rows of one class.

    The dummies of a category that encodes the label are an example.
    """
    two = [c.name for c in columns if c.distinct == 2 and not c.missing and is_number(typed[c.name])]
    dummies = {name: as_float(typed[name]) for name in two}
    dummies = {name: values for name, values in dummies.items() if set(np.unique(values)) == {0.0, 1.0}}
    for one_class in (y == 0, y == 1):
        pure = {
            name: values
            for name, values in dummies.items()
            if FEWEST_MARKED <= values.sum() < one_class.sum() and not values[~one_class].any()
        }
        marked = np.sum(list(pure.values()), axis=0) if pure else np.zeros(len(y))
        if len(pure) > 1 and marked.max() <= 1 and marked[one_class].mean() >= 2 * NEARLY - 1:
            return [Leak(tuple(pure), (1 + float(marked[one_class].mean())) / 2)]
    return []
