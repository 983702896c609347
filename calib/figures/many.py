"""Pictures of many lines: a few are coloured, and the others are grey until a reader selects them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sized
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from calib.figures.theme import Theme, rgba

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
    if sum(trace.showlegend is not False and bool(trace.name) for trace in figure.data) == 1:
        figure.update_layout(showlegend=False)
    shown = [trace for trace in figure.data if trace.legendgroup and trace.visible != "legendonly"]
    if len({trace.legendgroup for trace in shown}) <= MOST_COLOURED:
        return figure
    hidden = [trace for trace in shown if trace.legendgroup not in coloured]
    figure.add_traces([_grey(trace, theme) for trace in hidden if _is_line(trace)])
    for trace in hidden:
        trace.visible = "legendonly"
    return figure


def recolour(figure: go.Figure, coloured: Collection[str], theme: Theme) -> go.Figure:
    """Change the coloured lines of a figure that ``mute`` has drawn.

    Parameters
    ----------
    coloured
        Their legend groups; groups that the figure does not have are ignored.
    """
    figure.data = [trace for trace in figure.data if getattr(trace, "zorder", None) != GREY_ORDER]
    for trace in figure.data:
        if trace.legendgroup and trace.visible == "legendonly":
            trace.visible = True
    return _in_sight(mute(figure, coloured, theme))


def _in_sight(figure: go.Figure) -> go.Figure:
    """Extend a vertical axis to the end of a coloured line that is wholly above or below it."""
    for trace in figure.data:
        axis = figure.layout[f"yaxis{(trace.yaxis or 'y')[1:]}"]
        coloured = _is_line(trace) and trace.legendgroup and trace.visible is True
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


def _is_line(trace: go.Scatter) -> bool:
    return bool(trace.name) and "lines" in (trace.mode or "") and trace.fill is None and len(trace.x) > 1


def _grey(trace: go.Scatter, theme: Theme) -> go.Scatter:
    line = {"color": rgba(theme.diagonal, 0.6), "width": 1.2, "dash": trace.line.dash}
    grey = go.Scatter(trace).update(
        mode="lines", line=line, legendgroup=None, showlegend=False, visible=True, zorder=GREY_ORDER
    )
    # Only coloured lines carry the data that a click selects
    return grey if trace.customdata is None else grey.update(customdata=None, hovertemplate=None)
