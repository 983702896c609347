"""Errors along one setting, with one panel per model, one line per quantity, and a ring at its lowest value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.shared.findings import Finding
from calib.experiments.shared.gaussian_plane import SettingCurve
from calib.figures.axes import two_line_ticks
from calib.figures.panels import panels, set_axes
from calib.figures.theme import LIGHT, Theme, hollow, vertical_line
from calib.kernel.checks import Array
from calib.kernel.wording import number

LINE_STYLES = (
    ("solid", "circle", 2.4),
    ("dash", "square", 2.4),
    ("dot", "diamond", 2.4),
    ("dashdot", "diamond-open", 1.4),
)
"""Dash, marker and width of the first quantity, the second, …"""

PanelCurves = Mapping[str, Mapping[str, Array]]


@dataclass(frozen=True, eq=False)
class Lines(Finding):
    """Quantities of several models along one setting.

    Attributes
    ----------
    shown
        Model → quantity → (k,), one panel per model and one line per quantity.
    names
        Names of the k values.
    axis
        Name of the setting.
    own
        Index of the value chosen on the page.
    ringed
        Quantities with a ring at their lowest value: "first", "all" or "none".
    """

    shown: PanelCurves
    names: list[str]
    axis: str
    own: int | None
    ringed: str

    @property
    def columns(self) -> int:
        return len(self.shown)


def forest_of(found: SettingCurve) -> str:
    """Return the name of the forest's panel."""
    return f"Forest of {found.settings['trees']}"


def curve_panels(
    found: SettingCurve, shown: PanelCurves, axis: str, title: str, caption: str, ringed: str = "first"
) -> Lines:
    """Make the record of these panels, in the order of the values of ``found``."""
    names = ["no limit" if value is None else f"{value:,}" for value in found.values]
    return Lines(
        title=title,
        caption=f"{caption} The dotted line marks the current setting."
        + (" Each panel has its own scale." if len(shown) > 1 else ""),
        alt=" ".join(_in_words(model, curves, names) for model, curves in shown.items()),
        table=pd.concat(
            [
                pd.DataFrame({"model": model, axis.lower(): names} | dict(curves))
                for model, curves in shown.items()
            ],
            ignore_index=True,
        ),
        answer=None,
        shown=shown,
        names=names,
        axis=axis,
        own=found.values.index(found.own) if found.own in found.values else None,
        ringed=ringed,
    )


def _in_words(model: str, curves: Mapping[str, Array], names: list[str]) -> str:
    listed = "; ".join(
        f"{quantity} " + ", ".join(f"{number(y)} at {name}" for name, y in zip(names, values, strict=True))
        for quantity, values in curves.items()
    )
    return f"{model}: {listed}."


def panels_of(record: Lines) -> list[Lines]:
    """Split a record into one record per panel."""
    return [
        replace(record, shown={model: curves}, alt=_in_words(model, curves, record.names))
        for model, curves in record.shown.items()
    ]


def draw(record: Lines, theme: Theme = LIGHT) -> go.Figure:
    """Draw the values at equal distances; every panel has its own scale."""
    k = len(record.names)
    figure = panels(
        theme,
        [(model,) for model in record.shown],
        record.columns,
        height=280,
        xaxis={
            "title": {"text": record.axis},
            "range": [-0.5, k - 0.5],
            **two_line_ticks(range(k), record.names),
            "showgrid": False,
        },
        yaxis={"title": {"text": "TCE"}, "nticks": 6},
        legend={"y": -0.3},
        hovermode="x unified",
    )
    for i, curves in enumerate(record.shown.values()):
        top = 1.08 * max(float(values.max()) for values in curves.values())
        x, y = set_axes(figure, i, y={"range": [0, top], "showticklabels": True})
        if record.own is not None:
            own = vertical_line(record.own, x, y, color=theme.diagonal, width=1.2, dash="dot")
            figure.add_shape(own, layer="below")
        for j, (quantity, values) in enumerate(curves.items()):
            color, on = _ink(quantity, j, theme), {"xaxis": x, "yaxis": y}
            figure.add_trace(_line(quantity, values, color, *LINE_STYLES[j]).update(on, showlegend=i == 0))
            if record.ringed == "all" or (record.ringed == "first" and j == 0):
                figure.add_trace(_least(values, color).update(on, showlegend=i == 0 and j == 0))
    return figure


def _line(quantity: str, values: Array, color: str, dash: str, symbol: str, width: float) -> go.Scatter:
    return go.Scatter(
        x=list(range(len(values))),
        y=values,
        mode="lines+markers",
        name=quantity,
        legendgroup=quantity,
        line={"color": color, "width": width, "dash": dash},
        marker={"color": color, "symbol": symbol, "size": 6},
        hovertemplate="%{y:.4f}",
    )


def _least(values: Array, color: str) -> go.Scatter:
    """Draw a ring around the lowest value of a quantity."""
    return go.Scatter(
        x=[int(np.argmin(values))],
        y=[values.min()],
        mode="markers",
        name="least",
        legendgroup="least",
        hoverinfo="skip",
        marker=hollow(color, 15, 2.5),
    )


def _ink(quantity: str, place: int, theme: Theme) -> str:
    """Return the colour of a loss; other lines have the text colour and differ by dash and marker."""
    losses = {"CL": theme.calibration, "GL": theme.grouping}
    return losses.get(quantity[:2]) or (theme.muted if place else theme.ink)


CURVES_BY_SETTING = draw, panels_of
