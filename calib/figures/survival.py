"""Observed against predicted risk by a horizon: bins, and the smooth curve of the pseudo-values.

Austin, Harrell & van Klaveren 2020, *Statistics in Medicine* 39: graphical calibration curves of survival models. The
observed risk of a bin is the Kaplan–Meier estimate, or Aalen–Johansen's with competing events.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.survival.check import SurvivalEvaluation
from calib.figures.base import FigureEntry, TableRecord
from calib.figures.panels import band
from calib.figures.theme import LIGHT, Theme, error_bars, outlined, square
from calib.kernel.wording import alike, percent


@dataclass(frozen=True, eq=False)
class SurvivalDiagram(TableRecord):
    """Bins as ``table``, the smooth curve (columns risk, observed, lower, upper), and the horizon."""

    curve: pd.DataFrame
    horizon: float


def prepare(found: SurvivalEvaluation, bins: int = 10) -> SurvivalDiagram:
    """Compute bins of equally many rows, and the smooth curve, of the first risks."""
    table, competing = found.bins(bins), (found.censoring.event == 2).any()
    estimate = "Aalen–Johansen" if competing else "Kaplan–Meier"
    first = found.verdict.sentences[0]
    value, low, high = alike(*found.table().loc["observed_expected"])
    return SurvivalDiagram(
        found.curve(),
        found.horizon,
        table=table,
        title=first.partition(" (")[0].rstrip("."),
        caption=f"Marks show the observed risk against the mean predicted risk, in groups of equal size. On "
        f"the diagonal, the two risks are equal. The observed risk is the {estimate} estimate by "
        f"{found.horizon:g}"
        + (", so that nobody has the event after a competing event" if competing else "")
        + ". Bars are 95 % intervals. The line is a smooth curve (loess of pseudo-values) with its pointwise 95 % "
        "band. The bars and the band allow for the estimation of the censoring distribution.",
        alt=f"Observed against predicted risk by {found.horizon:g}: "
        + "; ".join(
            f"predicted {percent(line.risk)}, observed {percent(line.observed)}"
            for line in table.itertuples()
        )
        + f". O/E {value} [{low}, {high}].",
    )


def draw(record: SurvivalDiagram, theme: Theme = LIGHT) -> go.Figure:
    """Draw curve, band and bins on a square that holds all marks."""
    table, curve, color = record.table, record.curve, theme.calibration
    top = min(
        1.0, 1.08 * float(np.nanmax([table["risk"].max(), table["observed"].max(), curve["upper"].max()]))
    )
    axis: dict[str, Any] = {
        "range": [-0.02 * top, top],
        "constrain": "domain",
        "nticks": 7,
        "tickformat": ".0%",
    }
    by = f"risk by {record.horizon:g}"
    more = {"height": 410, "showlegend": False, "yaxis_constraintoward": "top"}  # a phone is narrow
    figure = square(theme, axis, f"Predicted {by}", f"Observed {by}", **more)
    risk, lower, upper = (curve[name].to_numpy() for name in ("risk", "lower", "upper"))
    figure.add_trace(band(risk, lower, upper, color))
    figure.add_scatter(
        x=curve["risk"],
        y=curve["observed"],
        mode="lines",
        line={"color": color, "width": 2.5},
        hovertemplate="predicted %{x:.1%}<br>smooth curve %{y:.1%}<extra></extra>",
    )
    figure.add_scatter(
        x=table["risk"],
        y=table["observed"],
        mode="markers",
        marker=outlined(theme.ink, 9, theme),
        error_y=error_bars(table["observed"], table["lower"], table["upper"], theme.muted, 1.5),
        customdata=table[["rows", "events", "censored", "lower", "upper"]].to_numpy(),
        hovertemplate="predicted %{x:.1%}<br>observed %{y:.1%} [%{customdata[3]:.1%}, %{customdata[4]:.1%}]"
        "<br>%{customdata[0]:,.0f} rows, %{customdata[1]:,.0f} with the event, %{customdata[2]:,.0f} censored"
        "<extra></extra>",
    )
    return figure


SURVIVAL = FigureEntry("survival", "Observed and predicted risk by a horizon", prepare, draw)
