"""Pictures of many lines: a few are coloured, and the others are grey until a reader selects them.

Names are written beside lines, where a line is alone and a name covers no other name, line or mark. Positions are
fractions of the plot's width and height, with space for the largest type in which the figure is shown: with smaller
type, or in a larger plot, the same names have more space. A name without space appears in the legend only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from calib.figures.theme import Theme, rgba
from calib.kernel.checks import Array

COLOURED = 2  # the uncalibrated model and the calibrator in question
MOST_COLOURED = COLOURED  # up to this number, all lines are coloured
GREY_ORDER = -1  # draws grey lines below all others
THREE = 3  # coloured lines on Learn pages with questions about three lines
GREY = " Click a name in the legend to colour or grey its line."


def in_colour(named: Iterable[str], all_: Iterable[str], most: int = COLOURED) -> tuple[str, ...]:
    """Choose the coloured lines: those named in the headline, then the first others, up to ``most``.

    >>> in_colour(["none", "beta"], ["none", "platt", "isotonic", "beta"])
    ('none', 'beta')
    """
    return tuple(dict.fromkeys([*named, *all_]))[:most]


def grey_lines_note(lines: Sized) -> str:
    """Return a caption's sentence on how to show grey lines, or "" if there are none."""
    return GREY if len(lines) > MOST_COLOURED else ""


def mute(figure: go.Figure, coloured: Collection[str], theme: Theme) -> go.Figure:
    """Draw all but these legend groups in grey, if there are more than MOST_COLOURED.

    A grey line lies below the others, in no group, so that a click in the legend shows its own above it. A single line
    has no legend, because title and axes name it.
    """
    return muted([trace.to_plotly_json() for trace in figure.data], figure.layout, coloured, theme)


def muted(traces: list[dict[str, Any]], layout: Any, coloured: Collection[str], theme: Theme) -> go.Figure:
    """Return the figure of traces and a layout in Plotly's JSON, as ``mute`` draws it.

    Nothing is validated, and traces are changed as dictionaries: Plotly's objects take several times as long.
    """
    shown = [trace for trace in traces if trace.get("legendgroup") and trace.get("visible") != "legendonly"]
    if len({trace["legendgroup"] for trace in shown}) > MOST_COLOURED:
        hidden = [trace for trace in shown if trace["legendgroup"] not in coloured]
        traces = [*traces, *(_grey(trace, theme) for trace in hidden if _is_line(trace))]
        for trace in hidden:
            trace["visible"] = "legendonly"
    figure = go.Figure(traces, layout, _validate=False)
    if sum(trace.get("showlegend") is not False and bool(trace.get("name")) for trace in traces) == 1:
        figure.update_layout(showlegend=False)
    return figure


def recolour(figure: go.Figure, coloured: Collection[str], theme: Theme) -> go.Figure:
    """Change the coloured lines of a figure that ``mute`` has drawn.

    Parameters
    ----------
    coloured
        Their legend groups; groups that the figure does not have are ignored.
    """
    traces = [trace.to_plotly_json() for trace in figure.data if getattr(trace, "zorder", None) != GREY_ORDER]
    for trace in traces:
        if trace.get("legendgroup") and trace.get("visible") == "legendonly":
            trace["visible"] = True
    return _in_sight(muted(traces, figure.layout, coloured, theme))


def _in_sight(figure: go.Figure) -> go.Figure:
    """Extend a vertical axis to the end of a coloured line that is wholly above or below it."""
    for trace in figure.data:
        axis = figure.layout[f"yaxis{(trace.yaxis or 'y')[1:]}"]
        coloured = trace.legendgroup and trace.visible is True and _is_line(trace.to_plotly_json())
        if not (coloured and axis.range) or axis.type == "log":
            continue
        (low, high), y = axis.range, np.asarray(trace.y, dtype=np.float64)
        if (y > high).all() or (y < low).all():
            axis.range = [min(low, y[-1]), max(high, 1.02 * y[-1])]
    return figure


def lines_of(figure: Mapping[str, Any]) -> dict[str, tuple[str, bool]]:
    """Return the lines that a reader can select: legend group → (its name, whether it is coloured).

    The mapping is empty unless some lines are grey.

    Parameters
    ----------
    figure
        A figure as ``Figure.to_dict`` returns.
    """
    if not any(trace.get("zorder") == GREY_ORDER for trace in figure["data"]):
        return {}
    return {
        trace["legendgroup"]: (unescape(trace["name"]), trace.get("visible") != "legendonly")
        for trace in figure["data"]
        if trace.get("legendgroup") and trace.get("name") and trace.get("showlegend") is not False
    }


def without_grey_names(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figure whose legend names only the lines in colour, where the page lists the others below it.

    Parameters
    ----------
    figure
        As ``Figure.to_dict`` gives it.
    """
    data = [
        trace | {"showlegend": False} if trace.get("visible") == "legendonly" else trace
        for trace in figure["data"]
    ]
    return {**figure, "data": data}


def _is_line(trace: dict[str, Any]) -> bool:
    lines = bool(trace.get("name")) and "lines" in (trace.get("mode") or "")
    return lines and trace.get("fill") is None and len(trace["x"]) > 1


def _grey(trace: dict[str, Any], theme: Theme) -> dict[str, Any]:
    line = trace.get("line", {}) | {"color": rgba(theme.diagonal, 0.6), "width": 1.2}
    grey = trace | {"mode": "lines", "line": line, "showlegend": False, "visible": True, "zorder": GREY_ORDER}
    # Only coloured lines carry the data that a click selects
    without = ("legendgroup", *(("customdata", "hovertemplate") if "customdata" in trace else ()))
    return {name: value for name, value in grey.items() if name not in without}


# Fractions of the plot's sides: a letter in the largest type (24 pixels on a projector, 12 on a phone), and a line
LETTER_SHARE, LINE_SHARE = 0.026, 0.07
ALONG = 60  # candidate points along a line
STARTS = 3  # a stroke can begin at every third point
REACH = (0.04, 0.08, 0.14)  # distances from a line to its name
TURNS = np.deg2rad([-150, -120, -60, -30, 30, 60, 120, 150, 0, 180])
FARTHEST_LINE = 0.12  # lines farther away than this do not matter


@dataclass(frozen=True)
class Label:
    """A name beside its line, in fractions of the plot's sides.

    Attributes
    ----------
    start, end
        Ends of the stroke from the line to the name, (x, y).
    left
        Whether the name ends at the stroke; else it begins there.
    box
        (x0, y0, x1, y1) of the name.
    """

    start: tuple[float, float]
    end: tuple[float, float]
    left: bool
    box: tuple[float, float, float, float]


def place_labels(
    lines: Mapping[str, Array], names: Mapping[str, str], marks: Sequence[Array] = ()
) -> dict[str, Label]:
    """Return the labels of the lines that have space for one; the first lines have priority.

    Parameters
    ----------
    lines
        (k, 2) points of each line, in [0, 1]; points with NaN are left out.
    names
        The name of each line.
    marks
        Further points (m, 2) that no name may cover.
    """
    paths = {key: _evenly_spaced(points) for key, points in lines.items()}
    taken = np.vstack([*paths.values(), *marks, np.empty((0, 2))])
    placed: dict[str, Label] = {}
    for key, path in paths.items():
        others = np.vstack([np.empty((0, 2)), *(paths[other] for other in paths if other != key)])
        found = _best(
            path, others, taken, len(names[key]) * LETTER_SHARE, [label.box for label in placed.values()]
        )
        if found is not None:
            placed[key] = found
    return placed


def _evenly_spaced(points: Array) -> Array:
    """Return (ALONG, 2) points at equal distances along a line, or none."""
    known = np.asarray(points, dtype=np.float64)
    known = known[np.isfinite(known).all(axis=1)]
    if len(known) < 2:
        return known
    way = np.r_[0.0, np.cumsum(np.hypot(*np.diff(known, axis=0).T))]
    at = np.linspace(0, way[-1], ALONG)
    return np.column_stack([np.interp(at, way, side) for side in known.T])


def _best(
    path: Array, others: Array, taken: Array, width: float, boxes: Sequence[tuple[float, ...]]
) -> Label | None:
    """Find the place around a line with a short stroke, far from other lines, that covers nothing."""
    starts = path[::STARTS]
    steps = np.array([(r * np.cos(t), r * np.sin(t)) for t in TURNS for r in REACH])
    start = np.repeat(starts, len(steps), axis=0)
    end = start + np.tile(steps, (len(starts), 1))
    left = end[:, 0] < start[:, 0]
    low = np.where(left, end[:, 0] - width, end[:, 0])
    box = np.column_stack([low, end[:, 1] - LINE_SHARE / 2, low + width, end[:, 1] + LINE_SHARE / 2])
    free = (box.min(axis=1) >= 0) & (box.max(axis=1) <= 1)
    for x0, y0, x1, y1 in boxes:
        free &= (box[:, 2] < x0) | (box[:, 0] > x1) | (box[:, 3] < y0) | (box[:, 1] > y1)
    x, y = taken.T[:, None, :]
    free &= ~((x > box[:, :1]) & (x < box[:, 2:3]) & (y > box[:, 1:2]) & (y < box[:, 3:])).any(axis=1)
    if not free.any():
        return None
    alone = np.minimum(np.repeat(_distance(starts, others), len(steps)), FARTHEST_LINE)
    start, end, left, box, alone = (each[free] for each in (start, end, left, box, alone))
    crossed = sum(_distance(start + part * (end - start), others) < 0.02 for part in (0.5, 1))
    cost = np.hypot(*(end - start).T) - 3 * alone + 0.2 * crossed
    i = int(np.argmin(cost))
    return Label(tuple(start[i]), tuple(end[i]), bool(left[i]), tuple(box[i]))


def _distance(points: Array, others: Array) -> Array:
    """Return (k,) distances of each point to the nearest of the others, or 1 without others."""
    if not len(others):
        return np.ones(len(points))
    x, y = points.T[:, :, None] - others.T[:, None, :]
    return np.sqrt((x * x + y * y).min(axis=1))
