"""Let the reader place a guess in the picture (a mark or a curve), and draw it beside the data later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from calib.figures.narrowing import unpacked
from calib.figures.theme import Theme, hollow, rgba
from calib.lessons import Question
from calib.lessons.question import TOLERANCE_TEXT
from pages.ui import browser

GUESS_LABEL, ANSWER_LABEL = "your guess", "the answer"
OFF = 0.22  # opacity of the area between a guess and the truth, in the colour of calibration loss: bands are grey
GAP_FOR_WORDS = 0.08  # smallest gap between a guess and the truth in which words fit
GUESS_LINE, GUESS_RING, GUESS_DASHES = "━━", "○", "╌╌"  # what stands for a guess beside its name
LINE_HEIGHT = 24  # pixels above the plot, for this name
# Letters of a panel's name and of the guess that fit above a whole picture on a phone
LETTERS_ABOVE_PICTURE = 48
PAPER_OPACITY = 0.85  # opacity of the paper behind the words
PALE = 0.35  # opacity of a guessed curve, so that data behind it or on it can be seen
# Instructions for touch, and for keys
PLACING_HELP = {
    "mark": ("Place a mark on the shaded strip", "or select the strip and press the arrow keys"),
    "curve": ("Draw across the shaded part", "or select it and press the arrow keys"),
}


@dataclass(frozen=True)
class Ghost:
    """Guess that stays in the picture: what was placed there, or the number of the chosen answer."""

    question: Question
    guess: Any

    @property
    def chosen(self) -> bool:
        """Tell whether the guess is the number of an answer."""
        return self.question.kind == "choice"


def place_guess(key: str, question: Question, placed: Callable[[Any], None]) -> None:
    """Let the reader place a guess in the picture of the step; ``placed`` takes it once it is given."""

    def given() -> None:
        if (guess := st.session_state[key].guess) is not None:
            placed(guess)

    # Without the truth, which stays on the server until the guess is placed
    data = {name: getattr(question, name) for name in ("kind", "at", "over")}
    data |= {"how": (*PLACING_HELP[question.kind], TOLERANCE_TEXT), "label": GUESS_LABEL}
    browser.component("guess")(key=key, data=data, on_guess_change=given, height="content")


def with_ghost(
    figure: Mapping[str, Any], ghost: Ghost, theme: Theme, panel: int, panels: int, scale: float = 1
) -> dict[str, Any]:
    """Return a figure, one of ``panels`` figures of the picture, with the reader's guess in it.

    ``scale`` is that of its type and lines, which are larger in presenter view.
    """
    layout = dict(figure["layout"])
    line = {"color": theme.guess, "width": 2 * scale, "dash": "dash"}
    data: list[dict[str, Any]] = []
    shapes: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    if ghost.chosen:
        shapes, framed = _frames(ghost, line, figure, panel, panels)
        data, named = _sketch(ghost, line, figure, panel, panels)
        words = [*framed, *named]
    elif panel == 0 and ghost.question.kind == "curve":
        data, words = _drawn_curve(ghost, theme, line)
    elif panel == 0:
        data, shapes, words = _level(ghost, line)
    words = [one | _over_names(one, figure) for one in words]
    font = {"color": theme.guess, "size": 13 * scale}
    said = {
        "text": GUESS_LABEL,
        "showarrow": False,
        "font": font,
        "bgcolor": rgba(theme.paper, PAPER_OPACITY),
        "borderpad": 1,
    }
    if words:
        margin = layout.get("margin", {})
        lifted = max(one.get("yshift", 0) for one in words)
        layout["margin"] = margin | {"t": max(margin.get("t", 0), (LINE_HEIGHT + lifted) * scale)}
    layout["shapes"] = [*layout.get("shapes", ()), *shapes]
    layout["annotations"] = [*layout.get("annotations", ()), *(said | one for one in words)]
    # Lines of a sketch come first, under the curves and marks; but bars would hide them
    under = [one for one in data if ghost.chosen and one["mode"] == "lines" and not _on_bars(one, figure)]
    for one in under:
        layout |= _order_of_names(one, figure)
    above = [one for one in data if one not in under]
    return {**figure, "data": [*under, *figure["data"], *above], "layout": layout}


Parts = list[dict[str, Any]]


def _frames(
    ghost: Ghost,
    line: dict[str, Any],
    figure: Mapping[str, Any],
    panel: int,
    panels: int,
) -> tuple[Parts, Parts]:
    """Return frames around the panels of the answer and of the guess, with words in their lower right corners."""
    shapes, words = [], []
    for number, text, dash in _framed(ghost):
        if frame := _frame(number - 1, figure, panel, panels):
            shapes.append(
                {"type": "rect", "line": line | {"dash": dash}, "x0": 0, "x1": 1, "y0": 0, "y1": 1, **frame}
            )
            place = {"x": 0.99, "y": 0.02, "xanchor": "right", "yanchor": "bottom"}
            words.append(place | frame | {"text": text})
    return shapes, words


def _sketch(
    ghost: Ghost,
    line: dict[str, Any],
    figure: Mapping[str, Any],
    panel: int,
    panels: int,
) -> tuple[Parts, Parts]:
    """Return what the chosen answer would look like: the lines of its sketch, the traces that it names, and words."""
    sketch = ghost.question.sketch(ghost.guess)
    drawn: Parts = []
    words: Parts = []

    def add(x: list[Any], y: list[Any], name: str, axes: dict[str, str]) -> None:
        drawn.append(axes | _as_guess(x, y, line))
        if name:
            words.append(_above(GUESS_RING if len(x) == 1 else GUESS_LINE, name, axes))

    axes = sketch.get("axes", 1)
    if panels == 1 or panel == axes - 1:
        lines = sketch.get("lines", ())
        for number, points in enumerate(lines, start=1):
            x, y = zip(*points, strict=True)
            name = GUESS_LABEL if number == len(lines) else ""
            add(list(x), list(y), name, _axes(figure, axes if panels == 1 else 1))
    for wanted in sketch.get("traces", ()):
        named = [
            one for one in figure["data"] if one.get("name") == wanted and "lines" in one.get("mode", "")
        ]
        for one in named:
            points = [
                point
                for point in zip(unpacked(one["x"]), unpacked(one["y"]), strict=True)
                if None not in point
            ]
            if len(points) > 1:  # a legend's own line has no points
                x, y = zip(*points, strict=True)
                add(list(x), list(y), "" if words else GUESS_LABEL, _axes_of(one))
                break
    return drawn, words


def _axes(figure: Mapping[str, Any], number: int) -> dict[str, str]:
    """Return the axes of a panel, from 1; panels one below the other may share their horizontal axis."""
    upright = f"y{number if number > 1 else ''}"
    candidates = (one for one in map(_axes_of, figure["data"]) if one["yaxis"] == upright)
    return next(candidates, {"xaxis": "x", "yaxis": upright})


def _axes_of(trace: Mapping[str, Any]) -> dict[str, str]:
    return {name: trace.get(name) or name[0] for name in ("xaxis", "yaxis")}


def _as_guess(x: list[Any], y: list[Any], line: dict[str, Any]) -> dict[str, Any]:
    """Return a wide pale line, or a ring for a single point."""
    trace = {"type": "scatter", "hoverinfo": "skip", "showlegend": False, "cliponaxis": False, "x": x, "y": y}
    if len(x) == 1:
        return trace | {"mode": "markers", "marker": _ring(line)}
    return trace | {"mode": "lines", "line": _pale(line)}


def _on_bars(trace: Mapping[str, Any], figure: Mapping[str, Any]) -> bool:
    return any(one.get("type") == "bar" and _axes_of(one) == _axes_of(trace) for one in figure["data"])


def _order_of_names(trace: Mapping[str, Any], figure: Mapping[str, Any]) -> dict[str, Any]:
    """Return the axes of names that the trace is on, with the figure's order, which its first trace would set."""
    axes = {}
    for name, axis in _axes_of(trace).items():
        own = (unpacked(one.get(name[0], ())) for one in figure["data"] if _axes_of(one)[name] == axis)
        names = [value for values in own for value in values if isinstance(value, str)]
        if not set(names).isdisjoint(trace[name[0]]):
            key = f"{name}{axis[1:]}"
            ordered = {"categoryorder": "array", "categoryarray": list(dict.fromkeys(names))}
            axes[key] = figure["layout"].get(key, {}) | ordered
    return axes


def _ring(line: dict[str, Any]) -> dict[str, Any]:
    return hollow(line["color"], 7.5 * line["width"], line["width"])


def _pale(line: dict[str, Any]) -> dict[str, Any]:
    return {"color": rgba(line["color"], PALE), "width": 4 * line["width"]}


def _above(sign: str, name: str, axes: Mapping[str, str] | None = None, left: bool = False) -> dict[str, Any]:
    """Return the name of a guess, with its sign, above a panel, by default the first, where it covers no data."""
    # A square plot is narrower than the picture: its name would float beside it
    across, up = (f"{axes[one]} domain" for one in ("xaxis", "yaxis")) if axes else ("x domain", "paper")
    side = {"x": 0, "xanchor": "left"} if left else {"x": 1, "xanchor": "right"}
    return {"text": f"{sign} {name}", "xref": across, "y": 1, "yref": up, "yanchor": "bottom", **side}


def _over_names(named: Mapping[str, Any], figure: Mapping[str, Any]) -> dict[str, Any]:
    """Return by how much the name of a guess is higher, over the names that need the place above its panel."""
    if named.get("yanchor") != "bottom" or named["y"] != 1:
        return {}
    layout = figure["layout"]
    corner = _corner(named | {"x": 0}, layout)
    over = [one["text"] for one in layout.get("annotations", ()) if _corner(one, layout) == corner]
    left, right = _domain(named["xref"], layout)
    most = (
        LETTERS_ABOVE_PICTURE * (right - left) if named["x"] else 0
    )  # a name at the left has the place of the panel's name
    long = any(len(text) - len("<b></b>") + len(named["text"]) > most for text in over)
    rows = max(long, _rows_of_levels(figure))
    return {"yshift": rows * (LINE_HEIGHT - 6)} if rows else {}


def _rows_of_levels(figure: Mapping[str, Any]) -> int:
    """Return the number of rows of names above the plot, each at the upper end of an upright line."""
    named = (
        one["text"][-1] for one in figure["data"] if one.get("mode") == "lines+text" and _is_upright(one)
    )
    return max((text.count("<br>") + 1 for text in named), default=0)


def _is_upright(trace: Mapping[str, Any]) -> bool:
    return str(trace.get("textposition", "")).startswith("top") and len(set(unpacked(trace["x"]))) == 1


def _corner(words: Mapping[str, Any], layout: Mapping[str, Any]) -> tuple[float, ...]:
    """Return the place of words in the whole picture, as shares of its width and height."""
    return tuple(
        round(low + words[name] * (high - low), 3)
        for name in ("x", "y")
        for low, high in [_domain(words.get(f"{name}ref", "paper"), layout)]
        if isinstance(words[name], (int, float))
    )


def _domain(ref: str, layout: Mapping[str, Any]) -> Sequence[float]:
    """Return the part of the picture that an axis takes; all of it for places in the picture or on the axis."""
    axis, _, domain = ref.partition(" ")
    return layout.get(f"{axis[0]}axis{axis[1:]}", {}).get("domain", (0, 1)) if domain else (0, 1)


def _drawn_curve(ghost: Ghost, theme: Theme, line: dict[str, Any]) -> tuple[Parts, Parts]:
    x, y = zip(*ghost.guess, strict=True)
    style = {
        "type": "scatter",
        "mode": "lines",
        "line": _pale(line),
        "hoverinfo": "skip",
        "showlegend": False,
    }
    area, words = _gap(ghost, theme, style) if ghost.question.truth else ([], [])
    return [*area, {"x": list(x), "y": list(y), **style}], [*words, _above(GUESS_LINE, GUESS_LABEL)]


def _level(ghost: Ghost, line: dict[str, Any]) -> tuple[Parts, Parts, Parts]:
    """Return a ring at the guess, a thin line to it from the scale, and a solid line from the guess to the truth."""
    at, width = ghost.question.at, line["width"]
    assert at is not None
    style = {"type": "scatter", "mode": "markers", "hoverinfo": "skip", "showlegend": False}
    style |= {"cliponaxis": False}  # a guess at 0 or 1 is a whole ring, too
    # Not beyond the ring: at the level of the data it would run through their name
    level = {"x0": 0, "x1": at, "y0": ghost.guess, "y1": ghost.guess, "xref": "x", "yref": "y"}
    shapes = [{"type": "line", "line": line | {"width": width / 2}, **level}]
    if ghost.question.truth is not None:
        ends = {"x0": at, "x1": at, "y0": ghost.guess, "y1": ghost.question.truth}
        shapes.append({"type": "line", "line": line | {"dash": "solid"}, "xref": "x", "yref": "y", **ends})
    ring = {"x": [at], "y": [ghost.guess], "marker": _ring(line), **style}
    return [ring], shapes, [_above(GUESS_RING, GUESS_LABEL)]


def drawn(ghost: Ghost) -> dict[str, Any]:
    """Return a drawn curve as an argument of ``calibrated.js``, with the area between it and the truth."""
    x, guess, truth = ghost.question.between(ghost.guess)
    around = [*zip(x, guess, strict=True), *zip(x[::-1], truth[::-1], strict=True)]
    label = f"{GUESS_DASHES} {GUESS_LABEL}"
    return {"curve": ghost.guess, "area": around, "gap": _widest(x, guess, truth), "label": label}


def _gap(
    ghost: Ghost, theme: Theme, style: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the area between the guess and the truth, and the words in it."""
    x, guess, truth = ghost.question.between(ghost.guess)
    edge = {"x": x, **style, "line": {"width": 0}}
    area = [
        edge | {"y": truth},
        edge | {"y": guess, "fill": "tonexty", "fillcolor": rgba(theme.calibration, OFF)},
    ]
    words = _widest(x, guess, truth)
    return area, [words | {"xref": "x", "yref": "y"}] if words else []


def _widest(x: Sequence[float], guess: Sequence[float], truth: Sequence[float]) -> dict[str, Any] | None:
    """Return the place where a guess is furthest from the truth, with "too high" or "too low"; None if space is
    short.
    """
    at = max(range(len(x)), key=lambda i: abs(guess[i] - truth[i]))
    if abs(guess[at] - truth[at]) <= GAP_FOR_WORDS:
        return None
    text = "too high" if guess[at] > truth[at] else "too low"
    return {"x": x[at], "y": (guess[at] + truth[at]) / 2, "text": text}


def _framed(ghost: Ghost) -> list[tuple[int, str, str]]:
    """Return the panels with a frame, each with its words and its dash: the answer's, and the guess's."""
    question = ghost.question
    answer, guess = (question.sketch(i).get("panels", ()) for i in (question.right, ghost.guess))
    right = [(one, f"{GUESS_LABEL}: right" if one in guess else ANSWER_LABEL, "solid") for one in answer]
    return [*right, *((one, GUESS_LABEL, "dash") for one in guess if one not in answer)]


def _frame(chosen: int, figure: Mapping[str, Any], panel: int, panels: int) -> dict[str, str]:
    """Return the axes of the whole chosen figure, or of the chosen panel of a figure of several panels."""
    if panels > 1:
        return {"xref": "paper", "yref": "paper"} if panel == chosen else {}
    axes = _axes(figure, chosen + 1)
    return {"xref": f"{axes['xaxis']} domain", "yref": f"{axes['yaxis']} domain"}
