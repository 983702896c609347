"""Let the reader place a guess in the picture (a mark, a curve or a panel), and draw it beside the data later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from calib.figures.theme import rgba
from calib.lessons import Question
from pages.ui import browser

HTML = '<p></p><button type="button" disabled>Show the data</button>'
LABEL, ANSWER = "your guess", "the answer"
HALF = 0.5
WIDE = 0.08  # smallest gap between a guess and the truth in which words fit
# Instructions for touch, and for keys if there are any
HOW = {
    "mark": ("Drag the mark in the picture", "or select it and press the arrow keys"),
    "curve": ("Draw across the shaded part", "or select it and press the arrow keys"),
    "panel": ("Or choose a panel of the picture", ""),
}


@dataclass(frozen=True)
class Ghost:
    """Guess that stays in the picture."""

    question: Question
    guess: Any

    def is_answer(self, panel: int) -> bool:
        """Tell whether this panel, from 1, is the right answer."""
        return self.question.kind == "panel" and panel == self.question.right


def place(key: str, question: Question, placed: Callable[[Any], None]) -> None:
    """Let the reader place a guess in the picture of the step; ``placed`` takes it once it is given."""

    def given() -> None:
        if (guess := st.session_state[key].guess) is not None:
            placed(guess)

    # Without the truth, which stays on the server until the guess is placed
    names = ("kind", "at", "begin", "over")
    data = {name: getattr(question, name) for name in names} | {"how": HOW[question.kind], "label": LABEL}
    browser.component("guess", HTML)(key=key, data=data, on_guess_change=given, height="content")


def with_ghost(
    figure: Mapping[str, Any], ghost: Ghost, ink: str, panel: int, panels: int, scale: float = 1
) -> dict[str, Any]:
    """Return a figure, one of ``panels`` figures of the picture, with the reader's guess in it.

    ``scale`` is that of its type and lines, which are larger in presenter view.
    """
    layout, kind = dict(figure["layout"]), ghost.question.kind
    line = {"color": ink, "width": 2 * scale, "dash": "dash"}
    data, shapes, words = [], [], []
    if kind == "panel":
        for number, text, dash in _framed(ghost):
            if frame := _frame(number - 1, panel, panels):
                edge = line | {"dash": dash}
                shapes.append({"type": "rect", "line": edge, "x0": 0, "x1": 1, "y0": 0, "y1": 1, **frame})
                place = {"x": 1, "y": 1, "xanchor": "right", "yanchor": "bottom"}  # above all marks
                words.append(place | frame | {"text": text})
    elif panel == 0 and kind == "curve":
        x, y = zip(*ghost.guess, strict=True)
        style = {"type": "scatter", "mode": "lines", "line": line, "hoverinfo": "skip", "showlegend": False}
        if ghost.question.truth:
            area, gap = _gap(ghost, ink, style)
            data += area
            words += gap
        data.append({"x": list(x), "y": list(y), **style})
        side = "right" if x[-1] > HALF else "left"  # the words fit beside the end of the curve
        words.append({"x": x[-1], "y": y[-1], "xanchor": side, "yanchor": "bottom", "xref": "x", "yref": "y"})
    elif panel == 0 and ghost.question.at is None:
        upright = {"xref": "x", "yref": "y domain"}
        shapes.append(
            {"type": "line", "line": line, "x0": ghost.guess, "x1": ghost.guess, "y0": 0, "y1": 1, **upright}
        )
        words.append({"x": ghost.guess, "y": 0, "xanchor": "left", "yanchor": "bottom", **upright})
    elif panel == 0:
        at = ghost.question.at
        circle = {"symbol": "circle-open", "size": 15 * scale, "color": ink, "line": {"width": 2 * scale}}
        style = {"type": "scatter", "mode": "markers", "hoverinfo": "skip", "showlegend": False}
        data.append({"x": [at], "y": [ghost.guess], "marker": circle, **style})
        across = {"xref": "x domain", "yref": "y"}
        shapes.append(
            {
                "type": "line",
                "line": line | {"width": scale},
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
        if ghost.question.truth is not None:
            ends = {"x0": at, "x1": at, "y0": ghost.guess, "y1": ghost.question.truth}
            shapes.append(
                {"type": "line", "line": line | {"dash": "solid"}, "xref": "x", "yref": "y", **ends}
            )
    said = {"text": LABEL, "showarrow": False, "font": {"color": ink, "size": 13 * scale}}
    layout["shapes"] = [*layout.get("shapes", ()), *shapes]
    layout["annotations"] = [*layout.get("annotations", ()), *(said | one for one in words)]
    return {**figure, "data": [*figure["data"], *data], "layout": layout}


def drawn(ghost: Ghost) -> dict[str, Any]:
    """Return the guess of a mark or a curve as an argument of ``calibrated.js``."""
    if ghost.question.kind == "mark":
        return {"at": ghost.question.at, "value": ghost.guess, "label": LABEL}
    told = {"curve": ghost.guess, "area": [], "gap": None, "label": LABEL}
    if ghost.question.truth:
        x, guess, truth = ghost.question.between(ghost.guess)
        around = [*zip(x, guess, strict=True), *zip(x[::-1], truth[::-1], strict=True)]
        told |= {"area": around, "gap": _widest(x, guess, truth)}
    return told


def _gap(
    ghost: Ghost, ink: str, style: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the area between the guess and the truth, and the words in it."""
    x, guess, truth = ghost.question.between(ghost.guess)
    edge = {"x": x, **style, "line": {"width": 0}}
    area = [edge | {"y": truth}, edge | {"y": guess, "fill": "tonexty", "fillcolor": rgba(ink, 0.12)}]
    words = _widest(x, guess, truth)
    return area, [words | {"xref": "x", "yref": "y"}] if words else []


def _widest(x: Sequence[float], guess: Sequence[float], truth: Sequence[float]) -> dict[str, Any] | None:
    """Return the place where a guess is furthest from the truth, with "too high" or "too low"; None if space is
    short.
    """
    at = max(range(len(x)), key=lambda i: abs(guess[i] - truth[i]))
    if abs(guess[at] - truth[at]) <= WIDE:
        return None
    text = "too high" if guess[at] > truth[at] else "too low"
    return {"x": x[at], "y": (guess[at] + truth[at]) / 2, "text": text}


def _framed(ghost: Ghost) -> list[tuple[int, str, str]]:
    """Return the panels with a frame, each with its words and its dash: the answer's, and the guess's."""
    right = ghost.question.right
    if ghost.guess == right:
        return [(right, f"{LABEL}: right", "solid")]
    return [(right, ANSWER, "solid"), (ghost.guess, LABEL, "dash")]


def _frame(chosen: int, panel: int, panels: int) -> dict[str, str]:
    """Return the axes of the whole chosen figure, or of the chosen panel of a figure of several panels."""
    if panels > 1:
        return {"xref": "paper", "yref": "paper"} if panel == chosen else {}
    number = str(chosen + 1) if chosen else ""
    return {"xref": f"x{number} domain", "yref": f"y{number} domain"}
