"""The interval and the probability of each class for one row of three or more classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.explain import METHOD, position_of, widest_row
from calib.calibrators import JOINT, OneVsRest, label_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, ReportOptions, TableRecord, chart_text, of_intervals
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.checks import InputError
from calib.kernel.wording import class_named, number, percent

MOST_CLASSES = 20  # largest number of drawn classes, by probability


@dataclass(frozen=True, eq=False)
class ClassIntervals(TableRecord):
    """Classes of a row by probability, the largest first.

    Attributes
    ----------
    table
        Columns class, p0, p1, p (the p of all classes sum to 1) and uncalibrated; index from 0.
    came
        The row's own class.
    """

    calibrator: str
    row: int
    came: str


def prepare(evaluation: Evaluation, calibrator: str = METHOD, row: int | None = None) -> ClassIntervals:
    """Return the intervals of all classes for one test row, by its number; the widest of the view by default.

    Raises
    ------
    InputError
        Of two classes, for a row outside the test set, or for a calibrator without intervals.
    """
    whole = _of_all(evaluation)
    found = whole.predictions.get(calibrator)
    if found is None or found.p0 is None:
        raise InputError(f"{label_of(calibrator)} gives no intervals for these data.")
    row = widest_row(evaluation, calibrator) if row is None else row
    at = position_of(evaluation, row)
    table = pd.DataFrame(
        {
            "class": whole.names,
            "p0": found.p0[at],
            "p1": found.p1[at],
            "p": found.p[at],
            "uncalibrated": whole.scores[at],
        }
    ).sort_values("p", ascending=False, ignore_index=True, kind="stable")
    came = whole.names[whole.y[at]]
    rest = len(table) - MOST_CLASSES
    return ClassIntervals(
        calibrator,
        row,
        table=table,
        came=came,
        title=_title(evaluation, table, row, came),
        caption=f"Each line is the interval of one class, from p0 to p1, computed by {label_of(calibrator)}. "
        "Filled marks are the calibrated probabilities. These probabilities are divided by their "
        "sum, so a mark can lie outside its interval. Hollow marks are the probabilities of the "
        f"uncalibrated model. {JOINT.get(calibrator, OneVsRest).promise}"
        + (f" {rest} less probable classes are not drawn." if rest > 0 else ""),
        alt=f"Intervals of row {row}: "
        + "; ".join(
            f"{line['class']} {number(line.p0)} to {number(line.p1)}"
            for _, line in table[:MOST_CLASSES].iterrows()
        )
        + f". The row is in class {class_named(came)}.",
    )


def _title(evaluation: Evaluation, table: pd.DataFrame, row: int, came: str) -> str:
    """Name the most probable class; in the view of the confidence, the class that the model predicts.

    The view of the confidence asks of every calibrator whether the model's own class was right, so the title must be
    about this class, too.
    """
    whole, first = _of_all(evaluation), table.iloc[0]
    named = first
    if evaluation.of_confidence:
        predicted = whole.names[whole.chosen[position_of(evaluation, row)]]
        named = table[table["class"] == predicted].iloc[0]
    ends = f"interval [{number(named.p0)}, {number(named.p1)}]"
    if not named.p0 <= named.p <= named.p1:
        ends += " before division by the sum"
    outcome = "the row is in " + ("this class" if came == named["class"] else class_named(came))
    title = f"Row {row}: {class_named(named['class'])} with {percent(named.p)}, {ends}; {outcome}"
    if named["class"] == first["class"]:
        return title
    return f"{title}. After calibration, {class_named(first['class'])} is more probable"


def _of_all(evaluation: Evaluation) -> Any:
    """Return the evaluation of all classes; refuse two classes."""
    if evaluation.whole is None:
        raise InputError("There are only two classes, so one interval is enough.")
    return evaluation.whole


def draw(record: ClassIntervals, theme: Theme = LIGHT) -> go.Figure:
    """Draw one line per class, the most probable at the top."""
    shown = record.table[:MOST_CLASSES]
    names = [chart_text(name) + (" (came)" if name == record.came else "") for name in shown["class"]]
    color = theme.mark(record.calibrator).color
    figure = go.Figure(
        layout=layout(
            theme,
            height=120 + 30 * len(shown),
            margin={"l": 12, "r": 12, "t": 24, "b": 60},
            xaxis={"title": {"text": "Probability"}, "range": [-0.02, 1.02]},
            yaxis={"autorange": "reversed", "automargin": True, "type": "category"},
            showlegend=False,
        )
    )
    figure.add_trace(
        go.Scatter(
            x=np.column_stack([shown["p0"], shown["p1"], np.full(len(shown), np.nan)]).ravel(),
            y=np.repeat(names, 3),
            mode="lines",
            line={"color": color, "width": 6},
            opacity=0.45,
            hoverinfo="skip",
        )
    )
    for column, symbol, key in (("uncalibrated", "circle-open", "none"), ("p", "circle", record.calibrator)):
        figure.add_trace(
            go.Scatter(
                x=shown[column],
                y=names,
                mode="markers",
                marker={"symbol": symbol, "size": 10, "color": theme.mark(key).color},
                customdata=shown[["p0", "p1"]].to_numpy(),
                hovertemplate=label_of(key)
                + " %{x:.3f}<br>interval %{customdata[0]:.3f} to %{customdata[1]:.3f}<extra></extra>",
            )
        )
    return figure


def _reported(evaluation: Evaluation, options: ReportOptions) -> tuple[Evaluation, dict[str, str]]:
    _of_all(evaluation)
    return of_intervals(evaluation, options)


CLASS_INTERVALS = FigureEntry(
    "class_intervals", "Intervals of all classes", prepare, draw, reported=_reported
)
