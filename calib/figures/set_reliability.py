"""Reliability diagrams of one data set of a study: one panel per setup, all with the same axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.curves import FEW_IN_BIN, BinnedCurve, binned_curve
from calib.figures.base import FigureEntry, Record, chart_text, stacked
from calib.figures.panels import axes, panels
from calib.figures.theme import LIGHT, Theme, diagonal, outlined, rgba
from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.kernel.wording import low_to_high, number
from calib.metrics import METRICS

PANELS_PER_ROW, PANEL_BINS, LONGEST = 4, 10, 22


@dataclass(frozen=True, eq=False)
class SetReliability(Record):
    """Reliability diagrams of one data set, by setup.

    Attributes
    ----------
    curves
        Setup → its curve.
    reliability
        Setup → Murphy's reliability over 100 bins.
    """

    curves: Mapping[str, BinnedCurve]
    reliability: Mapping[str, float]
    columns: int = PANELS_PER_ROW

    def to_frame(self) -> pd.DataFrame:
        """Return one row per setup and bin."""
        return stacked(((name, curve.to_frame()) for name, curve in self.curves.items()), "setup")


def prepare(predictions: Mapping[str, Predictions], data: str = "", bins: int = PANEL_BINS) -> SetReliability:
    """Prepare the diagrams of a data set's predictions by setup.

    Raises
    ------
    InputError
        If there are none.
    """
    if not predictions:
        raise InputError(
            "The file contains no predictions for this data set. CSV files contain no predictions; upload a "
            "results file instead."
        )
    curves = {
        name: binned_curve(each.y, each.p, bins=bins, sample_weight=each.weight)
        for name, each in predictions.items()
    }
    found = {
        name: METRICS["reliability"].function(each.y, each.p, sample_weight=each.weight)
        for name, each in predictions.items()
    }
    values = "; ".join(f"{name} {number(value)}" for name, value in found.items())
    rows = max(one.size for one in predictions.values())
    return SetReliability(
        curves,
        found,
        title=f"{f'{data}: r' if data else 'R'}eliability over 100 bins {low_to_high(found)}",
        caption=f"Panels show observed frequency against prediction in {bins} bins, with all folds and "
        f"repeats pooled ({rows:,} predictions per setup). Below each name is the setup's reliability "
        "(Murphy, 100 bins); smaller values are better. Bins with few rows inflate reliability, so setups "
        "with many different probabilities look worse than they are. Faint marks have fewer than "
        f"{FEW_IN_BIN} rows.",
        alt=f"Reliability diagrams of {data or 'one data set'}, reliability: {values}.",
    )


def panels_of(record: SetReliability) -> list[SetReliability]:
    """Return a record per setup, so that a phone can stack them."""
    alts = {name: f"{name}: reliability {number(value)}." for name, value in record.reliability.items()}
    return [
        replace(record, curves={name: curve}, alt=alts[name], columns=1)
        for name, curve in record.curves.items()
    ]


def draw(record: SetReliability, theme: Theme = LIGHT) -> go.Figure:
    """Draw square panels with the diagonal."""
    titles = [(chart_text(name, LONGEST), number(record.reliability[name])) for name in record.curves]
    columns = min(record.columns, len(titles))
    axis = {"range": [-0.03, 1.03], "tickvals": [0, 0.5, 1]}
    figure = panels(
        theme,
        titles,
        columns,
        height=210,
        xaxis={**axis, "title": {"text": "Predicted"}},
        yaxis={**axis, "title": {"text": "Observed"}},
        showlegend=False,
        uirevision="set_reliability",
    )
    figure.update_layout(margin={"b": 48})
    for i, curve in enumerate(record.curves.values()):
        x, y = axes(i)
        figure.add_trace(diagonal(theme, xaxis=x, yaxis=y))
        figure.add_trace(_points(curve, theme).update(xaxis=x, yaxis=y))
    return figure


def _points(curve: BinnedCurve, theme: Theme) -> go.Scatter:
    """Return bins as marks, larger with more rows and faint with few, joined by a line."""
    there = curve.count > 0
    count = curve.count[there]
    colors = [theme.negative if n >= FEW_IN_BIN else rgba(theme.negative, 0.35) for n in count]
    sizes = np.clip(8 * np.sqrt(count * len(count) / max(count.sum(), 1)), 5, 14)
    return go.Scatter(
        x=curve.mean_p[there],
        y=curve.observed[there],
        mode="lines+markers",
        line={"color": rgba(theme.negative, 0.6), "width": 1.6},
        marker=outlined(colors, sizes, theme),
        customdata=count,
        hovertemplate="predicted %{x:.3f}, observed %{y:.3f}<br>%{customdata:,d} rows<extra></extra>",
    )


SET_RELIABILITY = FigureEntry(
    "set_reliability", "Reliability of a data set's setups", prepare, draw, panels=panels_of
)
