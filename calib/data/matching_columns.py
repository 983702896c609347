"""Select the columns of a known table from another table, by name and with the same types."""

from __future__ import annotations

import pandas as pd

from calib.data.column_types import typed_frame
from calib.data.columns import bounded, content_type
from calib.data.errors import DataError
from calib.kernel.wording import quoted


def columns_like(frame: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Select the columns of ``known`` from another table, in the order of ``known``.

    Infinite numbers count as missing, as in a Dataset.

    Parameters
    ----------
    frame
        Table, as ``read_table`` returns it.
    known
        Typed columns, such as a Dataset's X.

    Raises
    ------
    DataError
        If columns are missing, or contain another type than in ``known``.

    Examples
    --------
    >>> known = pd.DataFrame({"age": [30.0, 40.0]})
    >>> columns_like(pd.DataFrame({"name": ["a"], "age": ["51"]}), known)["age"].tolist()
    [51]
    """
    typed = typed_frame(frame)
    missing = [name for name in known.columns if name not in typed.columns]
    if missing:
        raise DataError(
            f"The model needs {quoted(missing)}, which is missing from this table.",
            "Upload a table with the same column names as the current table.",
        )
    typed = typed[list(known.columns)]
    other = [
        name
        for name in known.columns
        if not typed[name].isna().all() and content_type(typed[name]) != content_type(known[name])
    ]
    if other:
        holds = "contains" if len(other) == 1 else "contain"
        raise DataError(
            f"{quoted(other)} {holds} values of a different type than in the current table.",
            "Use numbers, dates and text in the same columns as the current table.",
        )
    numbers = [name for name in typed if typed[name].dtype.kind == "f"]
    return typed.assign(**{name: bounded(typed[name]) for name in numbers})
