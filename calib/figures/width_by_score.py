"""Interval width by score: where on the model's scale the intervals are widest."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from calib.analysis.explain import position_of
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, Record, of_intervals
from calib.figures.marks import Marks, gather, mark_traces, ring
from calib.figures.pairs import pair_table
from calib.figures.theme import LIGHT, Theme, layout
from calib.figures.widths import ceiling
from calib.kernel.wording import brief, number


@dataclass(frozen=True, eq=False)
class WidthByScore(Record):
    """Score and width of every test row, and the marks that draw them."""

    table: pd.DataFrame
    marks: Marks
    chosen: tuple[int, float, float] | None
    score_range: tuple[float, float]
    top: float
    classes: tuple[str, str]

    def to_frame(self) -> pd.DataFrame:
        return self.table[["row", "label", "score", "width"]]


def score_range(evaluation: Evaluation) -> tuple[float, float]:
    """Return the range of an axis of scores: a little beyond [0, 1], or beyond all margins."""
    if evaluation.probability:
        return -0.02, 1.02
    low, high = evaluation.scores.min(), evaluation.scores.max()
    if evaluation.calibration_scores.size:
        low, high = (
            min(low, evaluation.calibration_scores.min()),
            max(high, evaluation.calibration_scores.max()),
        )
    edge = 0.03 * (high - low or 1.0)
    return float(low - edge), float(high + edge)


def prepare(evaluation: Evaluation, calibrator: str = "venn_abers", row: int | None = None) -> WidthByScore:
    """Prepare the widths of one interval method; ``row`` is the number of the row with a ring."""
    table = pair_table(evaluation, calibrator)
    score, width, y = (table[name].to_numpy() for name in ("score", "width", "label"))
    marks = gather(score, width, y, y, table.row.to_numpy())
    widest = int(width.argmax())
    chosen = None
    if row is not None:
        position = position_of(evaluation, row)
        chosen = (row, float(score[position]), float(width[position]))
    name = label_of(calibrator)
    at, least = brief(float(score[widest])), brief(float(width[widest]))
    alike = width.min() == width.max()  # for example, one score for every row: no place is less certain
    finding = (
        f"{name} is {'equally certain at every score' if alike else f'least certain at scores near {at}'}: width "
        f"{least}"
    )
    return WidthByScore(
        table,
        marks,
        chosen,
        score_range(evaluation),
        ceiling(float(width.max())),
        evaluation.dataset.classes,
        title=finding,
        caption="Marks show test rows by score and width of the interval from p0 to p1. High marks have few "
        "calibration rows near their score, or lie close to a step of the isotonic fit. Compare these marks with the "
        "calibration "
        f"points of the step curves. {marks.note}".strip(),
        alt=f"Interval width by score for {evaluation.size_text}, {name}; widest {number(float(width[widest]))} "
        f"at score {number(float(score[widest]))}.",
    )


def draw(record: WidthByScore, theme: Theme = LIGHT) -> go.Figure:
    """Draw one mark per group of rows on fixed axes."""
    figure = go.Figure(
        layout=layout(
            theme,
            height=420,
            xaxis={"title": {"text": "Score"}, "range": list(record.score_range)},
            yaxis={"title": {"text": "Width, p1 − p0"}, "range": [-0.03 * record.top, 1.03 * record.top]},
            clickmode="event+select",
        )
    )
    figure.add_traces(
        mark_traces(record.marks, theme, record.classes, "label", "score %{x:.3f}, width %{y:.3f}", (0, 1))
    )
    if record.chosen is not None:
        row, score, width = record.chosen
        figure.add_trace(ring(score, width, row, theme))
    return figure


WIDTH_BY_SCORE = FigureEntry(
    "width_by_score", "Interval width by score", prepare, draw, reported=of_intervals
)
