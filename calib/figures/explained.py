"""One prediction explained: the isotonic fits with (s, 0) and with (s, 1), the pools, and the derivation in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.explain import METHOD, Explained
from calib.calibrators.venn_abers import AddedFit, Explanation
from calib.figures.axes import padded
from calib.figures.base import FigureEntry, Record
from calib.figures.marks import diameters, gather
from calib.figures.panels import heading
from calib.figures.theme import LIGHT, Theme, layout, rgba
from calib.kernel.wording import brief, briefly, class_named, counted, number

NEIGHBOURS = 30  # distinct scores shown on either side of the pools

MERGE_FORMULAS = {
    "log": "p = p1 / (1 − p0 + p1), which minimises the regret in log loss",
    "square": "p = p1 + p0²/2 − p1²/2, which minimises the regret in square loss",
    "midpoint": "p = (p0 + p1)/2",
}
MERGED_OVER_FOLDS = {
    "log": "geometric means over the folds, p = GM(p1) / (GM(1 − p0) + GM(p1)). The interval ends shown are means "
    "on the logit scale, so a single fold with p0 = 0 makes the lower end 0",
    "square": "the mean over the folds of p1 + p0²/2 − p1²/2; the interval ends shown are means over the folds",
    "midpoint": "the mean over the folds of (p0 + p1)/2; the interval ends shown are means over the folds",
}
MODEL_SCORE = {
    "cv": "Each fold has its own model and its own calibration rows; this is fold {set} of {sets}, where the score is "
    "{score}.",
    "oob": "The score {score} is the mean vote of the trees that were not trained on one randomly drawn "
    "training row. This training row is not part of the calibration set.",
    "full": "The model was refitted with this row and label 0, which gives it the score {zero}, and with label 1, "
    "which gives {one}.",
    "train": "The model gives the score {score}; the calibrator is fitted on the same rows as the model.",
}


@dataclass(frozen=True, eq=False)
class ExplainedFits(Record):
    """The drawn part of an explanation: one of its calibration sets, around the row's score.

    Attributes
    ----------
    fits
        The fits with label 0 and with label 1.
    window
        The visible range of scores.
    derivation
        The derivation, line by line.
    """

    explained: Explained
    fits: tuple[AddedFit, AddedFit]
    window: tuple[float, float]
    derivation: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        return self.explained.to_frame()


def prepare(explained: Explained, calibration_set: int = 1) -> ExplainedFits:
    """Prepare the fits of one calibration set (1 to the number of folds; 1 unless cross-calibrated)."""
    one_set = explained.fits[calibration_set - 1]
    fits = (one_set.zero, one_set.one)
    pair = "p0 = {} and p1 = {} give p = {}".format(*briefly(explained.p0, explained.p1, explained.p))
    if explained.adjusted is not None:
        pair += f", and {brief(explained.adjusted[1][2])} at the deployment base rate"
    if explained.what_if is not None:
        pair = f"with the moved calibration rows, {pair}"
    derivation = _derivation(explained, one_set, calibration_set)
    return ExplainedFits(
        explained,
        fits,
        _window(fits),
        derivation,
        title=f"Row {explained.row} ({class_named(explained.name)}): {pair}",
        caption="The line is the isotonic fit to the calibration rows and this row. Over each pool "
        "the line is flat, at the pool's share of label 1. The row joins the shaded pool; the large "
        "mark is the row with its assumed label, and the star is its fitted value. A number in the "
        f"pool states how many rows one mark represents. The figure shows the nearest {NEIGHBOURS} "
        "distinct scores on either side of the pools.",
        alt=f"Two isotonic fits. {' '.join(derivation)}",
    )


def _derivation(explained: Explained, one_set: Explanation, number_of_set: int) -> tuple[str, ...]:
    """Derive the score, p0, p1 and p in one sentence each, with the numbers."""
    zero, one, sets = one_set.zero, one_set.one, len(explained.fits)
    template = MODEL_SCORE.get(explained.recipe.placement, "The model gives the score {score}.")
    origin = template.format(
        score=_score(one_set.score),
        zero=_score(zero.score),
        one=_score(one.score),
        set=number_of_set,
        sets=sets,
    )
    rows = int(zero.counts.sum()) - 1
    merged = MERGE_FORMULAS if sets == 1 else MERGED_OVER_FOLDS
    return (
        f"{origin} There are {rows:,} calibration rows.",
        f"With label 0 added, {_pool(zero)}: {_fraction(zero)}.",
        f"With label 1 added, {_pool(one)}: {_fraction(one)}.",
        f"Merged: {merged[explained.recipe.merge]}. p0 = {number(explained.p0)} and p1 = {number(explained.p1)} give "
        f"p = {number(explained.p)}.",
        *_at_base_rate(explained),
    )


def _at_base_rate(explained: Explained) -> tuple[str, ...]:
    """Describe how the deployment base rate changes the answer."""
    if explained.adjusted is None:
        return ()
    rate, (p0, p1, p) = explained.adjusted
    return (
        f"All odds are multiplied by {number(rate.ratio)}, because the base rate is {number(rate.stated)} instead of "
        f"{number(rate.fitted)}: p0 = {number(p0)}, p1 = {number(p1)} and p = {number(p)}.",
    )


def _score(value: float) -> str:
    """Return a score with at most four significant digits."""
    return f"{value:.4g}".replace("-", "−")


def _pool(fit: AddedFit) -> str:
    """Describe the pool: the rows that share it, and how many of them have label 1."""
    others = fit.rows - 1
    if others == 0:
        return "the row forms its own pool"
    low, high = map(_score, fit.pool)
    where = f"at score {low}" if low == high else f"with scores from {low} to {high}"
    ones = fit.positives - fit.label
    labels = f"with label {ones}" if others == 1 else f"({ones:,} with label 1)"
    return f"the row joins {counted(others, 'calibration row')} {labels} in a pool {where}"


def _fraction(fit: AddedFit) -> str:
    return f"p{fit.label} = {fit.positives:,} / {fit.rows:,} = {number(fit.value)}"


def _window(fits: tuple[AddedFit, AddedFit]) -> tuple[float, float]:
    """Return the range from NEIGHBOURS distinct scores below the pools of both fits to as many above."""
    ends = []
    for fit in fits:
        low, high = np.searchsorted(fit.scores, fit.pool)
        ends += [
            fit.scores[max(0, low - NEIGHBOURS)],
            fit.scores[min(len(fit.scores) - 1, high + NEIGHBOURS)],
        ]
    low, high = padded(ends, 0.04)
    return low, high


def draw(record: ExplainedFits, theme: Theme = LIGHT) -> go.Figure:
    """Draw two panels on one axis of scores: above with label 0 added, below with label 1."""
    axis = {"range": [-0.12, 1.12], "tickvals": [0, 0.5, 1]}
    figure = go.Figure(
        layout=layout(
            theme,
            height=560,
            margin={"l": 56, "r": 12, "t": 32, "b": 48},
            xaxis={"title": {"text": "Score of the model"}, "range": list(record.window), "anchor": "y2"},
            yaxis={**axis, "domain": [0.56, 1], "title": {"text": "Class 1"}},
            yaxis2={**axis, "domain": [0, 0.44], "title": {"text": "Class 1"}},
            showlegend=False,
        )
    )
    for fit, place in zip(record.fits, ("y", "y2"), strict=True):
        figure.add_annotation(heading(f"With label {fit.label}: {_fraction(fit)}", place, "x"))
        low, high = fit.pool
        pool = {"x0": low, "x1": high, "xref": "x", "y0": 0, "y1": 1, "yref": f"{place} domain"}
        figure.add_shape(
            type="rect",
            **pool,
            name=f"the pool of label {fit.label}",
            fillcolor=rgba(theme.ink, 0.08),
            line={"width": 1, "color": rgba(theme.ink, 0.25)},
            layer="below",
        )
        row, fitted = _row(fit, place, theme)
        # The row is below the others: on a phone it would hide a neighbour
        figure.add_traces([row, *_points(fit, record.window, place, theme)])
        figure.add_traces([*_fit(fit, record.window, place, theme), fitted])
    return figure


def _points(fit: AddedFit, window: tuple[float, float], place: str, theme: Theme) -> list[go.Scatter]:
    """Return the visible calibration rows, class 1 above and class 0 below; area shows how many share a score."""
    traces = []
    for label, counts, color, symbol in (
        (0, fit.counts - fit.ones, theme.negative, "circle"),
        (1, fit.ones, theme.positive, "diamond"),
    ):
        counts = counts - (fit.scores == fit.score) * (fit.label == label)  # the row itself has its own mark
        seen = np.flatnonzero((counts > 0) & (fit.scores >= window[0]) & (fit.scores <= window[1]))
        if not seen.size:
            continue
        marks = gather(fit.scores[seen], np.full(seen.size, float(label)), counts[seen], counts[seen], seen)
        rows = marks.value * marks.count
        low, high = fit.pool
        several = (rows > 1) & (marks.x >= low) & (marks.x <= high)  # so that the pool's rows can be counted
        traces.append(
            go.Scatter(
                x=marks.x,
                y=marks.y,
                yaxis=place,
                name=f"rows of class {label}",
                mode="markers+text",
                text=[f"{n:,.0f}" if some else "" for n, some in zip(rows, several, strict=True)],
                textposition="bottom center" if label else "top center",
                textfont={"size": 13, "color": theme.ink},
                marker={
                    "symbol": symbol,
                    "size": diameters(rows),
                    "color": rgba(color, 0.5),
                    "line": {"width": 1, "color": color},
                },
                customdata=rows,
                hovertemplate=f"rows of class {label} at %{{x:.4f}}: %{{customdata:,.0f}}<extra></extra>",
            )
        )
    return traces


def _fit(fit: AddedFit, window: tuple[float, float], place: str, theme: Theme) -> list[go.Scatter]:
    """Return the fit's flat pieces with faint vertical steps between them."""
    mark = theme.mark(METHOD)
    change = np.flatnonzero(np.diff(fit.values)) + 1
    starts, ends = np.append(0, change), np.append(change, len(fit.values)) - 1
    seen = (fit.scores[ends] >= window[0]) & (fit.scores[starts] <= window[1])
    low, high, values = fit.scores[starts[seen]], fit.scores[ends[seen]], fit.values[starts[seen]]
    x, y = np.stack([low, high], axis=1).ravel(), np.repeat(values, 2)
    gap = np.full(len(low), np.nan)
    hidden = {"yaxis": place, "mode": "lines", "hoverinfo": "skip"}
    return [
        go.Scatter(**hidden, x=x, y=y, line={"color": rgba(mark.color, 0.35), "width": 1}),
        go.Scatter(
            **hidden | {"mode": "lines+markers"},
            x=np.stack([low, high, gap], axis=1).ravel(),
            y=np.repeat(values, 3),
            line={"color": mark.color, "width": 3},
            marker={"size": 4, "color": mark.color},
        ),
    ]


def _row(fit: AddedFit, place: str, theme: Theme) -> list[go.Scatter]:
    """Return the row with its assumed label, and its fitted value."""
    symbol, color = ("diamond", theme.positive) if fit.label else ("circle", theme.negative)
    given = symbol, rgba(color, 0.2)  # pale: the mark of a row may lie on it
    at_score = f"the row, given label {fit.label}, at score %{{x:.4f}}"
    fitted = f"p{fit.label} = {fit.positives}/{fit.rows} = %{{y:.4f}}"
    return [
        go.Scatter(
            x=[fit.score],
            y=[y],
            yaxis=place,
            name=name,
            mode="markers",
            marker={
                "symbol": symbol,
                "size": size,
                "color": color,
                "line": {"color": theme.ink, "width": rim},
            },
            hovertemplate=f"{hover}<extra></extra>",
        )
        for name, y, (symbol, color), size, rim, hover in (
            ("the row", fit.label, given, 16, 2, at_score),
            ("its fitted value", fit.value, ("star", theme.mark(METHOD).color), 15, 1, fitted),
        )
    ]


EXPLAINED = FigureEntry("explained", "One prediction explained", prepare, draw)
