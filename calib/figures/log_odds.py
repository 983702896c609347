"""The calibration plot on log-odds: where 0.1 % and 3 % are apart, as they are to whoever acts on a rare event.

Frequencies in bins of equally many rows (Murphy & Winkler 1977) and the band of their 95 % intervals (Wilson 1927),
both axes on logit p (Cox 1958). On the diagonal what is predicted is what happens; a line beside it is off by a factor
of the odds, and the slope is the calibration slope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.special import logit

from calib.analysis.curves import BinnedCurve, binned_curve
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, itself
from calib.figures.reliability import MOST_BANDS
from calib.figures.theme import LIGHT, MARKS, Theme, layout, rgba
from calib.kernel.checks import InputError
from calib.kernel.wording import counted, number

BINS = 10
LEAST = 1e-6  # nearer to 0 and 1 nothing is drawn
TICKS = np.r_[1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.25, 0.5]
HEIGHT = 560


@dataclass(frozen=True, eq=False)
class LogOdds:
    """Frequencies in bins by calibrator; ends : probabilities at which both axes end."""

    curves: Mapping[str, BinnedCurve]
    ends: tuple[float, float]
    title: str
    caption: str
    alt: str

    def to_frame(self) -> pd.DataFrame:
        """One row a calibrator and bin."""
        frames = [curve.to_frame().assign(calibrator=key) for key, curve in self.curves.items()]
        table = pd.concat(frames, ignore_index=True)
        return table[["calibrator", *(name for name in table.columns if name != "calibrator")]]


def prepare(evaluation: Evaluation, calibrators: Sequence[str] | None = None, bins: int = BINS) -> LogOdds:
    """Bins of equally many rows, for these calibrators (all by default). Raises InputError where there is none."""
    shown = [key for key in (calibrators or evaluation.predictions) if key in evaluation.predictions]
    if not shown:
        raise InputError("No calibrator can answer here.")
    said = {key: evaluation.predictions[key] for key in shown}
    curves = {
        key: binned_curve(each.y, each.p, bins=bins, strategy="quantile", sample_weight=each.weight)
        for key, each in said.items()
    }
    slope = evaluation.measured(["slope"])["slope"]
    listed = "; ".join(f"{label_of(key)} {number(float(slope[key]))}" for key in shown)
    none = sum(int((curve.observed[curve.count > 0] % 1 == 0).sum()) for curve in curves.values())
    return LogOdds(
        curves,
        _ends(curves),
        f"On log-odds, the calibration slopes are {listed}",
        f"Both axes in log-odds, marked by probability. Marks: {bins} bins of about equally many rows, with the band "
        "of their 95 % intervals. A line above the diagonal and along it: odds too low by one factor; a flatter one: "
        "too extreme." + (f" At the edge: {counted(none, 'bin')} in which all rows are of one class." if none else ""),
        f"Calibration plot on log-odds of {evaluation.size} test rows. Slopes: {listed}.",
    )


def _ends(curves: Mapping[str, BinnedCurve]) -> tuple[float, float]:
    """A little beyond the means of the bins and the frequencies that are not 0 or 1."""
    values = np.concatenate([np.r_[curve.mean_p, curve.observed] for curve in curves.values()])
    inside = values[(values >= LEAST) & (values <= 1 - LEAST)]
    if not inside.size:
        return 0.01, 0.99
    return max(float(inside.min()) / 2, LEAST), min(1 - (1 - float(inside.max())) / 2, 1 - LEAST)


def draw(record: LogOdds, theme: Theme = LIGHT) -> go.Figure:
    """Bands first, then lines and marks; what lies beyond the axes' ends is drawn at them."""
    low, high = (float(logit(end)) for end in record.ends)
    ticks = np.unique(np.r_[TICKS, 1 - TICKS])
    axis = {
        "range": [low, high],
        "tickvals": logit(ticks).tolist(),
        "ticktext": [f"{100 * tick:g} %" for tick in ticks],
    }
    figure = go.Figure(
        layout=layout(
            theme,
            height=HEIGHT,
            uirevision="log_odds",
            xaxis={**axis, "title": {"text": "Predicted probability, on log-odds"}, "constrain": "domain"},
            yaxis={
                **axis,
                "title": {"text": "Observed frequency, on log-odds"},
                "scaleanchor": "x",
                "constrain": "domain",
            },
        )
    )
    diagonal = {"color": theme.diagonal, "width": 1}
    figure.add_scatter(x=[low, high], y=[low, high], mode="lines", line=diagonal, hoverinfo="skip", showlegend=False)
    for key, curve in record.curves.items() if len(record.curves) <= MOST_BANDS else ():
        figure.add_trace(_band(key, curve, low, high))
    for key, curve in record.curves.items():
        figure.add_trace(_line(key, curve, low, high, theme))
    return figure


def _at(values: np.ndarray, low: float, high: float) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.clip(logit(values), low, high)


def _band(key: str, curve: BinnedCurve, low: float, high: float) -> go.Scatter:
    full = curve.count > 0
    x = _at(curve.mean_p[full], low, high)
    upper, lower = (_at(ends[full], low, high) for ends in (curve.upper, curve.lower))
    return go.Scatter(
        x=np.r_[x, x[::-1]],
        y=np.r_[upper, lower[::-1]],
        mode="lines",
        line={"width": 0.5, "color": rgba(MARKS[key].color, 0.35)},
        fill="toself",
        fillcolor=rgba(MARKS[key].color, 0.14),
        legendgroup=key,
        showlegend=False,
        hoverinfo="skip",
    )


def _line(key: str, curve: BinnedCurve, low: float, high: float, theme: Theme) -> go.Scatter:
    mark, full = MARKS[key], curve.count > 0
    known = np.stack([curve.mean_p, curve.observed, curve.count, curve.lower, curve.upper], axis=1)[full]
    return go.Scatter(
        x=_at(curve.mean_p[full], low, high),
        y=_at(curve.observed[full], low, high),
        mode="lines+markers",
        name=label_of(key),
        legendgroup=key,
        line={"color": mark.color, "width": 2.2, "dash": mark.dash},
        marker={"color": mark.color, "symbol": mark.symbol, "size": 9, "line": {"color": theme.paper, "width": 1}},
        customdata=known,
        hovertemplate="predicted %{customdata[0]:.4g}, observed %{customdata[1]:.4g}<br>%{customdata[2]:,d} rows<br>"
        "95 % interval from %{customdata[3]:.4g} to %{customdata[4]:.4g}",
        cliponaxis=False,
    )


LOG_ODDS = FigureEntry("reliability_log_odds", "Calibration plot on log-odds", prepare, draw, reported=itself)
