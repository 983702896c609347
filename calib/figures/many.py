"""Pictures of many lines: a few are in colour, the others are grey until their names in the legend are clicked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sized

import plotly.graph_objects as go

from calib.figures.theme import Theme, rgba

COLOURED = 2  # the uncalibrated model and the calibrator in question
MOST = COLOURED  # lines of which all are in colour
GREY_ORDER = -1  # below all other lines
THREE = 3  # on Learn pages with questions about three lines
GREY = " Click a name in the legend to colour its thin grey line."


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

    A grey line lies below the others, in no group, so that a click in the legend shows its own above it.
    """
    shown = [trace for trace in figure.data if trace.legendgroup and trace.visible != "legendonly"]
    if len({trace.legendgroup for trace in shown}) <= MOST:
        return figure
    hidden = [trace for trace in shown if trace.legendgroup not in coloured]
    figure.add_traces([_grey(trace, theme) for trace in hidden if _is_line(trace)])
    for trace in hidden:
        trace.visible = "legendonly"
    return figure


def all_in_colour(figure: go.Figure) -> go.Figure:
    """The figure with the colours of all lines that ``mute`` has made grey."""
    grey = {trace.name for trace in figure.data if getattr(trace, "zorder", None) == GREY_ORDER}
    groups = {trace.legendgroup for trace in figure.data if trace.legendgroup and trace.name in grey}
    for trace in figure.data:
        if trace.legendgroup in groups:
            trace.visible = True
    return figure.update_traces(visible=False, selector={"zorder": GREY_ORDER})


def _is_line(trace: go.Scatter) -> bool:
    return bool(trace.name) and "lines" in (trace.mode or "") and trace.fill is None and len(trace.x) > 1


def _grey(trace: go.Scatter, theme: Theme) -> go.Scatter:
    line = {"color": rgba(theme.diagonal, 0.6), "width": 1.2, "dash": trace.line.dash}
    grey = go.Scatter(trace).update(
        mode="lines", line=line, legendgroup=None, showlegend=False, visible=True, zorder=GREY_ORDER
    )
    # What a click would select is only on lines in colour
    return grey if trace.customdata is None else grey.update(customdata=None, hovertemplate=None)
