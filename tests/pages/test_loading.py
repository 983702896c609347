"""What a fresh server shows while its libraries load."""

import sys
from types import ModuleType

import streamlit as st

from pages.ui import loading


def test_the_axes_are_drawn_while_another_session_loads_the_libraries(monkeypatch):
    """Of a library that is being loaded there is a module with nothing in it yet, where Plotly looks for arrays."""
    drawn, plotly_chart = [], st.delta_generator.DeltaGenerator.plotly_chart
    monkeypatch.setattr(
        st.delta_generator.DeltaGenerator,
        "plotly_chart",
        lambda *args, **more: drawn.append(plotly_chart(*args, **more)),
    )
    for name in ("numpy", "pandas"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.delitem(sys.modules, "calib")
    with loading.empty_axes():
        assert len(drawn) == 1
