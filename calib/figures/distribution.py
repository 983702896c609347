"""Distribution of the predictions in either class, which shows how well and how confidently a model separates them.

Two histograms back to back, class 1 above the axis and class 0 below it, each in shares of its class, so that
a rare class is as readable as the other one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.curves import ScoreHistogram, histogram
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.axes import percent_ticks
from calib.figures.base import FigureEntry, Record, chart_text, itself, predictions_to_draw, stacked
from calib.figures.panels import axes, panels
from calib.figures.theme import LIGHT, Theme, rgba
from calib.kernel.binning import quantiles
from calib.kernel.wording import brief, class_named

HISTOGRAM_HEIGHT = 190


@dataclass(frozen=True, eq=False)
class Distribution(Record):
    """Distribution of each calibrator's predictions.

    Attributes
    ----------
    counts
        Calibrator → its histogram, whose positives are class 1.
    classes
        (negative, positive).
    predicts
        The title of the horizontal axis.
    """

    counts: Mapping[str, ScoreHistogram]
    classes: tuple[str, str]
    predicts: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per calibrator and bin."""
        return stacked((key, counts.to_frame()) for key, counts in self.counts.items())


def prepare(evaluation: Evaluation, calibrators: Sequence[str] | None = None) -> Distribution:
    """Compute histograms in the Recipe's bins, of equal width.

    Raises
    ------
    InputError
        If there is no prediction.
    """
    predictions = predictions_to_draw(evaluation, calibrators)
    shown = list(predictions)
    counts = {
        key: histogram(each.y, each.p, bins=evaluation.recipe.bins, sample_weight=each.weight)
        for key, each in predictions.items()
    }
    first, (negative, positive) = shown[0], map(class_named, evaluation.dataset.classes)
    middle = _medians(evaluation, first)
    return Distribution(
        counts,
        evaluation.dataset.classes,
        evaluation.predicts,
        title=f"The median prediction of {label_of(first)} is {middle[1]} for {positive} and {middle[0]} for "
        f"{negative}",
        caption="Bars show the share of rows by prediction, upwards for one class and downwards for the "
        f"other. Upward bars show {positive}, downward bars {negative}. The less the two "
        "distributions overlap, the better the model separates the classes.",
        alt="Distribution of the predictions by outcome, summarised by medians: "
        + "; ".join(f"{label_of(key)} {' and '.join(_medians(evaluation, key))}" for key in shown)
        + ".",
    )


def _medians(evaluation: Evaluation, key: str) -> list[str]:
    """Return the medians of class 0, then of class 1."""
    predictions, found = evaluation.predictions[key], []
    for label in (0, 1):
        part = predictions.of(predictions.y == label)
        found.append(brief(float(quantiles(part.p, np.array([0.5]), part.weight)[0])) if len(part.y) else "–")
    return found


def draw(record: Distribution, theme: Theme = LIGHT) -> go.Figure:
    """Draw one panel per calibrator, all with the same axes."""
    columns = min(len(record.counts), 2 if len(record.counts) <= 4 else 3)
    shares = {key: _shares(counts) for key, counts in record.counts.items()}
    top = 1.08 * max(float(np.nanmax(each, initial=0.0)) for both in shares.values() for each in both) or 1.0
    figure = panels(
        theme,
        [(label_of(key),) for key in record.counts],
        columns,
        height=HISTOGRAM_HEIGHT,
        uirevision="distribution",
        xaxis={"title": {"text": record.predicts}, "range": [0, 1], "nticks": 6},
        yaxis={"title": {"text": "Share of the class"}, "range": [-top, top], **_ticks(top)},
    )
    for i, (key, (down, up)) in enumerate(shares.items()):
        x, y = axes(i)
        for share, sign, color, name in (
            (up, 1, theme.positive, record.classes[1]),
            (down, -1, theme.negative, record.classes[0]),
        ):
            figure.add_trace(
                _bars(record.counts[key].edges, share, sign, color, chart_text(name), i == 0, x, y)
            )
    return figure


def _shares(counts: ScoreHistogram) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of class 0 and of class 1 in each bin; 0 for a class without rows."""
    each = counts.count - counts.positives, counts.positives
    down, up = (rows / max(rows.sum(), 1e-300) for rows in each)
    return down, up


def _ticks(top: float) -> dict[str, list]:
    """Return ticks whose labels are positive upwards and downwards."""
    step = next((size for size in (0.5, 0.2, 0.1, 0.05, 0.02, 0.01) if top / size >= 2), 0.01)
    upwards = np.arange(0, top, step)
    values = np.r_[-upwards[:0:-1], upwards]
    return {"tickvals": values.tolist(), "ticktext": percent_ticks(abs(values))["ticktext"]}


def _bars(
    edges: np.ndarray, share: np.ndarray, sign: int, color: str, name: str, named: bool, x: str, y: str
) -> go.Bar:
    return go.Bar(
        x=(edges[1:] + edges[:-1]) / 2,
        y=sign * share,
        width=np.diff(edges) * 0.92,
        xaxis=x,
        yaxis=y,
        name=name,
        legendgroup=name,
        showlegend=named,
        marker={"color": rgba(color, 0.75), "line": {"width": 0}},
        customdata=100 * share,
        hovertemplate="%{customdata:.1f} % of its class around %{x:.2f}",
    )


DISTRIBUTION = FigureEntry(
    "distribution", "Predictions by outcome", prepare, draw, reported=itself, overlaid=True
)
