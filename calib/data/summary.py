"""Summarise a data set in tables: type, gaps and examples of each column, and the rows of each class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from calib.data.column_types import typed_frame
from calib.data.columns import inspect
from calib.data.notation import label
from calib.kernel.records import Dataset

DIGITS_OF_LONG_NUMBER, LONGEST_VALUE = 12, 30  # letters
KIND_WORDS = {"text": "free text", "mixed": "numbers and words", "boolean": "true or false"}


def summarise_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per column: column, type, missing, missing %, distinct, examples.

    Parameters
    ----------
    frame : DataFrame
        Table, as ``read_table`` returns it; may be empty.

    Examples
    --------
    >>> print(summarise_columns(pd.DataFrame({"x": [1.0, None, 2.0]})).to_string(index=False))
    column   type  missing  missing %  distinct examples
         x number        1       33.3         2     1, 2
    """
    typed = typed_frame(frame)
    rows = []
    for name, column in typed.items():
        found = inspect(column, str(name))
        share = round(100 * found.missing / max(1, len(typed)), 1)
        different = found.distinct + (found.missing > 0)
        examples = ", ".join(_example(value) for value in _first(column, min(4, different)))
        rows.append(
            (name, KIND_WORDS.get(found.kind, found.kind), found.missing, share, found.distinct, examples)
        )
    return pd.DataFrame(rows, columns=["column", "type", "missing", "missing %", "distinct", "examples"])


def class_shares(data: Dataset) -> pd.DataFrame:
    """Return the classes of a Dataset, the largest first: class, rows (or sum of weights) and share.

    Examples
    --------
    >>> data = Dataset("d", [[1.0], [2.0], [3.0]], [0, 0, 1], names=("a", "b", "c"), labels=np.array([1, 1, 2]))
    >>> print(class_shares(data).to_string(index=False))
    class  rows    share
        b   2.0 0.666667
        c   1.0 0.333333
        a   0.0 0.000000
    """
    names = data.class_names
    rows = np.bincount(data.coded, data.weight, minlength=len(names)).astype(float)
    found = pd.DataFrame({"class": names, "rows": rows, "share": rows / rows.sum()})
    return found.sort_values("rows", ascending=False, kind="stable")


def _first(column: pd.Series, wanted: int) -> list[Any]:
    """Return the first three of ``wanted`` distinct values without gaps; the first rows usually contain enough."""
    values = column.array
    for rows in (20, 1000, len(values)):
        found = values[:rows].unique()[:wanted]
        if len(found) == wanted:
            break
    return [value for value in found if pd.notna(value)][:3]


def _example(value: Any) -> str:
    """Format a value as in the file, cut if it is long; a number of many digits with six."""
    text = label(value)
    if isinstance(value, float) and len(text) > DIGITS_OF_LONG_NUMBER:
        text = f"{value:.6g}"
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
