"""Two regrets that cross: the minimax probability for a pair. Vovk and Petej (2014), section 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.regret.simulation import Regrets
from calib.experiments.shared.findings import Finding, level_line
from calib.figures.base import FigureEntry
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.checks import Array
from calib.kernel.wording import brief, number

SAID = 6  # places at which the alternative text describes the curves
LOSSES = {"log": "log loss", "square": "square loss"}


@dataclass(frozen=True, eq=False)
class Regret(Finding):
    found: Regrets
    loss: str


def prepare(found: Regrets, loss: str = "log") -> Regret:
    """Prepare the regrets of one loss, and compare its rule with the midpoint."""
    best, midpoint = found.rules[loss], found.rules["midpoint"]
    worst, worst_mid = found.worst(loss, best), found.worst(loss, midpoint)
    moved = abs(best - 0.5) - abs(midpoint - 0.5)
    near = abs(best - midpoint) < 1e-9
    return Regret(
        title=f"p = {brief(best)} has a worst-case regret of {brief(worst)}; at the midpoint {brief(midpoint)} it is "
        f"{brief(worst_mid)}",
        caption=f"Curves show the regret in {LOSSES[loss]} of p, rising if the label is 0, falling if it is 1. The "
        f"rising curve compares p with p0 = {number(found.p0)}, the falling curve with p1 = {number(found.p1)}. The "
        "thick line is the larger of the two. The star marks its lowest point, the open circle the midpoint.",
        alt=f"Two regret curves over p. They cross at {number(best)}, where both are {number(worst)}.",
        drawn="Two regret curves over p, rising if the label is 0, falling if it is 1. "
        + " ".join(
            f"At p = {number(found.p[i])}: {number(found.against_p0[loss][i])} and {number(found.against_p1[loss][i])}."
            for i in np.linspace(0, len(found.p) - 1, SAID).astype(int)
        ),
        table=pd.DataFrame(
            {"p": found.p, "regret_label_0": found.against_p0[loss], "regret_label_1": found.against_p1[loss]}
        ),
        answer=1 if near else 2 if moved < 0 else 3,
        found=found,
        loss=loss,
    )


def draw(record: Regret, theme: Theme = LIGHT) -> go.Figure:
    """Draw both regrets, the larger of the two, and the two rules."""
    found, loss = record.found, record.loss
    zero, one = found.against_p0[loss], found.against_p1[loss]
    best, midpoint = found.rules[loss], found.rules["midpoint"]
    worst = found.worst(loss, midpoint)
    top = 2.2 * (worst if np.isfinite(worst) and worst > 0 else max(found.worst(loss, best), 0.05))
    figure = go.Figure(
        layout=layout(
            theme,
            height=460,
            shapes=[level_line(theme)],
            xaxis={"title": {"text": "p"}, "range": [-0.01, 1.01]},
            yaxis={"title": {"text": f"Regret in {LOSSES[loss]}"}, "range": [-0.7 * top, top]},
        )
    )
    hover = "regret %{y:.4f} at p = %{x:.3f}"
    thick = {"color": theme.diagonal, "width": 7}
    dashed = {"color": theme.negative, "width": 2.4, "dash": "dash"}
    dotted = {"color": theme.positive, "width": 2.4, "dash": "dot"}
    figure.add_traces(
        [
            _line(found.p, np.maximum(zero, one), "the larger of the two", line=thick, hoverinfo="skip"),
            _line(found.p, zero, "if the label is 0, against p0", line=dashed, hovertemplate=hover),
            _line(found.p, one, "if the label is 1, against p1", line=dotted, hovertemplate=hover),
        ]
    )
    rim = {"width": 2, "color": theme.ink}
    for p, name, symbol, size in (
        (best, "minimax", theme.mark("venn_abers").symbol, 17),
        (midpoint, "midpoint", "circle-open", 13),
    ):
        figure.add_scatter(
            x=[p],
            y=[found.worst(loss, p)],
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": size, "color": theme.ink, "line": rim},
            hovertemplate=f"{name}: p = %{{x:.4f}}, larger regret %{{y:.4f}}<extra></extra>",
        )
    return figure


def _line(p: Array, values: Array, name: str, **style: Any) -> go.Scatter:
    """Draw a regret over p where it is finite."""
    return go.Scatter(x=p, y=np.where(np.isfinite(values), values, np.nan), mode="lines", name=name, **style)


FIGURES = (FigureEntry("regret", "Regret of one probability for two", prepare, draw),)
