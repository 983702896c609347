"""Points to drag in the browser, which updates their numbers at once; dropped points are sent back to Python.

``arithmetic.js`` computes what ``calib`` does (``tests/pages/test_points.py`` runs it), ``points.js`` draws it.
Without JavaScript there is no picture; the tables and fields of the page change the same settings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from calib.export.playground import ISOTONIC
from pages.ui import browser, current, state
from pages.ui.text import plain

ARITHMETIC_SCRIPTS = (ISOTONIC, browser.SCRIPTS_FOLDER / "arithmetic.js")
POINTS_HELP = (
    "Drag a point, or select it with Tab and move it with the arrow keys (ten steps with Shift). A click, Enter or the "
    "space bar flips its label."
)


@dataclass(frozen=True)
class Point:
    """Point to drag: its place on the axis, its true probability, its label, and its number of rows."""

    x: float
    y: float | None = None
    label: int | None = None
    rows: int = 1


def show(key: str, points: Sequence[Point], then: Callable[[list[Point]], None], **more: Any) -> None:
    """Draw the points; ``then`` is called with all of them after one was dropped or its label flipped.

    Parameters
    ----------
    more
        kind ("scores", whose first point is the new row, or "line"); low and high end of the axis, and its label;
        alt; for "scores" the fixed rows and the merge rule, for "line" the cuts.
    """
    theme, name = current.theme(), f"points_{key}"

    def dropped() -> None:
        dropped = st.session_state[name].dropped
        st.session_state[f"{name}_answered"] = dropped["n"]
        then([Point(float(p["x"]), p.get("y"), p["label"]) for p in dropped["points"]])

    inks = {ink: getattr(theme, ink) for ink in ("ink", "muted", "grid", "paper", "positive", "negative")}
    data = {
        "points": [asdict(point) for point in points],
        "inks": inks | {"fit": theme.mark("venn_abers").color},
        "room": state.presenter(),
        "answered": st.session_state.get(f"{name}_answered", 0),  # the last drop that this picture has seen
    }
    browser.component("points", ARITHMETIC_SCRIPTS)(key=name, data=data | more, on_dropped_change=dropped)
    st.caption(plain(POINTS_HELP))
