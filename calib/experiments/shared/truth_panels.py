"""Predicted against true probability, one panel per model: distance from the diagonal is bias, width is scatter.

Shaker and Hüllermeier (2025), Figures 3, 7 and 8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.experiments.shared.findings import Finding
from calib.experiments.shared.gaussian_plane import PredictionErrors
from calib.figures.panels import axes, panels
from calib.figures.theme import LIGHT, Theme, diagonal, rgba
from calib.kernel.wording import brief, number

# Most test rows drawn as points, each of which a browser draws; a density shows all rows
MOST_POINTS_OF_TRUTH = 600
DENSITY_CELLS = 50  # cells of a density along each axis
TALL_PANEL, LOW_PANEL = 220, 148  # height in pixels of a panel in a single row, and in one of several rows
FEWEST_IN_BIN = 30  # the line of means skips bins of the true probability with fewer rows


@dataclass(frozen=True, eq=False)
class TruthPanels(Finding):
    """Diagrams of predicted against true probability side by side.

    Attributes
    ----------
    shown
        Models, one per panel, in ``columns`` columns.
    cloud
        "points" or "density".
    rows
        Number of rows of panels; those of one row are higher.
    with_errors
        Whether the errors are written above the panels.
    """

    shown: tuple[PredictionErrors, ...]
    columns: int
    cloud: str
    rows: int
    with_errors: bool = True

    def covered(self) -> TruthPanels:
        """Leave out the errors, which give the answer away."""
        names = ", ".join(errors.name for errors in self.shown)
        return replace(self, with_errors=False, drawn=f"Predicted against true probability for {names}.")


def against_truth(
    shown: tuple[PredictionErrors, ...], columns: int, cloud: str, title: str, answer: int | None
) -> TruthPanels:
    """Make the record of these panels: TCE, its two parts, and the losses of each model."""
    tests = len(shown[0].p)
    drawn = f"{min(MOST_POINTS_OF_TRUTH, tests):,} of " if cloud == "points" else "the density of "
    return TruthPanels(
        title=title,
        caption=f"The picture shows {drawn}{tests:,} new rows, by true probability and prediction. The line is the "
        f"mean prediction for true probabilities with at least {FEWEST_IN_BIN} rows. Bias is the distance "
        "from the line to the thin diagonal, scatter the distance from the rows to the line. TCE, the mean squared "
        "distance to the diagonal, is bias² plus scatter; the percentage is the share of bias².",
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
        rows=-(-len(shown) // columns),
    )


def losses(shown: Iterable[PredictionErrors]) -> pd.DataFrame:
    """Tabulate TCE = bias² + scatter, and CL + GL + IL (+ remainder) = expected Brier score, one row per model."""
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
    """Split a record into one record per panel, so that a phone can stack them."""
    return [
        replace(
            record,
            shown=(j,),
            columns=1,
            alt=f"{j.name}, predicted against true probability: TCE {number(j.tce)} = {number(j.bias)} bias² + "
            f"{number(j.scatter)} scatter.",
            drawn="" if record.with_errors else f"{j.name}, predicted against true probability.",
        )
        for j in record.shown
    ]


def _heading(errors: PredictionErrors, with_errors: bool) -> tuple[str, ...]:
    """Write a panel's name and note in three lines, since panels may be narrow and their type large."""
    name = errors.name.split(", ")
    if not with_errors:  # as high as with the note, so that nothing moves when it appears
        return (*name, *("\u00a0",) * (2 if len(name) == 1 else 1))
    tce, bias = f"TCE {brief(errors.tce)}", f"{100 * errors.bias / (errors.tce or 1):.0f} % bias²"
    return (*name, tce, bias) if len(name) == 1 else (*name, f"{tce}, {bias}")


def draw(record: TruthPanels, theme: Theme = LIGHT) -> go.Figure:
    """Draw all panels with the same square axes."""
    axis = {"range": [-0.02, 1.02], "tickvals": [0, 0.5, 1], "showgrid": False}
    figure = panels(
        theme,
        [_heading(errors, record.with_errors) for errors in record.shown],
        record.columns,
        height=TALL_PANEL if record.rows == 1 else LOW_PANEL,
        xaxis={"title": {"text": "True probability"}, **axis, "tickangle": 0},
        yaxis={"title": {"text": "Predicted"}, **axis},
        showlegend=False,
    )
    figure.update_layout(margin_b=52, margin_l=50)
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
    """Draw the mean prediction for true probabilities with enough rows."""
    levels = errors.levels
    enough = levels.share * len(errors.p) >= FEWEST_IN_BIN
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
    """Draw the first test rows, which are in random order."""
    return go.Scatter(
        **on,
        x=errors.posterior[:MOST_POINTS_OF_TRUTH].round(3),
        y=errors.p[:MOST_POINTS_OF_TRUTH].round(3),
        mode="markers",
        marker={"color": rgba(theme.scale[1], 0.45), "size": 4},
        hovertemplate="true %{x:.3f}, predicted %{y:.3f}<extra></extra>",
    )


def _density(errors: PredictionErrors, theme: Theme, on: dict) -> go.Heatmap:
    """Draw the density of all test rows on a logarithmic colour scale; empty cells stay blank."""
    edges = np.linspace(0, 1, DENSITY_CELLS + 1)
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


TRUTH_PANELS = draw, panels_of
