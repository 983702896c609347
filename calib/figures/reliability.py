"""The reliability diagram: observed frequency against mean prediction, bin by bin, over a histogram of predictions.

Murphy & Winkler 1977; bands: Wilson's interval for the observed frequency ("confidence"), and the range in which a
calibrated forecast's frequency would fall ("consistency", Bröcker & Smith 2007).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.curves import BinnedCurve, binned_curve
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, label_of
from calib.figures.theme import LIGHT, MARKS, Theme, layout, number, rgba

FEW = 10  # a bin with fewer rows says little: it is drawn faint


@dataclass(frozen=True, eq=False)
class Reliability:
    """Curves by calibrator, and the words around them."""

    curves: Mapping[str, BinnedCurve]
    band: str
    title: str
    caption: str
    alt: str

    def to_frame(self) -> pd.DataFrame:
        """One row a calibrator and bin."""
        frames = [curve.to_frame().assign(calibrator=key) for key, curve in self.curves.items()]
        table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame({"calibrator": []})
        return table[["calibrator", *(name for name in table.columns if name != "calibrator")]]


def prepare(evaluation: Evaluation, calibrators: Sequence[str] | None = None) -> Reliability:
    """The curves of these calibrators (all of the evaluation's by default) under the Recipe's bins and binning."""
    recipe = evaluation.recipe
    shown = [key for key in (calibrators or evaluation.predictions) if key in evaluation.predictions]
    curves = {
        key: binned_curve(evaluation.y, evaluation.predictions[key].p, bins=recipe.bins, strategy=recipe.binning)
        for key in shown
    }
    ece = {key: float(evaluation.metrics.loc[key, "ece"]) for key in shown}
    listed = "; ".join(f"{label_of(key)} ECE {number(value)}" for key, value in ece.items())
    few = sum(int(((c.count > 0) & (c.count < FEW)).sum()) for c in curves.values())
    return Reliability(
        curves,
        recipe.band,
        _finding(evaluation, shown),
        _caption(recipe.band, few),
        f"Reliability diagram of {len(evaluation.y)} test rows in {recipe.bins} bins: {listed or 'nothing to show'}.",
    )


def _finding(evaluation: Evaluation, shown: Sequence[str]) -> str:
    """The result in one sentence, computed from the numbers shown."""
    table = evaluation.metrics.loc[list(shown), ["brier", "ece"]]
    if table.empty:
        return "No calibrator can answer here"
    others = table.drop("none", errors="ignore")
    if "none" not in table.index or others.empty:
        best = str(table["brier"].idxmin())
        return f"{label_of(best)}: Brier score {number(table.brier[best])}, ECE {number(table.ece[best])}"
    raw, best = table.loc["none"], str(others["brier"].idxmin())
    if others.brier[best] >= raw.brier:
        return f"No calibrator lowers the Brier score of {number(raw.brier)} here"
    text = f"{label_of(best)} lowers the Brier score from {number(raw.brier)} to {number(others.brier[best])}"
    change = "and ECE from" if others.ece[best] < raw.ece else "but raises ECE from"
    return f"{text} {change} {number(raw.ece)} to {number(others.ece[best])}"


def _caption(band: str, few: int) -> str:
    text = (
        "On the diagonal, what is predicted is what happens. Below it the model promises too much, above it too "
        "little; an S-shape means too timid, its mirror image too bold."
    )
    if band == "confidence":
        text += " Bars: 95 % Wilson interval of each observed frequency."
    if band == "consistency":
        text += " Bars around the diagonal: where 95 % of calibrated forecasts would fall with so few rows in a bin."
    if few:
        text += f" Faint marks: {few} bin(s) with fewer than {FEW} rows, which say little."
    return text


def draw(record: Reliability, theme: Theme = LIGHT) -> go.Figure:
    """Square diagram on fixed axes over a histogram on the same probability axis."""
    figure = go.Figure(layout=_layout(theme))
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": theme.diagonal, "width": 1}, hoverinfo="skip", showlegend=False
    )
    for key, curve in record.curves.items():
        if record.band == "consistency":
            figure.add_trace(_consistency(key, curve))
        figure.add_traces(_curve(key, curve, record.band, theme))
        figure.add_trace(_histogram(key, curve))
    return figure


def _layout(theme: Theme) -> go.Layout:
    """One probability axis under both: the diagram above, square, and the histogram below it."""
    axis = {"range": [-0.02, 1.02], "tickvals": np.linspace(0, 1, 6).tolist(), "fixedrange": True}
    return layout(
        theme,
        height=640,
        uirevision="reliability",
        xaxis={**axis, "title": {"text": "Predicted probability"}, "anchor": "y2", "constrain": "domain"},
        yaxis={
            **axis,
            "title": {"text": "Observed frequency"},
            "domain": [0.24, 1],
            "scaleanchor": "x",
            "constrain": "domain",
            "constraintoward": "bottom",
        },
        yaxis2={"title": {"text": "Rows"}, "domain": [0, 0.19], "fixedrange": True, "rangemode": "tozero", "nticks": 4},
    )


def _points(key: str, curve: BinnedCurve, rows: np.ndarray, band: str, **style: Any) -> go.Scatter:
    """The bins ``rows`` as points, with what a reader wants to know of each on hover."""
    x, y = curve.mean_p[rows], curve.observed[rows]
    bars = {
        "type": "data",
        "symmetric": False,
        "array": curve.upper[rows] - y,
        "arrayminus": y - curve.lower[rows],
        "thickness": 1.2,
        "width": 0,
        "color": rgba(MARKS[key].color, 0.55),
    }
    known = [curve.count, curve.edges[:-1], curve.edges[1:], curve.lower, curve.upper]
    return go.Scatter(
        x=x,
        y=y,
        name=label_of(key),
        legendgroup=key,
        error_y=bars if band == "confidence" else None,
        customdata=np.stack([values[rows] for values in known], axis=1),
        hovertemplate=(
            "predicted %{x:.3f}, observed %{y:.3f}<br>%{customdata[0]:d} rows in [%{customdata[1]:.3g}, "
            "%{customdata[2]:.3g}]<br>95 % interval [%{customdata[3]:.3f}, %{customdata[4]:.3f}]"
        ),
        **style,
    )


def _curve(key: str, curve: BinnedCurve, band: str, theme: Theme) -> list[go.Scatter]:
    """A line through the bins with enough rows; the others faint, small and unconnected."""
    mark = MARKS[key]
    enough, few = np.flatnonzero(curve.count >= FEW), np.flatnonzero((curve.count > 0) & (curve.count < FEW))
    marker = {"color": mark.color, "symbol": mark.symbol, "line": {"color": theme.paper, "width": 1}}
    line = {"color": mark.color, "width": 2, "dash": mark.dash}
    return [
        _points(
            key, curve, few, "none", mode="markers", marker={**marker, "size": 6, "opacity": 0.4}, showlegend=False
        ),
        _points(key, curve, enough, band, mode="lines+markers", line=line, marker={**marker, "size": 10}),
    ]


def _consistency(key: str, curve: BinnedCurve) -> go.Scatter:
    rows = np.flatnonzero(curve.count > 0)
    x = curve.mean_p[rows]
    return go.Scatter(
        x=x,
        y=x,
        mode="markers",
        legendgroup=key,
        showlegend=False,
        hoverinfo="skip",
        marker={"size": 1, "color": MARKS[key].color},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": curve.band_upper[rows] - x,
            "arrayminus": x - curve.band_lower[rows],
            "thickness": 7,
            "width": 0,
            "color": rgba(MARKS[key].color, 0.22),
        },
    )


def _histogram(key: str, curve: BinnedCurve) -> go.Scatter:
    """Counts as a step line, so that several calibrators stay readable over each other."""
    edges = curve.edges
    counts = np.append(curve.count, curve.count[-1])
    color = MARKS[key].color
    return go.Scatter(
        x=edges,
        y=counts,
        yaxis="y2",
        mode="lines",
        legendgroup=key,
        showlegend=False,
        name=label_of(key),
        line={"color": color, "width": 1.5, "shape": "hv"},
        fill="tozeroy",
        fillcolor=rgba(color, 0.08),
        hovertemplate="%{y:d} rows",
    )


RELIABILITY = FigureEntry("reliability", "Reliability diagram", prepare, draw)
