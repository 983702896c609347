"""The look of every figure: two themes, one fixed colour and marker per calibrator, numbers for readers.

Colours have Okabe and Ito's hues, distinct for readers with any colour vision (Okabe & Ito 2008, "Color
universal design"), and a lightness that stands out from both papers (WCAG 2.2, 3 : 1); marker and dash differ
too, so that no figure relies on colour alone. Only the grey of the uncalibrated model differs between the themes:
one that is clear on both papers, also in pale marks and bars, does not exist. Every colour is set explicitly,
because Streamlit replaces Plotly's default template by placeholders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
import plotly.graph_objects as go

from calib.calibrators import CALIBRATORS

# CSS ignores a list with a bare digit
FONT = "Source Sans, Source Sans Pro, Segoe UI, Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Theme:
    """The colours of one theme.

    Attributes
    ----------
    positive, negative
        The two classes.
    calibration, grouping
        The two avoidable losses, CL and GL; IL and sums are muted or in ink.
    guess
        What the reader of a lesson guessed, beside the data.
    uncalibrated
        The grey of the uncalibrated model.
    scale
        Colours from low to high values.
    """

    name: str
    paper: str
    ink: str
    muted: str
    grid: str
    diagonal: str
    positive: str
    negative: str
    calibration: str
    grouping: str
    guess: str
    uncalibrated: str
    scale: tuple[str, ...]

    def mark(self, calibrator: str) -> Mark:
        """Return the colour, marker and dash of a calibrator."""
        mark = MARKS[calibrator]
        return replace(mark, color=self.uncalibrated) if calibrator == "none" else mark


LIGHT = Theme(
    "light",
    "#FDFDFB",
    "#1F2328",
    "#5A6672",
    "#E6EAEE",
    "#87929E",
    "#D55E00",
    "#0072B2",
    "#6A2380",
    "#006B3C",
    "#0000AA",
    "#63676B",
    ("#A9CCE3", "#4A97C9", "#00629B", "#062B47"),
)
DARK = Theme(
    "dark",
    "#15191E",
    "#E3E6E8",
    "#A3AEBA",
    "#2A313A",
    "#6B7785",
    "#E8833A",
    "#4FA3DB",
    "#9C4884",
    "#7FD6A2",
    "#FFEE11",
    "#C8C4BC",
    ("#1F4F7A", "#3B86BF", "#8CC4EC", "#F0F7FC"),
)


@dataclass(frozen=True)
class Mark:
    """The fixed colour, marker and dash of one calibrator."""

    color: str
    symbol: str
    dash: str


FIXED = {
    "none": Mark(LIGHT.uncalibrated, "circle", "dot"),
    "auto": Mark("#833BE9", "triangle-right", "longdash"),
    "platt": Mark("#D27800", "square", "dash"),
    "isotonic": Mark("#CC78A8", "diamond", "dashdot"),
    "beta": Mark("#009166", "triangle-up", "solid"),
    "temperature": Mark("#A59144", "triangle-down", "dash"),
    "venn": Mark("#0E9DD5", "pentagon", "dash"),
    "venn_abers": Mark("#0776C9", "star", "solid"),
    "ppa": Mark("#BC4900", "cross", "dash"),
    "rank": Mark("#7F609F", "x", "dash"),
    "offset": Mark("#466E5A", "star-square", "longdash"),
    "logistic": Mark("#3C5AD2", "diamond-wide", "dashdot"),
    "quadratic": Mark("#C81450", "triangle-left", "dashdot"),
    "spline": Mark("#8C46B4", "star-diamond", "longdash"),
    "centered_isotonic": Mark("#8C82FA", "bowtie", "longdash"),
    "histogram": Mark("#906030", "hexagon", "dashdot"),
    "multicalibration": Mark("#508C95", "square-x", "dashdot"),
    "venn_multicalibration": Mark("#6E8CE6", "circle-cross", "longdashdot"),
}

# For calibrators from outside: colours that stand out from both papers and are farthest from the fixed colours and
# from each other, for readers with any colour vision, without being gaudy (found by search and checked by a test).
RESERVE = (
    Mark("#DC6E78", "hexagram", "longdashdot"),
    Mark("#DC468C", "hourglass", "longdashdot"),
    Mark("#6E7814", "star-triangle-up", "longdashdot"),
    Mark("#D264BE", "star-triangle-down", "dashdot"),
    Mark("#E65A32", "diamond-tall", "longdash"),
    Mark("#7882B4", "diamond-cross", "longdash"),
    Mark("#BE1E96", "circle-x", "dashdot"),
)


def reserved(keys: Iterable[str]) -> dict[str, Mark]:
    """Return a reserve mark for each key: the one chosen by its checksum, or the next free one.

    The same keys have the same marks. When all are taken, colours are combined with the next mark's symbol and dash, so
    that no two of a hundred keys look the same.

    >>> reserved(["mine"]) == {"mine": RESERVE[crc32(b"mine") % len(RESERVE)]}
    True
    """
    marks: dict[str, Mark] = {}
    for key in sorted(keys):
        tried = (
            _place(crc32(key.encode()) + step, step // len(RESERVE)) for step in range(len(RESERVE) ** 2)
        )
        free = (mark for mark in tried if mark not in marks.values())
        marks[key] = next(free, RESERVE[0])
    return marks


def _place(place: int, shift: int) -> Mark:
    color, shape = RESERVE[place % len(RESERVE)], RESERVE[(place + shift) % len(RESERVE)]
    return Mark(color.color, shape.symbol, shape.dash)


METHODS_WITH_COLOUR = (
    "venn_abers",
    "platt",
    "beta",
    "isotonic",
    "venn",
    "ppa",
    "spline",
    "temperature",
    "rank",
    "offset",
)


class MarkOf(Mapping[str, Mark]):
    """Calibrator → its mark: a fixed one, or one of the reserve for any other registered calibrator.

    Predictions that the user names take the fixed marks in the order in which they are drawn, because no calibrator is
    drawn beside them.
    """

    def __init__(self) -> None:
        self._named: dict[str, Mark] = {}

    def __getitem__(self, key: str) -> Mark:
        if key in FIXED:
            return FIXED[key]
        others = self._others()
        if key not in others and key not in self._named:
            self._named[key] = FIXED[METHODS_WITH_COLOUR[len(self._named) % len(METHODS_WITH_COLOUR)]]
        return others.get(key) or self._named[key]

    def __iter__(self) -> Iterator[str]:
        return iter([*FIXED, *self._others()])

    def __len__(self) -> int:
        return len(FIXED) + len(self._others())

    def _others(self) -> dict[str, Mark]:
        return reserved(key for key in CALIBRATORS if key not in FIXED)


MARKS = MarkOf()


def rgba(color: str, alpha: float) -> str:
    """Return the CSS colour of ``#rrggbb`` with an opacity.

    >>> rgba("#0072B2", 0.5)
    'rgba(0, 114, 178, 0.5)'
    """
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {alpha:g})"


def _luminance(color: str) -> float:
    """Return the relative luminance of ``#rrggbb`` by WCAG 2.2."""
    parts = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@cache
def legible(color: str, theme: Theme) -> str:
    """Mix a colour with as much of the theme's ink as text in it needs (WCAG 2.2, 4.5 : 1).

    >>> legible("#0776C9", LIGHT), legible("#CC78A8", LIGHT)
    ('#0776C9', '#985E81')
    """
    paper = _luminance(theme.paper)
    for share in range(0, 101, 5):
        mixed = (
            (int(color[i : i + 2], 16) * (100 - share) + int(theme.ink[i : i + 2], 16) * share) // 100
            for i in (1, 3, 5)
        )
        ink = "#" + "".join(f"{part:02X}" for part in mixed)
        low, high = sorted((_luminance(ink), paper))
        if (high + 0.05) / (low + 0.05) >= 4.5:
            return ink
    return theme.ink


def controls(*left_out: str) -> dict[str, Any]:
    """Return Plotly's config for interaction: zoom in the tool bar, and a double click resets.

    Dragging does nothing until a tool is chosen, not even on an axis, so that a finger scrolls the page;
    with a tool chosen two fingers do.

    Parameters
    ----------
    left_out
        Further buttons of the tool bar to leave out.
    """
    return {
        "displaylogo": False,
        "doubleClick": "reset",
        "modeBarButtonsToRemove": ["lasso2d", "autoScale2d", *left_out],
        "responsive": True,
        "showAxisDragHandles": False,
        "showSendToCloud": False,  # nothing leaves this machine
    }


def diagonal(theme: Theme, **changes: Any) -> go.Scatter:
    """Return the thin grey line on which predictions match outcomes."""
    ends, line = [0, 1], {"color": theme.diagonal, "width": 1}
    return go.Scatter(x=ends, y=ends, mode="lines", line=line, hoverinfo="skip", showlegend=False, **changes)


def square(theme: Theme, axis: dict[str, Any], x: str, y: str, **changes: Any) -> go.Figure:
    """Return a figure with the diagonal, whose axes have these titles, the same settings and the same scale."""
    figure = go.Figure(
        layout=layout(
            theme,
            xaxis={**axis, "title": {"text": x}, "constrain": "domain"},
            yaxis={**axis, "title": {"text": y}, "scaleanchor": "x"},
            **changes,
        )
    )
    return figure.add_trace(diagonal(theme))


def layout(theme: Theme, **changes) -> dict[str, Any]:
    """Return a Plotly layout with every colour explicit and space for a legend below the plot."""
    return {"template": _template(theme, tuple(theme.mark(key).color for key in MARKS)), **changes}


@cache
def _template(theme: Theme, colors: tuple[str, ...]) -> go.layout.Template:
    """Return the template, cached because Plotly's validation takes as long as a small figure; figures copy it."""
    axis = {
        "gridcolor": theme.grid,
        "linecolor": theme.diagonal,
        "zeroline": False,
        "exponentformat": "none",  # 0.0007 and not 700µ
        "ticks": "outside",
        "tickcolor": theme.diagonal,
        "tickfont": {"color": theme.muted},
        "title": {"font": {"color": theme.ink, "size": 14}, "standoff": 8},
    }
    return go.layout.Template(
        layout={
            "font": {"family": FONT, "size": 13, "color": theme.ink},
            "paper_bgcolor": theme.paper,
            "plot_bgcolor": theme.paper,
            "colorway": colors,
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {
                "bgcolor": theme.paper,
                "bordercolor": theme.diagonal,
                "font": {"color": theme.ink},
            },
            "legend": {
                "orientation": "h",
                "x": 0,
                "y": -0.14,
                "yanchor": "top",
                "font": {"color": theme.ink},
            },
            "margin": {"l": 56, "r": 12, "t": 12, "b": 48},
            "dragmode": False,
            "modebar": {"orientation": "v"},  # beside a square diagram, not over its marks
        }
    )


def outlined(color: Any, size: Any, theme: Theme, rim: float = 1, **more: Any) -> dict[str, Any]:
    """Return a marker with a rim in the paper's colour, so that overlapping marks stay distinct."""
    return {"color": color, "size": size, "line": {"color": theme.paper, "width": rim}, **more}


def hollow(color: str, size: float, width: float, symbol: str = "circle-open", **more: Any) -> dict[str, Any]:
    """Return a marker that is a line of this width: a ring, or another open symbol."""
    return {"symbol": symbol, "size": size, "color": color, "line": {"color": color, "width": width}, **more}


def error_bars(
    value: Any, lower: Any, upper: Any, color: str, thickness: float, width: float = 0
) -> dict[str, Any]:
    """Return error bars from values to the ends of their intervals; ``width`` is that of the end strokes."""
    value, lower, upper = (
        np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (value, lower, upper)
    )
    ends = {"array": upper - value, "arrayminus": value - lower}
    return {
        "type": "data",
        "symmetric": False,
        **ends,
        "color": color,
        "thickness": thickness,
        "width": width,
    }


def vertical_line(at: float, x: str, y: str, **line: Any) -> dict[str, Any]:
    """Return a shape: a line through the whole height of a panel at a value of its x axis."""
    ends = {"x0": at, "x1": at, "xref": x, "y0": 0, "y1": 1, "yref": f"{y} domain"}
    return {"type": "line", **ends, "line": line}


def lanes(names: Sequence[str]) -> dict[str, Any]:
    """Return the axis of lanes at 0, 1, …, the first at the top.

    >>> lanes(["a", "b"])["range"]
    [1.6, -0.6]
    """
    return {
        "range": [len(names) - 0.4, -0.6],
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
        "ticks": "",
        "showgrid": False,
        "automargin": True,
    }
