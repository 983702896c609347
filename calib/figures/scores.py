"""One metric of every calibrator as a mark on a common scale, beside given values for comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, TableRecord
from calib.figures.ink import outlined
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.checks import InputError
from calib.kernel.wording import number
from calib.metrics import METRICS

HEADROOM = 1.25  # the axis ends at this multiple of the largest value
HEIGHT = 640


@dataclass(frozen=True, eq=False)
class ScoreMarks(TableRecord):
    """Values of one metric.

    Attributes
    ----------
    metric
        Key in ``METRICS``.
    values
        Calibrator → value; finite values only.
    levels
        Name → given value, drawn as a vertical line.
    """

    metric: str
    values: Mapping[str, float]
    levels: Mapping[str, float]


def prepare(
    evaluation: Evaluation, metric: str = "brier", levels: Mapping[str, float] | None = None
) -> ScoreMarks:
    """Take one metric of every calibrator.

    Raises
    ------
    InputError
        If no calibrator has a finite value.
    """
    found, label = evaluation.measured([metric])[metric], METRICS[metric].label
    values = {str(key): float(value) for key, value in found.items() if np.isfinite(value)}
    if not values:
        raise InputError(f"No calibrator has a finite {label} for these data.")
    levels = dict(levels or {})
    lines = [*((label_of(key), value) for key, value in values.items()), *levels.items()]
    higher = METRICS[metric].higher_is_better
    best = (max if higher else min)(values, key=values.__getitem__)
    better = "Higher" if higher else "Lower"
    return ScoreMarks(
        metric,
        values,
        levels,
        title=f"{label}: {label_of(best)} has {number(values[best])}",
        caption=f"Marks show the {label} on {evaluation.size_text}. {better} is better. "
        "Vertical lines show reference values.",
        alt=f"{label}. " + "; ".join(f"{name} {number(value)}" for name, value in lines) + ".",
        table=pd.DataFrame(lines, columns=["name", metric]),
    )


def draw(record: ScoreMarks, theme: Theme = LIGHT) -> go.Figure:
    """Draw one lane per calibrator, the first at the top, and the levels across all lanes."""
    keys, most = list(record.values), max([*record.values.values(), *record.levels.values()])
    figure = go.Figure(
        layout=layout(
            theme,
            height=HEIGHT,
            showlegend=False,
            margin={"l": 130, "r": 24, "t": 12 + 24 * len(record.levels), "b": 56},
        )
    )
    figure.update_xaxes(range=[0, HEADROOM * most], title={"text": METRICS[record.metric].label}, nticks=7)
    figure.update_yaxes(
        range=[len(keys) - 0.4, -0.6],
        tickvals=list(range(len(keys))),
        ticktext=[label_of(key) for key in keys],
        showgrid=False,
        zeroline=False,
        automargin=True,
    )
    decimals = max((len(f"{value:.3g}".partition(".")[2]) for value in record.levels.values()), default=0)
    for i, (name, value) in enumerate(record.levels.items()):
        figure.add_scatter(
            x=[value, value],
            y=[len(keys) - 0.4, -0.6],
            mode="lines+text",
            name=name,
            text=["", f"{name}: {value:.{decimals}f}" + "<br> " * (len(record.levels) - 1 - i)],
            textposition="top left" if value > most / 2 else "top right",
            textfont={"color": theme.muted},
            cliponaxis=False,
            line={"color": theme.muted, "width": 1.5, "dash": "dot"},
            hoverinfo="skip",
        )
    for lane, (key, value) in enumerate(record.values.items()):
        figure.add_scatter(
            x=[value],
            y=[lane],
            mode="markers",
            name=label_of(key),
            cliponaxis=False,  # on a phone the largest value reaches into the margin
            marker=outlined(theme.mark(key).color, 15, theme, symbol=theme.mark(key).symbol),
            hovertemplate=f"{label_of(key)}: {number(value)}<extra></extra>",
        )
        figure.add_annotation(  # on the paper's colour: a line behind it ends at its edge
            x=value,
            y=lane,
            text=number(value),
            name=label_of(key),
            showarrow=False,
            xanchor="left",
            xshift=11,
            borderpad=1,
            bgcolor=theme.paper,
        )
    return figure


SCORES = FigureEntry("scores", "Scores on the test set", prepare, draw)
