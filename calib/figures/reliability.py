"""The reliability diagram: observed frequency against prediction, over a histogram of the predictions.

Frequencies in bins (Murphy & Winkler 1977), isotonic steps without bins (CORP, Dimitriadis, Gneiting & Jordan 2021) or
a smoothed curve; with what is known of the true frequency ("confidence") or the range in which a calibrated forecast's
curve would fall ("consistency", Bröcker & Smith 2007). Rows picked on the diagram are marked on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.curves import (
    BinnedCurve,
    CorpCurve,
    Histogram,
    SmoothCurve,
    binned_curve,
    corp_curve,
    histogram,
    smooth_curve,
)
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, label_of
from calib.figures.theme import LIGHT, MARKS, Theme, layout, number, rgba
from calib.recipe import Recipe
from calib.selection import read_ranges, selected_rows

FEW = 10  # a bin with fewer rows says little: it is drawn faint
BAND_REPEATS = 200  # drawings behind a CORP band: its ends then wobble by less than a line's width

HEIGHT = 640
KINDS = {"binned": "in {bins} bins", "corp": "as isotonic steps", "smoothed": "smoothed"}

Curve = BinnedCurve | CorpCurve | SmoothCurve


@dataclass(frozen=True, eq=False)
class Reliability:
    """Curves by calibrator, and the words around them.

    histograms : calibrator → how its predictions are spread · picked : the same of the rows selected, or nothing
    ranges : the selection as (calibrator, low, high)
    """

    curves: Mapping[str, Curve]
    histograms: Mapping[str, Histogram]
    picked: Mapping[str, Histogram]
    ranges: tuple[tuple[str, float, float], ...]
    band: str
    title: str
    caption: str
    alt: str

    def to_frame(self) -> pd.DataFrame:
        """One row a calibrator and bin (or point of its curve)."""
        frames = [curve.to_frame().assign(calibrator=key) for key, curve in self.curves.items()]
        table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame({"calibrator": []})
        return table[["calibrator", *(name for name in table.columns if name != "calibrator")]]


def prepare(evaluation: Evaluation, calibrators: Sequence[str] | None = None) -> Reliability:
    """The curves of these calibrators (all of the evaluation's by default) as the Recipe's view asks for them."""
    recipe = evaluation.recipe
    shown = [key for key in (calibrators or evaluation.predictions) if key in evaluation.predictions]
    said = {key: evaluation.predictions[key].p for key in shown}
    curves = {key: _curve(recipe, evaluation.y, p) for key, p in said.items()}
    rows = selected_rows(evaluation)
    ece = evaluation.measured(["ece"])["ece"]
    listed = "; ".join(f"{label_of(key)} ECE {number(float(ece[key]))}" for key in shown)
    few = sum(int((shape.few & (shape.count > 0)).sum()) for shape in map(shape_of, curves.values()))
    return Reliability(
        curves,
        {key: histogram(evaluation.y, p, bins=recipe.bins) for key, p in said.items()},
        {key: histogram(evaluation.y[rows], p[rows], bins=recipe.bins) for key, p in said.items()} if rows.size else {},
        tuple(read_ranges(recipe.selection)),
        recipe.band,
        _finding(evaluation, shown),
        _caption(recipe, few),
        f"Reliability diagram of {len(evaluation.y)} test rows, {KINDS[recipe.curve].format(bins=recipe.bins)}: "
        f"{listed or 'nothing to show'}.",
    )


def _curve(recipe: Recipe, y: np.ndarray, p: np.ndarray) -> Curve:
    if recipe.curve == "corp":
        return corp_curve(y, p, band=recipe.band, repeats=BAND_REPEATS, random_state=recipe.seed)
    if recipe.curve == "smoothed":
        return smooth_curve(y, p)
    return binned_curve(y, p, bins=recipe.bins, strategy=recipe.binning)


def _finding(evaluation: Evaluation, shown: Sequence[str]) -> str:
    """The result in one sentence, computed from the numbers shown."""
    table = evaluation.measured(("brier", "ece")).loc[list(shown)]
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


def _caption(recipe: Recipe, few: int) -> str:
    text = (
        "On the diagonal, what is predicted is what happens. Below it the model promises too much, above it too "
        "little; an S-shape means too timid, its mirror image too bold."
    )
    if recipe.curve == "corp":
        text += " Steps: isotonic regression of the outcomes on the predictions (CORP); no bins to choose."
    if recipe.curve == "smoothed":
        text += " Curves: local-linear regression of the outcomes on the predictions, over half of the rows at a time."
    if recipe.band == "confidence":
        text += " Shaded: where the true frequency may be, point by point, with 95 % confidence."
    if recipe.band == "consistency":
        text += " Shaded, around the diagonal: where 95 % of calibrated forecasts would fall with so few rows."
    if few:
        text += f" Faint marks: {few} bin(s) with fewer than {FEW} rows, which say little."
    return text


@dataclass(frozen=True, eq=False)
class Shape:
    """Any kind of curve as it is drawn, arrays (k,).

    x, y : points · low, high : the predictions a point stands for, [low, high) · count : rows behind it
    few : whether they are too few to say much · confidence, consistency : (lower, upper) of the bands
    hover : what a point is, for its label
    """

    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    count: np.ndarray
    few: np.ndarray
    confidence: tuple[np.ndarray, np.ndarray]
    consistency: tuple[np.ndarray, np.ndarray]
    hover: str


def shape_of(curve: Curve) -> Shape:
    """The points, ranges and bands of a curve of any kind."""
    if isinstance(curve, BinnedCurve):
        low, high = curve.edges[:-1].copy(), curve.edges[1:].copy()
        low[0], high[-1] = 0.0, 1.0
        sides = (curve.lower, curve.upper), (curve.band_lower, curve.band_upper)
        hover = "%{customdata[3]:,d} rows from %{customdata[1]:.3g} to %{customdata[2]:.3g}"
        return Shape(curve.mean_p, curve.observed, low, high, curve.count, curve.count < FEW, *sides, hover)
    if isinstance(curve, CorpCurve):
        first = np.flatnonzero(np.r_[True, np.diff(curve.recalibrated) > 0])
        pool = np.cumsum(np.diff(curve.recalibrated, prepend=-1) > 0) - 1
        last = np.r_[first[1:] - 1, len(curve.p) - 1]
        low, high = (ends[pool] for ends in _cells(curve.p[first], curve.p[last]))
        band, unknown = (curve.lower, curve.upper), (np.full_like(curve.p, np.nan),) * 2
        sides = (band, unknown) if curve.band == "confidence" else (unknown, band)
        hover = "a step of %{customdata[3]:,d} rows"
        return Shape(curve.p, curve.recalibrated, low, high, curve.count, np.zeros(len(pool), bool), *sides, hover)
    low, high = _cells(curve.p, curve.p)
    sides = (curve.lower, curve.upper), (curve.band_lower, curve.band_upper)
    hover = "a mean worth %{customdata[3]:,.0f} rows"
    return Shape(curve.p, curve.smoothed, low, high, curve.count, np.zeros(len(low), bool), *sides, hover)


def _cells(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of cells around [first, last], which meet half-way and reach from 0 to 1."""
    middle = (last[:-1] + first[1:]) / 2
    return np.r_[0.0, middle], np.r_[middle, 1.0]


def draw(record: Reliability, theme: Theme = LIGHT) -> go.Figure:
    """Square diagram on fixed axes over a histogram on the same probability axis."""
    figure = go.Figure(layout=_layout(theme))
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": theme.diagonal, "width": 1}, hoverinfo="skip", showlegend=False
    )
    shapes = {key: shape_of(curve) for key, curve in record.curves.items()}
    if record.band != "none":
        figure.add_traces([_band(key, shape, record.band) for key, shape in shapes.items()])
    for key, shape in shapes.items():
        figure.add_traces(_marks(key, shape, theme, labelled=len(shapes) <= 2, thin=key == "none" and len(shapes) > 1))
        figure.add_trace(_bars(key, record.histograms[key], 0.08))
    for key, counts in record.picked.items():
        figure.add_trace(_bars(key, counts, 0.6))
    picked = [ring for key, shape in shapes.items() if (ring := _rings(key, shape, record.ranges, theme))]
    return figure.add_traces(picked)


def _layout(theme: Theme) -> go.Layout:
    """One probability axis under both: the diagram above, square, and the histogram below it."""
    axis = {"range": [-0.02, 1.02], "tickvals": np.linspace(0, 1, 6).tolist(), "fixedrange": True}
    return layout(
        theme,
        height=HEIGHT,
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


def _marks(key: str, shape: Shape, theme: Theme, *, labelled: bool, thin: bool) -> list[go.Scatter]:
    """A line through the points with enough rows; the others faint, unconnected and with their number of rows."""
    mark = MARKS[key]
    marker = {"color": mark.color, "symbol": mark.symbol, "line": {"color": theme.paper, "width": 1}}
    few, enough = np.flatnonzero(shape.few & (shape.count > 0)), np.flatnonzero(~shape.few)
    traces = []
    if few.size:
        numbers = {"text": [f"{n:d}" for n in shape.count[few]], "textposition": "top center"} if labelled else {}
        traces.append(
            _points(
                key,
                shape,
                few,
                mode="markers+text" if labelled else "markers",
                marker={**marker, "size": 6, "opacity": 0.4},
                textfont={"size": 10, "color": theme.muted},
                showlegend=False,
                **numbers,
            )
        )
    style = {"color": mark.color, "width": 1.8 if thin else 2.4, "dash": mark.dash}
    dense = {"maxdisplayed": 9} if enough.size > 2 * 50 else {}
    size = 8 if thin else 10
    traces.append(
        _points(key, shape, enough, mode="lines+markers", line=style, marker={**marker, "size": size, **dense})
    )
    return traces


def _points(key: str, shape: Shape, rows: np.ndarray, **style) -> go.Scatter:
    """Some points, with what a reader wants to know of each on hover and what a click on it selects."""
    known = [shape.low, shape.high, shape.count, *shape.confidence]
    return go.Scatter(
        x=shape.x[rows],
        y=shape.y[rows],
        name=label_of(key),
        legendgroup=key,
        customdata=[[key, *values] for values in np.stack([v[rows] for v in known], axis=1).tolist()],
        hovertemplate=f"predicted %{{x:.3f}}, observed %{{y:.3f}}<br>{shape.hover}"
        + (
            "<br>95 % interval from %{customdata[4]:.3f} to %{customdata[5]:.3f}"
            if np.isfinite(shape.confidence[0][rows]).any()
            else ""
        ),
        **style,
    )


def _band(key: str, shape: Shape, kind: str) -> go.Scatter:
    """The band between the points with enough rows, as one translucent shape."""
    rows = np.flatnonzero(~shape.few)
    lower, upper = shape.consistency if kind == "consistency" else shape.confidence
    color = MARKS[key].color
    return go.Scatter(
        x=np.r_[shape.x[rows], shape.x[rows][::-1]],
        y=np.r_[upper[rows], lower[rows][::-1]],
        mode="lines",
        line={"width": 0.5, "color": rgba(color, 0.35)},
        fill="toself",
        fillcolor=rgba(color, 0.16),
        legendgroup=key,
        showlegend=False,
        hoverinfo="skip",
    )


def _bars(key: str, counts: Histogram, alpha: float) -> go.Scatter:
    """Counts as a step line, so that several calibrators stay readable over each other."""
    color = MARKS[key].color
    return go.Scatter(
        x=counts.edges,
        y=np.append(counts.count, counts.count[-1]),
        yaxis="y2",
        mode="lines",
        legendgroup=key,
        showlegend=False,
        name=label_of(key),
        line={"color": color, "width": 1.5, "shape": "hv"},
        fill="tozeroy",
        fillcolor=rgba(color, alpha),
        hovertemplate="%{y:,d} rows" if alpha < 0.5 else "%{y:,d} of the rows picked",
    )


def _rings(key: str, shape: Shape, ranges: Sequence[tuple[str, float, float]], theme: Theme) -> go.Scatter | None:
    """A ring around every point whose rows are all picked."""
    inside = np.zeros(len(shape.x), dtype=bool)
    for name, low, high in ranges:
        if name == key:
            inside |= (shape.low >= low) & (shape.high <= high) & (shape.count > 0)
    if not inside.any():
        return None
    return go.Scatter(
        x=shape.x[inside],
        y=shape.y[inside],
        mode="markers",
        legendgroup=key,
        showlegend=False,
        hoverinfo="skip",
        marker={"symbol": "circle-open", "size": 19, "color": theme.ink, "line": {"color": theme.ink, "width": 2}},
    )


RELIABILITY = FigureEntry("reliability", "Reliability diagram", prepare, draw)
