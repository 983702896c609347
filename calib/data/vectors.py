"""Unpack cells that contain several numbers into columns: lists, dictionaries, and the vectors of Spark ML."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from calib.data.limits import PER_CELL, check_columns, check_memory
from calib.data.table import note_reading, reading_of

CELLS_OF_VECTOR_CHECK = 50  # cells that show whether a column contains vectors
DENSE = re.compile(
    r"(?:DenseVector|array|tensor)?\s*\(?\s*(\[.*\]|\{.*\})\s*\)?|(\([^()]*,[^()]*\))", re.DOTALL
)
NUMPY = re.compile(r"np\.float\d+\(([^()]*)\)")  # as NumPy 2 prints a number
SPARSE_VECTOR = re.compile(
    r"(?:SparseVector)?\s*\(\s*(\d+)\s*,\s*(\[[^\]]*\]|\{[^}]*\})\s*(?:,\s*(\[[^\]]*\]))?\s*\)"
)
BLANK_SEPARATORS = re.compile(r"(?<=[\d.])\s+(?=[-+\d.])")  # between the numbers of a printed NumPy array
MOST_WIDE = 1_000  # numbers per cell


def unpack_vectors(frame: pd.DataFrame) -> pd.DataFrame:
    """Replace columns whose cells are vectors of one length, or dictionaries of the same keys, by their parts.

    The columns of ``probability`` are named ``probability_0`` …, or ``probability_no`` … by the keys.

    Parameters
    ----------
    frame
        Typed table, in which lists and dictionaries are text.

    Examples
    --------
    >>> unpack_vectors(pd.DataFrame({"p": ["[0.2, 0.8]", "[0.5, 0.5]"]}))
       p_0  p_1
    0  0.2  0.8
    1  0.5  0.5
    """
    columns, notes = dict[str, pd.Series](), []
    for name, column in frame.items():
        parts = _parts(column) if isinstance(column.dtype, (pd.StringDtype, pd.CategoricalDtype)) else None
        if parts is None:
            columns[str(name)] = column
            continue
        named = [str(name)] if len(parts) == 1 else [f"{name}_{key}" for key in parts]
        made = {
            part: pd.Series(values, frame.index) for part, values in zip(named, parts.values(), strict=True)
        }
        if len(made) > 1 and not made.keys().isdisjoint(map(str, frame)):  # a column has such a name already
            columns[str(name)] = column
            continue
        columns |= made
        numbers = "one number" if len(parts) == 1 else f"{len(parts):,} numbers, which were read as columns"
        notes.append(f"Each cell of {name!r} contains {numbers}.")
    if not notes:
        return frame
    check_columns(len(columns))
    known = reading_of(frame)
    return note_reading(
        pd.DataFrame(columns, copy=False), **{**known._asdict(), "notes": (*known.notes, *notes)}
    )


def _parts(column: pd.Series) -> dict[str, np.ndarray] | None:
    """Return key → numbers (n,) of a column of vectors or dictionaries, or None if it is something else."""
    first = column.dropna().iloc[:CELLS_OF_VECTOR_CHECK]
    if not len(first) or any(_vector(cell) is None for cell in first):
        return None
    keys = list(_vector(first.iloc[0]) or ())
    alone = len(keys) == 1 and str(first.iloc[0]).lstrip().startswith(
        "{"
    )  # a record of one field, not a vector
    if alone or not 1 <= len(keys) <= MOST_WIDE:
        return None
    check_memory(PER_CELL * len(column) * len(keys))
    levels, texts = pd.factorize(column)  # each distinct text is parsed once
    found = np.full((len(texts) + 1, len(keys)), np.nan)
    for row, text in enumerate(texts):
        vector = _vector(text)
        if vector is None or vector.keys() != set(keys):
            return None
        found[row] = [vector[key] for key in keys]
    return {key: found[levels, k] for k, key in enumerate(keys)}


def _vector(cell: Any) -> dict[str, float] | None:
    """Return key → number of one cell, keys being positions for a list; None if it is not a vector.

    >>> _vector("[0.5, 0.5]"), _vector('{"no": 0.2, "yes": 0.8}'), _vector("(3,[0,2],[0.1,0.9])")
    ({'0': 0.5, '1': 0.5}, {'no': 0.2, 'yes': 0.8}, {'0': 0.1, '1': 0.0, '2': 0.9})
    >>> _vector("[0.1 0.9]"), _vector("yes"), _vector("[1]")
    ({'0': 0.1, '1': 0.9}, None, {'0': 1.0})
    """
    text = NUMPY.sub(r"\1", str(cell).strip())
    if text[-1:] not in ("]", "}", ")"):
        return None
    if (sparse := SPARSE_VECTOR.fullmatch(text)) is not None:
        return _spread(int(sparse[1]), _value(sparse[2]), _value(sparse[3] or ""))
    dense = DENSE.fullmatch(text)
    value = None if dense is None else _value(BLANK_SEPARATORS.sub(", ", dense[1] or dense[2]))
    if (
        isinstance(value, Mapping) and "values" in value and "type" in value
    ):  # the structure of Spark's vectors
        if isinstance(value.get("size"), int):
            return _spread(value["size"], value.get("indices"), value["values"])
        value = value["values"]
    if isinstance(value, (list, tuple)):
        return _numbers(list(map(str, range(len(value)))), list(value))
    return _numbers(list(map(str, value)), list(value.values())) if isinstance(value, Mapping) else None


def _value(text: str) -> Any:
    """Return the value of a JSON or Python literal, or None."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def _spread(size: int, indices: Any, values: Any) -> dict[str, float] | None:
    """Return a sparse vector in full: (size, indices, values), or (size, {index: value})."""
    if isinstance(indices, Mapping):
        indices, values = list(indices), list(indices.values())
    fits = isinstance(indices, list) and isinstance(values, list) and len(indices) == len(values)
    if not fits or not 1 <= size <= MOST_WIDE:
        return None
    held = _numbers(list(map(str, indices)), values)
    every = list(map(str, range(size)))
    return (
        None if held is None or not held.keys() <= set(every) else {key: held.get(key, 0.0) for key in every}
    )


def _numbers(keys: Sequence[str], values: Sequence[Any]) -> dict[str, float] | None:
    if not keys or len(set(keys)) < len(keys):
        return None
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return None
    return dict(zip(keys, map(float, values), strict=True))
