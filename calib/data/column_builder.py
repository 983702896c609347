"""Columns that grow piece by piece: of Python objects, which take ten times the memory, one piece is held at a time."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from calib.data.column_types import TOO_LARGE, is_gap, plain_number, texts_of, typed_objects, typed_text

OBJECTS_AT_ONCE = 500_000  # Python objects that are held at once
Row = TypeVar("Row")


def batches(
    rows: Iterable[Row], size: Callable[[Any], int] = len, most: int = OBJECTS_AT_ONCE
) -> Iterator[list[Row]]:
    """Yield rows in lists, each of which ends when the sum of their sizes, by default of their cells, is ``most``.

    >>> [len(some) for some in batches([range(300_000)] * 5)]
    [2, 2, 1]
    """
    piece, cells = list[Row](), 0
    for row in rows:
        piece.append(row)
        cells += size(row)
        if cells >= most:
            yield piece
            piece, cells = list[Row](), 0
    if piece:
        yield piece


class ColumnBuilder:
    """Column of Python values, which gets the type that ``typed_objects`` gives to all of them together.

    >>> column = ColumnBuilder()
    >>> column.add([1, None])
    >>> column.skip_to(3)
    >>> column.add([2.5])
    >>> column.typed("x").tolist()
    [1.0, nan, nan, 2.5]
    """

    def __init__(self) -> None:
        self.rows = 0
        self._pieces: list[Any] = []  # Arrow arrays, and lists of dates

    def add(self, values: Sequence[Any]) -> None:
        """Add values."""
        self.rows += len(values)
        self._pieces.append(_compact(values))

    def add_first(self, values: Sequence[Any]) -> None:
        """Add values before all others."""
        self.rows += len(values)
        self._pieces.insert(0, _compact(values))

    def skip_to(self, rows: int) -> None:
        """Add missing values up to this number of rows."""
        if rows > self.rows:
            self._pieces.append(pa.nulls(rows - self.rows))
            self.rows = rows

    def typed(self, name: str) -> pd.Series:
        """Return the typed column, and release its pieces."""
        held, self._pieces = [piece for piece in self._pieces if len(piece)], []
        kinds = {_kind(piece) for piece in held} - {"null"}
        if not kinds:
            return typed_objects([None] * self.rows, name).values
        if kinds == {"bool"}:
            return typed_truth(pa.chunked_array([piece.cast(pa.bool_()) for piece in held]))
        if kinds == {"date"}:
            return typed_objects([value for piece in held for value in _values(piece)], name).values
        if kinds <= {"int64", "double"}:
            return pd.Series(_numbers(held, kinds), copy=False)
        for i, piece in enumerate(held):
            if _kind(piece) not in ("string", "null"):
                held[i] = texts_of(_values(piece))
        return typed_text(pa.chunked_array([piece.cast(pa.string()) for piece in held]), name).values


def typed_truth(column: pa.ChunkedArray) -> pd.Series:
    """Return a column of truth values, nullable if values are missing."""
    truth = column.to_pandas(types_mapper={pa.bool_(): pd.BooleanDtype()}.get)
    return truth if column.null_count else truth.astype(bool)


def _compact(values: Sequence[Any]) -> pa.Array | list[Any]:
    """Return values as an array of one type, dates as a list; mixed values are text."""
    with suppress(
        pa.ArrowException, TypeError, ValueError, OverflowError
    ):  # several types, or an unknown one
        found = pa.array(values, from_pandas=True)
        kinds = set(map(type, values)) if str(found.type) == "double" else ()
        if str(found.type) in ("null", "bool", "string") or (_small_numbers(found) and bool not in kinds):
            return found
    cells = [None if is_gap(value) else value for value in values]
    present = [value for value in cells if value is not None]
    if not present:
        return pa.nulls(len(cells))
    if all(isinstance(value, datetime.date) for value in present):
        return cells
    if all(map(plain_number, present)):
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    return texts_of(cells)


def _small_numbers(found: pa.Array) -> bool:
    """Tell whether all are numbers that are exact as float64; a larger whole number is a name."""
    if str(found.type) not in ("int64", "double"):
        return False
    ends = pc.min_max(found)
    return (
        not found.null_count < len(found)
        or -TOO_LARGE < ends["min"].as_py() <= ends["max"].as_py() < TOO_LARGE
    )


def _kind(piece: pa.Array | list[Any]) -> str:
    return "date" if isinstance(piece, list) else str(piece.type)


def _values(piece: pa.Array | list[Any]) -> list[Any]:
    return piece if isinstance(piece, list) else piece.to_pylist()


def _numbers(held: list[Any], kinds: set[str]) -> np.ndarray:
    """Join numbers in one array, and release the pieces on the way; whole numbers stay whole if none is missing."""
    whole = kinds == {"int64"} and not any(piece.null_count for piece in held)
    joined = np.empty(sum(map(len, held)), np.int64 if whole else np.float64)
    at = len(joined)
    while held:
        piece = held.pop()
        at -= len(piece)
        if whole:
            joined[at : at + len(piece)] = piece.to_numpy()
        else:
            joined[at : at + len(piece)] = piece.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return joined
