"""The graph of cumulative differences: where along the sorted probabilities they are too low or too high.

Arrieta-Ibarra et al. 2022 (``calib.metrics.cumulative``): the slope of any stretch is the mean of label less
probability on it; no bins are needed. The bar at the origin shows two standard
deviations of the end of the curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, Record, of_metrics, predictions_to_draw, stacked
from calib.figures.many import grey_lines_note, in_colour, mute
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.wording import counted, listed, number
from calib.metrics import CumulativeDifferences, cumulative_differences
from calib.metrics.table import shared_result

MOST_POINTS_OF_SUMS = 2000
SIGNIFICANT = 0.05  # level of Kuiper's test
FEWEST_CLUSTERS = 50  # clusters; with fewer, the test rejects calibrated models too often


@dataclass(frozen=True, eq=False)
class CumulativeGraph(Record):
    """Cumulative differences of each calibrator, by its key."""

    walks: Mapping[str, CumulativeDifferences]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per distinct probability: the share of rows up to it, and the sum there."""
        return stacked(
            (
                key,
                pd.DataFrame({"probability": w.probability, "share": w.share[1:], "cumulative": w.walk[1:]}),
            )
            for key, w in self.walks.items()
        )


def prepare(evaluation: Evaluation, calibrators: Sequence[str] | None = None) -> CumulativeGraph:
    """Compute the cumulative differences of these calibrators (all by default).

    Raises
    ------
    InputError
        If there is none.
    """
    shown = predictions_to_draw(evaluation, calibrators)
    walks = {
        key: shared_result(cumulative_differences, each, cluster=evaluation.cluster, counts=evaluation.counts)
        for key, each in shown.items()
    }
    against = [label_of(key) for key, walk in walks.items() if walk.kuiper_p < SIGNIFICANT]
    finding = (
        f"The labels contradict {listed(against)}"
        if against
        else "The labels do not contradict any calibrator here"
    )
    return CumulativeGraph(
        walks,
        title=f"{finding} (Kuiper’s test, 5 %)",
        caption="Lines show the cumulative sum of label minus probability over rows sorted by probability. "
        "If a line climbs, the probabilities are too low; if it falls, they are too high. The steeper the "
        "line, the larger the mean error of these rows. The bar at the start shows how far a line may drift by "
        "chance: two standard deviations, for the calibrator with the widest range."
        + _of_clusters(evaluation)
        + grey_lines_note(walks),
        alt="Cumulative differences between label and probability. "
        + "; ".join(
            f"{label_of(key)}: Kuiper {number(walk.kuiper)}, p-value {number(walk.kuiper_p)}"
            for key, walk in walks.items()
        )
        + ".",
    )


def _of_clusters(evaluation: Evaluation) -> str:
    """Explain how bar and test use clusters, and the error of the test with few of them."""
    if evaluation.cluster is None:
        return ""
    few = len(np.unique(evaluation.cluster))
    text = " The bar and the test treat clusters, not rows, as independent."
    if few >= FEWEST_CLUSTERS:
        return text
    return (
        f"{text} With only {counted(few, 'cluster')}, the test rejects correct probabilities too often: in "
        "simulations with 20 clusters, in 4 to 12 % of cases instead of 5 %."
    )


def draw(record: CumulativeGraph, theme: Theme = LIGHT) -> go.Figure:
    """Draw the cumulative differences against the share of rows."""
    figure = go.Figure(
        layout=layout(
            theme,
            height=460,
            uirevision="cumulative",
            xaxis={"title": {"text": "Share of the rows, sorted by probability"}, "range": [0, 1]},
            yaxis={"title": {"text": "Cumulative label − probability"}},
            legend={"y": -0.2},
        )
    )
    figure.add_hline(y=0, line={"color": theme.diagonal, "width": 1})
    sigma = max(walk.sigma for walk in record.walks.values())
    figure.add_scatter(
        x=[0, 0],
        y=[-2 * sigma, 2 * sigma],
        mode="lines",
        line={"color": theme.diagonal, "width": 3},
        name="± 2 standard deviations",
        hoverinfo="skip",
    )
    figure.add_traces([_line(key, walk, theme) for key, walk in record.walks.items()])
    named = [key for key, walk in record.walks.items() if key == "none" or walk.kuiper_p < SIGNIFICANT]
    return mute(figure, in_colour(named, record.walks), theme)


def _line(key: str, walk: CumulativeDifferences, theme: Theme) -> go.Scatter:
    """Return a calibrator's curve; very many steps are thinned."""
    mark, steps = theme.mark(key), len(walk.walk)
    shown = np.unique(np.linspace(0, steps - 1, min(MOST_POINTS_OF_SUMS, steps)).round().astype(int))
    return go.Scatter(
        x=walk.share[shown],
        y=walk.walk[shown],
        mode="lines",
        name=label_of(key),
        legendgroup=key,
        line={"color": mark.color, "width": 2, "dash": mark.dash},
        customdata=100 * walk.share[shown],
        hovertemplate="first %{customdata:.1f} % of the rows: cumulative difference %{y:.4f}",
    )


CUMULATIVE = FigureEntry(
    "cumulative",
    "Cumulative differences",
    prepare,
    draw,
    reported=of_metrics("kuiper", "kuiper_p", "kolmogorov_smirnov", "kolmogorov_smirnov_p"),
    overlaid=True,
)
