"""Show a table with a dash for each missing value, where Streamlit would write None."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype

MEASURED = 200  # rows whose texts are compared; the browser measures fewer
# Columns whose texts are compared; tables of features may have thousands, far beyond the screen
COMPARED_COLUMNS = 50


def grid(table: Any, *, alt: str, **options: Any) -> Any:
    """Show a table; the options are those of ``st.dataframe``.

    The browser measures each column once, and cuts off longer texts that come later. So a table whose texts became
    longer or shorter is replaced, in a container of another name. A new container first shows what stood in the old
    one, and the table at the old place would be measured with the old texts; so the place changes as well.
    """
    key, lengths = options.get("key", alt), _lengths(table)
    before, second = _grids().get(key, (lengths, False))
    second ^= before != lengths
    _grids()[key] = lengths, second
    with st.container(key=f"grid_{key}_{lengths}"):
        if second:
            st.empty()
        shown = st.dataframe(table, placeholder="–", alt=alt, **options)
        if not second:
            st.empty()
    return shown


def _grids() -> dict[str, tuple[str, bool]]:
    """Return, per table, the lengths of its texts and whether it stands at the second place of its container."""
    return st.session_state.setdefault("grids", {})


def _lengths(table: pd.DataFrame) -> str:
    """Return the length of the longest text of each of the first columns and of the index, as part of a name."""
    head = table.iloc[:MEASURED, :COMPARED_COLUMNS]
    columns = [head.index, *(column for _, column in head.items())]
    texts = [column.astype(str).str.len().max() for column in columns if not is_numeric_dtype(column.dtype)]
    return "_".join(map(str, texts))
