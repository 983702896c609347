"""Draw a Plotly figure of lines, marks and shaded areas in a matplotlib axis.

matplotlib is optional; without it, the call is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from importlib import import_module
from typing import Any

import numpy as np
import plotly.graph_objects as go

from calib.figures import Theme
from calib.kernel.checks import InputError

POINTS_PER_PIXEL = 0.75  # points per pixel of the Plotly figure
INCHES = 5  # side of a new figure
DASH_STYLES: dict[str | None, Any] = {
    "solid": "-",
    "dot": ":",
    "dash": "--",
    "dashdot": "-.",
    "longdash": (0, (8, 3)),
    "longdashdot": (0, (8, 3, 1, 3)),
}
SYMBOLS: dict[str | None, Any] = {
    "square": "s",
    "diamond": "D",
    "diamond-wide": "d",
    "triangle-up": "^",
    "triangle-down": "v",
    "triangle-left": "<",
    "triangle-right": ">",
    "pentagon": "p",
    "hexagon": "h",
    "star": "*",
    "cross": "P",
    "x": "X",
    "star-square": (4, 1, 45),
    "star-diamond": (4, 1, 0),
    "bowtie": (3, 1, 90),
    "square-x": (8, 1, 0),
}
"""Plotly's symbol → matplotlib's; any other symbol becomes a circle."""
STAR = 1.5  # Plotly draws stars so many times as wide as matplotlib


def axis_of(ax: Any) -> Any:
    """Return the given matplotlib axis, or that of a new figure if it is None.

    Raises
    ------
    InputError
        If ``ax`` is not an axis, or matplotlib is not installed.
    """
    try:
        axes = import_module("matplotlib.axes")
    except ImportError:
        raise InputError(
            'plot() needs matplotlib, which is not installed. Install matplotlib, or use .figure("reliability").'
        ) from None
    if ax is None:
        pyplot = import_module("matplotlib.pyplot")
        return pyplot.subplots(figsize=(INCHES, INCHES), layout="constrained")[1]
    if not isinstance(ax, axes.Axes):
        raise InputError(f"ax must be a matplotlib Axes, but its type is {type(ax).__name__}.")
    return ax


def draw_on(ax: Any, figure: go.Figure, theme: Theme) -> None:
    """Draw the first pair of axes of a figure: its traces, ranges, ticks, labels and notes.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    figure
        Scatter traces. Names beside the lines become a legend, because the size of the axis may change.
    """
    named = []
    for trace in figure.data:
        if trace.yaxis not in (None, "y") or trace.visible == "legendonly":
            continue
        if trace.name and trace.showlegend is not False:
            named.append(trace)
        elif trace.fill == "toself" and len(trace.x):
            _shade(ax, trace)
        elif trace.mode != "lines+text":
            _lines_and_marks(ax, trace)
    _frame(ax, figure.layout, theme)
    if len(named) > 1:
        names = [_plain(trace.name) for trace in named]
        ax.legend([_sample(trace) for trace in named], names, loc="upper left", frameon=False)


def _lines_and_marks(ax: Any, trace: go.Scatter) -> None:
    x, y = (np.asarray(each, dtype=np.float64) for each in (trace.x, trace.y))
    if "lines" in trace.mode:
        ax.plot(x, y, **_line(trace))
    if "markers" in trace.mode:
        for symbol, which in _by_symbol(trace, len(x)):
            ax.scatter(x[which], y[which], **_marker(trace.marker, symbol, which), clip_on=False, zorder=3)
    for text, at in zip(trace.text or (), zip(x, y, strict=True), strict=False):
        ax.annotate(
            text,
            at,
            (0, 5),
            textcoords="offset points",
            ha="center",
            size=POINTS_PER_PIXEL * trace.textfont.size,
            color=trace.textfont.color,
        )


def _by_symbol(trace: go.Scatter, n: int) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield each symbol with the positions of its marks; matplotlib draws one symbol per call."""
    symbols = trace.marker.symbol
    each = np.array([symbols] * n if symbols is None or isinstance(symbols, str) else symbols, dtype=object)
    for symbol in dict.fromkeys(each.tolist()):
        yield SYMBOLS.get(symbol, "o"), np.flatnonzero(each == symbol)


def _marker(marker: Any, symbol: Any, which: np.ndarray) -> dict[str, Any]:
    """Return the style of the marks at these positions; matplotlib measures size as an area."""
    size = marker.size if np.ndim(marker.size) == 0 else np.asarray(marker.size)[which]
    rim = {
        "linewidths": POINTS_PER_PIXEL * (marker.line.width or 0),
        "edgecolors": marker.line.color or "none",
    }
    wide = STAR if symbol == "*" or isinstance(symbol, tuple) else 1
    return {
        "s": (POINTS_PER_PIXEL * wide * size) ** 2,
        "marker": symbol,
        "c": [_ink(marker.color, marker.opacity)],
        **rim,
    }


def _line(trace: go.Scatter) -> dict[str, Any]:
    line = trace.line
    return {
        "color": _ink(line.color),
        "linewidth": POINTS_PER_PIXEL * line.width,
        "linestyle": DASH_STYLES.get(line.dash, "-"),
    }


def _shade(ax: Any, trace: go.Scatter) -> None:
    """Fill areas; missing numbers separate their outlines."""
    x, y = (np.asarray(each, dtype=np.float64) for each in (trace.x, trace.y))
    for outline in np.split(np.column_stack([x, y]), np.flatnonzero(np.isnan(x))):
        points = outline[np.isfinite(outline).all(axis=1)]
        ax.fill(*points.T, facecolor=_ink(trace.fillcolor), edgecolor="none")


def _sample(trace: go.Scatter) -> Any:
    """Return the legend's sample of a line with its mark."""
    marker = trace.marker
    return import_module("matplotlib.lines").Line2D(
        [],
        [],
        **_line(trace),
        marker=SYMBOLS.get(marker.symbol, "o"),
        markersize=POINTS_PER_PIXEL * marker.size,
    )


def _frame(ax: Any, layout: go.Layout, theme: Theme) -> None:
    for name, axis in (("x", layout.xaxis), ("y", layout.yaxis)):
        texts = {} if axis.ticktext is None else {"labels": list(axis.ticktext)}
        ax.set(**{f"{name}lim": axis.range, f"{name}label": axis.title.text})
        getattr(ax, f"set_{name}ticks")(list(axis.tickvals), **texts)
    ax.set_aspect("equal")
    for note in layout.annotations:
        text = note.text.replace("<br>", "\n")
        ax.text(
            note.x,
            note.y,
            text,
            transform=ax.transAxes,
            ha="right",
            va="bottom",
            color=theme.muted,
            size="small",
        )


def _plain(name: str) -> str:
    """Return a name that matplotlib shows literally: no markup, no formula, no leading underscore (which hides it).

    >>> _plain("_a &lt; $b$")
    '\\u200b_a < \\\\$b\\\\$'
    """
    text = unescape(name).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


def _ink(color: str, opacity: float | None = None) -> tuple[float, ...]:
    """Return red, green, blue and opacity, each from 0 to 1.

    >>> _ink("#FF0000", 0.5), _ink("rgba(0, 51, 255, 0.2)")
    ((1.0, 0.0, 0.0, 0.5), (0.0, 0.2, 1.0, 0.2))
    """
    if color.startswith("rgba("):
        *parts, alpha = map(float, color.removeprefix("rgba(").removesuffix(")").split(","))
        return (*(part / 255 for part in parts), alpha)
    parts = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    return (*(part / 255 for part in parts), 1.0 if opacity is None else opacity)
