"""A guess that the reader places in the picture: a mark, a curve or a panel; and that guess beside the data later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from calib.lessons import Question
from pages.ui import browser

HTML = '<p></p><button type="button" disabled>Show the data</button>'
LABEL = "your guess"
HOW = {
    "mark": "Drag the mark in the picture, or select it and press the arrow keys.",
    "curve": "Draw the curve that you expect, or select it and press the arrow keys.",
    "panel": "Or click a panel of the picture.",
}


@dataclass(frozen=True)
class Ghost:
    """A guess that stays in the picture."""

    question: Question
    guess: Any


def place(key: str, question: Question, placed: Callable[[Any], None]) -> None:
    """Let the reader place a guess in the picture of the step; ``placed`` takes it once it is given."""

    def given() -> None:
        if (guess := st.session_state[key].guess) is not None:
            placed(guess)

    data = asdict(question) | {"how": HOW[question.kind], "label": LABEL}
    browser.component("guess", HTML)(key=key, data=data, on_guess_change=given, height="content")


def with_ghost(figure: Mapping[str, Any], ghost: Ghost, ink: str, panel: int, panels: int) -> dict[str, Any]:
    """Return a figure, one of ``panels`` figures of the picture, with the reader's guess in it."""
    layout, kind = dict(figure["layout"]), ghost.question.kind
    line = {"color": ink, "width": 2, "dash": "dash"}
    data, shapes, words = [], [], []
    if kind == "panel":
        frame = _frame(ghost.guess - 1, panel, panels)
        if frame:
            shapes.append({"type": "rect", "line": line, "x0": 0, "x1": 1, "y0": 0, "y1": 1, **frame})
            words.append({"x": 1, "y": 1, "xanchor": "right", "yanchor": "top", **frame})
    elif panel == 0 and kind == "curve":
        x, y = zip(*ghost.guess, strict=True)
        style = {"type": "scatter", "mode": "lines", "line": line, "hoverinfo": "skip", "showlegend": False}
        data.append({"x": list(x), "y": list(y), **style})
        words.append(
            {"x": x[-1], "y": y[-1], "xanchor": "right", "yanchor": "bottom", "xref": "x", "yref": "y"}
        )
    elif panel == 0 and ghost.question.at is None:
        upright = {"xref": "x", "yref": "y domain"}
        shapes.append(
            {"type": "line", "line": line, "x0": ghost.guess, "x1": ghost.guess, "y0": 0, "y1": 1, **upright}
        )
        words.append({"x": ghost.guess, "y": 1, "xanchor": "left", "yanchor": "top", **upright})
    elif panel == 0:
        at = ghost.question.at
        circle = {"symbol": "circle-open", "size": 15, "color": ink, "line": {"width": 2}}
        style = {"type": "scatter", "mode": "markers", "hoverinfo": "skip", "showlegend": False}
        data.append({"x": [at], "y": [ghost.guess], "marker": circle, **style})
        across = {"xref": "x domain", "yref": "y"}
        shapes.append(
            {
                "type": "line",
                "line": line | {"width": 1},
                "x0": 0,
                "x1": 1,
                "y0": ghost.guess,
                "y1": ghost.guess,
                **across,
            }
        )
        left, right = layout.get("xaxis", {}).get("range", (0, 1))
        far = {"x": 0.99, "xanchor": "right"} if at < (left + right) / 2 else {"x": 0.01, "xanchor": "left"}
        words.append({"y": ghost.guess, "yanchor": "bottom", **far, **across})
    said = {"text": LABEL, "showarrow": False, "font": {"color": ink, "size": 13}}
    layout["shapes"] = [*layout.get("shapes", ()), *shapes]
    layout["annotations"] = [*layout.get("annotations", ()), *(one | said for one in words)]
    return {**figure, "data": [*figure["data"], *data], "layout": layout}


def _frame(chosen: int, panel: int, panels: int) -> dict[str, str]:
    """The whole of the chosen figure, or in a figure of several panels the chosen panel."""
    if panels > 1:
        return {"xref": "paper", "yref": "paper"} if panel == chosen else {}
    number = str(chosen + 1) if chosen else ""
    return {"xref": f"x{number} domain", "yref": f"y{number} domain"}
