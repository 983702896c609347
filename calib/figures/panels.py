"""Small panels with common axes, for comparison on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from calib.figures.theme import Theme, layout, rgba
from calib.kernel.checks import Array

NAME_LINE = 18  # pixels per line of a panel's name
AXIS_NUMBERS = 24  # pixels of the numbers along the axis of a large panel


def panels(
    theme: Theme,
    titles: Sequence[tuple[str, ...]],
    columns: int,
    *,
    height: int,
    between: int = 14,
    lead: tuple[tuple[str, ...], int] | None = None,
    xaxis: Mapping[str, Any],
    yaxis: Mapping[str, Any],
    **changes: Any,
) -> go.Figure:
    """Return an empty figure of ``len(titles)`` panels, row by row; panel i has the axes ``axes(i)``.

    Parameters
    ----------
    titles
        The lines of each panel's name, the first bold.
    xaxis, yaxis
        Settings of every panel; only the panels at the left and at the bottom have titles and tick labels.
    height
        Height of one panel, in pixels.
    between
        Pixels from a panel to the name of the one below.
    lead
        Name and height of a large panel above the others; its axes follow theirs.
    """
    rows = -(-len(titles) // columns)
    above = NAME_LINE * max(map(len, titles)) + 4
    margin = {"l": 60, "r": 12, "t": above, "b": 96}
    grid = rows * height + (rows - 1) * (above + between)
    inner = grid + (lead[1] + above + between + AXIS_NUMBERS if lead else 0)
    gap_x, gap_y = 0.05, (above + between) / inner
    legend = {"legend": {"y": -56 / inner}}
    figure = go.Figure(
        layout=layout(theme, height=inner + above + margin["b"], margin=margin, **legend | changes)
    )
    for i, (name, *more) in enumerate(titles):
        row, column = divmod(i, columns)
        width, tall = (1 - gap_x * (columns - 1)) / columns, height / inner
        left, top = column * (width + gap_x), grid / inner - row * (tall + gap_y)
        x, y = axes(i)
        lowest = i + columns >= len(titles)
        placed_x = {"domain": [left, left + width], "anchor": y, "showticklabels": lowest}
        placed_y = {"domain": [max(0.0, top - tall), top], "anchor": x, "showticklabels": column == 0}
        set_axes(
            figure,
            i,
            x=dict(xaxis) | placed_x | ({} if lowest else {"title": None}),
            y=dict(yaxis) | placed_y | ({"title": None} if column else {}),
        )
        _call(figure, (name, *more), left, top, theme)
    if lead:
        figure.update_yaxes(title=None, nticks=3)  # the large panel has the titles
        x, y = axes(len(titles))
        placed_y = {"domain": [1 - lead[1] / inner, 1], "anchor": x}
        set_axes(figure, len(titles), x=dict(xaxis) | {"anchor": y, "title": None}, y=dict(yaxis) | placed_y)
        _call(figure, lead[0], 0, 1, theme)
    return figure


def _call(figure: go.Figure, lines: tuple[str, ...], left: float, top: float, theme: Theme) -> None:
    """Write a panel's name above its upper left corner, even if the panel is empty, where ``heading`` is not drawn."""
    name, *more = lines
    figure.add_annotation(
        text="<br>".join([f"<b>{name}</b>", *more]),
        align="left",
        x=left,
        y=top,
        xref="paper",
        yref="paper",
        xanchor="left",
        yanchor="bottom",
        showarrow=False,
        font={"size": 12, "color": theme.ink},
    )


def axes(i: int) -> tuple[str, str]:
    """Return the names of panel i's axes in traces.

    >>> axes(0), axes(1)
    (('x', 'y'), ('x2', 'y2'))
    """
    suffix = "" if i == 0 else str(i + 1)
    return f"x{suffix}", f"y{suffix}"


def set_axes(
    figure: go.Figure, i: int, x: Mapping[str, Any] | None = None, y: Mapping[str, Any] | None = None
) -> tuple[str, str]:
    """Change settings of panel i's axes, and return the names of the axes in traces."""
    on = axes(i)
    for name, settings in zip(on, (x, y), strict=True):
        figure.update_layout({f"{name[0]}axis{name[1:]}": settings or {}})
    return on


def heading(name: str, yref: str, xref: str | None = None, after: str = "") -> dict[str, Any]:
    """Return the name of a plot above its upper left corner as an annotation; ``xref`` names a shared x axis.

    >>> heading("Losses", "y2", after=": left is better")["text"]
    '<b>Losses</b>: left is better'
    """
    return {
        "text": f"<b>{name}</b>{after}",
        "x": 0,
        "xref": f"{xref or yref.replace('y', 'x')} domain",
        "xanchor": "left",
        "y": 1,
        "yref": f"{yref} domain",
        "yanchor": "bottom",
        "showarrow": False,
    }


def band(x: Array, low: Array, high: Array, color: str, **changes) -> go.Scatter:
    """Draw a translucent band between two curves."""
    return go.Scatter(
        x=[*x, *x[::-1]],
        y=[*high, *low[::-1]],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=rgba(color, 0.16),
        hoverinfo="skip",
        showlegend=False,
        **changes,
    )
