"""What a fresh server shows while its libraries load, a second or two: the axes of the diagram to come.

The browser uses the same time to load what it draws charts with, so that the first picture comes a second
sooner.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import streamlit as st

from pages.ui.ready_figure import ReadyFigure

AXIS = {"range": [-0.02, 1.02], "fixedrange": True, "constrain": "domain"}
DIAGONAL = {
    "x": [0, 1],
    "y": [0, 1],
    "mode": "lines",
    "line": {"width": 1, "color": "#87929e"},
    "hoverinfo": "skip",
}
AXES = {"data": [DIAGONAL], "layout": {"height": 640, "xaxis": AXIS, "yaxis": AXIS | {"scaleanchor": "x"}}}

for name in ("plotly.io", "plotly.tools", "plotly.graph_objs._figure"):
    import_module(name)  # what drawing them loads, before another session may begin to (everything.py)


@contextmanager
def empty_axes() -> Iterator[None]:
    """Empty axes in a place of their own while the block is the first to load ``calib``; else nothing."""
    place = st.empty()
    loading = "calib" not in sys.modules
    if loading:
        place.plotly_chart(
            ReadyFigure(AXES), config={"displayModeBar": False}, alt="The first diagram is loading."
        )
    try:
        yield
    finally:
        if loading:
            place.empty()
