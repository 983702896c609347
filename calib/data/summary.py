"""The table of columns: what each holds, how much of it is missing, what its values look like."""

from __future__ import annotations

import pandas as pd

from calib.data.columns import inspect
from calib.data.typed import label, typed_frame

WORDS = {"text": "free text", "mixed": "numbers and words", "boolean": "yes or no"}


def summarise(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a column: column, type, missing, missing %, distinct, examples.

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
        values = [value for value in column.unique()[:4] if pd.notna(value)][:3]
        examples = ", ".join(_short(label(value)) for value in values)
        rows.append((name, WORDS.get(found.kind, found.kind), found.missing, share, found.distinct, examples))
    return pd.DataFrame(rows, columns=["column", "type", "missing", "missing %", "distinct", "examples"])


def _short(text: str, most: int = 30) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
