"""Shares by two methods, a line each; the line for comparison is grey and dashed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from calib.figures.axes import percent_ticks
from calib.figures.panels import axes
from calib.figures.theme import Theme

SHARE_AXIS = {"range": [-0.03, 1.03], **percent_ticks([0, 0.25, 0.5, 0.75, 1])}
"""Axis of shares from 0 to 1."""


def share_lines(
    panel: int,
    places: Any,
    shares: Mapping[str, Any],
    names: Mapping[str, str],
    compared: str,
    theme: Theme,
    *,
    hover: str,
    size: int = 6,
) -> list[go.Scatter]:
    """Draw a line per method in a panel of ``panels``; the first panel names them.

    Parameters
    ----------
    places : (m,)
        Positions on the x axis.
    shares
        Method → (m,).
    names
        Method → its name, in the order of the lines.
    compared
        Method that the others are compared with.
    hover
        Name of a position.
    size
        Pixels of the marks; 0 for none, where many of them would hide the dashes.
    """
    x, y = axes(panel)
    return [
        go.Scatter(
            x=places,
            y=shares[method],
            xaxis=x,
            yaxis=y,
            mode="lines+markers" if size else "lines",
            name=name,
            legendgroup=method,
            showlegend=panel == 0,
            line={
                "color": theme.muted if method == compared else theme.ink,
                "width": 2.4,
                "dash": "dash" if method == compared else "solid",
            },
            marker={"size": size, "symbol": "diamond" if method == compared else "circle"},
            hovertemplate=f"{hover}: %{{y:.1%}}",
        )
        for method, name in names.items()
    ]
