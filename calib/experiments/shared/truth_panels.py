"""Predicted against true probability, one panel a model: on the diagonal is right, a bent line is bias, width scatter.

Shaker and Hüllermeier (2025), Figures 3, 7 and 8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.shared.findings import Finding
from calib.experiments.shared.prediction_errors import PredictionErrors
from calib.figures.panels import axes, panels
from calib.figures.theme import LIGHT, Theme, diagonal, rgba
from calib.kernel.wording import brief, number

MOST_POINTS = 1500  # test rows drawn as points; a density shows all of them
CELLS = 50  # of a density, along each axis
FEW = 30  # rows in a bin of the true probability, below which the line of means leaves it out


@dataclass(frozen=True, eq=False)
class TruthPanels(Finding):
    """Diagrams of truth against prediction side by side.

    Attributes
    ----------
    shown
        One panel each, in so many columns.
    cloud
        "points" or "density".
    """

    shown: tuple[PredictionErrors, ...]
    columns: int
    cloud: str


def against_truth(
    shown: tuple[PredictionErrors, ...], columns: int, cloud: str, title: str, answer: int | None
) -> TruthPanels:
    """The record of these panels: TCE, its two parts, and the losses of each."""
    tests = len(shown[0].p)
    drawn = f"{min(MOST_POINTS, tests):,} of " if cloud == "points" else "the density of "
    return TruthPanels(
        title=title,
        caption=f"True probability to the right, predicted upwards: {drawn}{tests:,} new rows, and the line of "
        f"their mean prediction, where at least {FEW} are about equally likely. Where the line leaves the thin "
        "diagonal the model is biased, and how far the rows lie from the line is scatter; TCE, the mean squared "
        "distance to the diagonal, is bias² and scatter together; the percentage is the share of bias² in it.",
        alt="Predicted against true probability. "
        + " ".join(
            f"{j.name}: TCE {number(j.tce)}, bias² {number(j.bias)}, scatter {number(j.scatter)}."
            for j in shown
        ),
        table=losses(shown),
        answer=answer,
        shown=shown,
        columns=columns,
        cloud=cloud,
    )


def losses(shown: Iterable[PredictionErrors]) -> pd.DataFrame:
    """One row a model: TCE = bias² + scatter, and CL + GL + IL (+ remainder) = the expected Brier score."""
    return pd.DataFrame(
        {
            "model": j.name,
            "tce": j.tce,
            "bias_squared": j.bias,
            "scatter": j.scatter,
            "calibration": j.losses.calibration,
            "grouping": j.losses.grouping,
            "irreducible": j.losses.irreducible,
            "remainder": j.losses.remainder,
            "expected_brier": j.tce + j.losses.irreducible,
            "groups": j.losses.groups,
        }
        for j in shown
    )


def panels_of(record: TruthPanels) -> list[TruthPanels]:
    """Its panels as records of their own, so that a page can set them in columns that a phone stacks."""
    return [
        replace(
            record, shown=(j,), columns=1, alt=f"Predicted against true probability, {j.name}: {_note(j)}."
        )
        for j in record.shown
    ]


def _note(errors: PredictionErrors) -> str:
    return f"TCE {number(errors.tce)} = {number(errors.bias)} bias² + {number(errors.scatter)} scatter"


def _heading(errors: PredictionErrors) -> tuple[str, ...]:
    """A panel's name and its note in three lines, since panels may be narrow and their type large."""
    name = errors.name.split(", ")
    tce, bias = f"TCE {brief(errors.tce)}", f"{errors.bias / (errors.tce or 1):.0%} bias²"
    return (*name, tce, bias) if len(name) == 1 else (*name, f"{tce}, {bias}")


def draw(record: TruthPanels, theme: Theme = LIGHT) -> go.Figure:
    """All panels on the same square axes."""
    axis = {"range": [-0.02, 1.02], "tickvals": [0, 0.25, 0.5, 0.75, 1], "showgrid": False}
    figure = panels(
        theme,
        [_heading(errors) for errors in record.shown],
        record.columns,
        height=220,
        xaxis={"title": {"text": "True probability"}, **axis, "tickvals": [0, 0.5, 1], "tickangle": 0},
        yaxis={"title": {"text": "Predicted"}, **axis},
        showlegend=False,
    )
    figure.update_layout(margin_b=52)
    figure.layout.height -= 44
    for i, errors in enumerate(record.shown):
        x, y = axes(i)
        on = {"xaxis": x, "yaxis": y}
        figure.add_trace(
            _points(errors, theme, on) if record.cloud == "points" else _density(errors, theme, on)
        )
        figure.add_trace(diagonal(theme, **on).update(line_width=1.4))
        figure.add_trace(_means(errors, theme, on))
    return figure


def _means(errors: PredictionErrors, theme: Theme, on: dict) -> go.Scatter:
    """The mean prediction where enough rows are about equally likely."""
    levels = errors.levels
    enough = levels.share * len(errors.p) >= FEW
    return go.Scatter(
        **on,
        x=np.round(levels.posterior[enough], 4),
        y=np.round(levels.p[enough], 4),
        mode="lines",
        line={"color": theme.ink, "width": 2.6},
        customdata=np.round(np.sqrt(levels.spread[enough]), 4),
        hovertemplate="true %{x:.3f}: predicted %{y:.3f} on average, ± %{customdata:.3f}<extra></extra>",
    )


def _points(errors: PredictionErrors, theme: Theme, on: dict) -> go.Scatter:
    """The first test rows: they come in random order."""
    return go.Scatter(
        **on,
        x=errors.posterior[:MOST_POINTS].round(3),
        y=errors.p[:MOST_POINTS].round(3),
        mode="markers",
        marker={"color": rgba(theme.scale[1], 0.45), "size": 4},
        hovertemplate="true %{x:.3f}, predicted %{y:.3f}<extra></extra>",
    )


def _density(errors: PredictionErrors, theme: Theme, on: dict) -> go.Heatmap:
    """All test rows, counted in cells, on a logarithmic scale of colour; empty cells stay paper."""
    edges = np.linspace(0, 1, CELLS + 1)
    count = np.histogram2d(errors.p, errors.posterior, bins=(edges, edges))[0]
    middle = ((edges[1:] + edges[:-1]) / 2).round(3)
    with np.errstate(divide="ignore"):
        ink = np.where(count > 0, np.log10(count), np.nan)
    return go.Heatmap(
        **on,
        x=middle,
        y=middle,
        z=ink.round(3),
        customdata=count.astype(int),
        colorscale=[[i / (len(theme.scale) - 1), color] for i, color in enumerate(theme.scale)],
        showscale=False,
        hoverongaps=False,
        hovertemplate="%{customdata:,d} rows near true %{x:.2f}, predicted %{y:.2f}<extra></extra>",
    )


PANELS = draw, panels_of
