"""Show a table with a dash for each missing value, where Streamlit would write None."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype

MEASURED = 200  # rows whose texts are compared; the browser measures fewer
SEEN = 50  # columns whose texts are compared; tables of features may have thousands, far beyond the screen


def grid(table: Any, *, alt: str, **options: Any) -> Any:
    """Show a table; the options are those of ``st.dataframe``.

    The browser measures each column once, and cuts off longer texts that come later. So a table whose texts became
    longer or shorter is replaced, in a container of another name.
    """
    with st.container(key=f"grid_{options.get('key', alt)}_{_lengths(table)}"):
        return st.dataframe(table, placeholder="–", alt=alt, **options)


def _lengths(table: pd.DataFrame) -> str:
    """Return the length of the longest text of each of the first columns and of the index, as part of a name."""
    head = table.iloc[:MEASURED, :SEEN]
    columns = [head.index, *(column for _, column in head.items())]
    texts = [column.astype(str).str.len().max() for column in columns if not is_numeric_dtype(column.dtype)]
    return "_".join(map(str, texts))
