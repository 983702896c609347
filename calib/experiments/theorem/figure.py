"""Theorem 1: running means of the errors of p0, p1 and the selected probability, and P_Y level by level.

Vovk and Petej (2014), theorem 1: E(Y | P_Y) = P_Y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.shared.findings import Finding, level_line, plus_minus
from calib.experiments.shared.repeated_draws import RunningMean, by_level, running_mean
from calib.experiments.theorem.simulation import PREDICTORS, Draws
from calib.figures.base import FigureEntry
from calib.figures.panels import band, heading
from calib.figures.theme import LIGHT, Theme, diagonal, layout
from calib.kernel.wording import brief, number

EARLY = 100  # draws; so few still leave the result to chance
NAMES = {"selected": "P_Y, for the true label", "p0": "p0", "p1": "p1", "merged": "p, merged"}


@dataclass(frozen=True, eq=False)
class Theorem(Finding):
    """Errors of the probabilities by the number of draws.

    Attributes
    ----------
    runs
        Running mean of Y − p for each probability.
    levels
        Columns p, observed, error, draws.
    """

    runs: dict[str, RunningMean]
    levels: pd.DataFrame


def prepare(draws: Draws) -> Theorem:
    """Compute the running means, and the levels of the selected probability."""
    probabilities = {"selected": draws.selected, "p0": draws.p0, "p1": draws.p1, "merged": draws.merged}
    runs = {name: running_mean(draws.y - p) for name, p in probabilities.items()}
    levels = by_level(draws.y, draws.selected)
    last = {name: (float(run.mean[-1]), float(run.error[-1])) for name, run in runs.items()}
    inside = {name: abs(mean) <= 2 * error for name, (mean, error) in last.items()}
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.nan_to_num(np.abs(levels.observed - levels.p) / levels.error, nan=0.0, posinf=np.inf)
    name = PREDICTORS[draws.predictor]
    found = "right on average" if inside["selected"] else "off by more than two standard errors"
    sides = " and ".join(
        f"{key} too {'low' if last[key][0] > 0 else 'high'} by {brief(abs(last[key][0]))}"
        for key in ("p0", "p1")
    )
    return Theorem(
        title=f"{name}: P_Y is {found}, mean error {brief(last['selected'][0])} ± {brief(2 * last['selected'][1])}; "
        f"{sides}",
        caption="The upper picture shows the mean of label minus probability over the first draws. Two standard "
        "errors of P_Y are shaded around zero. The lower picture shows the frequency of class 1 in groups of "
        "similar P_Y, with two standard errors for a correct P_Y. On the diagonal, E(Y | P_Y) = P_Y. The largest of "
        f"{len(levels)} gaps is {number(float(off.max()), 2)} standard errors; by chance alone it is about 2 to 3.",
        alt=f"{name} with {draws.objects} training rows, {len(draws.y):,} draws. "
        + " ".join(f"Mean error of {NAMES[key]}: {plus_minus(*last[key])}." for key in NAMES),
        drawn=f"The upper picture shows four lines over the draws. After {EARLY} draws they are at: "
        + "; ".join(f"{NAMES[key]} {number(np.interp(EARLY, run.t, run.mean))}" for key, run in runs.items())
        + f". The lower picture shows {len(levels)} groups of similar P_Y, with frequencies of class 1 from "
        f"{number(levels.observed.iloc[0])} to {number(levels.observed.iloc[-1])}.",
        table=pd.concat([_run(name, run) for name, run in runs.items()], ignore_index=True),
        answer=3 if inside["selected"] and not inside["p0"] and not inside["p1"] else None,
        runs=runs,
        levels=levels,
    )


def _run(name: str, run: RunningMean) -> pd.DataFrame:
    return pd.DataFrame({"probability": name, "draws": run.t, "mean_error": run.mean, "se": run.error})


def draw(record: Theorem, theme: Theme = LIGHT) -> go.Figure:
    """Draw the running means above, the levels below."""
    figure = go.Figure(layout=_layout(record, theme))
    run = record.runs["selected"]
    figure.add_trace(band(run.t, -2 * run.error, 2 * run.error, theme.ink))
    styles = {
        "p0": {"color": theme.negative, "width": 2, "dash": "dash"},
        "p1": {"color": theme.positive, "width": 2, "dash": "dot"},
        "merged": {"color": theme.muted, "width": 1.6, "dash": "dashdot"},
        "selected": {"color": theme.ink, "width": 2.6},
    }
    for key, style in styles.items():
        run = record.runs[key]
        figure.add_scatter(
            x=run.t,
            y=run.mean,
            mode="lines",
            name=NAMES[key],
            line=style,
            hovertemplate="%{y:.4f} after %{x:,d} draws",
        )
    figure.add_traces(_levels(record.levels, theme))
    return figure


def _layout(record: Theorem, theme: Theme) -> dict[str, Any]:
    most = int(record.runs["selected"].t[-1])
    reach = max(0.05, *(float(np.abs(run.mean[run.t >= 50]).max(initial=0)) for run in record.runs.values()))
    return layout(
        theme,
        height=700,
        margin={"l": 60, "r": 16, "t": 28, "b": 56},
        shapes=[level_line(theme)],
        xaxis={
            "type": "log",
            "range": [1, np.log10(most)],
            "title": {"text": "Draws so far"},
            "anchor": "y",
            "dtick": 1,
            "tickformat": ",d",
        },
        yaxis={
            "title": {"text": "Label − probability"},
            "range": [-1.25 * reach, 1.25 * reach],
            "domain": [0.64, 1],
        },
        xaxis2={
            "title": {"text": "Probability for the true label (P_Y)"},
            "range": [-0.02, 1.02],
            "anchor": "y2",
        },
        yaxis2={
            "title": {"text": "Frequency of class 1"},
            "range": [-0.02, 1.02],
            "domain": [0, 0.38],
        },
        annotations=[
            heading("Mean error over the draws", "y"),
            heading("Draws grouped by the probability for the true label", "y2"),
        ],
    )


def _levels(levels: pd.DataFrame, theme: Theme) -> list[go.Scatter]:
    """Draw the frequency of class 1 by P_Y, and the diagonal."""
    axes = {"xaxis": "x2", "yaxis": "y2"}
    observed = go.Scatter(
        x=levels.p,
        y=levels.observed,
        **axes,
        mode="markers",
        showlegend=False,
        marker={"color": theme.ink, "size": 9, "symbol": "diamond"},
        error_y={"array": 2 * levels.error, "color": theme.ink, "thickness": 1.2, "width": 4},
        customdata=levels.draws,
        hovertemplate="P_Y %{x:.3f}, class 1 in %{y:.3f} of %{customdata:,d} draws<extra></extra>",
    )
    return [diagonal(theme, **axes), observed]


FIGURES = (FigureEntry("theorem", "Errors of the two probabilities", prepare, draw),)
