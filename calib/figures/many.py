"""Pictures of many lines: a few are in colour, the others are grey until a reader asks for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sized
from html import unescape
from typing import Any

import plotly.graph_objects as go

from calib.figures.theme import Theme, rgba

COLOURED = 2  # the uncalibrated model and the calibrator in question
MOST = COLOURED  # lines of which all are in colour
GREY_ORDER = -1  # below all other lines
THREE = 3  # on Learn pages with questions about three lines
GREY = " Click a name in the legend to colour or grey its line."


def in_colour(named: Iterable[str], all_: Iterable[str], most: int = COLOURED) -> tuple[str, ...]:
    """Choose the coloured lines: those that a headline names, then the first others, up to ``most``.

    >>> in_colour(["none", "beta"], ["none", "platt", "isotonic", "beta"])
    ('none', 'beta')
    """
    return tuple(dict.fromkeys([*named, *all_]))[:most]


def asked(lines: Sized) -> str:
    """How grey lines are asked for, where there are any."""
    return GREY if len(lines) > MOST else ""


def mute(figure: go.Figure, coloured: Collection[str], theme: Theme) -> go.Figure:
    """The figure with all but these legend groups in grey, where more than MOST of them are drawn.

    A grey line lies below the others, in no group, so that a click in the legend shows its own above it. The only line
    has no legend, since title and axes say what it is.
    """
    if sum(trace.showlegend is not False and bool(trace.name) for trace in figure.data) == 1:
        figure.update_layout(showlegend=False)
    shown = [trace for trace in figure.data if trace.legendgroup and trace.visible != "legendonly"]
    if len({trace.legendgroup for trace in shown}) <= MOST:
        return figure
    hidden = [trace for trace in shown if trace.legendgroup not in coloured]
    figure.add_traces([_grey(trace, theme) for trace in hidden if _is_line(trace)])
    for trace in hidden:
        trace.visible = "legendonly"
    return figure


def recoloured(figure: go.Figure, coloured: Collection[str], theme: Theme) -> go.Figure:
    """Draw a figure that ``mute`` has drawn with other lines in colour.

    Parameters
    ----------
    coloured
        Their legend groups; groups that the figure does not have are ignored.
    """
    figure.data = [trace for trace in figure.data if getattr(trace, "zorder", None) != GREY_ORDER]
    for trace in figure.data:
        if trace.legendgroup and trace.visible == "legendonly":
            trace.visible = True
    return mute(figure, coloured, theme)


def lines_of(figure: Mapping[str, Any]) -> dict[str, tuple[str, bool]]:
    """Tell which lines a reader can ask for: legend group → its name, and whether it is in colour.

    Empty unless some lines are grey.

    Parameters
    ----------
    figure
        As ``Figure.to_dict`` gives it.
    """
    if not any(trace.get("zorder") == GREY_ORDER for trace in figure["data"]):
        return {}
    return {
        trace["legendgroup"]: (unescape(trace["name"]), trace.get("visible") != "legendonly")
        for trace in figure["data"]
        if trace.get("legendgroup") and trace.get("name") and trace.get("showlegend") is not False
    }


def _is_line(trace: go.Scatter) -> bool:
    return bool(trace.name) and "lines" in (trace.mode or "") and trace.fill is None and len(trace.x) > 1


def _grey(trace: go.Scatter, theme: Theme) -> go.Scatter:
    line = {"color": rgba(theme.diagonal, 0.6), "width": 1.2, "dash": trace.line.dash}
    grey = go.Scatter(trace).update(
        mode="lines", line=line, legendgroup=None, showlegend=False, visible=True, zorder=GREY_ORDER
    )
    # What a click would select is only on lines in colour
    return grey if trace.customdata is None else grey.update(customdata=None, hovertemplate=None)
