"""Find rows that repeat an earlier row, by comparing hashes, which is fast if few rows are repeated.

``DataFrame.duplicated`` first factorises every column, which takes seconds for millions of distinct values and doubles
the memory.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from calib.data.column_types import typed_frame
from calib.data.columns import coded, sortable
from calib.kernel.records import Dataset

HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, with evenly distributed bits (Knuth 1998, 6.4)
HALF = np.uint64(32)
ROWS_AT_ONCE = 1 << 15  # whose hashes fit into the processor's cache
FLATTER = "If copies of a row are in both the training and the test set, the model looks better than it is."


def repeats(frame: pd.DataFrame) -> np.ndarray:
    """Find the rows of a typed table that equal an earlier one, bool (n,); gaps equal each other.

    Examples
    --------
    >>> repeats(pd.DataFrame({"x": [1, 2, 1, 1], "y": ["a", None, "a", "b"]}))
    array([False, False,  True, False])
    """
    again = np.zeros(len(frame), dtype=bool)
    marks = np.zeros(len(frame), dtype=np.uint64)
    for _, column in frame.items():
        values = _values(column)
        for start in range(0, len(frame), ROWS_AT_ONCE):
            part = marks[start : start + ROWS_AT_ONCE]
            part ^= _bits(values[start : start + ROWS_AT_ONCE])
            part *= HASH_FACTOR
            part ^= part >> HALF
    order = np.argsort(marks)
    same = marks[order[1:]] == marks[order[:-1]]
    rows, before = order[1:][same], order[:-1][same]
    del order, same
    if not rows.size:
        return again
    for _, column in frame.items():
        values = _values(column)
        if (_bits(values[rows]) != _bits(values[before])).any():  # a hash collision
            return frame.duplicated().to_numpy()
    again[rows] = again[before] = True
    alike = np.flatnonzero(again)
    again[alike] = pd.Series(marks[alike]).duplicated()
    return again


def repeats_note(data: Dataset) -> tuple[str, ...]:
    """Return a sentence on how many rows of a Dataset with features repeat an earlier one in all known columns."""
    if data.predictions:
        return ()
    others = [each.iloc[data.row_numbers - 1] for each in data.beside.values()]
    columns = [*(each for _, each in data.X.items()), pd.Series(data.y), *others]
    table = {str(i): each.reset_index(drop=True) for i, each in enumerate(columns)}
    again = int(repeats(typed_frame(pd.DataFrame(table, copy=False))).sum())
    return (
        (f"{again:,} of the {data.n:,} rows used are copies of an earlier row. {FLATTER}",) if again else ()
    )


def _values(column: pd.Series) -> np.ndarray:
    """Return a column's numbers (n,), or the codes of its texts: small, as few bytes are gathered faster than many."""
    return column.to_numpy() if sortable(column.dtype) else coded(column)[0]


def _bits(values: np.ndarray) -> np.ndarray:
    """Return a number per value (n,), different for different values."""
    if values.dtype.kind != "f":
        return values.astype(np.int64).view(np.uint64)
    values = values.astype(np.float64) + 0.0  # −0.0 becomes 0.0
    values[np.isnan(values)] = np.nan  # one bit pattern for all NaN
    return values.view(np.uint64)
