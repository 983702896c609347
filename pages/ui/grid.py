"""Show a table with a dash for each missing value, where Streamlit would write None."""

from __future__ import annotations

from typing import Any

import streamlit as st


def grid(table: Any, **options: Any) -> Any:
    """Show a table; the options are those of ``st.dataframe``."""
    return st.dataframe(table, placeholder="–", **options)
