"""Show empty axes of the first diagram while a fresh server loads its libraries for a second or two.

Meanwhile the browser loads its charting library, so the first picture appears a second sooner.
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
EMPTY_AXES = {
    "data": [DIAGONAL],
    "layout": {"height": 640, "xaxis": AXIS, "yaxis": AXIS | {"scaleanchor": "x"}},
}

for name in ("plotly.io", "plotly.tools", "plotly.graph_objs._figure"):
    import_module(name)  # drawing loads them; loaded here before another session can begin to (everything.py)


@contextmanager
def empty_axes() -> Iterator[None]:
    """Show empty axes while the block is the first to load ``pages.ui.everything``; otherwise show nothing."""
    place = st.empty()
    loading = "pages.ui.everything" not in sys.modules
    if loading:
        place.plotly_chart(
            ReadyFigure(EMPTY_AXES), config={"displayModeBar": False}, alt="The first diagram is loading."
        )
    try:
        yield
    finally:
        if loading:
            place.empty()
