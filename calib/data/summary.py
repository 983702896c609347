"""The table of columns: what each holds, how much of it is missing, what its values look like."""

from __future__ import annotations

from typing import Any

import pandas as pd

from calib.data.column_types import label, typed_frame
from calib.data.columns import inspect

WORDS = {"text": "free text", "mixed": "numbers and words", "boolean": "true or false"}


def summarise(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per column: column, type, missing, missing %, distinct, examples.

    Parameters
    ----------
    frame : DataFrame
        A table as it was read, of any number of rows.

    Examples
    --------
    >>> print(summarise(pd.DataFrame({"x": [1.0, None, 2.0]})).to_string(index=False))
    column   type  missing  missing %  distinct examples
         x number        1       33.3         2     1, 2
    """
    typed = typed_frame(frame)
    rows = []
    for name, column in typed.items():
        found = inspect(column, str(name))
        share = round(100 * found.missing / max(1, len(typed)), 1)
        examples = ", ".join(_short(label(value)) for value in _first(column))
        rows.append((name, WORDS.get(found.kind, found.kind), found.missing, share, found.distinct, examples))
    return pd.DataFrame(rows, columns=["column", "type", "missing", "missing %", "distinct", "examples"])


def _first(column: pd.Series) -> list[Any]:
    """The first different values, gaps left out: mostly the first rows have enough of them."""
    for part in (column.iloc[:1000], column):
        values = part.unique()[:4]
        if len(values) == 4:
            break
    return [value for value in values if pd.notna(value)][:3]


def _short(text: str, most: int = 30) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
