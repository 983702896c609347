"""Probability pairs: p1 against p0, one mark for the rows that share a pair, with both marginal distributions.

The farther a pair lies from the diagonal, the less the calibration set says about its row: the distance is p1
− p0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.special import expit

from calib.analysis.explain import position_of
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.axes import LogOddsAxis, in_log_odds
from calib.figures.base import FigureEntry, TableRecord, of_intervals_on_axes
from calib.figures.marks import Marks, gather, mark_traces, ring
from calib.figures.theme import LIGHT, Theme, diagonal, layout, rgba
from calib.kernel.binning import bin_index, edge_index, group_sums, quantiles
from calib.kernel.wording import brief, briefly, class_named, counted, number, percent, probability
from calib.metrics.losses import mean

MARGIN_BINS = 40  # bins of the marginal histograms
AT_THE_ENDS = (
    " The axes show log-odds, which are infinite for probabilities of 0 and 1. Marks with a probability of 0 "
    "or 1 are drawn at the ends of the axes."
)
LISTED_PAIRS = 500  # rows in the table beside the scatter


@dataclass(frozen=True, eq=False)
class Pairs(TableRecord):
    """All pairs of one method and the marks that draw them.

    Attributes
    ----------
    table
        One line per row.
    marks
        Groups of rows.
    margins : (2, 2, MARGIN_BINS)
        Rows by end (p0, p1), class and bin.
    chosen
        (row, p0, p1) of the explained row, or None.
    axis
        The log-odds axis of the marks, or None.
    """

    marks: Marks
    margins: np.ndarray
    chosen: tuple[int, float, float] | None
    color: str
    classes: tuple[str, str]
    axis: LogOddsAxis | None


def pair_table(evaluation: Evaluation, calibrator: str) -> pd.DataFrame:
    """Return one line per test row: its number, label 0/1, score, p0, p1, p and the interval's width."""
    predicted = evaluation.predictions[calibrator]
    p0, p1 = predicted.pairs.T
    return pd.DataFrame(
        {
            "row": evaluation.dataset.row_numbers[evaluation.rows],
            "label": evaluation.y,
            "score": evaluation.scores,
            "p0": p0,
            "p1": p1,
            "p": predicted.p,
            "width": predicted.width,
        }
    )


def listed_rows(evaluation: Evaluation, calibrator: str, row: int | None = None) -> pd.DataFrame:
    """Return up to 500 lines of ``pair_table``: the widest intervals first or, with a row, the most similar rows."""
    table = pair_table(evaluation, calibrator)
    if row is None:
        return table.sort_values(["width", "row"], ascending=[False, True]).head(LISTED_PAIRS)
    pair = table.iloc[position_of(evaluation, row)]
    distance = np.hypot(table.p0 - pair.p0, table.p1 - pair.p1).where(table.row != row, -1.0)
    return table.iloc[np.argsort(distance.to_numpy(), kind="stable")[:LISTED_PAIRS]]


def prepare(
    evaluation: Evaluation,
    calibrator: str = "venn_abers",
    color: str = "label",
    row: int | None = None,
    axes: str = "auto",
) -> Pairs:
    """Prepare the pairs of one interval method.

    Parameters
    ----------
    color
        "label", "width" or "score".
    row
        Number of the row with a ring.
    axes
        "auto", "probability" or "log_odds".
    """
    table = pair_table(evaluation, calibrator)
    p0, p1, y = (table[name].to_numpy() for name in ("p0", "p1", "label"))
    axis = LogOddsAxis.around([p0, p1]) if in_log_odds(axes, evaluation) else None
    x, at = (p0, p1) if axis is None else (axis.place(p0), axis.place(p1))
    marks = gather(x, at, y, table[color].to_numpy(dtype=float), table.row.to_numpy())
    weight = evaluation.weight
    of_class = [(y == k, None if weight is None else weight[y == k]) for k in (0, 1)]
    margins = np.stack([[_margins(end[rows], axis, held) for rows, held in of_class] for end in (p0, p1)])
    chosen = None
    if row is not None:
        position = position_of(evaluation, row)
        chosen = (row, float(p0[position]), float(p1[position]))
    width, name = table.width.to_numpy(), label_of(calibrator)
    crossed = int((p0 > p1).sum())
    zero, one = map(class_named, evaluation.dataset.classes)
    return Pairs(
        marks,
        margins,
        chosen,
        color,
        evaluation.dataset.classes,
        axis,
        table=table,
        title=_finding(name, width, weight),
        caption=_caption(marks, crossed, zero, one) + (AT_THE_ENDS if axis else ""),
        alt=f"Scatter plot of p1 against p0 of {evaluation.size_text}, {name}: "
        f"median width {number(_median(width, weight))}, mean p0 {number(mean(p0, weight))}, "
        f"mean p1 {number(mean(p1, weight))}, {percent(evaluation.share)} in {one}.",
    )


def _finding(name: str, width: np.ndarray, weight: np.ndarray | None) -> str:
    """State how wide the intervals (n,) are; all are equal if the model gives every row the same score."""
    if width.min() == width.max():
        return f"All {name} intervals are {brief(float(width[0]))} wide"
    middle, widest = briefly(_median(width, weight), float(width.max()))
    return f"Half of the {name} intervals are at most {middle} wide; the widest is {widest}"


def _median(values: np.ndarray, weight: np.ndarray | None) -> float:
    return float(quantiles(values, np.array([0.5]), weight)[0])


def _margins(ends: np.ndarray, axis: LogOddsAxis | None, weight: np.ndarray | None) -> np.ndarray:
    """Count rows in bins of equal width on the axis."""
    index = bin_index(ends, MARGIN_BINS) if axis is None else edge_index(ends, axis.edges(MARGIN_BINS))
    return group_sums(index, MARGIN_BINS, weights=weight)


def _caption(marks: Marks, crossed: int, zero: str, one: str) -> str:
    text = (
        "Marks show p0 and p1 of the test rows, with histograms at the edges. p0 is the probability of "
        f"{one} if the row is assumed to be in {zero}, p1 if it is assumed to be in {one}. Near the "
        "diagonal, p0 and p1 nearly agree; marks far above it have few comparable calibration rows. "
        f"Histograms at the edges show the distributions of p0 and p1, {zero} dotted and {one} solid."
    )
    if marks.note:
        text += f" {marks.note}"
    if crossed:
        text += (
            f" {counted(crossed, 'pair')} below the diagonal, with p0 > p1, which is possible with "
            "full Venn–Abers."
        )
    return text


def draw(record: Pairs, theme: Theme = LIGHT) -> go.Figure:
    """Draw a square scatter plot on fixed axes, with the marginal histograms outside its top and right edge."""
    figure, axis = go.Figure(layout=_layout(theme)), record.axis
    figure.add_trace(diagonal(theme))
    pairs = np.stack([record.marks.x, record.marks.y], axis=1)
    pairs = pairs if axis is None else expit(pairs)
    hovertext = [f"p0 {probability(p0)}, p1 {probability(p1)}" for p0, p1 in pairs.tolist()]
    values = record.marks.value
    limits = (
        (float(values.min()), float(values.max())) if record.color == "score" else (0.0, float(values.max()))
    )
    if record.chosen is not None:
        row, p0, p1 = record.chosen
        figure.add_trace(ring(p0, p1, row, theme))
    edges = np.linspace(0, 1, MARGIN_BINS + 1) if axis is None else axis.edges(MARGIN_BINS)
    for k, (color, dash) in enumerate(((theme.negative, "dot"), (theme.positive, "solid"))):
        figure.add_trace(_margin(edges, record.margins[0, k], color, dash))
        figure.add_trace(_margin(edges, record.margins[1, k], color, dash, sideways=True))
    if axis is not None:
        traces = [axis.moved(trace.to_plotly_json()) for trace in figure.data]
        figure = go.Figure(traces, figure.layout).update_layout(xaxis=axis.across, yaxis=axis.settings)
    figure.add_traces(
        mark_traces(record.marks, theme, record.classes, record.color, "%{hovertext}", limits, hovertext)
    )
    return figure


def _margin(
    edges: np.ndarray, counts: Sequence[int], color: str, dash: str, sideways: bool = False
) -> go.Scatter:
    """Return one class's histogram as a step line; ``sideways`` places it along the right edge."""
    along, rows = edges, np.append(counts, counts[-1])
    style = {"color": color, "width": 1.4, "dash": dash, "shape": "vh" if sideways else "hv"}
    return go.Scatter(
        x=rows if sideways else along,
        y=along if sideways else rows,
        xaxis="x2" if sideways else "x",
        yaxis="y" if sideways else "y2",
        mode="lines",
        line=style,
        fill="tozerox" if sideways else "tozeroy",
        fillcolor=rgba(color, 0.12),
        showlegend=False,
        hoverinfo="skip",
    )


def _layout(theme: Theme) -> dict[str, Any]:
    axis = {"range": [-0.02, 1.02], "tickvals": np.linspace(0, 1, 6).tolist(), "domain": [0, 0.86]}
    margin = {"domain": [0.88, 1], "showticklabels": False, "ticks": "", "showgrid": False}
    return layout(
        theme,
        height=620,
        clickmode="event+select",
        xaxis={**axis, "title": {"text": "p0, with label 0"}},
        yaxis={**axis, "title": {"text": "p1, with label 1"}},
        xaxis2=margin,
        yaxis2=margin,
    )


PAIRS = FigureEntry("pairs", "Probability pairs", prepare, draw, reported=of_intervals_on_axes)
